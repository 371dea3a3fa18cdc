// Dropout and stochastic depth.
#include <vector>

#include "ir/ops/lowering/lower_context.h"

namespace footprint {
namespace {

constexpr int kTrainingMode = 2;  // operand of Dropout

// Below opset 12 the ratio is an attribute, and a Dropout that survived the export was active.
// Later ones say whether they are; where no node of the file does, it was exported for inference,
// and the module that trains drops all the same.
bool LowerDropout(LowerContext& ctx) {
  const bool says_mode = ctx.node().version >= 12;
  const double ratio =
      says_mode ? ctx.Number(1).value_or(0.5) : ctx.node().Float("ratio", 0.5);
  const bool active = !says_mode || ctx.Int(kTrainingMode).value_or(ctx.Has(kTrainingMode)) != 0;
  const bool says_training = ctx.InTrainingMode() || ctx.DropsSomewhere();
  if (ratio == 0 || (!active && says_training)) return LowerNothing(ctx);
  ctx.Result("aten::native_dropout", {ctx.Tensor(0), TorchArgument::Float(ratio),
                                      TorchArgument::Bool(true)},
             ctx.HasResult(1) ? 2 : 1);
  if (!active) {
    ctx.SetEvidence(Evidence::kAssumption, "exported for inference; drops when the module trains");
  }
  return true;
}

// Noise has the type of what it multiplies, which the file does not show.
TorchArgument Noise(LowerContext& ctx) {
  return TorchArgument::Tensor(ctx.Call(
      "aten::new_empty", {ctx.Tensor(0), IntList(ctx.Type(1).dims)}, ctx.Type(1)));
}

// Filled and scaled in place.
bool LowerStochasticDepth(LowerContext& ctx) {
  const TorchArgument noise = Noise(ctx);
  ctx.Result("aten::mul", {ctx.Tensor(0), noise});
  return true;
}

// keep + rand(), rounded down in place. Operands: x, noise, keep.
bool LowerRoundedStochasticDepth(LowerContext& ctx) {
  const TorchArgument noise = Noise(ctx);
  const TorchValueId kept = ctx.Call("aten::add", {noise, ctx.Argument(2)}, ctx.Type(1));
  ctx.Result("aten::mul", {ctx.Tensor(0), TorchArgument::Tensor(kept)});
  return true;
}

bool HasNoiseShape(const LowerContext& ctx) { return ctx.Rank(1) >= 1; }

constexpr Lowering kRows[] = {
    {.onnx = "Mul(x, Div?(Cast(Less(RandomUniformLike:noise(ConstantOfShape), #)), #))",
     .operands = "x noise",
     .lower = LowerStochasticDepth,
     .when = HasNoiseShape,
     .note = "stochastic depth"},
    {.onnx = "Mul(x, Floor(Add(RandomUniformLike:noise(ConstantOfShape), #keep)))",
     .operands = "x noise keep",
     .lower = LowerRoundedStochasticDepth,
     .when = HasNoiseShape,
     .note = "stochastic depth"},
    {.onnx = "Dropout", .torch = "aten::native_dropout", .lower = LowerDropout},
};

}  // namespace

absl::Span<const Lowering> RandomLowerings() { return kRows; }

}  // namespace footprint
