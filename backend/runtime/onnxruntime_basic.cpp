// Rewrites that keep every number: what rests on stored constants is computed beforehand, what
// changes nothing is taken out, and what is computed twice is computed once.
#include <algorithm>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backend/runtime/onnxruntime.h"
#include "backend/runtime/onnxruntime_quantized.h"
#include "backend/runtime/onnxruntime_rewrites.h"

namespace footprint {
namespace {

// The file's node that this one still is; null for what a rewrite made.
const Node* Original(const Rewriter& rewriter, const RuntimeGraph& graph, int32_t id) {
  const RuntimeNode& node = graph.node(id);
  if (!node.source.valid()) return nullptr;
  const Node& source = graph.graph->nodes[node.source];
  return rewriter.Is(id, source.op_type, source.domain) ? &source : nullptr;
}

bool IsReady(const RuntimeGraph& graph, const RuntimeNode& node, const Node& source) {
  if (NeedsSizesAlone(source)) {
    const int32_t input = node.inputs.empty() ? -1 : node.inputs[0];
    return input >= 0 && graph.value(input).visible.has_rank &&
           graph.value(input).visible.AllDimsConstant();
  }
  return std::all_of(node.inputs.begin(), node.inputs.end(),
                     [&](int32_t input) { return input < 0 || graph.value(input).constant; });
}

bool HandsOut(const RuntimeGraph& graph, const RuntimeNode& node) {
  return std::any_of(node.outputs.begin(), node.outputs.end(),
                     [&](int32_t output) { return output >= 0 && graph.value(output).output; });
}

bool SameVisibleShape(const RuntimeValue& a, const RuntimeValue& b) {
  if (!a.visible.has_rank || !b.visible.has_rank) return false;
  if (a.visible.dims.size() != b.visible.dims.size()) return false;
  for (size_t i = 0; i < a.visible.dims.size(); ++i) {
    if (!SameSize(a.visible.dims[i], b.visible.dims[i])) return false;
  }
  return true;
}

// A mask that somebody reads. Where nobody does, dropping is taken out even where it trains.
bool HasMask(const Rewriter& rewriter, const RuntimeGraph& graph, const RuntimeNode& node) {
  const int32_t mask = node.outputs.size() > 1 ? node.outputs[1] : -1;
  return mask >= 0 &&
         (graph.value(mask).output || !rewriter.uses().readers[static_cast<size_t>(mask)].empty());
}

// An operand that the node hands on as it is; -1.
int32_t HandedOn(const Rewriter& rewriter, const RuntimeGraph& graph, int32_t id) {
  const RuntimeNode& node = graph.node(id);
  if (node.inputs.empty() || node.inputs[0] < 0 || node.outputs.empty() || node.outputs[0] < 0) {
    return -1;
  }
  const RuntimeValue& input = graph.value(node.inputs[0]);
  const RuntimeValue& output = graph.value(node.outputs[0]);
  const absl::string_view op = node.op_type;
  if (op == "Identity") return node.inputs[0];
  if (op == "Dropout") {
    const bool is_kept = input.input && node.inputs.size() > 1;
    return is_kept || HasMask(rewriter, graph, node) ? -1 : node.inputs[0];
  }
  if (op == "Cast") {
    return input.type.element == output.type.element ? node.inputs[0] : -1;
  }
  // What the caller gives is handed on by a node of its own in the cases that follow.
  if (op == "Expand") {
    return !input.input && SameVisibleShape(input, output) ? node.inputs[0] : -1;
  }
  if (op == "Reshape" && output.visible.AllDimsConstant()) {
    return SameVisibleShape(input, output) ? node.inputs[0] : -1;
  }
  const bool adds = op == "Add" || op == "Sub";
  if (!adds && op != "Mul" && op != "Div") return -1;
  const std::optional<Rewriter::ScalarOperand> scalar = rewriter.WithScalar(id);
  if (!scalar || scalar->scalar != (adds ? 0 : 1)) return -1;
  if ((op == "Sub" || op == "Div") && scalar->other != node.inputs[0]) return -1;
  const TensorType& number = graph.value(rewriter.OtherInput(id, scalar->other)).type;
  const TensorType& other = graph.value(scalar->other).visible;
  if (graph.value(scalar->other).input) return -1;
  return other.has_rank && number.dims.size() <= other.dims.size() ? scalar->other : -1;
}

// The node whose first result an Identity alone reads, to hand it out; -1.
int32_t HandsOutResultOf(const Rewriter& rewriter, const RuntimeGraph& graph, int32_t id) {
  const RuntimeNode& node = graph.node(id);
  if (node.op_type != "Identity" || !HandsOut(graph, node)) return -1;
  const int32_t from = node.inputs[0];
  if (from < 0 || !rewriter.IsUsedOnce(from)) return -1;
  const int32_t maker = rewriter.uses().producer[static_cast<size_t>(from)];
  return maker >= 0 && graph.node(maker).outputs[0] == from ? maker : -1;
}

// What a tensor holds, or else which one it is.
std::string TensorText(const Graph& graph, ConstantId id) {
  if (!id.valid()) return "";
  const Constant& row = graph.constants[id];
  if (!row.has_integers && !row.has_floats) return absl::StrCat(id.index());
  return absl::StrCat(row.type.element, "[", row.type.dims.size(), "](",
                      absl::StrJoin(row.integers, " "), absl::StrJoin(row.floats, " "), ")");
}

std::string AttributeText(const Graph& graph, const Node& node) {
  std::string text;
  for (const Attribute& attribute : node.attributes) {
    absl::StrAppend(&text, attribute.name, "=", attribute.int_value, ",", attribute.float_value,
                    ",", attribute.string_value, ",", TensorText(graph, attribute.constant), ";");
    for (const int64_t value : attribute.ints) absl::StrAppend(&text, value, ",");
    for (const double value : attribute.floats) absl::StrAppend(&text, value, ",");
    for (const std::string& value : attribute.strings) absl::StrAppend(&text, value, ",");
  }
  return text;
}

// What tells one node of an operator from another beside what it reads; none: never the same.
std::optional<std::string> Settings(const Rewriter& rewriter, const RuntimeGraph& graph,
                                    int32_t id) {
  if (rewriter.Is(id, "Transpose")) return absl::StrJoin(rewriter.Permutation(id), ",");
  if (IsDequantization(rewriter, id)) return std::nullopt;  // every reader has its own
  const Node* source = Original(rewriter, graph, id);
  const RuntimeNode& node = graph.node(id);
  if (source == nullptr || node.outputs.size() != 1) return std::nullopt;
  const OnnxOp* op = source->op;
  if (op == nullptr || op->is_random || op->control != Control::kNone) return std::nullopt;
  std::string text = AttributeText(*graph.graph, *source);
  if (node.axis) absl::StrAppend(&text, "axis:", *node.axis);
  if (node.axes) absl::StrAppend(&text, "axes:", absl::StrJoin(*node.axes, ","));
  return text;
}

// Small stored operands are known by what they hold.
std::string OperandText(const RuntimeGraph& graph, int32_t input) {
  constexpr size_t kSmall = 8;
  std::string name = absl::StrCat(input, ",");
  if (input < 0 || !graph.value(input).constant) return name;
  const RuntimeValue& value = graph.value(input);
  const KnownValuePtr& contents = value.contents;
  if (contents == nullptr || contents->is_sequence) return name;
  if (contents->integers.size() + contents->floats.size() > kSmall) return name;
  std::string text = absl::StrCat(value.type.element, "[", value.type.dims.size(), "](");
  for (const Dim& integer : contents->integers) {
    if (!integer.is_constant()) return name;
    absl::StrAppend(&text, integer.value(), "/", contents->denominator, " ");
  }
  for (const double number : contents->floats) absl::StrAppend(&text, number, " ");
  return absl::StrCat(text, "),");
}

void Fold(Rewriter& rewriter, int32_t id) {
  RuntimeGraph& graph = rewriter.graph();
  for (const int32_t output : graph.node(id).outputs) {
    if (output >= 0) graph.value(output).constant = true;
  }
  rewriter.Remove(id);
  rewriter.Count("computed beforehand");
}

}  // namespace

void FoldConstants(Rewriter& rewriter) {
  const RuntimeGraph& graph = rewriter.graph_view();
  for (const int32_t id : rewriter.Order()) {
    const Node* source = Original(rewriter, graph, id);
    const RuntimeNode& node = graph.node(id);
    if (source == nullptr || !IsFoldable(*source) || !IsReady(graph, node, *source) ||
        HandsOut(graph, node) || LacksHalfKernel(graph, node)) {
      continue;
    }
    Fold(rewriter, id);
  }
}

void FoldRearranged(Rewriter& rewriter) {
  const RuntimeGraph& graph = rewriter.graph_view();
  for (const int32_t id : rewriter.Order()) {
    if (!rewriter.Is(id, "Transpose") && !rewriter.Is(id, "Squeeze")) continue;
    const RuntimeNode& node = graph.node(id);
    if (rewriter.IsConstant(node.inputs[0]) && !HandsOut(graph, node)) Fold(rewriter, id);
  }
}

void EliminateNodes(Rewriter& rewriter) {
  RuntimeGraph& graph = rewriter.graph();
  for (const int32_t id : rewriter.Order()) {
    if (Original(rewriter, graph, id) == nullptr) continue;
    const int32_t maker = HandsOutResultOf(rewriter, graph, id);
    if (maker >= 0) {
      rewriter.Absorb(maker, id, "Identity taken out");
      continue;
    }
    const int32_t from = HandedOn(rewriter, graph, id);
    if (from >= 0) rewriter.Forward(id, from, absl::StrCat(graph.node(id).op_type, " taken out"));
  }
}

void MergeEqualNodes(Rewriter& rewriter) {
  RuntimeGraph& graph = rewriter.graph();
  absl::flat_hash_map<std::string, int32_t> known;
  for (const int32_t id : rewriter.Order()) {
    const RuntimeNode& node = graph.node(id);
    const std::optional<std::string> settings = Settings(rewriter, graph, id);
    if (!settings || HandsOut(graph, node)) continue;
    std::string key = absl::StrCat(node.domain, ":", node.op_type, "(");
    for (const int32_t input : node.inputs) absl::StrAppend(&key, OperandText(graph, input));
    absl::StrAppend(&key, ")", *settings);
    const auto [found, is_new] = known.emplace(std::move(key), id);
    if (!is_new) rewriter.Forward(id, graph.node(found->second).outputs[0], "computed once");
  }
}

}  // namespace footprint
