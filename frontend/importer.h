// ModelProto -> Graph: names resolved, functions inlined, bodies kept as regions, weights
// described.
#ifndef FOOTPRINT_FRONTEND_IMPORTER_H_
#define FOOTPRINT_FRONTEND_IMPORTER_H_

#include <optional>

#include "frontend/model_file.h"
#include "ir/diagnostic.h"
#include "ir/graph.h"
#include "ir/provenance.h"

namespace footprint {

struct ImportedModel {
  Graph graph;
  Provenance provenance;
};

// nullopt: the model is wrong, and `sink` says why.
std::optional<ImportedModel> ImportModel(const ModelFile& file, DiagnosticSink& sink);

}  // namespace footprint

#endif  // FOOTPRINT_FRONTEND_IMPORTER_H_
