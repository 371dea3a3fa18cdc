// Matrix products, and the linear layers behind them.
#include <vector>

#include "absl/strings/match.h"
#include "ir/ops/lowering/lower_context.h"

namespace footprint {
namespace {

bool HasBias(const LowerContext& ctx) { return ctx.Has(2); }

// nn.Linear: x, weight [out, in], bias [out]. The weight is read through a Transpose. Where one of
// the two is computed PyTorch's exporter still writes the bias first, which a sum by hand does not.
bool IsLinear(const LowerContext& ctx) {
  if (ctx.Rank(1) != 2) return false;
  if (!HasBias(ctx)) return ctx.IsParameter(1);
  if (ctx.Rank(2) != 1) return false;
  if (ctx.IsParameter(1) && ctx.IsParameter(2)) return true;
  return (ctx.IsParameter(1) || ctx.IsParameter(2)) && ctx.FromPyTorch() &&
         ctx.Resolve(ctx.node().input(0)) == ctx.operand(2);
}

bool LowerLinear(LowerContext& ctx) {
  ctx.Result("aten::linear", {ctx.Tensor(0), ctx.Tensor(1), ctx.Tensor(2)});
  return true;
}

// An exporter that folds constants stores the weight of a linear layer transposed, under a name
// that it makes up.
bool IsFoldedLinear(const LowerContext& ctx) {
  return IsLinear(ctx) && ctx.FromPyTorch() && ctx.HasMadeUpName(1);
}

bool LowerFoldedLinear(LowerContext& ctx) {
  const TorchValueId weight = ctx.TransposedParameter(1);
  ctx.Result("aten::linear", {ctx.Tensor(0), TorchArgument::Tensor(weight), ctx.Tensor(2)});
  return true;
}

bool LowerGemm(LowerContext& ctx) {
  const Node& node = ctx.node();
  const double alpha = node.Float("alpha", 1);
  const double beta = node.Float("beta", 1);
  const TensorType& first = ctx.Type(0);
  const TensorType& second = ctx.Type(1);
  if (first.rank() != 2 || second.rank() != 2) return false;
  TorchArgument left = ctx.Tensor(0);
  if (node.Int("transA", 0) != 0) {
    left = TorchArgument::Tensor(
        ctx.Call("aten::t", {left}, WithDims(first, {first.dims[1], first.dims[0]})));
  }
  const bool transposed = node.Int("transB", 0) != 0;
  if (transposed && alpha == 1 && beta == 1 && (!HasBias(ctx) || ctx.Rank(2) <= 1)) {
    ctx.Result("aten::linear", {left, ctx.Tensor(1), ctx.Tensor(2)});
    return true;
  }
  TorchArgument right = ctx.Tensor(1);
  if (transposed) {
    right = TorchArgument::Tensor(
        ctx.Call("aten::t", {right}, WithDims(second, {second.dims[1], second.dims[0]})));
  }
  if (HasBias(ctx)) {
    ctx.Result("aten::addmm", {ctx.Tensor(2), left, right, TorchArgument::Float(beta),
                               TorchArgument::Float(alpha)});
  } else {
    ctx.Result("aten::mm", {left, right});
  }
  return true;
}

bool LowerMatMul(LowerContext& ctx) {
  ctx.Result("aten::matmul", {ctx.Tensor(0), ctx.Tensor(1)});
  return true;
}

// baddbmm(z, a, b, beta, alpha): its scalars went through tensors of their own.
bool LowerBaddbmm(LowerContext& ctx) {
  ctx.Result("aten::baddbmm",
             {ctx.Tensor(0), ctx.Tensor(1), ctx.Tensor(2), ctx.Argument(3), ctx.Argument(4)});
  return true;
}

bool IsBatched(const LowerContext& ctx) {
  return ctx.Rank(1) == 3 && ctx.Rank(2) == 3 && !ctx.IsArithmetic(0);
}

bool LowerEinsum(LowerContext& ctx) {
  std::vector<TorchValueId> tensors;
  for (int i = 0; i < ctx.num_operands(); ++i) tensors.push_back(ctx.TensorId(i));
  ctx.Result("aten::einsum", {TorchArgument::String(std::string(ctx.node().String("equation", ""))),
                              TorchArgument::Tensors(std::move(tensors))});
  return true;
}

constexpr Lowering kRows[] = {
    {.onnx = "Add(MatMul(x, &Transpose[perm=1,0](weight)), bias)",
     .operands = "x weight bias",
     .torch = "aten::linear",
     .lower = LowerLinear,
     .when = IsLinear},
    {.onnx = "MatMul(x, &Transpose[perm=1,0](weight))",
     .operands = "x weight bias",
     .torch = "aten::linear",
     .lower = LowerLinear,
     .when = IsLinear},
    {.onnx = "Add(MatMul(x, weight), bias)",
     .operands = "x weight bias",
     .torch = "aten::linear",
     .lower = LowerFoldedLinear,
     .when = IsFoldedLinear},
    {.onnx = "MatMul(x, weight)",
     .operands = "x weight bias",
     .torch = "aten::linear",
     .lower = LowerFoldedLinear,
     .when = IsFoldedLinear},
    {.onnx = "Add(Mul(MatMul(a, b), Cast(#alpha)), Mul(z, Cast(#beta)))",
     .operands = "z a b beta alpha",
     .lower = LowerBaddbmm,
     .when = IsBatched},
    {.onnx = "Gemm", .torch = "aten::linear", .lower = LowerGemm},
    {.onnx = "MatMul", .torch = "aten::matmul", .lower = LowerMatMul},
    {.onnx = "Einsum", .torch = "aten::einsum", .lower = LowerEinsum},
};

}  // namespace

absl::Span<const Lowering> MatrixLowerings() { return kRows; }

}  // namespace footprint
