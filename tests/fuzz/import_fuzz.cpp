// Any bytes: what the reader accepts becomes a graph that keeps its promises and can be printed, or
// an error; never both, never neither.
#include <cstdint>
#include <cstdlib>

#include "absl/strings/string_view.h"
#include "frontend/external_data.h"
#include "frontend/fallback.h"
#include "frontend/importer.h"
#include "frontend/skim.h"
#include "ir/diagnostic.h"
#include "onnx/onnx_pb.h"

namespace {

// Asks about every node, whether or not it has a row.
void AskFallback(const footprint::Graph& graph) {
  static const auto fallback = footprint::MakeSchemaFallback();
  for (const footprint::Node& node : graph.nodes) {
    std::vector<footprint::ValueType> inputs;
    std::vector<footprint::ValueType> outputs;
    for (const footprint::ValueId input : node.inputs) {
      inputs.push_back(input.valid() ? graph.values[input].declared : footprint::ValueType());
    }
    fallback->InferTypes(graph, node, inputs, &outputs);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  footprint::SkimInput input(absl::string_view(reinterpret_cast<const char*>(data), size));
  footprint::ExternalData external(std::nullopt);
  footprint::DiagnosticSink sink;
  auto skimmed = footprint::Skim(input, external, sink);
  footprint::ModelFile file;
  if (!skimmed || !file.model.ParseFromString(skimmed->bytes)) return 0;
  file.payloads = std::move(skimmed->payloads);
  const auto imported = footprint::ImportModel(file, sink);
  if (imported.has_value() == sink.has_errors()) std::abort();
  if (!imported) return 0;
  if (!footprint::Verify(imported->graph).empty()) std::abort();
  if (footprint::Print(imported->graph).empty()) std::abort();
  AskFallback(imported->graph);
  return 0;
}
