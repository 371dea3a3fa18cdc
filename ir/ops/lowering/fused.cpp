// Operators that stand for several of PyTorch's calls: attention as ONNX has it from opset 23 on,
// and what ONNX Runtime's optimizer puts in the place of attention, norms and activations.
//
//   [batch, row, heads * size] -> view, transpose -> [batch, head, row, size] -> one attention
//   -> transpose, reshape -> [batch, row, heads * size]
//
// Keys and values of earlier steps are no matter of training: such nodes are lowered generically.
#include <cstdint>
#include <utility>
#include <vector>

#include "ir/ops/lowering/lower_context.h"

namespace footprint {
namespace {

// A tensor that the rule made on the way, or an operand.
struct Made {
  TorchArgument tensor;
  TensorType type;
};

Made Operand(LowerContext& ctx, int i) { return {ctx.Tensor(i), ctx.Type(i)}; }

Made Call(LowerContext& ctx, absl::string_view op, std::vector<TorchArgument> arguments,
          TensorType type) {
  const TorchValueId id = ctx.Call(op, std::move(arguments), type);
  return {TorchArgument::Tensor(id), std::move(type)};
}

Made Sum(LowerContext& ctx, const Made& a, const Made& b) {
  return Call(ctx, "aten::add", {a.tensor, b.tensor}, a.type);
}

Made Slice(LowerContext& ctx, const Made& of, int axis, int64_t begin, int64_t end) {
  Dims dims = of.type.dims;
  dims[static_cast<size_t>(axis)] = Dim(end - begin);
  return Call(ctx, "aten::slice",
              {of.tensor, TorchArgument::Int(axis), TorchArgument::Int(begin),
               TorchArgument::Int(end), TorchArgument::Int(1)},
              WithDims(of.type, dims));
}

Made HeadsFirst(LowerContext& ctx, const Made& of) {
  const Dims& dims = of.type.dims;
  return Call(ctx, "aten::transpose", {of.tensor, TorchArgument::Int(1), TorchArgument::Int(2)},
              WithDims(of.type, {dims[0], dims[2], dims[1], dims[3]}));
}

// [batch, row, heads * size]; none where the heads do not divide the last axis.
bool Divides(const TensorType& type, int64_t heads) {
  return type.rank() == 3 && heads > 0 && type.dims[2].is_constant() &&
         type.dims[2].value() % heads == 0;
}

Made Heads(LowerContext& ctx, const Made& of, int64_t heads) {
  const Dims& dims = of.type.dims;
  const Dims split = {dims[0], dims[1], Dim(heads), Dim(dims[2].value() / heads)};
  return HeadsFirst(
      ctx, Call(ctx, kViewCall, {of.tensor, IntList(split)}, WithDims(of.type, split)));
}

struct Attended {
  Made query, key, value;  // [batch, head, row, size]
  TorchArgument mask;
  bool causal = false;
};

std::vector<TorchArgument> ArgumentsOf(const Attended& in) {
  const bool groups_heads = in.query.type.dims[1] != in.key.type.dims[1];
  return {in.query.tensor, in.key.tensor, in.value.tensor, in.mask, TorchArgument::Float(0),
          TorchArgument::Bool(in.causal), TorchArgument(), TorchArgument::Bool(groups_heads)};
}

// The attention and what brings its result back to [batch, row, heads * size].
void AttendInRows(LowerContext& ctx, const Attended& in) {
  const Dims& query = in.query.type.dims;
  const Dims dims = {query[0], query[1], query[2], in.value.type.dims[3]};
  const Made result =
      Call(ctx, kAttentionCall, ArgumentsOf(in), WithDims(in.query.type, dims));
  const Made rows = HeadsFirst(ctx, result);
  ctx.Result("aten::reshape", {rows.tensor, IntList(ctx.ResultType().dims)});
}

// No more axes than [batch, head, query, key].
bool IsMask(const LowerContext& ctx, int i) { return ctx.Rank(i) <= 4; }

// PyTorch's has neither a cap for the scores nor lengths of padding.
bool LowerAttention(LowerContext& ctx) {
  constexpr int kMask = 3;
  constexpr int kPast = 4;
  constexpr int kPadding = 6;
  const Node& node = ctx.node();
  if (ctx.Has(kPast) || ctx.HasResult(1) || ctx.HasResult(2) || ctx.HasResult(3)) return false;
  if (ctx.Has(kPadding) || node.Float("softcap", 0) != 0) return false;
  if (ctx.Has(kMask) && !IsMask(ctx, kMask)) return false;
  const bool masks_by_shape = ctx.Has(kMask) && ctx.IsFree(kMask);
  Attended in;
  in.causal = node.Int("is_causal", 0) != 0 || masks_by_shape;
  if (ctx.Has(kMask) && !masks_by_shape) in.mask = ctx.Tensor(kMask);
  in.query = Operand(ctx, 0);
  in.key = Operand(ctx, 1);
  in.value = Operand(ctx, 2);
  if (ctx.Rank(0) == 4 && ctx.Rank(1) == 4 && ctx.Rank(2) == 4) {
    ctx.Result(kAttentionCall, ArgumentsOf(in));
    return true;
  }
  const int64_t heads = node.Int("q_num_heads", 0);
  const int64_t key_heads = node.Int("kv_num_heads", 0);
  if (!Divides(ctx.Type(0), heads) || !Divides(ctx.Type(1), key_heads) ||
      !Divides(ctx.Type(2), key_heads)) {
    return false;
  }
  in.query = Heads(ctx, in.query, heads);
  in.key = Heads(ctx, in.key, key_heads);
  in.value = Heads(ctx, in.value, key_heads);
  AttendInRows(ctx, in);
  return true;
}

// com.microsoft's masks: true where padding ends, [batch, key]; and what is added to the scores.
// False: another form.
bool TakeMask(LowerContext& ctx, int padding, int added, TorchArgument* mask) {
  if (ctx.Has(added)) {
    if (!IsMask(ctx, added)) return false;
    *mask = ctx.Tensor(added);
    return true;
  }
  if (!ctx.Has(padding)) return true;
  const TensorType& type = ctx.Type(padding);
  if (type.rank() != 2) return false;
  const Dims dims = {type.dims[0], Dim(1), Dim(1), type.dims[1]};
  const Made shaped =
      Call(ctx, kViewCall, {ctx.Tensor(padding), IntList(dims)}, WithDims(type, dims));
  TensorType flags = shaped.type;
  flags.element = ElementType::kBool;
  *mask = Call(ctx, "aten::to", {shaped.tensor, TorchArgument::Element(flags.element)}, flags)
              .tensor;
  return true;
}

// query, key, value, bias of all three, padding, added to the scores, past
bool LowerMultiHeadAttention(LowerContext& ctx) {
  constexpr int kBias = 3;
  const int64_t heads = ctx.node().Int("num_heads", 0);
  if (ctx.Has(6) || ctx.Has(7) || ctx.HasResult(1) || ctx.HasResult(2)) return false;
  if (!Divides(ctx.Type(0), heads) || !Divides(ctx.Type(1), heads) ||
      !Divides(ctx.Type(2), heads)) {
    return false;  // packed
  }
  Attended in;
  in.causal = ctx.node().Int("unidirectional", 0) != 0;
  if (!TakeMask(ctx, 4, 5, &in.mask)) return false;
  int64_t begin = 0;
  Made* const parts[] = {&in.query, &in.key, &in.value};
  for (int i = 0; i < 3; ++i) {
    Made part = Operand(ctx, i);
    const int64_t size = part.type.dims[2].value();
    if (ctx.Has(kBias)) {
      part = Sum(ctx, part, Slice(ctx, Operand(ctx, kBias), 0, begin, begin + size));
    }
    begin += size;
    *parts[i] = Heads(ctx, part, heads);
  }
  AttendInRows(ctx, in);
  return true;
}

// input, weights [in, 3 * out], bias, padding, past, added to the scores
bool LowerPackedAttention(LowerContext& ctx) {
  const Node& node = ctx.node();
  const int64_t heads = node.Int("num_heads", 0);
  if (ctx.Has(4) || ctx.Has(6) || ctx.HasResult(1) || node.Int("do_rotary", 0) != 0) return false;
  if (!node.Ints("qkv_hidden_sizes").empty() || ctx.Rank(0) != 3 || ctx.Rank(1) != 2) return false;
  const Dims& stored = ctx.Type(1).dims;
  if (!stored[1].is_constant() || heads <= 0 || stored[1].value() % 3 != 0) return false;
  const int64_t size = stored[1].value() / 3;
  if (size % heads != 0) return false;
  Attended in;
  in.causal = node.Int("unidirectional", 0) != 0;
  if (!TakeMask(ctx, 3, 5, &in.mask)) return false;
  const Made weight =
      Call(ctx, "aten::t", {ctx.Tensor(1)}, WithDims(ctx.Type(1), {stored[1], stored[0]}));
  const TensorType& input = ctx.Type(0);
  const Made packed =
      Call(ctx, "aten::linear",
           {ctx.Tensor(0), weight.tensor, ctx.Has(2) ? ctx.Tensor(2) : TorchArgument()},
           WithDims(input, {input.dims[0], input.dims[1], stored[1]}));
  in.query = Heads(ctx, Slice(ctx, packed, 2, 0, size), heads);
  in.key = Heads(ctx, Slice(ctx, packed, 2, size, 2 * size), heads);
  in.value = Heads(ctx, Slice(ctx, packed, 2, 2 * size, 3 * size), heads);
  AttendInRows(ctx, in);
  return true;
}

// input, skip, weight, then bias of the norm (LayerNorm only), then bias of the input; the sum may
// be a result too.
template <bool kCentered>
bool LowerSkipNorm(LowerContext& ctx) {
  constexpr int kNormBias = 3;
  constexpr int kInputBias = kCentered ? 4 : 3;
  constexpr int kSum = 3;
  if (ctx.Rank(0) < 1 || ctx.HasResult(1) || ctx.HasResult(2)) return false;
  Made sum = Operand(ctx, 0);
  if (ctx.Has(kInputBias)) sum = Sum(ctx, sum, Operand(ctx, kInputBias));
  sum = Sum(ctx, sum, Operand(ctx, 1));
  if (ctx.HasResult(kSum)) ctx.Alias(kSum, sum.tensor.tensor);
  const TorchArgument sizes = TorchArgument::Ints({sum.type.dims.back()});
  const TorchArgument epsilon = TorchArgument::Float(ctx.node().Float("epsilon", 1e-5));
  if (kCentered) {
    ctx.Result("aten::layer_norm",
               {sum.tensor, sizes, ctx.Tensor(2),
                ctx.Has(kNormBias) ? ctx.Tensor(kNormBias) : TorchArgument(), epsilon,
                TorchArgument::Bool(true)});
  } else {
    ctx.Result("aten::rms_norm", {sum.tensor, sizes, ctx.Tensor(2), epsilon});
  }
  return true;
}

bool LowerBiasGelu(LowerContext& ctx) {
  Made sum = Operand(ctx, 0);
  if (ctx.Has(1)) sum = Sum(ctx, sum, Operand(ctx, 1));
  std::vector<TorchArgument> arguments = {sum.tensor};
  if (ctx.node().op_type == "FastGelu") arguments.push_back(TorchArgument::String("tanh"));
  ctx.Result("aten::gelu", std::move(arguments));
  return true;
}

bool LowerFusedMatMul(LowerContext& ctx) {
  const Node& node = ctx.node();
  if (node.Int("transBatchA", 0) != 0 || node.Int("transBatchB", 0) != 0) return false;
  Made operands[] = {Operand(ctx, 0), Operand(ctx, 1)};
  for (int i : {0, 1}) {
    Made& operand = operands[i];
    if (node.Int(i == 0 ? "transA" : "transB", 0) == 0 || operand.type.rank() < 2) continue;
    Dims dims = operand.type.dims;
    std::swap(dims[dims.size() - 2], dims.back());
    operand = Call(ctx, "aten::transpose",
                   {operand.tensor, TorchArgument::Int(-2), TorchArgument::Int(-1)},
                   WithDims(operand.type, dims));
  }
  const double alpha = node.Float("alpha", 1);
  if (alpha == 1) {
    ctx.Result("aten::matmul", {operands[0].tensor, operands[1].tensor});
    return true;
  }
  const Made product = Call(ctx, "aten::matmul", {operands[0].tensor, operands[1].tensor},
                            ctx.ResultType());
  ctx.Result("aten::mul", {product.tensor, TorchArgument::Float(alpha)});
  return true;
}

constexpr Lowering kRows[] = {
    {.onnx = "Attention", .lower = LowerAttention, .free_operands = 1u << 3},
    {.onnx = "com.microsoft::MultiHeadAttention", .lower = LowerMultiHeadAttention},
    {.onnx = "com.microsoft::Attention", .lower = LowerPackedAttention},
    {.onnx = "com.microsoft::SkipLayerNormalization", .lower = LowerSkipNorm<true>},
    {.onnx = "com.microsoft::SkipSimplifiedLayerNormalization", .lower = LowerSkipNorm<false>},
    {.onnx = "com.microsoft::BiasGelu", .lower = LowerBiasGelu},
    {.onnx = "com.microsoft::FastGelu", .lower = LowerBiasGelu},
    {.onnx = "com.microsoft::FusedMatMul", .lower = LowerFusedMatMul},
};

}  // namespace

absl::Span<const Lowering> FusedLowerings() { return kRows; }

}  // namespace footprint
