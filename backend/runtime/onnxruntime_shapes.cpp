// What ONNX Runtime's own shape inference sees, as far as it is less than ours. Contents of shape
// tensors are followed through a dozen operators, and decide a shape only where all of them are
// numbers; a size that rests on a name is lost wherever an operator computes with it.
#include <algorithm>

#include "backend/runtime/onnxruntime.h"

namespace footprint {
namespace {

constexpr absl::string_view kComputing[] = {"Shape",     "Cast",  "Add",    "Sub",
                                            "Mul",       "Div",   "Gather", "Squeeze",
                                            "Unsqueeze", "Slice", "Concat"};

// Of what is stored it reads axes and positions alone: other numbers that are stored take part in
// no computation.
bool Computes(const Node& node, const std::vector<bool>& stored) {
  if (!node.domain.empty()) return false;
  const absl::string_view op = node.op_type;
  if (std::find(std::begin(kComputing), std::end(kComputing), op) == std::end(kComputing)) {
    return false;
  }
  const bool has_positions = op == "Gather" || op == "Squeeze" || op == "Unsqueeze";
  for (size_t i = 0; i < stored.size(); ++i) {
    if (stored[i] && (i != 1 || !has_positions)) return false;
  }
  return true;
}

void Forget(Dim& dim) {
  if (!dim.is_constant()) dim = Dim();
}

void ForgetFrom(TensorType& output, size_t first) {
  for (size_t i = first; i < output.dims.size(); ++i) Forget(output.dims[i]);
}

void ForgetAxis(TensorType& output, int64_t axis) {
  const auto rank = static_cast<int64_t>(output.dims.size());
  if (axis < 0) axis += rank;
  if (axis >= 0 && axis < rank) Forget(output.dims[static_cast<size_t>(axis)]);
}

// Numbers too: the rank is left.
void ForgetAll(TensorType& output) { std::fill(output.dims.begin(), output.dims.end(), Dim()); }

KnownValuePtr At(absl::Span<const KnownValuePtr> inputs, size_t i) {
  return i < inputs.size() ? inputs[i] : nullptr;
}

// The size that -1 stands for is computed from numbers alone.
void ForgetReshape(absl::Span<const KnownValuePtr> inputs, TensorType& output) {
  const KnownValuePtr shape = At(inputs, 1);
  if (shape == nullptr || shape->integers.size() != output.dims.size()) return;
  for (size_t i = 0; i < output.dims.size(); ++i) {
    if (shape->integers[i].Is(-1)) Forget(output.dims[i]);
  }
}

bool IsKnown(const KnownValuePtr& value) {
  return value != nullptr && std::all_of(value->integers.begin(), value->integers.end(),
                                         [](const Dim& dim) { return dim.is_constant(); });
}

// Positions decide sizes only where all of them are stored; without them the rank is left.
void ForgetSlice(const Node& node, absl::Span<const KnownValuePtr> inputs, TensorType& output) {
  if (node.Has("axes") || node.Has("starts")) {
    for (const int64_t axis : node.Ints("axes")) ForgetAxis(output, axis);
    if (!node.Has("axes")) ForgetFrom(output, 0);
    return;
  }
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (node.inputs[i].valid() && !IsKnown(At(inputs, i))) return ForgetAll(output);
  }
  const KnownValuePtr axes = At(inputs, 3);
  if (axes == nullptr) return ForgetFrom(output, 0);
  for (const Dim& axis : axes->integers) {
    if (axis.is_constant()) ForgetAxis(output, axis.value());
  }
}

void ForgetOf(const Node& node, absl::Span<const KnownValuePtr> inputs, TensorType& output) {
  if (!node.domain.empty()) return;
  const absl::string_view op = node.op_type;
  if (op == "GroupNormalization" || op == "MeanVarianceNormalization") {  // no inference of its own
    output.has_rank = false;
    output.dims.clear();
    return;
  }
  if (op == "Reshape") return ForgetReshape(inputs, output);
  if (op == "Slice") return ForgetSlice(node, inputs, output);
  if (op == "TopK" && !node.Has("k") && !IsKnown(At(inputs, 1))) return ForgetAll(output);
  if (op == "DepthToSpace" || op == "SpaceToDepth") return ForgetFrom(output, 1);
  if (op == "Split") return ForgetAxis(output, node.Int("axis", 0));
  if (op == "Tile" || op == "Resize" || op == "Upsample") return ForgetFrom(output, 0);
  const bool is_window = op == "Conv" || op == "ConvTranspose" || op == "MaxPool" ||
                         op == "AveragePool" || op == "LpPool" || op == "ConvInteger" ||
                         op == "QLinearConv";
  if (is_window) ForgetFrom(output, 2);
}

}  // namespace

bool NeedsSizesAlone(const Node& node) { return node.domain.empty() && (node.op_type == "Shape"); }

bool IsFoldable(const Node& node) {
  if (node.op != nullptr && (node.op->is_random || node.op->control != Control::kNone))
    return false;
  return node.op_type != "DequantizeLinear";
}

const InferenceLimits& OnnxRuntimeLimits(bool optimize) {
  static const InferenceLimits plain = {.computes = Computes, .forget = ForgetOf};
  static const InferenceLimits folding = {.computes = Computes,
                                          .forget = ForgetOf,
                                          .folds = IsFoldable,
                                          .needs_sizes = NeedsSizesAlone};
  return optimize ? folding : plain;
}

}  // namespace footprint
