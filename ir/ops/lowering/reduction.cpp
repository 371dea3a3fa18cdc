// Reductions. Axes are attributes or an operand, by opset; none means all of them.
#include <vector>

#include "ir/ops/lowering/lower_context.h"

namespace footprint {
namespace {

struct ReduceArguments {
  TorchArgument axes;
  TorchArgument keep;
  bool nothing = false;  // an empty list of axes with noop_with_empty_axes
};

ReduceArguments ArgumentsOf(LowerContext& ctx) {
  std::vector<int64_t> axes = Axes(ctx, 1, ctx.Rank(0));
  ReduceArguments arguments;
  arguments.keep = TorchArgument::Bool(ctx.node().Int("keepdims", 1) != 0);
  if (axes.empty()) {
    arguments.nothing = ctx.node().Int("noop_with_empty_axes", 0) != 0;
    for (int i = 0; i < ctx.Rank(0); ++i) axes.push_back(i);
  }
  arguments.axes = IntList(axes);
  return arguments;
}

bool LowerReduce(LowerContext& ctx) {
  const ReduceArguments arguments = ArgumentsOf(ctx);
  if (arguments.nothing) return LowerNothing(ctx);
  ctx.Result(ctx.row().torch, {ctx.Tensor(0), arguments.axes, arguments.keep});
  return true;
}

bool LowerVectorNorm(LowerContext& ctx, double order) {
  const ReduceArguments arguments = ArgumentsOf(ctx);
  if (arguments.nothing) return LowerNothing(ctx);
  ctx.Result("aten::linalg_vector_norm",
             {ctx.Tensor(0), TorchArgument::Float(order), arguments.axes, arguments.keep});
  return true;
}

bool LowerNorm1(LowerContext& ctx) { return LowerVectorNorm(ctx, 1); }
bool LowerNorm2(LowerContext& ctx) { return LowerVectorNorm(ctx, 2); }

// x.square().sum(), x.sum().log()
bool LowerSumSquare(LowerContext& ctx) {
  const ReduceArguments arguments = ArgumentsOf(ctx);
  if (arguments.nothing) return false;
  const TorchValueId square = ctx.Call("aten::square", {ctx.Tensor(0)}, ctx.Type(0));
  ctx.Result("aten::sum.dim_IntList",
             {TorchArgument::Tensor(square), arguments.axes, arguments.keep});
  return true;
}

bool LowerLogSum(LowerContext& ctx) {
  const ReduceArguments arguments = ArgumentsOf(ctx);
  if (arguments.nothing) return false;
  const TorchValueId sum = ctx.Call("aten::sum.dim_IntList",
                                    {ctx.Tensor(0), arguments.axes, arguments.keep},
                                    ctx.ResultType());
  ctx.Result("aten::log", {TorchArgument::Tensor(sum)});
  return true;
}

// Operands: x, the mean of the squares (if it is not the last node), the corrected count.
const Node& MeanOfSquares(const LowerContext& ctx) {
  return ctx.Has(1) ? *ctx.Producer(1) : ctx.node();
}

TorchArgument AxesOfMean(const LowerContext& ctx) {
  const Node& mean = MeanOfSquares(ctx);
  std::vector<int64_t> axes(mean.Ints("axes").begin(), mean.Ints("axes").end());
  if (const KnownValuePtr known = ctx.KnownOf(mean.input(1)); known != nullptr) {
    for (Dim axis : known->integers) axes.push_back(axis.is_constant() ? axis.value() : 0);
  }
  if (axes.empty()) {
    for (int i = 0; i < ctx.Rank(0); ++i) axes.push_back(i);
  }
  return IntList(axes);
}

bool LowerVariance(LowerContext& ctx) {
  const bool keep = MeanOfSquares(ctx).Int("keepdims", 1) != 0;
  const int64_t correction = ctx.Has(2) ? 1 : 0;
  ctx.Result(ctx.row().torch, {ctx.Tensor(0), AxesOfMean(ctx), TorchArgument::Int(correction),
                               TorchArgument::Bool(keep)});
  return true;
}

bool LowerArg(LowerContext& ctx) {
  ctx.Result(ctx.row().torch, {ctx.Tensor(0), TorchArgument::Int(Axis(ctx, 0, 0)),
                               TorchArgument::Bool(ctx.node().Int("keepdims", 1) != 0)});
  return true;
}

constexpr Lowering kRows[] = {
    {.onnx = "Sqrt(Div(Mul(ReduceMean:mean(Mul(Sub:c(x, ReduceMean(x)), c)), #), #n))",
     .operands = "x mean n",
     .torch = "aten::std",
     .lower = LowerVariance},
    {.onnx = "Sqrt(ReduceMean:mean(Mul(Sub:c(x, ReduceMean(x)), c)))",
     .operands = "x mean n",
     .torch = "aten::std",
     .lower = LowerVariance},
    {.onnx = "Div(Mul(ReduceMean:mean(Mul(Sub:c(x, ReduceMean(x)), c)), #), #n)",
     .operands = "x mean n",
     .torch = "aten::var",
     .lower = LowerVariance},
    {.onnx = "ReduceMean:mean(Mul(Sub:c(x, ReduceMean(x)), c))",
     .operands = "x mean n",
     .torch = "aten::var",
     .lower = LowerVariance},
    {.onnx = "ReduceMean", .torch = "aten::mean.dim", .lower = LowerReduce},
    {.onnx = "ReduceSum", .torch = "aten::sum.dim_IntList", .lower = LowerReduce},
    {.onnx = "ReduceMax", .torch = "aten::amax", .lower = LowerReduce},
    {.onnx = "ReduceMin", .torch = "aten::amin", .lower = LowerReduce},
    {.onnx = "ReduceProd", .torch = "aten::prod.dim_int", .lower = LowerReduce},
    {.onnx = "ReduceLogSumExp", .torch = "aten::logsumexp", .lower = LowerReduce},
    {.onnx = "ReduceL1", .lower = LowerNorm1},
    {.onnx = "ReduceL2", .lower = LowerNorm2},
    {.onnx = "ReduceSumSquare", .lower = LowerSumSquare},
    {.onnx = "ReduceLogSum", .lower = LowerLogSum},
    {.onnx = "ArgMax", .torch = "aten::argmax", .lower = LowerArg},
    {.onnx = "ArgMin", .torch = "aten::argmin", .lower = LowerArg},
};

}  // namespace

absl::Span<const Lowering> ReductionLowerings() { return kRows; }

}  // namespace footprint
