// Attention. Written by hand it stays what it is: products, masks and a softmax, unless the user
// names a fused kernel. Where the file has the shape that exporters give
// scaled_dot_product_attention (both operands scaled by the root of the scale), or an attention
// operator, it is that one call, and the kernel is a choice of the replay.
#include <algorithm>
#include <utility>
#include <vector>

#include "ir/ops/lowering/lower_context.h"

namespace footprint {
namespace {

constexpr int kKeysAsRead = 5;
constexpr int kMask = 4;
constexpr uint32_t kMasks = 3u << kMask;

// The operator swaps the last two axes of its keys; exporters merge that with a transposition that
// the module made before; two that undo each other are gone. Operands: q, k, v, mask, dropout
// ratio, k as the product reads it.
TorchArgument Keys(LowerContext& ctx) {
  if (!ctx.Has(kKeysAsRead)) {
    Dims dims = ctx.Type(1).dims;
    std::swap(dims[dims.size() - 2], dims.back());
    return TorchArgument::Tensor(
        ctx.Call("aten::transpose",
                 {ctx.Tensor(1), TorchArgument::Int(-2), TorchArgument::Int(-1)},
                 WithDims(ctx.Type(1), dims)));
  }
  const absl::Span<const int64_t> merged = ctx.Producer(kKeysAsRead)->Ints("perm");
  std::vector<int64_t> perm(merged.begin(), merged.end());
  if (perm.size() < 2) return ctx.Tensor(1);
  std::swap(perm[perm.size() - 2], perm.back());
  if (std::is_sorted(perm.begin(), perm.end())) return ctx.Tensor(1);
  Dims dims;
  for (int64_t axis : perm) dims.push_back(ctx.Type(1).dims[static_cast<size_t>(axis)]);
  Reordering reordering = Reorder(ctx.Tensor(1), perm);
  return TorchArgument::Tensor(ctx.Call(reordering.op, std::move(reordering.arguments),
                                        WithDims(ctx.Type(1), dims)));
}

// Biases by position come out of a table with the heads last; modules copy them into the order that
// kernels read, of which the file has no trace.
TorchArgument Mask(LowerContext& ctx) {
  const bool is_float = ctx.Has(3) && IsFloatingPoint(ctx.Type(3).element);
  const bool has_heads = is_float && ctx.Rank(3) >= 3 && !ctx.Type(3).dims.rbegin()[2].Is(1);
  if (!has_heads || ctx.IsNumber(3)) return ctx.Argument(3);
  return TorchArgument::Tensor(ctx.Call("aten::contiguous", {ctx.Tensor(3)}, ctx.Type(3)));
}

// A mask made of shapes was a flag.
bool LowerScaledDotProduct(LowerContext& ctx) {
  const bool causal = ctx.IsFree(3);
  const TorchArgument keys = Keys(ctx);
  const TorchArgument mask = causal ? TorchArgument() : Mask(ctx);
  ctx.Result(kAttentionCall,
             {ctx.Tensor(0), keys, ctx.Tensor(2), mask,
              TorchArgument::Float(ctx.Number(4).value_or(0)), TorchArgument::Bool(causal)});
  return true;
}

// Operands: q, k transposed, v, dropout ratio, and masks: added, and true where scores stay or go.
// A mask made of shapes alone says "all" or "causal": libraries hand the kernel a flag instead.
bool LowerFusedAttention(LowerContext& ctx) {
  constexpr int kKeys = 1;
  const Dims& turned = ctx.Type(kKeys).dims;
  const TorchValueId keys =
      ctx.Call("aten::transpose", {ctx.Tensor(kKeys), TorchArgument::Int(2), TorchArgument::Int(3)},
               WithDims(ctx.Type(kKeys), {turned[0], turned[1], turned[3], turned[2]}));
  TorchArgument mask;
  for (int i : {kMask + 1, kMask}) {  // what is added may train
    if (ctx.Has(i) && !ctx.IsFree(i) && !ctx.IsNumber(i)) mask = ctx.Tensor(i);
  }
  const double ratio = ctx.Has(3) ? ctx.Number(3).value_or(0) : 0;
  ctx.Result(kAttentionCall, {ctx.Tensor(0), TorchArgument::Tensor(keys), ctx.Tensor(2), mask,
                              TorchArgument::Float(ratio), TorchArgument::Bool(false)});
  return true;
}

bool HasHeads(const LowerContext& ctx) {
  return ctx.Rank(0) == 4 && ctx.Rank(1) == 4 && ctx.Rank(2) == 4;
}

bool IsAttention(const LowerContext& ctx) {
  return ctx.Rank(0) >= 3 && ctx.Rank(0) == ctx.Rank(1) && ctx.Rank(1) == ctx.Rank(2);
}

constexpr Lowering WrittenByHand(absl::string_view onnx) {
  return {.onnx = onnx,
          .operands = "q kt v ratio mask cond",
          .lower = LowerFusedAttention,
          .when = HasHeads,
          .free_operands = kMasks,
          .fuses_attention = true,
          .note = "attention written by hand, taken as one call"};
}

constexpr Lowering kRows[] = {
    {.onnx = "MatMul(Dropout?(Softmax(Add?(MatMul(Mul(q, #), Mul(Transpose?:kt(k), #)), mask)),"
             " ratio), v)",
     .operands = "q k v mask ratio kt",
     .lower = LowerScaledDotProduct,
     .when = IsAttention,
     .free_operands = 1u << 3,
     .note = "the shape exporters give scaled_dot_product_attention"},
    {.onnx = "MatMul(Dropout?(Where(IsNaN(p), #, Softmax:p(Add(MatMul(Mul(q, #),"
             " Mul(Transpose?:kt(k), #)), Where(mask, #, #)))), ratio), v)",
     .operands = "q k v mask ratio kt",
     .lower = LowerScaledDotProduct,
     .when = IsAttention,
     .free_operands = 1u << 3,
     .note = "the shape exporters give scaled_dot_product_attention with a mask of booleans"},
    WrittenByHand("MatMul(Dropout?(Cast?(Cast?(Softmax(Cast?(Add?(Cast?("
                  "Mul|Div?(MatMul(Mul|Div?(q, #), kt), #)"
                  "), mask))))), ratio), v)"),
    WrittenByHand("MatMul(Dropout?(Cast?(Cast?(Softmax(Cast?(Add?(Cast?("
                  "Where(cond, _, Mul|Div?(MatMul(Mul|Div?(q, #), kt), #))"
                  "), mask))))), ratio), v)"),
    WrittenByHand("MatMul(Dropout?(Cast?(Cast?(Softmax(Cast?(Add?(Cast?("
                  "Where(cond, Mul|Div?(MatMul(Mul|Div?(q, #), kt), #), _)"
                  "), mask))))), ratio), v)"),
};

}  // namespace

absl::Span<const Lowering> AttentionLowerings() { return kRows; }

}  // namespace footprint
