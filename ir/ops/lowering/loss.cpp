// Losses in the graph.
#include <algorithm>

#include "absl/strings/match.h"
#include "ir/ops/lowering/lower_context.h"

namespace footprint {
namespace {

// 0 none, 1 mean, 2 sum: PyTorch's numbers.
TorchArgument Reduction(const LowerContext& ctx) {
  const absl::string_view reduction = ctx.node().String("reduction", "mean");
  return TorchArgument::Int(reduction == "none" ? 0 : reduction == "sum" ? 2 : 1);
}

TorchArgument IgnoreIndex(const LowerContext& ctx) {
  return TorchArgument::Int(ctx.node().Int("ignore_index", -100));
}

bool LowerCrossEntropy(LowerContext& ctx) {
  if (ctx.HasResult(1)) return false;
  ctx.Result("aten::cross_entropy_loss",
             {ctx.Tensor(0), ctx.Tensor(1), ctx.Tensor(2), Reduction(ctx), IgnoreIndex(ctx),
              TorchArgument::Float(0)});
  return true;
}

bool LowerNllLoss(LowerContext& ctx) {
  ctx.Result("aten::nll_loss",
             {ctx.Tensor(0), ctx.Tensor(1), ctx.Tensor(2), Reduction(ctx), IgnoreIndex(ctx)});
  return true;
}

// A loss written out. Its last node says how it is reduced; an axis of its own is no loss.
TorchArgument WrittenReduction(const LowerContext& ctx) {
  const absl::string_view op = ctx.node().op_type;
  return TorchArgument::Int(op == "ReduceMean" ? 1 : op == "ReduceSum" ? 2 : 0);
}

bool ReducesAll(const LowerContext& ctx) {
  const bool reduces = absl::StartsWith(ctx.node().op_type, "Reduce");
  return reduces ? ctx.ResultType().rank() == 0 : ctx.ResultType().has_rank;
}

// Operands: self, target. The exporter repeats their difference, which no module would.
bool IsMse(const LowerContext& ctx) {
  return ReducesAll(ctx) && ctx.Type(0).has_rank && ctx.Type(0).dims == ctx.Type(1).dims;
}

bool LowerMse(LowerContext& ctx) {
  ctx.Result(kMseCall, {ctx.Tensor(0), ctx.Tensor(1), WrittenReduction(ctx)});
  return true;
}

// Operands: self, target, weight, weight of the positive.
bool LowerBceWithLogits(LowerContext& ctx) {
  ctx.Result("aten::binary_cross_entropy_with_logits",
             {ctx.Tensor(0), ctx.Tensor(1), ctx.Tensor(2), ctx.Tensor(3), WrittenReduction(ctx)});
  return true;
}

bool LowerKlDiv(LowerContext& ctx) {
  ctx.Result("aten::kl_div", {ctx.Tensor(0), ctx.Tensor(1), WrittenReduction(ctx)});
  return true;
}

constexpr Lowering kRows[] = {
    {.onnx = "ReduceMean|ReduceSum("
             "Mul(Sub(&Expand?(x), &Expand?(target)), Sub(&Expand?(x), &Expand?(target))))",
     .operands = "x target",
     .lower = LowerMse,
     .when = IsMse,
     .note = "mean squared error written out"},
    {.onnx = "ReduceMean|ReduceSum(Neg(Add(Mul(target, Log(Sigmoid:s(x))),"
             " Mul(Sub(#, target), Log(Sub(#, s))))))",
     .operands = "x target weight positive",
     .lower = LowerBceWithLogits,
     .when = ReducesAll,
     .note = "binary cross entropy of logits written out"},
    {.onnx = "ReduceMean|ReduceSum(Neg(Add(Mul(Mul(target, Log(Sigmoid:s(x))), positive),"
             " Mul(Sub(#, target), Log(Sub(#, s))))))",
     .operands = "x target weight positive",
     .lower = LowerBceWithLogits,
     .when = ReducesAll,
     .note = "binary cross entropy of logits written out"},
    {.onnx = "ReduceMean|ReduceSum(Mul(weight, Neg(Add(Mul(target, Log(Sigmoid:s(x))),"
             " Mul(Sub(#, target), Log(Sub(#, s)))))))",
     .operands = "x target weight positive",
     .lower = LowerBceWithLogits,
     .when = ReducesAll,
     .note = "binary cross entropy of logits written out"},
    {.onnx = "Neg(Add(Mul(target, Log(Sigmoid:s(x))), Mul(Sub(#, target), Log(Sub(#, s)))))",
     .operands = "x target weight positive",
     .lower = LowerBceWithLogits,
     .when = ReducesAll,
     .note = "binary cross entropy of logits written out"},
    {.onnx = "ReduceMean|ReduceSum(Where(Greater(target, #),"
             " Mul:kl(target, Sub(Log(target), x)), ConstantOfShape(Shape(kl))))",
     .operands = "x target",
     .lower = LowerKlDiv,
     .when = ReducesAll,
     .note = "Kullback-Leibler divergence written out"},
    {.onnx = "SoftmaxCrossEntropyLoss", .lower = LowerCrossEntropy},
    {.onnx = "NegativeLogLikelihoodLoss", .lower = LowerNllLoss},
};

}  // namespace

bool HandsOn(const TorchOp& op) {
  static constexpr absl::string_view kNames[] = {
      "aten::view",     "aten::reshape", "aten::to",      "aten::slice", "aten::contiguous",
      "aten::_to_copy", "aten::type_as", "aten::flatten", "aten::clone"};
  return std::find(std::begin(kNames), std::end(kNames), op.name) != std::end(kNames);
}

absl::Span<const Lowering> LossLowerings() { return kRows; }

}  // namespace footprint
