// com.microsoft: attention in its many forms, caches and rotary embeddings beside it.
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/ops/onnx/families.h"
#include "ir/ops/onnx/microsoft_rules.h"

namespace footprint {
namespace {

Dim Heads(const InferContext& c) { return SizeAttribute(c, "num_heads"); }

// The size of each of num_heads heads.
Dim PerHead(InferContext& c, Dim all) {
  const Dim heads = Heads(c);
  if (heads.is_constant() && heads.value() <= 0) {
    c.Error(absl::StrCat("attribute num_heads must be positive, not ", heads.value()));
    return Dim();
  }
  if (heads.is_constant() && all.is_constant() && all.value() % heads.value() != 0) {
    c.Error(absl::StrCat(all.value(), " features, which are no multiple of ", heads.value(),
                         " heads"));
  }
  return c.dims().FloorDiv(all, heads);
}

// The part of the merged weights [input, q + k + v] that is v; a third unless told.
Dim ValueSize(InferContext& c, Dim merged) {
  const absl::Span<const int64_t> sizes = c.node().Ints("qkv_hidden_sizes");
  return sizes.size() == 3 ? Dim(sizes[2]) : c.dims().FloorDiv(merged, 3);
}

// [2, B, heads, past + new, head size] of a past [2, B, heads, past, head size].
void SetPresent(InferContext& c, int output, int past_input, Dim batch, Dim steps, Dim hidden,
                ElementType element) {
  if (!c.HasOutput(output)) return;
  const TensorType* past = c.RankedInput(past_input);
  const Dim size = PerHead(c, hidden);
  Dim total = steps;
  if (c.HasInput(past_input)) {
    const Dim before = DimOf(past, 3);
    const bool shared = c.node().Int("past_present_share_buffer", 0) != 0;
    total = shared ? before : c.dims().Add(before, steps);
  }
  SetRanked(c, output, element, {2, batch, Heads(c), total, size});
}

// input [B, S, I] times merged weights; both may be quantized, then `element` is that of a scale.
void SetMergedAttention(InferContext& c, int past_input, ElementType element) {
  const TensorType* input = RequireRank(c, 0, 3, "input");
  const TensorType* weights = RequireRank(c, 1, 2, "weights");
  const Dim merged = DimOf(weights, 1);
  const Dim values = ValueSize(c, merged);
  PerHead(c, values);
  SetRanked(c, 0, element, {DimOf(input, 0), DimOf(input, 1), values});
  const absl::Span<const int64_t> sizes = c.node().Ints("qkv_hidden_sizes");
  const Dim keys = sizes.size() == 3 ? Dim(sizes[1]) : c.dims().FloorDiv(merged, 3);
  SetPresent(c, 1, past_input, DimOf(input, 0), DimOf(input, 1), keys, element);
}

void AttentionTypes(InferContext& c) { SetMergedAttention(c, 4, c.InputElement(0)); }
void QAttentionTypes(InferContext& c) { SetMergedAttention(c, 8, c.InputElement(3)); }

void PackedAttentionTypes(InferContext& c) {
  const TensorType* input = RequireRank(c, 0, 2, "input");
  SetRanked(c, 0, c.InputElement(0), {DimOf(input, 0), ValueSize(c, DimOf(c.Input(1), 1))});
}

// Q, K and V weights of their own: inputs 5, 6 and 7.
void OrderedAttentionTypes(InferContext& c) {
  const TensorType* input = RequireRank(c, 0, 3, "input");
  SetRanked(c, 0, c.InputElement(0), {DimOf(input, 0), DimOf(input, 1), DimOf(c.Input(7), 1)});
}

// What query, key and value of MultiHeadAttention amount to:
//
//   query [B, S, H*e]              key [B, L, H*e] or [B, H, L, e]    value likewise
//   query [B, S, H, 3, e] alone    packed
//   query [B, S, H*e]              key [B, L, H, 2, e] alone          packed
struct Operands {
  Dim batch;
  Dim steps;
  Dim length;    // of keys
  Dim key_size;  // of a head
  Dim value_size;
};

Operands ReadOperands(InferContext& c) {
  const TensorType* query = c.RankedInput(0);
  const TensorType* key = c.RankedInput(1);
  const TensorType* value = c.RankedInput(2);
  DimTable& dims = c.dims();
  Operands result = {DimOf(query, 0), DimOf(query, 1), Dim(), Dim(), Dim()};
  if (query == nullptr) return result;
  if (query->rank() == 5) {
    result.length = result.steps;
    result.key_size = result.value_size = query->dims[4];
    return result;
  }
  result.key_size = PerHead(c, DimOf(query, 2));
  if (!c.HasInput(1)) {
    // Packed along the last axis.
    result.length = result.steps;
    result.key_size = result.value_size = dims.FloorDiv(result.key_size, 3);
  } else if (key != nullptr) {
    result.length = DimOf(key, key->rank() == 4 ? 2 : 1);
    if (key->rank() == 5) result.value_size = key->dims[4];
  }
  if (value != nullptr) {
    const Dim all = DimOf(value, 2);
    result.value_size = value->rank() == 4           ? value->dims[3]
                        : all == DimOf(query, 2) ? result.key_size
                                                     : PerHead(c, all);
  }
  return result;
}

// `total` keys after the past, whose buffer may be the present's.
Dim TotalLength(InferContext& c, int past_input, Dim length) {
  if (!c.HasInput(past_input)) return length;
  const Dim past = DimOf(c.Input(past_input), 2);
  const bool shared = c.node().Int("past_present_share_buffer", 0) != 0;
  return shared ? past : c.dims().Add(past, length);
}

void SetMultiHead(InferContext& c, int past_input) {
  const Operands o = ReadOperands(c);
  DimTable& dims = c.dims();
  const ElementType element = c.InputElement(0);
  SetRanked(c, 0, element, {o.batch, o.steps, dims.Mul(Heads(c), o.value_size)});
  Dim total = TotalLength(c, past_input, o.length);
  // A buffer of the greatest length comes with the length of what is in it.
  if (c.HasInput(past_input) && c.HasInput(past_input + 2) &&
      !c.node().Has("past_present_share_buffer")) {
    total = DimOf(c.Input(past_input), 2);
  }
  if (c.HasOutput(1)) SetRanked(c, 1, element, {o.batch, Heads(c), total, o.key_size});
  if (c.HasOutput(2)) SetRanked(c, 2, element, {o.batch, Heads(c), total, o.value_size});
  if (c.HasOutput(3)) SetRanked(c, 3, element, {o.batch, Heads(c), o.steps, total});
}

void MultiHeadTypes(InferContext& c) { SetMultiHead(c, 6); }
void MaskedMultiHeadTypes(InferContext& c) { SetMultiHead(c, 5); }

void PackedMultiHeadTypes(InferContext& c) {
  const TensorType* query = c.RankedInput(0);
  Dim hidden = DimOf(c.RankedInput(2), 1);
  if (query != nullptr && query->rank() == 4) {
    hidden = c.dims().Mul(query->dims[1], query->dims[3]);
  }
  SetRanked(c, 0, c.InputElement(0), {DimOf(query, 0), hidden});
}

// Query [.., H*e], or packed with the keys and values of kv_num_heads: (H + 2*G) * e.
Dim GroupedHeadSize(InferContext& c) {
  const TensorType* query = c.RankedInput(0);
  const Dim last = DimOf(query, -1);
  DimTable& dims = c.dims();
  if (c.HasInput(1) && c.HasInput(2)) return PerHead(c, last);
  const Dim all = dims.Add(Heads(c), dims.Mul(SizeAttribute(c, "kv_num_heads"), 2));
  return dims.FloorDiv(last, all);
}

// The cache keeps its length if it is a buffer. Whether it is one, only run time knows: where the
// sizes say nothing the present is as long as past and new together.
void GroupQueryTypes(InferContext& c) {
  const TensorType* query = RequireRank(c, 0, 3, "query");
  DimTable& dims = c.dims();
  const Dim size = GroupedHeadSize(c);
  SetRanked(c, 0, c.InputElement(0), {DimOf(query, 0), DimOf(query, 1), dims.Mul(Heads(c), size)});
  const TensorType* past = c.RankedInput(3);
  const Dim total = ScalarInput(c, 6);
  Dim length = total;
  if (c.HasInput(3)) {
    const Dim before = DimOf(past, 2);
    length = total.is_unknown() ? c.Fresh(0, dims.Add(before, DimOf(query, 1)))
                                : dims.Max(before, total);
  } else if (total.is_unknown()) {
    length = DimOf(query, 1);
  }
  const Dim width = past != nullptr ? DimOf(past, 3) : size;
  const ElementType cache = c.HasInput(3) ? c.InputElement(3) : c.InputElement(0);
  for (int i = 1; i <= 2; ++i) {
    if (!c.HasOutput(i)) continue;
    SetRanked(c, i, cache, {DimOf(query, 0), SizeAttribute(c, "kv_num_heads"), length, width});
  }
  if (c.HasOutput(3)) {
    SetRanked(c, 3, c.InputElement(0), {DimOf(query, 0), Heads(c), DimOf(query, 1), length});
  }
}

// Output like the query's heads; caches like what came in, at inputs 3 and 4.
void CachedAttentionTypes(InferContext& c) {
  const TensorType* query = c.RankedInput(0);
  if (query == nullptr) {
    SetUnranked(c, 0, c.InputElement(0));
  } else {
    Dim size = SizeAttribute(c, "v_head_size");
    if (size.is_unknown()) size = GroupedHeadSize(c);
    SetLastDim(c, 0, 0, c.InputElement(0), c.dims().Mul(Heads(c), size));
  }
  if (c.HasOutput(1)) CopyType(c, 3, 1);
  if (c.HasOutput(2)) CopyType(c, 4, 2);
}

void DynamicSparseTypes(InferContext& c) {
  CachedAttentionTypes(c);
  if (c.node().Int("output_bf16", 0) != 0 && c.OutputType(0).is_tensor()) {
    TensorType output = c.OutputType(0).tensor;
    output.element = ElementType::kBfloat16;
    c.SetOutput(0, std::move(output));
  }
  if (c.HasOutput(3)) SetRanked(c, 3, ElementType::kInt32, {c.Fresh(1, Dim())});
}

// [S, B, hidden]; caches [B, heads, new length, head size].
void DecoderAttentionTypes(InferContext& c) {
  CopyType(c, 0, 0);
  const TensorType* query = RequireRank(c, 0, 3, "query");
  const Dim size = c.dims().FloorDiv(DimOf(query, 2), Heads(c));
  for (int i = 1; i <= 2; ++i) {
    if (!c.HasOutput(i)) continue;
    SetRanked(c, i, c.InputElement(0), {DimOf(query, 1), Heads(c), c.Fresh(1, Dim()), size});
  }
}

void RelativeBiasTypes(InferContext& c) {
  Dim rows = ScalarInput(c, 1);
  Dim columns = ScalarInput(c, 2);
  if (rows.is_unknown()) rows = c.Fresh(1, Dim());
  if (columns.is_unknown()) columns = c.Fresh(1, Dim());
  SetRanked(c, 0, c.InputElement(0), {1, DimOf(c.RankedInput(0), 1), rows, columns});
}

// rel_pos [1, heads, S, S] for each sequence; packed tokens come with offsets [B, S].
void GatedRelativeBiasTypes(InferContext& c) {
  const TensorType* positions = RequireRank(c, 2, 4, "rel_pos");
  const Dim batch = DimOf(c.HasInput(6) ? c.RankedInput(6) : c.RankedInput(0), 0);
  SetRanked(c, 0, c.InputElement(0), {batch, Heads(c), DimOf(positions, 2), DimOf(positions, 3)});
}

void GemmaRotaryTypes(InferContext& c) {
  CopyType(c, 1, 0);
  CopyType(c, 3, 1);
}

constexpr OnnxOp Attention(absl::string_view name, Signature signature, InferRule types,
                           uint32_t weights = 0) {
  return {.name = name,
          .domain = kMicrosoft,
          .signature = signature,
          .types = types,
          .weights = weights,
          .textbook = TextbookKind::kAttention};
}
constexpr OnnxOp Row(absl::string_view name, Signature signature, InferRule types,
                     uint32_t weights = 0) {
  return {.name = name,
          .domain = kMicrosoft,
          .signature = signature,
          .types = types,
          .weights = weights};
}

constexpr OnnxOp kRows[] = {
    Attention("Attention", "2-7->1-2 num_heads", AttentionTypes, 0b110),
    Attention("DecoderAttention", "12->1-3 num_heads", DecoderAttentionTypes, 0b11100),
    Attention("DecoderMaskedMultiHeadAttention", "1-11->1-4 num_heads", MaskedMultiHeadTypes,
              1 << 10),
    Attention("DecoderMaskedSelfAttention", "7-9->2 num_heads", AttentionTypes, 0b110),
    Attention("DynamicSparseAttention", "11-20->1-4 kv_num_heads num_heads", DynamicSparseTypes),
    Row("GatedRelativePositionBias", "6-7->1 num_heads", GatedRelativeBiasTypes, 0b111010),
    Row("GemmaRotaryEmbedding", "5->2", GemmaRotaryTypes),
    Attention("GroupQueryAttention", "7-17->1-4 kv_num_heads num_heads", GroupQueryTypes),
    Attention("LongformerAttention", "7->1 num_heads window", SameAsInput0, 0b110110),
    Row("MRotaryEmbedding", "4->1 mrope_section", SameAsInput0),
    Attention("MultiHeadAttention", "1-10->1-4 num_heads", MultiHeadTypes, 0b1000),
    Attention("PackedAttention", "5-6->1 num_heads", PackedAttentionTypes, 0b110),
    Attention("PackedMultiHeadAttention", "6-7->1 num_heads", PackedMultiHeadTypes, 0b1000),
    Attention("PagedAttention", "8-17->1-3 kv_num_heads num_heads", CachedAttentionTypes),
    Attention("QAttention", "5-9->1-2 num_heads", QAttentionTypes, 0b110).Quantized(0b11011000),
    Attention("QOrderedAttention", "17-20->1 num_heads order_input order_output order_weight",
              OrderedAttentionTypes, 0b11100011100000)
        .Quantized(0b11100011100011110),
    Attention("QOrderedLongformerAttention",
              "14->1 num_heads order_global_weight order_input order_output order_weight window",
              SameAsInput0, 0b10100010100)
        .Quantized(0b10101001101010),
    Row("RelativePositionBias", "3->1 max_distance", RelativeBiasTypes, 0b1),
    Row("RotaryEmbedding", "4->1", SameAsInput0),
    Attention("SparseAttention", "9-11->3 kv_num_heads num_heads sparse_block_size",
              CachedAttentionTypes),
    Attention("SparsePagedAttention", "11-22->1-3 kv_num_heads num_heads", CachedAttentionTypes),
};

}  // namespace

OnnxFamily MicrosoftAttentionOps() { return kRows; }

}  // namespace footprint
