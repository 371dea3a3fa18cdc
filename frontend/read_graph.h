// From a file to the IR: the frontend's one entry point.
#ifndef FOOTPRINT_FRONTEND_READ_GRAPH_H_
#define FOOTPRINT_FRONTEND_READ_GRAPH_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "ir/diagnostic.h"
#include "ir/fallback.h"
#include "ir/graph.h"
#include "ir/provenance.h"

namespace footprint {

struct LoadedModel {
  Graph graph;
  Provenance provenance;
  // Answers for operators without a row; lives as long as the model.
  std::unique_ptr<OpFallback> fallback;
};

// Reads `path` ("-": standard input; .onnxtxt and .textproto by their endings) without loading any
// weights. nullopt: the model or the file is wrong, and `sink` says why.
std::optional<LoadedModel> ReadGraph(const std::string& path, DiagnosticSink& sink);
// The same of a model in memory; `name` only stands for the path.
std::optional<LoadedModel> ReadGraph(absl::string_view bytes, const std::string& name,
                                     DiagnosticSink& sink);

}  // namespace footprint

#endif  // FOOTPRINT_FRONTEND_READ_GRAPH_H_
