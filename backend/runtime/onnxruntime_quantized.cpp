// Quantized graphs: what ONNX Runtime does to dequantization at every level.
#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backend/runtime/onnxruntime.h"

namespace footprint {
namespace {

bool IsDequantization(const RuntimeNode& node) {
  return !node.removed && node.op_type == "DequantizeLinear" &&
         (node.domain.empty() || node.domain == "com.microsoft");
}

bool Captures(const RuntimeNode& reader, int32_t value) {
  return std::find(reader.captures.begin(), reader.captures.end(), value) != reader.captures.end();
}

}  // namespace

bool DuplicateDequantization(RuntimeGraph& graph) {
  if (std::none_of(graph.nodes.begin(), graph.nodes.end(), IsDequantization)) return false;
  const RuntimeUses uses = FindUses(graph);
  const size_t before = graph.nodes.size();
  for (const int32_t id : ExecutionOrder(graph, uses)) {
    const RuntimeNode node = graph.node(id);
    if (!IsDequantization(node) || node.outputs.size() != 1) continue;
    const int32_t output = node.outputs[0];
    const std::vector<int32_t>& readers = uses.readers[static_cast<size_t>(output)];
    const bool is_kept = graph.value(output).output ||
                         std::any_of(readers.begin(), readers.end(), [&](int32_t reader) {
                           return Captures(graph.node(reader), output);
                         });
    for (size_t k = is_kept ? 0 : 1; k < readers.size(); ++k) {
      std::vector<int32_t>& inputs = graph.node(readers[k]).inputs;
      const auto operand = std::find(inputs.begin(), inputs.end(), output);
      if (operand == inputs.end()) continue;  // a body reads it
      RuntimeNode copy = node;
      const int32_t value =
          graph.AddLike(output, absl::StrCat(graph.value(output).name, "/duplicated"));
      TensorType& visible = graph.value(value).visible;  // what is declared was of the other name
      visible.has_rank = graph.value(node.inputs[0]).visible.has_rank;
      visible.dims = graph.value(node.inputs[0]).visible.dims;
      copy.outputs = {value};
      *operand = value;
      graph.nodes.push_back(std::move(copy));
    }
  }
  return graph.nodes.size() > before;
}

std::vector<int32_t> DequantizedWeights(const RuntimeGraph& graph) {
  std::vector<int32_t> values;
  for (const RuntimeNode& node : graph.nodes) {
    if (!IsDequantization(node) || node.inputs.empty() || node.outputs.empty()) continue;
    if (node.inputs[0] >= 0 && graph.value(node.inputs[0]).constant && node.outputs[0] >= 0) {
      values.push_back(node.outputs[0]);
    }
  }
  return values;
}

}  // namespace footprint
