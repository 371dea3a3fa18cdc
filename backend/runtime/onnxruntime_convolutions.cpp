// Convolutions with the normalization, the numbers and the activation that follow them.
#include <utility>

#include "backend/runtime/onnxruntime_rewrites.h"

namespace footprint {
namespace {

bool AllStored(const Rewriter& rewriter, const RuntimeNode& node, size_t first) {
  for (size_t i = first; i < node.inputs.size(); ++i) {
    if (node.inputs[i] >= 0 && !rewriter.IsConstant(node.inputs[i])) return false;
  }
  return true;
}

// A stored number for each channel, or one for all.
bool IsPerChannel(const Rewriter& rewriter, int32_t value, size_t rank) {
  if (!rewriter.IsConstant(value)) return false;
  const TensorType& type = rewriter.graph_view().value(value).visible;
  if (!type.has_rank || !type.AllDimsConstant() || type.dims.size() > rank) return false;
  const size_t channel = rank - 1 - 1;  // counted from the last axis: rank - 2 axes follow it
  for (size_t i = 0; i < type.dims.size(); ++i) {
    const size_t from_last = type.dims.size() - 1 - i;
    if (from_last + 1 != channel && !type.dims[i].Is(1)) return false;
  }
  return true;
}

// What follows can be worked into the stored weights.
bool FoldsIntoWeights(const Rewriter& rewriter, int32_t reader, int32_t value, size_t rank) {
  if (rewriter.Is(reader, "BatchNormalization")) {
    return AllStored(rewriter, rewriter.graph_view().node(reader), 1) &&
           rewriter.Int(reader, "training_mode", 0) == 0;
  }
  if (!rewriter.Is(reader, "Mul") && !rewriter.Is(reader, "Add")) return false;
  return IsPerChannel(rewriter, rewriter.OtherInput(reader, value), rank);
}

void FoldIntoWeights(Rewriter& rewriter) {
  RuntimeGraph& graph = rewriter.graph();
  for (const int32_t id : rewriter.Order()) {
    if (!rewriter.Is(id, "Conv") || !AllStored(rewriter, graph.node(id), 1)) continue;
    while (rewriter.IsUsedOnce(graph.node(id).outputs[0])) {
      const int32_t value = graph.node(id).outputs[0];
      const size_t rank = graph.value(graph.node(id).inputs[1]).visible.dims.size();
      const int32_t reader = rewriter.uses().OnlyReader(value);
      if (rank < 3 || !FoldsIntoWeights(rewriter, reader, value, rank)) break;
      rewriter.Absorb(id, reader, "Conv + " + graph.node(reader).op_type);
    }
  }
}

void FuseActivation(Rewriter& rewriter) {
  RuntimeGraph& graph = rewriter.graph();
  for (const int32_t id : rewriter.Order()) {
    if (!rewriter.Is(id, "Conv")) continue;
    for (const char* op :
         {"Relu", "Sigmoid", "Tanh", "LeakyRelu", "HardSigmoid", "HardSwish", "Clip"}) {
      const int32_t activation = rewriter.OnlyReader(graph.node(id).outputs[0], op);
      if (activation < 0 || !AllStored(rewriter, graph.node(activation), 1)) continue;
      RuntimeNode made = graph.node(id);
      made.op_type = "FusedConv";
      made.domain = std::string(kMicrosoftDomain);
      made.outputs = graph.node(activation).outputs;
      rewriter.Replace({id, activation}, std::move(made), std::string("Conv + ") + op);
      break;
    }
  }
}

}  // namespace

void FuseConvolutions(Rewriter& rewriter) {
  FoldIntoWeights(rewriter);
  FuseActivation(rewriter);
}

}  // namespace footprint
