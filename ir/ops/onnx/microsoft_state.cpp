// com.microsoft: operators that carry a state from call to call, and generation loops.
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/ops/onnx/families.h"
#include "ir/ops/onnx/microsoft_rules.h"

namespace footprint {
namespace {

// One less than the elements of prefix sums.
Dim BatchOf(InferContext& c, int prefix_sums) {
  return c.dims().Sub(DimOf(c.RankedInput(prefix_sums), 0), 1);
}

// (k - 1) * dilation positions before the current one.
Dim HistoryLength(InferContext& c, int weight) {
  DimTable& dims = c.dims();
  return dims.Mul(dims.Sub(DimOf(c.RankedInput(weight), -1), 1), c.node().Int("dilation", 1));
}

// Channels first: state [B, C, spatial..., history]; a window adds an axis before all.
void CausalConvTypes(InferContext& c) {
  CopyType(c, 0, 0);
  const TensorType* x = RequireRankAtLeast(c, 0, 3, "input");
  const ElementType element = c.InputElement(0);
  const bool channels_last = c.node().Int("channels_last", 0) != 0;
  Dim channels = DimOf(x, 1);
  if (channels_last) channels = DimOf(x, -1);
  if (const int64_t chosen = c.node().Int("input_channels", 0); chosen > 0) {
    channels = chosen;
    SetLastDim(c, 0, 0, element, channels);
  }
  Dim history = c.node().Int("state_length", 0);
  if (history.Is(0)) history = HistoryLength(c, 1);
  int64_t last = c.node().Int("state_channels_last", -1);
  if (last < 0) last = channels_last ? 1 : 0;
  if (c.HasInput(3)) {
    CopyType(c, 3, 1);
  } else if (x == nullptr || x->rank() != 3) {
    if (x != nullptr && !channels_last) {
      SetLastDim(c, 0, 1, element, history);
    } else {
      SetUnranked(c, 1, element);
    }
  } else {
    Dims state = {x->dims[0], last != 0 ? history : channels, last != 0 ? channels : history};
    const int64_t window = c.node().Int("state_window", 0);
    if (window > 0) state.insert(state.begin(), window);
    SetRanked(c, 1, element, state);
  }
  if (c.HasOutput(2)) {
    SetRanked(c, 2, element, {DimOf(x, 0), SizeAttribute(c, "state_update_capacity"), channels});
  }
}

// Packed tokens [T, C]; the state comes in at input 4.
void VarlenConvTypes(InferContext& c) {
  CopyType(c, 0, 0);
  CopyType(c, 4, 1);
  if (!c.HasOutput(2)) return;
  SetRanked(c, 2, c.InputElement(0),
            {BatchOf(c, 2), SizeAttribute(c, "state_update_capacity"), DimOf(c.RankedInput(0), 1)});
}

// [B, T, heads * size]; states [B, kv heads, key size, value size], in a window of them.
void LinearAttentionTypes(InferContext& c) {
  const TensorType* query = RequireRank(c, 0, 3, "query");
  const TensorType* value = RequireRank(c, 2, 3, "value");
  const int64_t q_heads = c.node().Int("q_num_heads", 0);
  const int64_t kv_heads = c.node().Int("kv_num_heads", 0);
  if (q_heads <= 0 || kv_heads <= 0) {
    return c.Error("q_num_heads and kv_num_heads must be positive");
  }
  DimTable& dims = c.dims();
  const Dim size = dims.FloorDiv(DimOf(value, 2), kv_heads);
  SetRanked(c, 0, c.InputElement(0),
            {DimOf(query, 0), DimOf(query, 1), dims.Mul(std::max(q_heads, kv_heads), size)});
  if (!c.HasOutput(1)) return;
  if (c.HasInput(3)) return CopyType(c, 3, 1);
  Dims state = {DimOf(query, 0), kv_heads, dims.FloorDiv(DimOf(query, 2), q_heads), size};
  const int64_t window = c.node().Int("state_window", 0);
  if (window > 0) state.insert(state.begin(), window);
  SetRanked(c, 1, c.InputElement(0), state);
}

// Heads are in the shapes: query [T, Hq, k], key [T, Hk, k], value [T, Hv, v], or rank 4 with [B,
// S] for T. Packed, the state [B, Hv, v, k] tells.
void DeltaNetTypes(InferContext& c) {
  const TensorType* query = c.RankedInput(0);
  const TensorType* value = c.RankedInput(2);
  const TensorType* state = c.RankedInput(6);
  const ElementType element = c.InputElement(0);
  DimTable& dims = c.dims();
  const bool packed = !c.HasInput(1);
  const Dim value_heads = packed ? DimOf(state, 1) : DimOf(value, -2);
  const Dim value_size = packed ? DimOf(state, 2) : DimOf(value, -1);
  const Dim key_size = packed ? DimOf(state, 3) : DimOf(query, -1);
  if (query == nullptr || query->rank() < (packed ? 1 : 2)) {
    SetUnranked(c, 0, element);
  } else {
    const size_t leading = packed ? query->dims.size() - 1 : query->dims.size() - 2;
    Dims result(query->dims.begin(), query->dims.begin() + static_cast<int64_t>(leading));
    Dim heads = value_heads;
    if (!packed) heads = dims.Max(DimOf(query, -2), value_heads);
    result.push_back(heads);
    result.push_back(value_size);
    SetRanked(c, 0, element, result);
  }
  Dim batch = DimOf(state, 0);
  if (batch.is_unknown() && c.HasInput(3)) batch = BatchOf(c, 3);
  if (c.HasOutput(1)) {
    const ElementType of_state = c.HasInput(6) ? c.InputElement(6) : ElementType::kFloat;
    SetRanked(c, 1, of_state, {batch, value_heads, value_size, key_size});
  }
  if (c.HasOutput(2)) SetRanked(c, 2, ElementType::kFloat, {batch, Dim()});
}

// Y [R, di], snapshots like the states; intermediate results if asked for.
void MambaTypes(InferContext& c) {
  const TensorType* projection = RequireRank(c, 0, 2, "projection");
  const Dim rows = DimOf(projection, 0);
  const Dim inner = DimOf(c.RankedInput(8), 0);
  SetRanked(c, 0, c.InputElement(0), {rows, inner});
  CopyType(c, 1, 1);
  CopyType(c, 2, 2);
  if (c.HasOutput(3)) SetRanked(c, 3, c.InputElement(0), {rows, DimOf(c.RankedInput(4), 0)});
  if (c.HasOutput(4)) SetRanked(c, 4, ElementType::kFloat, {rows, inner});
}

// hash ids [B, S, (n - 1) * heads] and the last n - 1 ids.
void NGramTypes(InferContext& c) {
  const TensorType* ids = RequireRank(c, 0, 2, "input_ids");
  const Dim order = c.node().Int("max_ngram_size", 2) - 1;
  const ElementType element = c.InputElement(0);
  SetRanked(
      c, 0, element,
      {DimOf(ids, 0), DimOf(ids, 1), c.dims().Mul(order, c.node().Int("n_head_per_ngram", 1))});
  if (c.HasOutput(1)) SetRanked(c, 1, element, {DimOf(ids, 0), order});
}

void VarlenNGramTypes(InferContext& c) {
  const TensorType* ids = RequireRank(c, 0, 1, "input_ids");
  const Dim order = c.node().Int("max_ngram_size", 2) - 1;
  const ElementType element = c.InputElement(0);
  const Dim batch = BatchOf(c, 3);
  SetRanked(c, 0, element,
            {DimOf(ids, 0), c.dims().Mul(order, c.node().Int("n_head_per_ngram", 1))});
  if (c.HasOutput(1)) SetRanked(c, 1, element, {batch, order});
  if (c.HasOutput(2)) SetRanked(c, 2, ElementType::kInt32, {batch, order});
  if (c.HasOutput(3)) {
    SetRanked(c, 3, element, {batch, SizeAttribute(c, "state_update_capacity"), order});
  }
}

// Entries that an indexer picks per query: a budget of tokens, or so many compressed entries.
Dim IndexerCapacity(InferContext& c) {
  const Dim ratio = c.node().Int("compress_ratio", 1);
  if (c.node().String("policy_mode", "") == "csa") return SizeAttribute(c, "index_topk");
  return c.dims().Add(SizeAttribute(c, "token_budget"), c.dims().Sub(ratio, 1));
}

void IndexerTypes(InferContext& c) {
  const TensorType* query = RequireRank(c, 0, 3, "query");
  SetRanked(c, 0, ElementType::kInt32, {DimOf(query, 0), DimOf(query, 1), IndexerCapacity(c)});
  const TensorType* past = RequireRank(c, 7, 3, "past_key");
  Dim length = DimOf(past, 1);
  if (!c.HasInput(12)) {
    const bool raw = c.node().String("policy_mode", "") != "csa";
    length = raw ? c.dims().Add(length, DimOf(query, 1)) : c.Fresh(0, Dim());
  }
  SetRanked(c, 1, c.InputElement(0), {DimOf(past, 0), length, DimOf(past, 2)});
  if (c.HasOutput(2)) {
    const TensorType* buffer = c.RankedInput(13);
    SetRanked(c, 2, c.InputElement(0), {2, DimOf(query, 0), c.Fresh(0, Dim()), DimOf(buffer, 3)});
  }
}

void PackedIndexerTypes(InferContext& c) {
  const Dim tokens = DimOf(c.RankedInput(0), 0);
  const Dim batch = BatchOf(c, 6);
  SetRanked(c, 0, ElementType::kInt32, {tokens, IndexerCapacity(c)});
  SetRanked(c, 1, ElementType::kInt32, {tokens});
  CopyType(c, 12, 2);
  CopyType(c, 13, 3);
  if (c.HasOutput(4)) CopyType(c, 14, 4);
  CopyType(c, 15, 5);
  if (c.HasOutput(6)) {
    SetRanked(c, 6, c.InputElement(0),
              {batch, SizeAttribute(c, "state_update_capacity"), DimOf(c.RankedInput(13), 2)});
  }
  if (c.HasOutput(7)) SetRanked(c, 7, ElementType::kInt32, {tokens});
  if (c.HasOutput(8)) SetRanked(c, 8, ElementType::kInt32, {batch});
}

void IndexerMergeTypes(InferContext& c) {
  const Dim rows = LengthOf(c, 2);
  const ElementType element = c.InputElement(0);
  SetRanked(c, 0, element, {rows, SizeAttribute(c, "max_output_entries")});
  SetRanked(c, 1, element, {rows});
  SetRanked(c, 2, element, {rows});
}

void PrefixCommitTypes(InferContext& c) {
  const TensorType* tokens = c.RankedInput(0);
  Dim batch = DimOf(tokens, 0);
  if (tokens != nullptr && tokens->rank() == 1) batch = 1;
  SetRanked(c, 0, ElementType::kInt32, {batch});
  CopyType(c, 3, 1);
  CopyType(c, 4, 2);
}

// max_length where it is known, else a symbol.
Dim GeneratedLength(InferContext& c) {
  const Dim length = ScalarInput(c, 1);
  return length.is_unknown() ? c.Fresh(1, Dim()) : length;
}

void GreedySearchTypes(InferContext& c) {
  const Dim batch = DimOf(c.RankedInput(0), 0);
  SetRanked(c, 0, ElementType::kInt32, {batch, GeneratedLength(c)});
  if (!c.HasOutput(1)) return;
  const Dim vocabulary =
      c.node().Int("vocab_size", -1) > 0 ? SizeAttribute(c, "vocab_size") : Dim();
  SetRanked(c, 1, ElementType::kFloat, {batch, vocabulary});
}

// sequences [B, returned, max_length] and scores.
void BeamSearchTypes(InferContext& c) {
  const TensorType* ids = c.RankedInput(0);
  const Dim batch = DimOf(ids, 0);
  const Dim returned = ScalarInput(c, 4);
  const Dim length = GeneratedLength(c);
  const ElementType score = c.HasInput(5) ? c.InputElement(5) : ElementType::kFloat;
  SetRanked(c, 0, ElementType::kInt32, {batch, returned, length});
  if (c.HasOutput(1)) SetRanked(c, 1, score, {batch, returned});
  if (c.HasOutput(2)) {
    const Dim steps = c.dims().Sub(length, DimOf(ids, 1));
    SetRanked(c, 2, score, {steps, batch, ScalarInput(c, 3), SizeAttribute(c, "vocab_size")});
  }
  if (c.HasOutput(3)) SetUnranked(c, 3, score);
  if (c.HasOutput(4)) SetRanked(c, 4, score, {batch});
}

// One direction or two, as LSTM.
void LstmTypes(InferContext& c) {
  const TensorType* x = RequireRank(c, 0, 3, "X");
  const int64_t directions = c.node().String("direction", "forward") == "bidirectional" ? 2 : 1;
  Dim hidden = c.node().Int("hidden_size", 0);
  if (hidden.Is(0)) hidden = Dim();
  const ElementType element = c.InputElement(0);
  if (c.HasOutput(0)) {
    SetRanked(c, 0, element, {DimOf(x, 0), directions, DimOf(x, 1), hidden});
  }
  for (int i = 1; i <= 2; ++i) {
    if (c.HasOutput(i)) SetRanked(c, i, element, {directions, DimOf(x, 1), hidden});
  }
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
    Row("AttnLSTM", "3-14->0-3", LstmTypes, 0b10011110001110),
    Row("BeamSearch", "5-12->1-3 decoder eos_token_id pad_token_id", BeamSearchTypes),
    Row("CausalConvWithState", "2-4->2-3", CausalConvTypes, 0b110),
    Row("DynamicQuantizeLSTM", "12->0-3", LstmTypes, 0b1111110001110).Quantized(0b111100000000),
    Row("GatedDeltaNet", "1-11->1-3", DeltaNetTypes, 0b110000000),
    Row("GreedySearch", "2-7->1 decoder eos_token_id pad_token_id", GreedySearchTypes),
    Row("LinearAttention", "3-6->2 kv_num_heads q_num_heads", LinearAttentionTypes),
    Row("Mamba2Verify", "10->3-5 heads n_groups", MambaTypes, 0b111111000),
    Row("NGramHashMapping", "3-7->1-2 max_ngram_size n_head_per_ngram pad_id", NGramTypes),
    Row("PackedSparseAttentionIndexer", "16-22->6-9 compress_ratio policy_mode state_capacity",
        PackedIndexerTypes, 0b1100),
    Row("PackedSparseAttentionIndexerMerge", "3-7->3 max_output_entries policy_mode",
        IndexerMergeTypes),
    Row("Sampling", "2-9->1-2 decoder eos_token_id pad_token_id", GreedySearchTypes),
    Row("SparseAttentionIndexer", "8-14->2-3 compress_ratio policy_mode", IndexerTypes, 0b1100),
    Row("SpeculativePrefixCommit", "7->3", PrefixCommitTypes),
    Row("VarlenCausalConvWithState", "5-8->2-3", VarlenConvTypes, 0b1010),
    Row("VarlenNGramHashMapping", "4-10->1-4 max_ngram_size n_head_per_ngram pad_id",
        VarlenNGramTypes),
    Row("WhisperBeamSearch", "5-15->1-5 decoder eos_token_id pad_token_id", BeamSearchTypes),
};

}  // namespace

OnnxFamily MicrosoftStateOps() { return kRows; }

}  // namespace footprint
