// Attention in one operator, and what belongs to it.
#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/ops/onnx/families.h"
#include "ir/ops/onnx/rules.h"

namespace footprint {
namespace {

// [batch, heads, length, size] of an operand that is 4-D, or 3-D with the heads in its last axis.
struct Heads {
  Dim batch;
  Dim heads;
  Dim length;
  Dim size;
};

Heads ReadHeads(InferContext& c, const TensorType* type, absl::string_view count_attribute) {
  if (type == nullptr) return {};
  if (type->rank() == 4) return {type->dims[0], type->dims[1], type->dims[2], type->dims[3]};
  if (type->rank() != 3) {
    c.Error(absl::StrCat("an operand of shape ", ShapeToString(*type, c.dims()),
                         " where rank 3 or 4 is needed"));
    return {};
  }
  const int64_t heads = c.node().Int(count_attribute, 0);
  if (heads <= 0) {
    c.Error(
        absl::StrCat("attribute ", count_attribute, " must be positive for operands of rank 3"));
    return {type->dims[0], Dim(), type->dims[1], Dim()};
  }
  const Dim all = type->dims[2];
  if (all.is_constant() && all.value() % heads != 0) {
    c.Error(absl::StrCat("an operand of ", all.value(), " features, which are no multiple of ",
                         heads, " heads (", count_attribute, ")"));
    return {type->dims[0], Dim(), type->dims[1], Dim()};
  }
  return {type->dims[0], heads, type->dims[1], c.dims().FloorDiv(all, heads)};
}

void AttentionTypes(InferContext& c) {
  const TensorType* query = c.RankedInput(0);
  const Heads q = ReadHeads(c, query, "q_num_heads");
  const Heads k = ReadHeads(c, c.RankedInput(1), "kv_num_heads");
  const Heads v = ReadHeads(c, c.RankedInput(2), "kv_num_heads");
  if (!q.size.is_unknown() && !k.size.is_unknown() && q.size != k.size) {
    c.RequireEqual(q.size, k.size, "head sizes of Q and K differ");
  }
  if (!k.length.is_unknown() && !v.length.is_unknown() && k.length != v.length) {
    c.RequireEqual(k.length, v.length, "lengths of K and V differ");
  }
  if (q.heads.is_constant() && k.heads.is_constant() && k.heads.value() > 0 &&
      q.heads.value() % k.heads.value() != 0) {
    c.Error(absl::StrCat(q.heads.value(), " heads of Q, which are no multiple of the ",
                         k.heads.value(), " of K"));
  }
  DimTable& dims = c.dims();
  // The cache comes before the new keys.
  const TensorType* past = c.RankedInput(4);
  Dim total = k.length;
  if (c.HasInput(4)) total = dims.Add(k.length, DimOf(past, 2));
  const ElementType element = c.InputElement(0);
  if (query == nullptr) {
    SetUnranked(c, 0, element);
  } else if (query->rank() == 3) {
    SetRanked(c, 0, element, {q.batch, q.length, dims.Mul(q.heads, v.size)});
  } else {
    SetRanked(c, 0, element, {q.batch, q.heads, q.length, v.size});
  }
  if (c.HasOutput(1)) {
    SetRanked(c, 1, c.InputElement(1), {k.batch, k.heads, total, k.size});
  }
  if (c.HasOutput(2)) {
    SetRanked(c, 2, c.InputElement(2), {v.batch, v.heads, total, v.size});
  }
  if (c.HasOutput(3)) SetRanked(c, 3, element, {q.batch, q.heads, q.length, total});
}

// Q [B, H, L, E], V [B, H', S, F]: [B, H, L, F].
void FlexAttentionTypes(InferContext& c) {
  const TensorType* q = RequireRank(c, 0, 4, "Q");
  const TensorType* v = RequireRank(c, 2, 4, "V");
  SetRanked(c, 0, c.InputElement(0), {DimOf(q, 0), DimOf(q, 1), DimOf(q, 2), DimOf(v, 3)});
}

// Packed heads [B, T, H*size]; the state is [B, H', key size, value size].
void LinearAttentionTypes(InferContext& c) {
  const TensorType* q = RequireRank(c, 0, 3, "query");
  const TensorType* v = RequireRank(c, 2, 3, "value");
  const int64_t q_heads = c.node().Int("q_num_heads", 0);
  const int64_t kv_heads = c.node().Int("kv_num_heads", 0);
  if (q_heads <= 0 || kv_heads <= 0) {
    return c.Error("q_num_heads and kv_num_heads must be positive");
  }
  DimTable& dims = c.dims();
  const Dim key_size = dims.FloorDiv(DimOf(q, 2), q_heads);
  const Dim value_size = dims.FloorDiv(DimOf(v, 2), kv_heads);
  SetRanked(c, 0, c.InputElement(0), {DimOf(q, 0), DimOf(q, 1), dims.Mul(q_heads, value_size)});
  if (!c.HasOutput(1)) return;
  const ElementType state = c.HasInput(3) ? c.InputElement(3) : c.InputElement(0);
  SetRanked(c, 1, state, {DimOf(q, 0), kv_heads, key_size, value_size});
}

constexpr OnnxOp kRows[] = {
    {.name = "Attention",
     .since = 23,
     .signature = "3-6->1-4; 24: 3-7->1-4",
     .types = AttentionTypes,
     .textbook = TextbookKind::kAttention},
    {.name = "FlexAttention",
     .domain = "ai.onnx.preview",
     .signature = "3->1",
     .types = FlexAttentionTypes,
     .textbook = TextbookKind::kAttention},
    {.name = "LinearAttention",
     .since = 27,
     .signature = "3-6->2 kv_num_heads q_num_heads",
     .types = LinearAttentionTypes,
     .textbook = TextbookKind::kAttention},
    {.name = "RotaryEmbedding", .since = 23, .signature = "3-4->1", .types = SameAsInput0},
};

}  // namespace

OnnxFamily AttentionOps() { return kRows; }

}  // namespace footprint
