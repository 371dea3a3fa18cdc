// Losses in the graph.
#include <algorithm>

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

constexpr Lowering kRows[] = {
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
