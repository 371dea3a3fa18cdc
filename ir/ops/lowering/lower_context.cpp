#include "ir/ops/lowering/lower_context.h"

#include <algorithm>
#include <utility>

namespace footprint {

bool LowerContext::IsNumber(int i) const {
  if (!Has(i) || !IsArithmetic(i)) return false;
  const TensorType& type = Type(i);
  return std::all_of(type.dims.begin(), type.dims.end(), [](Dim dim) { return dim.Is(1); });
}

std::optional<double> LowerContext::Number(int i) const {
  const KnownValuePtr value = Has(i) ? Known(i) : nullptr;
  if (value == nullptr) return std::nullopt;
  if (value->is_float) {
    if (value->floats.size() != 1) return std::nullopt;
    return value->floats[0];
  }
  if (value->integers.size() != 1 || !value->integers[0].is_constant()) return std::nullopt;
  return static_cast<double>(value->integers[0].value());
}

std::optional<int64_t> LowerContext::Int(int i) const {
  const std::vector<Dim> ints = Ints(i);
  if (ints.size() != 1 || !ints[0].is_constant()) return std::nullopt;
  return ints[0].value();
}

std::vector<Dim> LowerContext::Ints(int i) const {
  const KnownValuePtr value = Has(i) ? Known(i) : nullptr;
  if (value == nullptr || value->is_float) return {};
  return value->integers;
}

TorchArgument LowerContext::Argument(int i) {
  if (!Has(i)) return TorchArgument();
  if (!IsNumber(i)) return Tensor(i);
  const KnownValuePtr value = Known(i);
  if (value != nullptr && !value->is_float && value->integers.size() == 1) {
    return TorchArgument::Int(value->integers[0]);
  }
  if (const std::optional<double> number = Number(i)) return TorchArgument::Float(*number);
  return TorchArgument::Int(Dim());
}

TorchArgument LowerContext::Tensor(int i) {
  if (!Has(i)) return TorchArgument();
  return TorchArgument::Tensor(TensorId(i));
}

bool LowerSame(LowerContext& ctx) {
  ctx.Result(ctx.row().torch, {ctx.Tensor(0)});
  return true;
}

bool LowerBinary(LowerContext& ctx) {
  // A number goes second: PyTorch writes 2 * x and x * 2 alike. What does not commute says so
  // itself.
  if (ctx.IsNumber(0) && !ctx.IsNumber(1)) {
    ctx.Result(ctx.row().torch, {ctx.Tensor(1), ctx.Argument(0)});
  } else {
    ctx.Result(ctx.row().torch, {ctx.Tensor(0), ctx.Argument(1)});
  }
  return true;
}

bool LowerVariadic(LowerContext& ctx) {
  if (ctx.num_operands() == 1) return LowerNothing(ctx);
  TorchArgument left = ctx.Tensor(0);
  for (int i = 1; i + 1 < ctx.num_operands(); ++i) {
    left =
        TorchArgument::Tensor(ctx.Call(ctx.row().torch, {left, ctx.Tensor(i)}, ctx.ResultType()));
  }
  ctx.Result(ctx.row().torch, {left, ctx.Tensor(ctx.num_operands() - 1)});
  return true;
}

bool LowerView(LowerContext& ctx) {
  if (!ctx.ResultType().has_rank) return false;
  ctx.Result(ctx.row().torch, {ctx.Tensor(0), IntList(ctx.ResultType().dims)});
  return true;
}

bool LowerNothing(LowerContext& ctx) {
  ctx.Alias(0, ctx.TensorId(0));
  return true;
}

int64_t Axis(const LowerContext& ctx, int operand, int64_t default_value) {
  const int64_t axis = ctx.node().Int("axis", default_value);
  return axis < 0 ? std::max<int64_t>(axis + std::max(ctx.Rank(operand), 0), 0) : axis;
}

std::vector<int64_t> Axes(const LowerContext& ctx, int i, int rank) {
  std::vector<int64_t> axes;
  if (ctx.node().Has("axes")) {
    const absl::Span<const int64_t> ints = ctx.node().Ints("axes");
    axes.assign(ints.begin(), ints.end());
  } else {
    for (Dim dim : ctx.Ints(i)) {
      if (dim.is_constant()) axes.push_back(dim.value());
    }
  }
  for (int64_t& axis : axes) {
    if (axis < 0) axis = std::max<int64_t>(axis + rank, 0);
  }
  std::sort(axes.begin(), axes.end());
  return axes;
}

TorchArgument IntList(absl::Span<const int64_t> values) {
  std::vector<Dim> dims(values.begin(), values.end());
  return TorchArgument::Ints(dims);
}

TorchArgument IntList(absl::Span<const Dim> values) { return TorchArgument::Ints(values); }

Reordering Reorder(TorchArgument tensor, absl::Span<const int64_t> perm) {
  std::vector<int64_t> moved;
  for (size_t i = 0; i < perm.size(); ++i) {
    if (perm[i] != static_cast<int64_t>(i)) moved.push_back(static_cast<int64_t>(i));
  }
  if (moved.size() != 2) return {"aten::permute", {std::move(tensor), IntList(perm)}};
  return {"aten::transpose",
          {std::move(tensor), TorchArgument::Int(moved[0]), TorchArgument::Int(moved[1])}};
}

TensorType WithDims(const TensorType& type, absl::Span<const Dim> dims) {
  return TensorType::Make(type.element, dims);
}

}  // namespace footprint
