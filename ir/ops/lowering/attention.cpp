// Attention. Written by hand it stays what it is: products, masks and a softmax. Where the file has
// the shape that exporters give scaled_dot_product_attention (both operands scaled by the root of
// the scale), or an attention operator, it is that one call, and the kernel is a choice of the
// replay.
#include <vector>

#include "ir/ops/lowering/lower_context.h"

namespace footprint {
namespace {

// Operands: q, k, v, mask, dropout ratio.
bool LowerScaledDotProduct(LowerContext& ctx) {
  ctx.Result("aten::scaled_dot_product_attention",
             {ctx.Tensor(0), ctx.Tensor(1), ctx.Tensor(2), ctx.Argument(3),
              TorchArgument::Float(ctx.Number(4).value_or(0)), TorchArgument::Bool(false)});
  return true;
}

bool IsAttention(const LowerContext& ctx) {
  return ctx.Rank(0) >= 3 && ctx.Rank(0) == ctx.Rank(1) && ctx.Rank(1) == ctx.Rank(2);
}

constexpr Lowering kRows[] = {
    {.onnx = "MatMul(Dropout?(Softmax(Add?(MatMul(Mul(q, #), Mul(Transpose(k), #)), mask)), ratio),"
             " v)",
     .operands = "q k v mask ratio",
     .lower = LowerScaledDotProduct,
     .when = IsAttention,
     .note = "the shape exporters give scaled_dot_product_attention"},
};

}  // namespace

absl::Span<const Lowering> AttentionLowerings() { return kRows; }

}  // namespace footprint
