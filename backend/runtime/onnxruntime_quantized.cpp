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

// The reader takes its operand from `to` instead, once.
void Redirect(RuntimeNode& reader, int32_t from, int32_t to) {
  const auto found = std::find(reader.inputs.begin(), reader.inputs.end(), from);
  if (found != reader.inputs.end()) *found = to;
}

}  // namespace

void DuplicateDequantization(RuntimeGraph& graph) {
  const RuntimeUses uses = FindUses(graph);
  const size_t count = graph.nodes.size();
  for (size_t i = 0; i < count; ++i) {
    if (!IsDequantization(graph.nodes[i]) || graph.nodes[i].outputs.size() != 1) continue;
    const RuntimeNode node = graph.nodes[i];
    const int32_t output = node.outputs[0];
    const std::vector<int32_t>& readers = uses.readers[static_cast<size_t>(output)];
    const size_t kept = graph.value(output).output ? 0 : 1;
    for (size_t k = kept; k < readers.size(); ++k) {
      RuntimeNode copy = node;
      const int32_t value =
          graph.AddLike(output, absl::StrCat(graph.value(output).name, "/duplicated"));
      copy.outputs = {value};
      Redirect(graph.node(readers[k]), output, value);
      graph.nodes.push_back(std::move(copy));
    }
  }
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
