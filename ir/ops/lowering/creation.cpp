// Tensors from nothing.
#include "ir/ops/lowering/lower_context.h"

namespace footprint {
namespace {

TorchArgument Sizes(LowerContext& ctx) { return IntList(ctx.ResultType().dims); }

bool LowerRange(LowerContext& ctx) {
  ctx.Result("aten::arange", {ctx.Argument(0), ctx.Argument(1), ctx.Argument(2)});
  return true;
}

bool LowerConstantOfShape(LowerContext& ctx) {
  ctx.Result("aten::full", {Sizes(ctx), TorchArgument::Float(0)});
  return ctx.ResultType().has_rank;
}

bool LowerCreation(LowerContext& ctx) {
  ctx.Result(ctx.row().torch, {Sizes(ctx)});
  return ctx.ResultType().has_rank;
}

bool LowerEyeLike(LowerContext& ctx) {
  if (ctx.ResultType().rank() != 2) return false;
  ctx.Result("aten::eye", {TorchArgument::Int(ctx.ResultType().dims[0]),
                           TorchArgument::Int(ctx.ResultType().dims[1])});
  return true;
}

constexpr Lowering kRows[] = {
    {.onnx = "Shape"},
    {.onnx = "Size"},
    {.onnx = "Range", .torch = "aten::arange", .lower = LowerRange},
    {.onnx = "ConstantOfShape", .torch = "aten::full", .lower = LowerConstantOfShape},
    {.onnx = "EyeLike", .torch = "aten::eye", .lower = LowerEyeLike},
    {.onnx = "RandomNormal", .torch = "aten::randn", .lower = LowerCreation},
    {.onnx = "RandomUniform", .torch = "aten::rand", .lower = LowerCreation},
    {.onnx = "RandomNormalLike", .torch = "aten::randn_like", .lower = LowerSame},
    {.onnx = "RandomUniformLike", .torch = "aten::rand_like", .lower = LowerSame},
    {.onnx = "Bernoulli", .torch = "aten::bernoulli", .lower = LowerSame},
};

}  // namespace

absl::Span<const Lowering> CreationLowerings() { return kRows; }

}  // namespace footprint
