// What kernels of attention take while they run: operands laid out by head, scores, and masks.
#include <algorithm>

#include "backend/runtime/onnxruntime_scratch.h"

namespace footprint {
namespace {

constexpr Wide kFloat = 4;
constexpr Wide kHalf = 2;

size_t Rank(const SizedNode& sized, size_t operand) {
  return sized.Has(operand) ? sized.inputs[operand].size() : 0;
}

bool IsHalf(const SizedNode& sized) { return sized.Element(0) == ElementType::kFloat16; }

Wide Size(const SizedNode& sized, size_t operand, size_t axis) {
  return axis < Rank(sized, operand) ? sized.inputs[operand][axis] : 0;
}

Wide Elements(const SizedNode& sized, size_t operand) {
  if (Rank(sized, operand) == 0) return 0;
  Wide elements = 1;
  for (const int64_t size : sized.inputs[operand]) elements *= size;
  return elements;
}

// Queries [batch, queries, heads * size] or [batch, heads, queries, size], and the keys that they
// look at.
struct Sizes {
  Wide batch = 0;
  Wide heads = 0;
  Wide queries = 0;
  Wide keys = 0;
  Wide head_size = 0;
  Wide value_size = 0;

  Wide rows() const { return batch * heads * queries; }
  Wide scores() const { return rows() * keys; }
};

Sizes SizesOf(const SizedNode& sized, absl::string_view heads_attribute) {
  Sizes sizes;
  const size_t rank = Rank(sized, 0);
  if (rank < 3) return sizes;
  sizes.batch = Size(sized, 0, 0);
  sizes.heads = rank == 4 ? Size(sized, 0, 1) : sized.Int(heads_attribute, 1);
  sizes.queries = Size(sized, 0, rank - 2);
  const size_t key_rank = Rank(sized, 1);
  sizes.keys = key_rank >= 3 ? Size(sized, 1, key_rank - 2) : sizes.queries;
  const Wide width = Size(sized, 0, rank - 1);
  sizes.head_size = rank == 4 ? width : width / std::max<Wide>(sizes.heads, 1);
  sizes.value_size = sizes.head_size;
  return sizes;
}

// Rows are worked on by as many as fit the second level cache, which holds so much where this was
// measured.
Wide BlockedScores(const Sizes& sizes, bool is_one_row_whole) {
  constexpr Wide kCache = Wide{1} << 20;
  const Wide both = sizes.head_size + sizes.value_size;
  if (both == 0) return 0;
  const Wide fitting = std::max<Wide>(kCache / (Wide{4} * kFloat * both), 1);
  const Wide queries = std::min({fitting, both, sizes.queries});
  const Wide keys =
      is_one_row_whole && sizes.queries == 1 ? sizes.keys : std::min(fitting, sizes.keys);
  return Aligned(queries * (2 + keys + sizes.value_size) * kFloat);
}

// Scores of all heads, the result by head, and a mask that is spread: over queries too where later
// keys are hidden.
Wide WholeScores(const SizedNode& sized, const Sizes& sizes, size_t mask) {
  constexpr Wide kByHead = 64;
  const bool is_causal = sized.Int("unidirectional", 0) != 0 && sizes.queries > 1;
  const Wide row = sizes.batch * sizes.keys;
  Wide spread = 0;
  if (Rank(sized, mask) > 2 || is_causal) {
    spread = sizes.queries * row;
  } else if (sized.Has(mask)) {
    spread = row;
  }
  return Aligned(sizes.rows() * sizes.value_size * kFloat) + kByHead * sizes.batch * sizes.heads +
         Aligned(sizes.scores() * kFloat) + Aligned(spread * kFloat);
}

}  // namespace

// The scores, and one mask of numbers if it is causal or of truth values. Scores of half precision
// are worked on as 32-bit numbers, head by head.
Wide AttentionScratch(const SizedNode& sized) {
  constexpr size_t kMask = 3;
  constexpr size_t kPast = 4;
  Sizes sizes = SizesOf(sized, "q_num_heads");
  sizes.keys += Size(sized, kPast, 2);
  const bool is_half = IsHalf(sized);
  const Wide element = is_half ? kHalf : kFloat;
  const bool is_causal = sized.Int("is_causal", 0) != 0;
  Wide mask = Elements(sized, kMask);
  const bool is_copied = is_causal || (sized.Has(kMask) && sized.input_bytes[kMask] == mask);
  const Wide head = sizes.queries * sizes.keys;
  if (is_causal) mask = std::max<Wide>(mask, head);
  return Aligned(sizes.scores() * element) + (is_copied ? Aligned(mask * element) : Wide{0}) +
         (is_half ? Aligned(head * kFloat) : Wide{0});
}

// Keys and values that come by head already, of another sequence, are left as they are.
Wide MultiHeadAttentionScratch(const SizedNode& sized) {
  enum : size_t { kKey = 1, kValue, kBias, kPaddingMask, kScoreBias, kPastKey };
  Sizes sizes = SizesOf(sized, "num_heads");
  const bool is_by_head = Rank(sized, kKey) == 4;
  const Wide value = Size(sized, kValue, is_by_head ? 3 : 2);
  if (value > 0) sizes.value_size = is_by_head ? value : value / std::max<Wide>(sizes.heads, 1);
  const auto laid_out = [&](Wide length, Wide size) {
    return Aligned(sizes.batch * length * sizes.heads * size * kFloat);
  };
  const Wide query = laid_out(sizes.queries, sizes.head_size);
  const Wide keys = is_by_head ? Wide{0} : laid_out(sizes.keys, sizes.head_size);
  const Wide values = is_by_head ? Wide{0} : laid_out(sizes.keys, sizes.value_size);
  Wide before = 0;  // while biases are added, one after another
  if (sized.Has(kBias)) {
    const auto added = [&](Wide held, Wide last, Wide length, Wide size) {
      before = std::max(
          before, held + (length > 1 ? last : Wide{0}) + Aligned(sizes.heads * size * kFloat));
    };
    added(query, query, sizes.queries, sizes.head_size);
    if (!is_by_head) added(query + keys, keys, sizes.keys, sizes.head_size);
    if (!is_by_head) added(query + keys + values, values, sizes.keys, sizes.value_size);
  }
  const bool is_plain = !sized.Has(kPaddingMask) && !sized.Has(kScoreBias) &&
                        !sized.Has(kPastKey) && !sized.Makes(1) && !sized.Makes(2) &&
                        !sized.Makes(3) && sized.Int("unidirectional", 0) == 0 && !is_by_head;
  sizes.keys += Size(sized, kPastKey, 2);
  const Wide scores =
      is_plain ? BlockedScores(sizes, false) : WholeScores(sized, sizes, kPaddingMask);
  return std::max(before, query + keys + values + scores);
}

// Query, key and value in one product of the image [batch, queries, width].
static Wide PackedScratch(const SizedNode& sized, size_t mask, size_t past) {
  if (Rank(sized, 0) != 3 || sized.outputs[0].size() != 3) return 0;
  Sizes sizes;
  sizes.batch = Size(sized, 0, 0);
  sizes.queries = Size(sized, 0, 1);
  sizes.heads = std::max<Wide>(sized.Int("num_heads", 1), 1);
  sizes.keys = sizes.queries + Size(sized, past, 3);
  sizes.value_size = sized.outputs[0][2] / sizes.heads;
  const Wide width = Size(sized, 1, 1);  // of all three
  return Aligned(sizes.batch * sizes.queries * width * kFloat) + WholeScores(sized, sizes, mask);
}

Wide PackedAttentionScratch(const SizedNode& sized) { return PackedScratch(sized, 3, 4); }

Wide QuantizedAttentionScratch(const SizedNode& sized) { return PackedScratch(sized, 5, 8); }

// Operands by head, or all three in one, and again those that are turned by their positions.
static Wide GroupedOperands(const SizedNode& sized) {
  constexpr size_t kKey = 1;
  const auto bytes = [&](size_t i) { return Aligned(sized.Has(i) ? sized.input_bytes[i] : 0); };
  const bool is_packed = !sized.Has(kKey);
  const Wide operands = is_packed ? bytes(0) : bytes(0) + bytes(1) + bytes(2);
  if (sized.Int("do_rotary", 0) == 0) return operands;
  return operands + (is_packed ? bytes(0) : bytes(0) + bytes(1));
}

static Sizes GroupedSizes(const SizedNode& sized) {
  Sizes sizes = SizesOf(sized, "num_heads");
  const bool is_packed = !sized.Has(1);
  if (is_packed) {
    const Wide heads = sizes.heads + Wide{2} * sized.Int("kv_num_heads", 1);
    sizes.head_size = Size(sized, 0, 2) / std::max<Wide>(heads, 1);
    sizes.value_size = sizes.head_size;
  }
  if (sized.outputs.size() > 1 && sized.outputs[1].size() == 4) sizes.keys = sized.outputs[1][2];
  return sizes;
}

// Half precision: the scores as 32-bit numbers, and operands one head at a time, or all queries.
static Wide GroupedScores(const SizedNode& sized, const Sizes& sizes) {
  const Wide scores = Aligned(sizes.scores() * kFloat);
  if (!IsHalf(sized)) return scores;
  const Wide head = Aligned(sizes.head_size * (sizes.queries + sizes.keys) * kFloat);
  const Wide all = Aligned(sizes.rows() * sizes.head_size * kFloat) +
                   Aligned(sizes.head_size * sizes.keys * kFloat);
  return scores + std::max(head, all);
}

Wide GroupQueryAttentionScratch(const SizedNode& sized) {
  enum : size_t { kPastKey = 3, kHeadSink = 11 };
  const Sizes sizes = GroupedSizes(sized);
  const bool is_capped = sized.source != nullptr && sized.source->Float("softcap", 0) != 0;
  const bool is_whole = is_capped || sized.Int("smooth_softmax", 0) > 0 || sized.Has(kHeadSink) ||
                        sized.Makes(3) || sized.Int("causal", 1) == 0;
  const bool is_quantized =
      sized.source != nullptr && sized.source->String("k_quant_type", "NONE") != "NONE";
  const Wide operands = GroupedOperands(sized);
  if (is_quantized) {
    return operands + (is_whole ? Aligned(sizes.scores() * kFloat) : BlockedScores(sizes, false));
  }
  if (is_whole || IsHalf(sized)) return operands + GroupedScores(sized, sizes);
  return operands + BlockedScores(sizes, true);
}

Wide SparseAttentionScratch(const SizedNode& sized) {
  return GroupedOperands(sized) + GroupedScores(sized, GroupedSizes(sized));
}

// One query for each sequence; keys of another sequence, or of the one so far.
Wide DecoderMaskedAttentionScratch(const SizedNode& sized) {
  enum : size_t { kKey = 1, kMask = 3, kPastKey = 5, kIndirection = 9 };
  constexpr Wide kByHead = 64;
  const Sizes sizes = SizesOf(sized, "num_heads");
  const bool is_cross = Rank(sized, kKey) == 4;
  const Wide length = is_cross ? sizes.keys : Size(sized, kPastKey, 2) + 1;
  const Wide heads = sizes.batch * sizes.heads;
  const Wide row = Aligned(heads * sizes.head_size * kFloat);
  return (is_cross ? 2 : 4) * row + (sized.Has(kIndirection) ? Wide{0} : kByHead * heads) +
         Aligned(heads * length * kFloat) +
         (sized.Has(kMask) ? Aligned(sizes.batch * length * kFloat) : Wide{0});
}

// One key and one value.
Wide LinearAttentionScratch(const SizedNode& sized) {
  if (sized.outputs.size() < 2 || sized.outputs[1].size() < 2) return 0;
  const std::vector<int64_t>& state = sized.outputs[1];
  return Aligned((Wide{state[state.size() - 2]} + state.back()) * kFloat);
}

}  // namespace footprint
