#include "frontend/read_graph.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "frontend/fallback.h"
#include "frontend/importer.h"
#include "frontend/model_file.h"

namespace footprint {
namespace {

std::optional<LoadedModel> Load(const std::optional<ModelFile>& file, DiagnosticSink& sink) {
  if (!file.has_value()) return std::nullopt;
  std::optional<ImportedModel> imported = ImportModel(*file, sink);
  if (!imported.has_value()) return std::nullopt;
#ifndef NDEBUG
  if (const std::string wrong = Verify(imported->graph); !wrong.empty()) {
    sink.Error("internal", "", absl::StrCat("the graph is not what it should be: ", wrong));
    return std::nullopt;
  }
#endif
  LoadedModel model;
  model.graph = std::move(imported->graph);
  model.provenance = std::move(imported->provenance);
  model.fallback = MakeSchemaFallback();
  return model;
}

}  // namespace

std::optional<LoadedModel> ReadGraph(const std::string& path, DiagnosticSink& sink) {
  return Load(ReadModelFile(path, sink), sink);
}

std::optional<LoadedModel> ReadGraph(absl::string_view bytes, const std::string& name,
                                     DiagnosticSink& sink) {
  return Load(ReadModelBytes(bytes, name, sink), sink);
}

}  // namespace footprint
