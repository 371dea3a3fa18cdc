// Convolutions with the normalization, the numbers and the activation that follow them.
#include <algorithm>
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

// A stored number for each channel.
bool IsPerChannel(const Rewriter& rewriter, int32_t value, const Dims& weight) {
  if (!rewriter.IsConstant(value)) return false;
  const TensorType& type = rewriter.graph_view().value(value).visible;
  const size_t rank = type.dims.size();
  if (!type.has_rank || (rank != weight.size() && rank + 1 != weight.size())) return false;
  const size_t channel = rank == weight.size() ? 1 : 0;
  for (size_t i = 0; i < rank; ++i) {
    if (i == channel ? !SameSize(type.dims[i], weight[0]) : !type.dims[i].Is(1)) return false;
  }
  return true;
}

// What follows can be worked into the stored weights.
bool FoldsIntoWeights(const Rewriter& rewriter, int32_t reader, int32_t value, const Dims& weight) {
  if (rewriter.Is(reader, "BatchNormalization")) {
    return AllStored(rewriter, rewriter.graph_view().node(reader), 1) &&
           rewriter.Int(reader, "training_mode", 0) == 0;
  }
  const int32_t other = rewriter.OtherInput(reader, value);
  if (rewriter.Is(reader, "Add")) return IsPerChannel(rewriter, other, weight);
  if (!rewriter.Is(reader, "Mul") || !rewriter.IsConstant(other)) return false;
  const TensorType& type = rewriter.graph_view().value(other).visible;
  return (type.has_rank && type.dims.empty()) || IsPerChannel(rewriter, other, weight);
}

int32_t AddStored(RuntimeGraph& graph, int32_t like) {
  return graph.AddStored(like, graph.value(like).name);
}

// The convolution's weights and bias are its own from now on.
void StoreFolded(Rewriter& rewriter, int32_t id, absl::string_view op) {
  RuntimeGraph& graph = rewriter.graph();
  RuntimeNode changed = graph.node(id);
  const int32_t weight = changed.inputs[1];
  if (op != "Add") changed.inputs[1] = AddStored(graph, weight);
  const bool has_bias = changed.inputs.size() > 2 && changed.inputs[2] >= 0;
  if (has_bias) {
    changed.inputs[2] = AddStored(graph, changed.inputs[2]);
  } else if (op != "Mul") {
    const int32_t bias = AddStored(graph, weight);
    for (TensorType* type : {&graph.value(bias).type, &graph.value(bias).visible}) {
      type->dims.resize(1);
    }
    changed.inputs.resize(3);
    changed.inputs[2] = bias;
  }
  rewriter.Change(id, std::move(changed));
}

}  // namespace

void FoldIntoConvolutions(Rewriter& rewriter) {
  RuntimeGraph& graph = rewriter.graph();
  for (const int32_t id : rewriter.Order()) {
    if (!rewriter.Is(id, "Conv") || !AllStored(rewriter, graph.node(id), 1)) continue;
    while (rewriter.IsUsedOnce(graph.node(id).outputs[0])) {
      const int32_t value = graph.node(id).outputs[0];
      const Dims weight = graph.value(graph.node(id).inputs[1]).visible.dims;
      const int32_t reader = rewriter.uses().OnlyReader(value);
      if (weight.size() < 3 || !FoldsIntoWeights(rewriter, reader, value, weight)) break;
      const std::string op = graph.node(reader).op_type;
      rewriter.Absorb(id, reader, "Conv + " + op);
      StoreFolded(rewriter, id, op);
    }
  }
}

void FuseConvolutionActivation(Rewriter& rewriter) {
  RuntimeGraph& graph = rewriter.graph();
  for (const int32_t id : rewriter.Order()) {
    if (!rewriter.Is(id, "Conv")) continue;
    for (const char* op :
         {"Relu", "Sigmoid", "Tanh", "LeakyRelu", "HardSigmoid", "HardSwish", "Clip"}) {
      const int32_t activation = rewriter.OnlyReader(graph.node(id).outputs[0], op);
      if (activation < 0 || !AllStored(rewriter, graph.node(activation), 1)) continue;
      const bool is_function = absl::string_view(op) == "HardSwish";  // it is spelled out before
      if (is_function && graph.value(graph.node(activation).outputs[0]).output) continue;
      RuntimeNode made = graph.node(id);
      made.op_type = "FusedConv";
      made.domain = std::string(kMicrosoftDomain);
      made.outputs = graph.node(activation).outputs;
      rewriter.Replace({id, activation}, std::move(made), std::string("Conv + ") + op);
      break;
    }
  }
}

namespace {

// Images of floats whose sizes are known to be the same.
bool AreAlike(const RuntimeValue& a, const RuntimeValue& b) {
  constexpr size_t kImage = 4;
  const Dims& left = a.visible.dims;
  const Dims& right = b.visible.dims;
  return a.type.element == ElementType::kFloat && left.size() == kImage && right.size() == kImage &&
         std::equal(left.begin(), left.end(), right.begin(), SameSize);
}

}  // namespace

void FuseConvolutionSum(Rewriter& rewriter) {
  RuntimeGraph& graph = rewriter.graph();
  const size_t count = graph.nodes.size();
  for (size_t i = 0; i < count; ++i) {
    const auto id = static_cast<int32_t>(i);
    if (!rewriter.Is(id, "Conv") || graph.node(id).inputs.size() != 3) continue;
    RuntimeNode made = graph.node(id);
    const int32_t product = made.outputs[0];
    const int32_t add = rewriter.OnlyReader(product, "Add");
    const int32_t addend = add < 0 ? -1 : rewriter.OtherInput(add, product);
    if (addend < 0 || !AreAlike(graph.value(product), graph.value(addend))) continue;
    std::vector<int32_t> nodes = {id, add};
    made.outputs = graph.node(add).outputs;
    for (const char* op : {"Relu", "Sigmoid", "Tanh", "LeakyRelu", "HardSigmoid", "Clip"}) {
      const int32_t activation = rewriter.OnlyReader(made.outputs[0], op);
      if (activation < 0 || !AllStored(rewriter, graph.node(activation), 1)) continue;
      nodes.push_back(activation);
      made.outputs = graph.node(activation).outputs;
      break;
    }
    made.op_type = "FusedConv";
    made.domain = std::string(kMicrosoftDomain);
    made.inputs.push_back(addend);
    rewriter.Replace(nodes, std::move(made), "Conv + Add");
  }
}

}  // namespace footprint
