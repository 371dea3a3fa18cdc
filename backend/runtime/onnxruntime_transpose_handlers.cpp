// What each operator does with a transposed operand: see onnxruntime_transposes.cpp.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backend/runtime/onnxruntime_transposes.h"

namespace footprint {
namespace {

using Operands = TransposeHandler::Operands;

int64_t RankOf(const TransposedNode& what) { return static_cast<int64_t>(what.permutation.size()); }

std::optional<int64_t> Normalized(int64_t axis, int64_t rank) {
  if (axis < 0) axis += rank;
  return axis >= 0 && axis < rank ? std::optional<int64_t>(axis) : std::nullopt;
}

// Within the rank, each once.
bool Normalize(std::vector<int64_t>& axes, int64_t rank) {
  for (int64_t& axis : axes) {
    const std::optional<int64_t> normalized = Normalized(axis, rank);
    if (!normalized) return false;
    axis = *normalized;
  }
  std::vector<int64_t> sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
}

int64_t Before(const TransposedNode& what, int64_t axis) {
  return what.permutation[static_cast<size_t>(axis)];
}

std::vector<int64_t> Before(const TransposedNode& what, std::vector<int64_t> axes) {
  for (int64_t& axis : axes) axis = Before(what, axis);
  return axes;
}

void TransposeOperands(const TransposedNode& what) {
  RuntimeGraph& graph = what.mover.graph();
  const RuntimeNode node = graph.node(what.node);
  const Permutation inverse = Inverse(what.permutation);
  for (const size_t i : TransposedOperands(graph, node, *FindTransposeHandler(node))) {
    what.mover.TransposeInput(what.node, i, inverse);
  }
}

bool Simple(const TransposedNode& what) {
  TransposeOperands(what);
  what.mover.TransposeOutputs(what.node, what.permutation);
  return true;
}

// From channels last to channels first.
bool IsToFirst(const Permutation& permutation) {
  const auto rank = static_cast<int64_t>(permutation.size());
  if (rank < 2 || permutation[0] != 0 || permutation[1] != rank - 1) return false;
  for (int64_t i = 2; i < rank; ++i) {
    if (permutation[static_cast<size_t>(i)] != i - 1) return false;
  }
  return true;
}

bool Broadcasting(const TransposedNode& what) {
  RuntimeGraph& graph = what.mover.graph();
  const RuntimeNode& node = graph.node(what.node);
  const std::vector<size_t> operands = TransposedOperands(graph, node, *FindTransposeHandler(node));
  return what.mover.WidenInputs(what.node, operands, what.permutation.size()) && Simple(what);
}

bool AlongAxis(const TransposedNode& what, int64_t otherwise) {
  Rewriter& rewriter = what.mover.rewriter();
  const std::optional<int64_t> axis = Normalized(rewriter.Axis(what.node, otherwise), RankOf(what));
  if (!axis) return false;
  what.mover.graph().node(what.node).axis = Before(what, *axis);
  return Simple(what);
}

bool Concat(const TransposedNode& what) { return AlongAxis(what, 0); }
bool Split(const TransposedNode& what) { return AlongAxis(what, 0); }

// Before version 13 all axes before one are taken together, and all from there.
bool Softmax(const TransposedNode& what) {
  if (what.mover.rewriter().VersionOf(what.node) >= 13) return AlongAxis(what, -1);
  const std::optional<int64_t> axis =
      Normalized(what.mover.rewriter().Axis(what.node, 1), RankOf(what));
  if (!axis) return false;
  for (int64_t i = 0; i < RankOf(what); ++i) {
    if ((i < *axis) != (Before(what, i) < *axis)) return false;
  }
  return Simple(what);
}

// A list of sizes, in the order of the axes before.
void GatherSizes(const TransposedNode& what, int32_t from, int32_t to) {
  RuntimeGraph& graph = what.mover.graph();
  const int32_t positions = graph.AddStored(to, absl::StrCat(graph.value(to).name, "/positions"));
  RuntimeNode gather;
  gather.op_type = "Gather";
  gather.source = graph.node(what.node).source;
  gather.axis = 0;
  gather.inputs = {from, positions};
  gather.outputs = {to};
  what.mover.rewriter().Replace({}, std::move(gather), "");
}

bool Shape(const TransposedNode& what) {
  RuntimeGraph& graph = what.mover.graph();
  TransposeOperands(what);
  RuntimeNode changed = graph.node(what.node);
  const int32_t result = changed.outputs[0];
  const int32_t sizes = graph.AddLike(result, absl::StrCat(graph.value(result).name, "/t"));
  for (TensorType* type : {&graph.value(sizes).type, &graph.value(sizes).visible}) {
    type->has_rank = true;
    type->dims = {Dim(RankOf(what))};
  }
  changed.outputs = {sizes};
  what.mover.rewriter().Change(what.node, std::move(changed));
  GatherSizes(what, sizes, result);
  return true;
}

void PermuteList(const TransposedNode& what, size_t i) {
  RuntimeGraph& graph = what.mover.graph();
  const RuntimeNode& node = graph.node(what.node);
  if (i >= node.inputs.size() || node.inputs[i] < 0 || graph.value(node.inputs[i]).constant) return;
  const int32_t list = node.inputs[i];
  const int32_t other = graph.AddLike(list, absl::StrCat(graph.value(list).name, "/t"));
  GatherSizes(what, list, other);
  RuntimeNode changed = graph.node(what.node);
  changed.inputs[i] = other;
  what.mover.rewriter().Change(what.node, std::move(changed));
}

bool PadOrTile(const TransposedNode& what) {
  PermuteList(what, 1);
  return Simple(what);
}

// Results without the axes, or with one element for each.
bool WithoutOrKept(const TransposedNode& what, const std::vector<int64_t>& before) {
  TransposeOperands(what);
  const bool keeps = what.mover.rewriter().Int(what.node, "keepdims", 1) != 0;
  what.mover.TransposeOutputs(what.node,
                              keeps ? what.permutation : WithoutAxes(what.permutation, before));
  return true;
}

bool Reduce(const TransposedNode& what) {
  Rewriter& rewriter = what.mover.rewriter();
  RuntimeNode& node = what.mover.graph().node(what.node);
  const int since = node.op_type == "ReduceSum" ? 13 : 18;
  std::optional<std::vector<int64_t>> axes = rewriter.Axes(what.node, 1, since);
  const bool has_operand = node.inputs.size() > 1 && node.inputs[1] >= 0;
  if (!axes && has_operand) return false;
  if (!axes || axes->empty()) {  // all of them, or none
    const bool does_nothing = rewriter.Int(what.node, "noop_with_empty_axes", 0) != 0;
    if (does_nothing || rewriter.Int(what.node, "keepdims", 1) != 0) return Simple(what);
    TransposeOperands(what);
    return true;
  }
  if (!Normalize(*axes, RankOf(what))) return false;
  std::vector<int64_t> before = Before(what, *axes);
  std::sort(before.begin(), before.end());
  node.axes = before;
  return WithoutOrKept(what, before);
}

bool ArgOfExtreme(const TransposedNode& what) {
  const std::optional<int64_t> axis =
      Normalized(what.mover.rewriter().Axis(what.node, 0), RankOf(what));
  if (!axis) return false;
  what.mover.graph().node(what.node).axis = Before(what, *axis);
  return WithoutOrKept(what, {Before(what, *axis)});
}

bool Squeeze(const TransposedNode& what) {
  std::optional<std::vector<int64_t>> axes = what.mover.rewriter().Axes(what.node, 1, 13);
  if (!axes || !Normalize(*axes, RankOf(what))) return false;
  const std::vector<int64_t> before = Before(what, *axes);
  what.mover.graph().node(what.node).axes = before;
  TransposeOperands(what);
  what.mover.TransposeOutputs(what.node, WithoutAxes(what.permutation, before));
  return true;
}

bool Unsqueeze(const TransposedNode& what) {
  std::optional<std::vector<int64_t>> axes = what.mover.rewriter().Axes(what.node, 1, 13);
  if (!axes || !Normalize(*axes, RankOf(what) + static_cast<int64_t>(axes->size()))) return false;
  TransposeOperands(what);
  what.mover.TransposeOutputs(what.node, WithAxes(what.permutation, *axes));
  return true;
}

bool Slice(const TransposedNode& what) {
  RuntimeGraph& graph = what.mover.graph();
  RuntimeNode& node = graph.node(what.node);
  std::optional<std::vector<int64_t>> axes = what.mover.rewriter().Axes(what.node, 3, 10);
  if (!axes) {  // the first ones
    if (node.inputs.size() > 3 && node.inputs[3] >= 0) return false;
    if (node.inputs.size() < 2) return false;
    const TensorType& starts = graph.value(node.inputs[1]).visible;
    if (starts.dims.size() != 1 || !starts.dims[0].is_constant()) return false;
    axes.emplace();
    for (int64_t i = 0; i < starts.dims[0].value(); ++i) axes->push_back(i);
  }
  if (!Normalize(*axes, RankOf(what))) return false;
  node.axes = Before(what, *axes);
  return Simple(what);
}

// One position.
bool Gather(const TransposedNode& what) {
  RuntimeGraph& graph = what.mover.graph();
  RuntimeNode& node = graph.node(what.node);
  const std::optional<int64_t> axis =
      Normalized(what.mover.rewriter().Axis(what.node, 0), RankOf(what));
  if (!axis || node.inputs.size() != 2) return false;
  const TensorType& positions = graph.value(node.inputs[1]).visible;
  if (!positions.has_rank || !positions.dims.empty()) return false;
  node.axis = Before(what, *axis);
  TransposeOperands(what);
  what.mover.TransposeOutputs(what.node, WithoutAxes(what.permutation, {Before(what, *axis)}));
  return true;
}

bool Transpose(const TransposedNode& what) {
  RuntimeGraph& graph = what.mover.graph();
  const Permutation second = what.mover.rewriter().Permutation(what.node);
  if (second.size() != what.permutation.size()) return false;
  const Permutation both = Composed(what.permutation, second);
  if (std::is_sorted(both.begin(), both.end())) {
    what.mover.Cancel(what.node, what.transpose);
    return true;
  }
  RuntimeNode changed = graph.node(what.node);
  changed.inputs[0] = graph.node(what.transpose).inputs[0];
  changed.permutation = both;
  what.mover.rewriter().Change(what.node, std::move(changed));
  what.mover.RemoveIfUnused(what.transpose);
  return true;
}

// Bytes alone, and from channels last to channels first.
bool MaxPool(const TransposedNode& what) {
  RuntimeGraph& graph = what.mover.graph();
  const RuntimeNode& node = graph.node(what.node);
  const ElementType element = graph.value(node.outputs[0]).type.element;
  if (element != ElementType::kUint8 && element != ElementType::kInt8) return false;
  if (node.outputs.size() > 1 || !IsToFirst(what.permutation)) return false;
  RuntimeNode made = node;
  made.op_type = "NhwcMaxPool";
  made.domain = std::string(kMicrosoftDomain);
  const int32_t pool = what.mover.rewriter().Replace({what.node}, std::move(made), "");
  what.mover.TransposeInput(pool, 0, Inverse(what.permutation));
  what.mover.TransposeOutputs(pool, what.permutation);
  return true;
}

bool QuantizedPool(const TransposedNode& what) {
  return (IsToFirst(what.permutation) || IsToFirst(Inverse(what.permutation))) && Simple(what);
}

constexpr absl::string_view kElementwise[] = {"Cast",
                                              "Exp",
                                              "Gelu",
                                              "Identity",
                                              "LeakyRelu",
                                              "Log",
                                              "Reciprocal",
                                              "Relu",
                                              "Sigmoid",
                                              "Sqrt",
                                              "Tanh",
                                              "Abs",
                                              "Not",
                                              "Ceil",
                                              "Floor",
                                              "Neg",
                                              "Erf",
                                              "Round",
                                              "IsInf",
                                              "IsNaN",
                                              "Selu",
                                              "Shrink",
                                              "Sign",
                                              "Softplus",
                                              "Softsign",
                                              "Celu",
                                              "HardSigmoid",
                                              "HardSwish",
                                              "Sin",
                                              "Cos",
                                              "Tan",
                                              "Sinh",
                                              "Cosh",
                                              "Asin",
                                              "Acos",
                                              "Atan",
                                              "Asinh",
                                              "Acosh",
                                              "Atanh",
                                              "Clip",
                                              "CastLike",
                                              "ThresholdedRelu",
                                              "QuantizeLinear",
                                              "DequantizeLinear"};
constexpr absl::string_view kBroadcasting[] = {"Add",        "Max",     "Min",   "Mul",
                                               "Sub",        "Div",     "And",   "Or",
                                               "Xor",        "Mod",     "PRelu", "BitShift",
                                               "Equal",      "Greater", "Less",  "Mean",
                                               "Sum",        "Pow",     "Where", "GreaterOrEqual",
                                               "LessOrEqual"};
constexpr absl::string_view kReducing[] = {
    "ReduceLogSum", "ReduceLogSumExp", "ReduceMax",       "ReduceMean", "ReduceMin",
    "ReduceProd",   "ReduceSum",       "ReduceSumSquare", "ReduceL1",   "ReduceL2"};

// A transposition can be merged with a Reshape that only moves axes of one element: not followed.
bool Never(const TransposedNode&) { return false; }

std::vector<TransposeHandler> AllHandlers() {
  std::vector<TransposeHandler> handlers = {
      {"Concat", Operands::kAll, Concat},
      {"Split", Operands::kFirst, Split},
      {"Softmax", Operands::kFirst, Softmax},
      {"Hardmax", Operands::kFirst, Softmax},
      {"LogSoftmax", Operands::kFirst, Softmax},
      {"Shape", Operands::kFirst, Shape, false},
      {"Pad", Operands::kFirst, PadOrTile},
      {"Tile", Operands::kFirst, PadOrTile},
      {"ArgMax", Operands::kFirst, ArgOfExtreme},
      {"ArgMin", Operands::kFirst, ArgOfExtreme},
      {"Squeeze", Operands::kFirst, Squeeze},
      {"Unsqueeze", Operands::kFirst, Unsqueeze},
      {"Slice", Operands::kFirst, Slice},
      {"Gather", Operands::kFirst, Gather},
      {"Transpose", Operands::kFirst, Transpose, false},
      {"Reshape", Operands::kFirst, Never, false},
      {"Resize", Operands::kFirst, Never},
      {"MaxPool", Operands::kFirst, MaxPool},
      {"QLinearAdd", Operands::kQuantizedPair, Broadcasting, true, kMicrosoftDomain},
      {"QLinearMul", Operands::kQuantizedPair, Broadcasting, true, kMicrosoftDomain},
      {"QLinearConcat", Operands::kQuantized, Concat, true, kMicrosoftDomain},
      {"QLinearAveragePool", Operands::kFirst, QuantizedPool, true, kMicrosoftDomain},
      {"QLinearGlobalAveragePool", Operands::kFirst, QuantizedPool, true, kMicrosoftDomain},
      {"QLinearLeakyRelu", Operands::kFirst, Simple, true, kMicrosoftDomain},
      {"QLinearSigmoid", Operands::kFirst, Simple, true, kMicrosoftDomain},
      {"QLinearSoftmax", Operands::kFirst, Softmax, true, kMicrosoftDomain},
  };
  for (const absl::string_view op : kElementwise)
    handlers.push_back({op, Operands::kFirst, Simple});
  for (const absl::string_view op : kBroadcasting) {
    handlers.push_back({op, Operands::kNotScalar, Broadcasting});
  }
  for (const absl::string_view op : kReducing) handlers.push_back({op, Operands::kFirst, Reduce});
  return handlers;
}

}  // namespace

const TransposeHandler* FindTransposeHandler(const RuntimeNode& node) {
  static const auto& handlers = *new std::vector<TransposeHandler>(AllHandlers());
  for (const TransposeHandler& handler : handlers) {
    if (handler.op_type == node.op_type && handler.domain == node.domain) return &handler;
  }
  return nullptr;
}

std::vector<size_t> TransposedOperands(const RuntimeGraph& graph, const RuntimeNode& node,
                                       const TransposeHandler& handler) {
  if (handler.operands == Operands::kFirst) return {0};
  if (handler.operands == Operands::kQuantizedPair) return {0, 3};
  std::vector<size_t> operands;
  const bool is_quantized = handler.operands == Operands::kQuantized;  // behind scale and zero
  for (size_t i = is_quantized ? 2 : 0; i < node.inputs.size(); i += is_quantized ? 3 : 1) {
    if (node.inputs[i] < 0) continue;
    const TensorType& type = graph.value(node.inputs[i]).visible;
    const bool is_scalar = type.has_rank && type.dims.empty();
    if (handler.operands != Operands::kNotScalar || !is_scalar) operands.push_back(i);
  }
  return operands;
}

}  // namespace footprint
