// Normalizations that exporters spell out, and those of a sum.
#include <string>
#include <utility>

#include "backend/runtime/onnxruntime_rewrites.h"

namespace footprint {
namespace {

int32_t OutputOf(const RuntimeGraph& graph, int32_t node) { return graph.node(node).outputs[0]; }

// Nodes that were matched so far, each result of which is read by the next one alone.
struct Match {
  std::vector<int32_t> nodes;
  int32_t value = -1;  // the last result
};

bool Then(const Rewriter& rewriter, Match& match, absl::string_view op) {
  const int32_t node = rewriter.OnlyReader(match.value, op);
  if (node < 0) return false;
  match.nodes.push_back(node);
  match.value = rewriter.graph_view().node(node).outputs[0];
  return true;
}

// The stored operand of the node that reads the value, or one that is cast; -1.
int32_t StoredOperand(const Rewriter& rewriter, int32_t node, int32_t value) {
  const int32_t other = rewriter.OtherInput(node, value);
  if (rewriter.IsConstant(other)) return other;
  const int32_t cast = rewriter.MadeBy(other, "Cast");
  const bool is_cast = cast >= 0 && rewriter.IsConstant(rewriter.graph_view().node(cast).inputs[0]);
  return is_cast ? other : -1;
}

RuntimeNode Normalization(const char* op, NodeId source, std::vector<int32_t> inputs, int32_t to) {
  RuntimeNode node;
  node.op_type = op;
  node.source = source;
  node.inputs = std::move(inputs);
  node.outputs = {to};
  return node;
}

// (x - mean) / sqrt(mean of (x - mean)^2 + epsilon) * scale + bias
bool MatchLayerNorm(Rewriter& rewriter, int32_t mean) {
  RuntimeGraph& graph = rewriter.graph();
  const int32_t x = graph.node(mean).inputs[0];
  Match match{{mean}, OutputOf(graph, mean)};
  if (!Then(rewriter, match, "Sub")) return false;
  const int32_t centered = match.value;
  int32_t division = -1;
  Match spread{{}, -1};
  for (const int32_t reader : rewriter.uses().readers[static_cast<size_t>(centered)]) {
    if (rewriter.Is(reader, "Div")) division = reader;
    if (rewriter.Is(reader, "Pow")) spread = {{reader}, OutputOf(graph, reader)};
  }
  if (division < 0 || spread.value < 0 || !Then(rewriter, spread, "ReduceMean") ||
      !Then(rewriter, spread, "Add") || !Then(rewriter, spread, "Sqrt") ||
      !Then(rewriter, spread, "Div") || spread.nodes.back() != division) {
    return false;
  }
  match.nodes.insert(match.nodes.end(), spread.nodes.begin(), spread.nodes.end());
  match.value = spread.value;
  if (!Then(rewriter, match, "Mul")) return false;
  const int32_t scale = StoredOperand(rewriter, match.nodes.back(), spread.value);
  const int32_t scaled = match.value;
  if (scale < 0 || !Then(rewriter, match, "Add")) return false;
  const int32_t bias = StoredOperand(rewriter, match.nodes.back(), scaled);
  if (bias < 0) return false;
  const NodeId source = graph.node(mean).source;
  rewriter.Replace(match.nodes,
                   Normalization("LayerNormalization", source, {x, scale, bias}, match.value),
                   "spelled-out normalization -> LayerNormalization");
  return true;
}

// x / sqrt(mean of x^2 + epsilon) * scale
bool MatchRmsNorm(Rewriter& rewriter, int32_t square) {
  RuntimeGraph& graph = rewriter.graph();
  const int32_t x = graph.node(square).inputs[0];
  Match match{{square}, OutputOf(graph, square)};
  if (!Then(rewriter, match, "ReduceMean") || !Then(rewriter, match, "Add") ||
      !Then(rewriter, match, "Sqrt") || !Then(rewriter, match, "Div")) {
    return false;
  }
  const int32_t divided = graph.node(match.nodes.back()).inputs[0];
  int32_t product = -1;
  if (divided == x) {  // x / root
    product = match.nodes.back();
  } else {  // x * (1 / root)
    if (!rewriter.IsConstant(divided)) return false;
    const int32_t before = match.value;
    if (!Then(rewriter, match, "Mul")) return false;
    product = match.nodes.back();
    if (rewriter.OtherInput(product, before) != x) return false;
  }
  const int32_t normalized = OutputOf(graph, product);
  if (!Then(rewriter, match, "Mul")) return false;
  const int32_t scale = StoredOperand(rewriter, match.nodes.back(), normalized);
  if (scale < 0) return false;
  const NodeId source = graph.node(square).source;
  rewriter.Replace(match.nodes,
                   Normalization("SimplifiedLayerNormalization", source, {x, scale}, match.value),
                   "spelled-out normalization -> SimplifiedLayerNormalization");
  return true;
}

bool SameSeenShape(const RuntimeGraph& graph, int32_t a, int32_t b) {
  const TensorType& left = graph.value(a).visible;
  const TensorType& right = graph.value(b).visible;
  if (!left.has_rank || !right.has_rank || left.dims.size() != right.dims.size()) return false;
  for (size_t i = 0; i < left.dims.size(); ++i) {
    if (!SameSize(left.dims[i], right.dims[i])) return false;
  }
  return left.dims.size() == 2 || left.dims.size() == 3;
}

// A stored row that is added to what alone reads it: becomes the bias.
int32_t TakeBias(Rewriter& rewriter, int32_t& operand, std::vector<int32_t>& nodes) {
  RuntimeGraph& graph = rewriter.graph();
  const int32_t add = rewriter.MadeBy(operand, "Add");
  if (add < 0 || !rewriter.IsUsedOnce(operand)) return -1;
  for (size_t i = 0; i < 2; ++i) {
    const int32_t bias = graph.node(add).inputs[i];
    if (!rewriter.IsConstant(bias) || graph.value(bias).visible.dims.size() != 1) continue;
    nodes.push_back(add);
    operand = graph.node(add).inputs[1 - i];
    return bias;
  }
  return -1;
}

}  // namespace

void FuseNormalizationsOfSums(Rewriter& rewriter) {
  RuntimeGraph& graph = rewriter.graph();
  for (const int32_t id : rewriter.Order()) {
    if (!rewriter.Is(id, "LayerNormalization")) continue;
    const RuntimeNode norm = graph.node(id);
    const int32_t add = rewriter.MadeBy(norm.inputs[0], "Add");
    if (add < 0 || !rewriter.IsUsedOnce(norm.inputs[0]) || norm.outputs.size() > 1) continue;
    const auto rank = static_cast<int64_t>(graph.value(norm.inputs[0]).visible.dims.size());
    const bool is_made =
        !norm.source.valid() || graph.graph->nodes[norm.source].op_type != norm.op_type;
    const int64_t axis = is_made ? -1 : rewriter.Int(id, "axis", -1);
    if (axis != -1 && axis != rank - 1) continue;
    std::vector<int32_t> operands = graph.node(add).inputs;
    if (!SameSeenShape(graph, operands[0], operands[1])) continue;
    std::vector<int32_t> nodes = {id, add};
    int32_t bias = TakeBias(rewriter, operands[0], nodes);
    if (bias < 0) bias = TakeBias(rewriter, operands[1], nodes);
    RuntimeNode made = norm;
    made.op_type = "SkipLayerNormalization";
    made.domain = std::string(kMicrosoftDomain);
    made.inputs = {operands[0], operands[1]};
    made.inputs.insert(made.inputs.end(), norm.inputs.begin() + 1, norm.inputs.end());
    made.inputs.resize(4, -1);
    if (bias >= 0) made.inputs.push_back(bias);
    rewriter.Replace(nodes, std::move(made), "Add + LayerNormalization -> SkipLayerNormalization");
  }
}

void FuseNormalizations(Rewriter& rewriter) {
  for (const int32_t id : rewriter.Order()) {
    const bool is_mean = rewriter.Is(id, "ReduceMean");
    if (!is_mean && !rewriter.Is(id, "Pow")) continue;
    if (rewriter.IsDouble(rewriter.graph_view().node(id).inputs[0])) continue;
    is_mean ? MatchLayerNorm(rewriter, id) : MatchRmsNorm(rewriter, id);
  }
}

}  // namespace footprint
