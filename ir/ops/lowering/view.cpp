// Views: another shape or order of the same storage. Whether a reshape can stay a view is decided
// by strides, so by the replay.
#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "ir/ops/lowering/lower_context.h"

namespace footprint {
namespace {

bool LowerTranspose(LowerContext& ctx) {
  const int rank = ctx.Rank(0);
  if (rank < 0) return false;
  std::vector<int64_t> perm = {ctx.node().Ints("perm").begin(), ctx.node().Ints("perm").end()};
  if (perm.empty()) {
    for (int64_t i = rank; i-- > 0;) perm.push_back(i);
  }
  if (rank == 2 && perm == std::vector<int64_t>{1, 0}) {
    ctx.Result("aten::t", {ctx.Tensor(0)});
    return true;
  }
  Reordering reordering = Reorder(ctx.Tensor(0), perm);
  ctx.Result(reordering.op, std::move(reordering.arguments));
  return true;
}

// One view per axis, as unsqueeze and squeeze take one axis each.
bool LowerUnsqueeze(LowerContext& ctx) {
  const int rank = ctx.ResultType().rank();
  const std::vector<int64_t> axes = Axes(ctx, 1, rank);
  if (rank < 0 || ctx.Rank(0) < 0 || axes.empty()) return false;
  TorchArgument tensor = ctx.Tensor(0);
  Dims dims = ctx.Type(0).dims;
  for (size_t i = 0; i + 1 < axes.size(); ++i) {
    dims.insert(dims.begin() + axes[i], Dim(1));
    tensor = TorchArgument::Tensor(ctx.Call(
        "aten::unsqueeze", {tensor, TorchArgument::Int(axes[i])}, WithDims(ctx.Type(0), dims)));
  }
  ctx.Result("aten::unsqueeze", {tensor, TorchArgument::Int(axes.back())});
  return true;
}

bool LowerSqueeze(LowerContext& ctx) {
  const int rank = ctx.Rank(0);
  if (rank < 0) return false;
  std::vector<int64_t> axes = Axes(ctx, 1, rank);
  if (axes.empty()) {
    for (int i = 0; i < rank; ++i) {
      if (ctx.Type(0).dims[static_cast<size_t>(i)].Is(1)) axes.push_back(i);
    }
    if (axes.empty()) return LowerNothing(ctx);
  }
  TorchArgument tensor = ctx.Tensor(0);
  Dims dims = ctx.Type(0).dims;
  for (size_t i = axes.size(); i-- > 1;) {
    dims.erase(dims.begin() + axes[i]);
    tensor = TorchArgument::Tensor(ctx.Call("aten::squeeze", {tensor, TorchArgument::Int(axes[i])},
                                            WithDims(ctx.Type(0), dims)));
  }
  ctx.Result("aten::squeeze", {tensor, TorchArgument::Int(axes[0])});
  return true;
}

// nn.MultiheadAttention unpacks its projection to [3, S, B, E], or that of keys and values alone to
// [2, S, B, E], and makes that contiguous, which the file does not show. Operands: x, the
// transposed tensor.
bool IsPackedProjection(const LowerContext& ctx) {
  const int parts = ctx.NumResultReaders();
  return ctx.FromPyTorch() && ctx.ResultType().rank() >= 4 && (parts == 2 || parts == 3) &&
         ctx.ResultType().dims[0].Is(parts);
}

bool LowerPackedProjection(LowerContext& ctx) {
  const Node& transpose = *ctx.Producer(1);
  const TorchValueId moved =
      ctx.Call("aten::permute", {ctx.Tensor(0), IntList(transpose.Ints("perm"))}, ctx.Type(1));
  const std::vector<int64_t> axes = Axes(ctx, 2, ctx.Rank(1));
  if (axes.size() != 1) return false;
  const TorchValueId squeezed =
      ctx.Call("aten::squeeze", {TorchArgument::Tensor(moved), TorchArgument::Int(axes[0])},
               ctx.ResultType());
  ctx.Result("aten::contiguous", {TorchArgument::Tensor(squeezed)});
  return true;
}

bool HasOneAxis(const LowerContext& ctx) {
  return IsPackedProjection(ctx) && Axes(ctx, 2, ctx.Rank(1)).size() == 1;
}

// Tokens made an image again, channels first. The vision transformers that do so make the image
// contiguous, which the file does not show. Operands: the tokens, the image.
bool IsImageOfTokens(const LowerContext& ctx) {
  return ctx.FromPyTorch() && ctx.Rank(0) == 3 && ctx.Rank(1) == 4;
}

bool LowerImageOfTokens(LowerContext& ctx) {
  Reordering reordering = Reorder(ctx.Tensor(1), ctx.node().Ints("perm"));
  const TorchValueId image =
      ctx.Call(reordering.op, std::move(reordering.arguments), ctx.ResultType());
  ctx.Result("aten::contiguous", {TorchArgument::Tensor(image)});
  return true;
}

// Start, end, axis and step lists: attributes below opset 10.
struct SliceBounds {
  std::vector<Dim> starts, ends, axes, steps;
};

std::vector<Dim> AttributeOrInts(const LowerContext& ctx, absl::string_view attribute,
                                 int operand) {
  if (!ctx.node().Has(attribute)) return ctx.Ints(operand);
  const absl::Span<const int64_t> ints = ctx.node().Ints(attribute);
  return {ints.begin(), ints.end()};
}

SliceBounds BoundsOf(const LowerContext& ctx) {
  SliceBounds bounds = {AttributeOrInts(ctx, "starts", 1), AttributeOrInts(ctx, "ends", 2),
                        AttributeOrInts(ctx, "axes", 3), AttributeOrInts(ctx, "steps", 4)};
  const size_t n = std::max({bounds.starts.size(), bounds.ends.size(), bounds.axes.size()});
  for (size_t i = bounds.axes.size(); i < n; ++i) {
    bounds.axes.push_back(Dim(static_cast<int64_t>(i)));
  }
  bounds.starts.resize(n);  // unknown where run-time values decide
  bounds.ends.resize(n);
  bounds.steps.resize(n, Dim(1));
  return bounds;
}

// Indexing with a whole axis makes no view.
bool IsWhole(LowerContext& ctx, Dim start, Dim end, Dim step, Dim size) {
  if (!start.Is(0) || !step.Is(1)) return false;
  if (end.is_constant() && end.value() >= std::numeric_limits<int32_t>::max()) return true;
  return ctx.dims().KnownEqual(end, size);
}

bool LowerSlice(LowerContext& ctx) {
  const int rank = ctx.Rank(0);
  const SliceBounds bounds = BoundsOf(ctx);
  if (rank < 0 || ctx.ResultType().rank() != rank || bounds.axes.empty()) return false;
  TorchValueId tensor = ctx.TensorId(0);
  Dims dims = ctx.Type(0).dims;
  struct Cut {
    int64_t axis;
    size_t i;
  };
  std::vector<Cut> cuts;
  for (size_t i = 0; i < bounds.axes.size(); ++i) {
    if (!bounds.axes[i].is_constant()) return false;
    int64_t axis = bounds.axes[i].value();
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) return false;
    if (!IsWhole(ctx, bounds.starts[i], bounds.ends[i], bounds.steps[i],
                 dims[static_cast<size_t>(axis)])) {
      cuts.push_back({axis, i});
    }
  }
  if (cuts.empty()) return LowerNothing(ctx);
  for (const Cut& cut : cuts) {
    dims[static_cast<size_t>(cut.axis)] = ctx.ResultType().dims[static_cast<size_t>(cut.axis)];
    std::vector<TorchArgument> arguments = {
        TorchArgument::Tensor(tensor), TorchArgument::Int(cut.axis),
        TorchArgument::Int(bounds.starts[cut.i]), TorchArgument::Int(bounds.ends[cut.i]),
        TorchArgument::Int(bounds.steps[cut.i])};
    // Backwards, it is a copy in reverse.
    const Dim step = bounds.steps[cut.i];
    const bool reverses = step.is_constant() && step.value() < 0;
    const absl::string_view op = reverses ? "aten::flip" : "aten::slice";
    if (reverses) {
      arguments = {TorchArgument::Tensor(tensor), IntList(std::vector<int64_t>{cut.axis})};
    }
    if (&cut == &cuts.back()) {
      ctx.Result(op, std::move(arguments));
    } else {
      tensor = ctx.Call(op, std::move(arguments), WithDims(ctx.Type(0), dims));
    }
  }
  return true;
}

// roll(x): two parts of x change places. Over two axes it is one call.
bool LowerRoll(LowerContext& ctx) {
  const std::vector<int64_t> axes = {Axis(ctx, 0, 0)};
  ctx.Result("aten::roll", {ctx.Tensor(0), TorchArgument::Ints({Dim(1)}), IntList(axes)});
  return true;
}

// Operands: x, its two parts.
bool IsRoll(const LowerContext& ctx) {
  return ctx.node().inputs.size() == 2 && ctx.Type(0).has_rank &&
         ctx.ResultType().dims == ctx.Type(0).dims;
}

bool LowerSplit(LowerContext& ctx) {
  const int64_t axis = Axis(ctx, 0, 0);
  std::vector<Dim> sizes;
  const int outputs = static_cast<int>(ctx.node().outputs.size());
  for (int i = 0; i < outputs; ++i) {
    if (!ctx.HasResult(i) || ctx.ResultType(i).rank() <= axis) return false;
    sizes.push_back(ctx.ResultType(i).dims[static_cast<size_t>(axis)]);
  }
  ctx.Result("aten::split_with_sizes", {ctx.Tensor(0), IntList(sizes), TorchArgument::Int(axis)},
             outputs);
  return true;
}

bool LowerDepthToSpace(LowerContext& ctx) {
  ctx.Result(ctx.row().torch, {ctx.Tensor(0), TorchArgument::Int(ctx.node().Int("blocksize", 1))});
  return true;
}

constexpr Lowering kRows[] = {
    {.onnx = "Squeeze(Transpose:moved(x), axes)",
     .operands = "x moved axes",
     .lower = LowerPackedProjection,
     .when = HasOneAxis,
     .note = "packed attention projection, made contiguous"},
    {.onnx = "Transpose[perm=0,3,1,2](&Reshape:image(tokens))",
     .operands = "tokens image",
     .lower = LowerImageOfTokens,
     .when = IsImageOfTokens,
     .note = "an image made of tokens, made contiguous"},
    {.onnx = "Concat(Slice(Concat:once(Slice(x), Slice(x))), Slice(once))",
     .operands = "x",
     .torch = "aten::roll",
     .lower = LowerRoll,
     .when = IsRoll},
    {.onnx = "Concat(Slice(x), Slice(x))",
     .operands = "x",
     .torch = "aten::roll",
     .lower = LowerRoll,
     .when = IsRoll},
    {.onnx = "Identity", .lower = LowerNothing},
    {.onnx = "Reshape", .torch = "aten::reshape", .lower = LowerView},
    {.onnx = "Flatten", .torch = "aten::reshape", .lower = LowerView},
    {.onnx = "Expand", .torch = "aten::expand", .lower = LowerView},
    {.onnx = "Transpose", .lower = LowerTranspose},
    {.onnx = "Unsqueeze", .lower = LowerUnsqueeze},
    {.onnx = "Squeeze", .lower = LowerSqueeze},
    {.onnx = "Slice", .lower = LowerSlice},
    {.onnx = "Split", .lower = LowerSplit},
    {.onnx = "DepthToSpace", .torch = "aten::pixel_shuffle", .lower = LowerDepthToSpace},
    {.onnx = "SpaceToDepth", .torch = "aten::pixel_unshuffle", .lower = LowerDepthToSpace},
};

}  // namespace

absl::Span<const Lowering> ViewLowerings() { return kRows; }

}  // namespace footprint
