// Quantization and dequantization are moved past what only rearranges elements, so that operators
// find them on both sides:
//
//   DQ -> Reshape -> MatMul      becomes      DQ -> Reshape -> Q -> DQ -> MatMul
#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backend/runtime/onnxruntime_quantized.h"
#include "backend/runtime/onnxruntime_rewrites.h"

namespace footprint {
namespace {

constexpr absl::string_view kRearranging[] = {"MaxPool", "Reshape",   "Transpose",
                                              "Squeeze", "Unsqueeze", "Slice"};

bool Rearranges(const Rewriter& rewriter, int32_t node) {
  const RuntimeNode& row = rewriter.graph_view().node(node);
  if (row.op_type == "MaxPool" && rewriter.VersionOf(node) < 12) return false;
  return row.domain.empty() && std::find(std::begin(kRearranging), std::end(kRearranging),
                                         row.op_type) != std::end(kRearranging);
}

bool SameNumber(const Rewriter& rewriter, int32_t a, int32_t b) {
  if (a == b) return true;
  if (a < 0 || b < 0) return false;
  const RuntimeGraph& graph = rewriter.graph_view();
  if (graph.value(a).type.element != graph.value(b).type.element) return false;
  const std::optional<double> left = rewriter.Scalar(a);
  return left && left == rewriter.Scalar(b);
}

int32_t ZeroPoint(const RuntimeNode& node) { return node.inputs.size() > 2 ? node.inputs[2] : -1; }

bool IsOneStored(const Rewriter& rewriter, int32_t value) {
  if (!rewriter.IsConstant(value)) return false;
  const TensorType& type = rewriter.graph_view().value(value).type;
  return type.dims.empty() || (type.dims.size() == 1 && type.dims[0].Is(1));
}

RuntimeNode Pair(const RuntimeGraph& graph, const char* op, int32_t value, int32_t like) {
  RuntimeNode made;
  made.op_type = op;
  made.source = graph.node(like).source;
  made.inputs = graph.node(like).inputs;
  made.inputs[0] = value;
  return made;
}

// An operand; `reader` -1: handed out.
struct Edge {
  int32_t reader = -1;
  size_t operand = 0;
};

// Readers of what the reader of the edge makes, if it only rearranges.
std::vector<Edge> EdgesAfter(const Rewriter& rewriter, const Edge& edge) {
  if (edge.reader < 0 || !Rearranges(rewriter, edge.reader)) return {};
  const RuntimeGraph& graph = rewriter.graph_view();
  const int32_t value = graph.node(edge.reader).outputs[0];
  const std::vector<int32_t>& readers = rewriter.uses().readers[static_cast<size_t>(value)];
  if (graph.value(value).output)
    return readers.empty() ? std::vector<Edge>{{}} : std::vector<Edge>();
  std::vector<Edge> edges;
  for (size_t i = 0; i < readers.size(); ++i) {
    if (IsQuantization(rewriter, readers[i])) continue;
    if (std::find(readers.begin(), readers.begin() + static_cast<int64_t>(i), readers[i]) !=
        readers.begin() + static_cast<int64_t>(i)) {
      continue;  // all its operands at once
    }
    const std::vector<int32_t>& inputs = graph.node(readers[i]).inputs;
    for (size_t k = 0; k < inputs.size(); ++k) {
      if (inputs[k] == value) edges.push_back({readers[i], k});
    }
  }
  return edges;
}

void InsertPairs(Rewriter& rewriter, int32_t maker, int32_t value, const std::vector<Edge>& edges,
                 int32_t like) {
  RuntimeGraph& graph = rewriter.graph();
  int32_t from = value;
  const bool is_handed_out = edges[0].reader < 0;
  if (is_handed_out) {
    from = graph.AddLike(value, absl::StrCat(graph.value(value).name, "/before"));
    RuntimeNode changed = graph.node(maker);
    std::replace(changed.outputs.begin(), changed.outputs.end(), value, from);
    rewriter.Change(maker, std::move(changed));
  }
  if (maker >= 0) ForgetDeclared(graph, graph.node(maker), from);
  const int32_t quantized = AddQuantization(rewriter, from, like);
  for (const Edge& edge : edges) {
    const int32_t back =
        is_handed_out ? value
                      : graph.AddLike(value, absl::StrCat(graph.value(value).name, "/after"));
    AddDequantization(rewriter, quantized, like, back);
    if (edge.reader < 0) continue;
    RuntimeNode changed = graph.node(edge.reader);
    changed.inputs[edge.operand] = back;
    rewriter.Change(edge.reader, std::move(changed));
  }
  rewriter.Count("QuantizeLinear and DequantizeLinear moved");
}

void PropagateForward(Rewriter& rewriter, int32_t node) {
  RuntimeGraph& graph = rewriter.graph();
  const int32_t value = graph.node(node).outputs[0];
  if (!rewriter.IsUsedOnce(value) || !HasOneScale(rewriter, node)) return;
  std::vector<Edge> open = {{rewriter.uses().OnlyReader(value), 0}};
  while (!open.empty()) {
    const Edge edge = open.back();
    open.pop_back();
    const std::vector<Edge> after = EdgesAfter(rewriter, edge);
    if (after.empty()) continue;
    InsertPairs(rewriter, edge.reader, graph.node(edge.reader).outputs[0], after, node);
    open.insert(open.end(), after.begin(), after.end());
  }
}

void PropagateBackward(Rewriter& rewriter, int32_t node) {
  RuntimeGraph& graph = rewriter.graph();
  const int32_t value = graph.node(node).inputs[0];
  if (!HasOneScale(rewriter, node) || !rewriter.IsUsedOnce(value)) return;
  int32_t maker = rewriter.uses().producer[static_cast<size_t>(value)];
  while (maker >= 0 && Rearranges(rewriter, maker)) {
    const int32_t before = graph.node(maker).inputs[0];
    const int32_t source = rewriter.uses().producer[static_cast<size_t>(before)];
    if (source >= 0 && (!rewriter.IsUsedOnce(before) || IsDequantization(rewriter, source))) break;
    InsertPairs(rewriter, source, before, {{maker, 0}}, node);
    maker = source;
  }
}

// The least number that the type can hold.
std::optional<int64_t> LeastOf(ElementType element) {
  switch (element) {
    case ElementType::kUint8:
    case ElementType::kUint16:
      return 0;
    case ElementType::kInt8:
      return std::numeric_limits<int8_t>::min();
    case ElementType::kInt16:
      return std::numeric_limits<int16_t>::min();
    default:
      return std::nullopt;
  }
}

}  // namespace

bool IsQuantization(const Rewriter& rewriter, int32_t node) {
  return rewriter.Is(node, "QuantizeLinear") ||
         rewriter.Is(node, "QuantizeLinear", kMicrosoftDomain);
}

bool IsDequantization(const Rewriter& rewriter, int32_t node) {
  return rewriter.Is(node, "DequantizeLinear") ||
         rewriter.Is(node, "DequantizeLinear", kMicrosoftDomain);
}

int32_t DequantizedBy(const Rewriter& rewriter, int32_t value) {
  const int32_t node = value < 0 ? -1 : rewriter.uses().producer[static_cast<size_t>(value)];
  return IsDequantization(rewriter, node) ? node : -1;
}

bool HasOneScale(const Rewriter& rewriter, int32_t node) {
  const RuntimeNode& row = rewriter.graph_view().node(node);
  if (row.inputs.size() < 2 || !IsOneStored(rewriter, row.inputs[1])) return false;
  return ZeroPoint(row) < 0 || IsOneStored(rewriter, ZeroPoint(row));
}

bool IsInverse(const Rewriter& rewriter, int32_t dequantization, int32_t quantization) {
  const RuntimeGraph& graph = rewriter.graph_view();
  const RuntimeNode& before = graph.node(dequantization);
  const RuntimeNode& after = graph.node(quantization);
  return HasOneScale(rewriter, dequantization) && HasOneScale(rewriter, quantization) &&
         graph.value(before.inputs[0]).type.element == graph.value(after.outputs[0]).type.element &&
         SameNumber(rewriter, before.inputs[1], after.inputs[1]) &&
         SameNumber(rewriter, ZeroPoint(before), ZeroPoint(after));
}

bool IsRedundant(const Rewriter& rewriter, int32_t activation, int32_t quantization) {
  const RuntimeGraph& graph = rewriter.graph_view();
  const RuntimeNode& node = graph.node(quantization);
  const std::optional<int64_t> zero = rewriter.Integer(ZeroPoint(node));
  const int32_t point = ZeroPoint(node);
  const std::optional<int64_t> least =
      point < 0 ? std::nullopt : LeastOf(graph.value(point).type.element);
  if (!zero || !least) return false;
  if (rewriter.Is(activation, "Relu")) return *zero == *least;
  if (!rewriter.Is(activation, "Clip") || rewriter.VersionOf(activation) < 11) return false;
  const std::optional<double> scale = rewriter.Scalar(node.inputs[1]);
  const std::vector<int32_t>& bounds = graph.node(activation).inputs;
  const auto bound = [&](size_t i, double otherwise) -> std::optional<double> {
    return i < bounds.size() && bounds[i] >= 0 ? rewriter.Scalar(bounds[i]) : otherwise;
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kEpsilon = std::numeric_limits<float>::epsilon();
  const std::optional<double> low = bound(1, -kInfinity);
  const std::optional<double> high = bound(2, kInfinity);
  if (!scale || !low || !high) return false;
  const int bits = BitsPerElement(graph.value(point).type.element);
  const auto most = static_cast<double>(*least + (int64_t{1} << bits) - 1);
  return *low - *scale * static_cast<double>(*least - *zero) < kEpsilon &&
         *scale * (most - static_cast<double>(*zero)) - *high < kEpsilon;
}

int32_t AddQuantization(Rewriter& rewriter, int32_t value, int32_t like) {
  RuntimeGraph& graph = rewriter.graph();
  const int32_t example =
      IsQuantization(rewriter, like) ? graph.node(like).outputs[0] : graph.node(like).inputs[0];
  const ElementType element = graph.value(example).type.element;
  const int32_t result = graph.AddLike(value, absl::StrCat(graph.value(value).name, "/quantized"));
  graph.value(result).type.element = graph.value(result).visible.element = element;
  RuntimeNode made = Pair(graph, "QuantizeLinear", value, like);
  made.outputs = {result};
  rewriter.Replace({}, std::move(made), "");
  return result;
}

int32_t AddDequantization(Rewriter& rewriter, int32_t value, int32_t like, int32_t result) {
  RuntimeNode made = Pair(rewriter.graph(), "DequantizeLinear", value, like);
  made.outputs = {result};
  return rewriter.Replace({}, std::move(made), "");
}

void PropagateQuantization(Rewriter& rewriter) {
  for (const int32_t node : rewriter.Order()) {
    if (IsQuantization(rewriter, node)) PropagateBackward(rewriter, node);
  }
  for (const int32_t node : rewriter.Order()) {
    if (IsDequantization(rewriter, node)) PropagateForward(rewriter, node);
  }
}

void DequantizeChoices(Rewriter& rewriter) {
  RuntimeGraph& graph = rewriter.graph();
  for (const int32_t node : rewriter.Order()) {
    if (!rewriter.Is(node, "Where")) continue;
    const std::vector<int32_t> inputs = graph.node(node).inputs;
    for (size_t i = 1; i < inputs.size(); ++i) {
      const int32_t like = DequantizedBy(rewriter, inputs[inputs.size() - i]);
      if (like < 0 || !rewriter.IsConstant(inputs[i])) continue;
      if (!graph.value(inputs[i]).type.dims.empty()) continue;
      const std::string name = graph.value(inputs[i]).name;
      const int32_t stored = graph.AddStored(inputs[i], absl::StrCat(name, "/quantized"));
      RuntimeValue& number = graph.value(stored);
      number.type.element = graph.value(graph.node(like).inputs[0]).type.element;
      number.visible.element = number.type.element;
      const int32_t result = graph.AddLike(inputs[i], absl::StrCat(name, "/dequantized"));
      AddDequantization(rewriter, stored, like, result);
      RuntimeNode changed = graph.node(node);
      changed.inputs[i] = result;
      rewriter.Change(node, std::move(changed));
    }
  }
}

void DropRedundantActivations(Rewriter& rewriter) {
  RuntimeGraph& graph = rewriter.graph();
  for (const int32_t node : rewriter.Order()) {
    if (!rewriter.Is(node, "Relu") && !rewriter.Is(node, "Clip")) continue;
    const int32_t value = graph.node(node).outputs[0];
    if (!rewriter.IsUsedOnce(value)) continue;
    const int32_t reader = rewriter.uses().OnlyReader(value);
    if (!IsQuantization(rewriter, reader) || !IsRedundant(rewriter, node, reader)) continue;
    rewriter.Forward(node, graph.node(node).inputs[0],
                     absl::StrCat(graph.node(node).op_type, " before QuantizeLinear taken out"));
  }
}

void MakeUnsigned(Rewriter& rewriter) {
  RuntimeGraph& graph = rewriter.graph();
  for (const int32_t node : rewriter.Order()) {
    if (!IsQuantization(rewriter, node) || graph.node(node).inputs.size() != 3) continue;
    RuntimeValue& value = graph.value(graph.node(node).outputs[0]);
    const int32_t reader = rewriter.uses().OnlyReader(graph.node(node).outputs[0]);
    if (value.type.element != ElementType::kInt8 || value.output || reader < 0) continue;
    if (!IsDequantization(rewriter, reader) || !IsInverse(rewriter, reader, node)) continue;
    value.type.element = value.visible.element = ElementType::kUint8;
  }
}

void DropInversePair(Rewriter& rewriter, int32_t quantization) {
  RuntimeGraph& graph = rewriter.graph();
  const int32_t value = graph.node(quantization).inputs[0];
  const int32_t result = graph.node(quantization).outputs[0];
  const int32_t before = DequantizedBy(rewriter, value);
  if (before < 0 || !rewriter.IsUsedOnce(value)) return;
  if (!IsInverse(rewriter, before, quantization)) return;
  const int32_t quantized = graph.node(before).inputs[0];
  const std::vector<int32_t>& readers = rewriter.uses().readers[static_cast<size_t>(result)];
  const bool has_one_reader =
      !readers.empty() && std::count(readers.begin(), readers.end(), readers.front()) ==
                              static_cast<int64_t>(readers.size());
  if (has_one_reader && rewriter.Forward(quantization, quantized, "")) {
    return rewriter.Remove(before);
  }
  const int32_t maker = rewriter.uses().producer[static_cast<size_t>(quantized)];
  if (!readers.empty() || maker < 0 || !rewriter.IsUsedOnce(quantized)) return;
  if (graph.node(maker).outputs[0] != quantized) return;
  rewriter.Remove(before);
  rewriter.Absorb(maker, quantization, "");
}

void DropInversePairs(Rewriter& rewriter) {
  for (const int32_t node : rewriter.Order()) {
    if (IsQuantization(rewriter, node)) DropInversePair(rewriter, node);
  }
}

}  // namespace footprint
