// Products of integers that are scaled back to numbers:
//
//   MatMulInteger -> Cast -> Mul -> Add       becomes   MatMulIntegerToFloat
//   DynamicQuantizeLinear -> that one alone   becomes   DynamicQuantizeMatMul
#include <utility>

#include "backend/runtime/onnxruntime_rewrites.h"

namespace footprint {
namespace {

int32_t OutputOf(const RuntimeGraph& graph, int32_t node) { return graph.node(node).outputs[0]; }

int32_t InputOf(const RuntimeNode& node, size_t i) {
  return i < node.inputs.size() ? node.inputs[i] : -1;
}

// A stored row, added to what alone reads it.
void TakeBias(Rewriter& rewriter, RuntimeNode& made, std::vector<int32_t>& nodes) {
  const RuntimeGraph& graph = rewriter.graph_view();
  const int32_t add = rewriter.OnlyReader(made.outputs[0], "Add");
  if (add < 0) return;
  const int32_t bias = rewriter.OtherInput(add, made.outputs[0]);
  if (!rewriter.IsConstant(bias) || graph.value(bias).visible.dims.size() != 1) return;
  made.inputs.push_back(bias);
  made.outputs = graph.node(add).outputs;
  nodes.push_back(add);
}

void FuseToFloat(Rewriter& rewriter, int32_t product) {
  RuntimeGraph& graph = rewriter.graph();
  const RuntimeNode row = graph.node(product);
  const int32_t cast = rewriter.OnlyReader(row.outputs[0], "Cast");
  if (cast < 0) return;
  const int32_t scale = rewriter.OnlyReader(OutputOf(graph, cast), "Mul");
  if (scale < 0) return;
  const int32_t scales = rewriter.MadeBy(rewriter.OtherInput(scale, OutputOf(graph, cast)), "Mul");
  if (scales < 0 || !rewriter.IsUsedOnce(OutputOf(graph, scales))) return;
  std::vector<int32_t> nodes = {product, cast, scale, scales};
  RuntimeNode made;
  made.op_type = "MatMulIntegerToFloat";
  made.domain = std::string(kMicrosoftDomain);
  made.source = row.source;
  const std::vector<int32_t>& both = graph.node(scales).inputs;
  made.inputs = {row.inputs[0], row.inputs[1], both[0], both[1], InputOf(row, 2), InputOf(row, 3)};
  made.outputs = graph.node(scale).outputs;
  TakeBias(rewriter, made, nodes);
  rewriter.Replace(nodes, std::move(made), "MatMulInteger -> MatMulIntegerToFloat");
}

// Nothing else reads what is quantized, its scale and its zero point.
void FuseDynamic(Rewriter& rewriter, int32_t product) {
  RuntimeGraph& graph = rewriter.graph();
  const RuntimeNode row = graph.node(product);
  const int32_t quantization = rewriter.MadeBy(row.inputs[0], "DynamicQuantizeLinear");
  if (quantization < 0) return;
  for (const int32_t output : graph.node(quantization).outputs) {
    if (output >= 0 && !rewriter.IsUsedOnce(output)) return;
  }
  RuntimeNode made = row;
  made.op_type = "DynamicQuantizeMatMul";
  made.inputs = {graph.node(quantization).inputs[0], row.inputs[1], row.inputs[3], InputOf(row, 5),
                 InputOf(row, 6)};
  rewriter.Replace({product, quantization}, std::move(made),
                   "DynamicQuantizeLinear + MatMulIntegerToFloat -> DynamicQuantizeMatMul");
}

// The product keeps its place.
void FuseBlockedBias(Rewriter& rewriter, int32_t product) {
  RuntimeNode made = rewriter.graph_view().node(product);
  if (made.inputs.size() > 5) return;
  made.inputs.resize(5, -1);
  std::vector<int32_t> nodes = {product};
  TakeBias(rewriter, made, nodes);
  if (nodes.size() == 1) return;
  rewriter.Remove(nodes.back());
  rewriter.Change(product, std::move(made));
  rewriter.Count("MatMulNBits + Add");
}

}  // namespace

void FuseBlockedProducts(Rewriter& rewriter) {
  for (const int32_t node : rewriter.Order()) {
    if (rewriter.Is(node, "MatMulNBits", kMicrosoftDomain)) FuseBlockedBias(rewriter, node);
  }
}

void FuseIntegerProducts(Rewriter& rewriter) {
  for (const int32_t node : rewriter.Order()) {
    if (rewriter.Is(node, "MatMulInteger")) FuseToFloat(rewriter, node);
  }
  for (const int32_t node : rewriter.Order()) {
    if (rewriter.Is(node, "MatMulIntegerToFloat", kMicrosoftDomain)) FuseDynamic(rewriter, node);
  }
}

}  // namespace footprint
