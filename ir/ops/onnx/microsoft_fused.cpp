// com.microsoft: element-wise operators, normalizations, dropouts, and what was fused into them.
#include <utility>

#include "ir/ops/onnx/families.h"
#include "ir/ops/onnx/microsoft_rules.h"
#include "ir/ops/onnx/norm_rules.h"

namespace footprint {
namespace {

void LikeInput1(InferContext& c) { CopyType(c, 1, 0); }
void LikeInput2(InferContext& c) { CopyType(c, 2, 0); }
void BroadcastTypes(InferContext& c) { SetBroadcast(c, c.InputElement(0), 0, 2); }

void BiasDropoutTypes(InferContext& c) {
  CopyType(c, 0, 0);
  if (c.HasOutput(1)) CopyShape(c, 0, 1, ElementType::kBool);
}

// One bit per element, in words of 32.
void BitmaskDropoutTypes(InferContext& c) {
  CopyType(c, 0, 0);
  const TensorType* data = c.Input(0);
  if (!c.HasOutput(1)) return;
  const Dim count = data == nullptr ? Dim() : ElementCount(*data, c.dims());
  SetRanked(c, 1, ElementType::kUint32, {c.dims().CeilDiv(count, 32)});
}

// Halves of the last axis: one gates the other.
void HalvedTypes(InferContext& c) {
  SetLastDim(c, 0, 0, c.InputElement(0), c.dims().FloorDiv(DimOf(c.Input(0), -1), 2));
}

void SwiGluTypes(InferContext& c) { c.HasInput(1) ? CopyType(c, 0, 0) : HalvedTypes(c); }

// Outputs: normalized, mean, inverse deviation, and the sum before normalizing.
void SkipLayerNormTypes(InferContext& c) {
  const TensorType* data = c.RankedInput(0);
  CopyType(c, 0, 0);
  const int last = data == nullptr ? 0 : std::max(data->rank() - 1, 0);
  SetStatistics(c, 1, last, ElementType::kFloat);
  SetStatistics(c, 2, last, ElementType::kFloat);
  if (c.HasOutput(3)) CopyType(c, 0, 3);
}

void SkipGroupNormTypes(InferContext& c) {
  CopyType(c, 0, 0);
  if (c.HasOutput(1)) CopyType(c, 0, 1);
}

// [B, S] indices and a table [V, H]: [B, S, H]; a mask index [B].
void SetEmbedding(InferContext& c, ElementType element) {
  const TensorType* ids = RequireRank(c, 0, 2, "input_ids");
  const Dims dims = {DimOf(ids, 0), DimOf(ids, 1), DimOf(c.RankedInput(2), 1)};
  SetRanked(c, 0, element, dims);
  if (c.HasOutput(1)) SetRanked(c, 1, ElementType::kInt32, {dims[0]});
  if (c.HasOutput(2)) SetRanked(c, 2, element, dims);
}

void EmbedLayerNormTypes(InferContext& c) { SetEmbedding(c, c.InputElement(2)); }
void QuantizedEmbedLayerNormTypes(InferContext& c) { SetEmbedding(c, c.InputElement(8)); }

// SimplifiedLayerNormalization: root mean squares, one statistic.
void SimplifiedLayerNormTypes(InferContext& c) {
  CopyType(c, 0, 0);
  const TensorType* data = c.RankedInput(0);
  if (!c.HasOutput(1) || data == nullptr) return;
  const std::optional<int> axis = NormalAxis(c, c.node().Int("axis", -1), data->rank());
  if (axis) SetStatistics(c, 1, *axis, ElementAttribute(c, "stash_type", ElementType::kFloat));
}

// streams (..., C*H): (..., H) and a gate (..., C).
void LowRankMixTypes(InferContext& c) {
  const Dim branches = SizeAttribute(c, "num_branches");
  const Dim width = DimOf(c.Input(0), -1);
  SetLastDim(c, 0, 0, c.InputElement(0), c.dims().FloorDiv(width, branches));
  SetLastDim(c, 0, 1, c.InputElement(0), branches);
  if (c.HasOutput(2)) CopyType(c, 0, 2);
}

// (..., C, H), or flattened (..., C*H): summed over C.
void PreMixTypes(InferContext& c) {
  const TensorType* streams = RequireRankAtLeast(c, 0, 2, "streams");
  const ElementType element = c.InputElement(0);
  const int64_t branches = c.node().Int("num_branches", 0);
  if (branches > 0) {
    return SetLastDim(c, 0, 0, element, c.dims().FloorDiv(DimOf(streams, -1), branches));
  }
  if (streams == nullptr) return SetUnranked(c, 0, element);
  Dims dims = streams->dims;
  dims.erase(dims.end() - 2);
  SetRanked(c, 0, element, dims);
}

void EngramGateTypes(InferContext& c) {
  CopyType(c, 0, 0);
  if (c.HasOutput(1)) CopyType(c, 0, 1);
}

void AttentionGateTypes(InferContext& c) {
  CopyType(c, 0, 0);
  if (c.HasOutput(1)) CopyType(c, 0, 1);
}

// [B, S, heads, stride]: a slice of the last axis, heads packed.
void RmsNormRotaryTypes(InferContext& c) {
  const TensorType* x = RequireRank(c, 0, 4, "X");
  DimTable& dims = c.dims();
  Dim width = c.node().Int("input_width", 0);
  if (width.Is(0)) width = DimOf(c.RankedInput(1), 0);
  Dim batch = DimOf(x, 0);
  Dim steps = DimOf(x, 1);
  if (c.node().Int("flatten_batch", 0) != 0) {
    steps = dims.Mul(batch, steps);
    batch = 1;
  }
  const bool half = c.node().Int("output_fp16", 0) != 0;
  SetRanked(c, 0, half ? ElementType::kFloat16 : ElementType::kBfloat16,
            {batch, steps, dims.Mul(DimOf(x, 2), width)});
  if (c.HasOutput(1)) {
    SetRanked(c, 1, ElementType::kFloat, {DimOf(x, 0), DimOf(x, 1), DimOf(x, 2), width});
  }
}

constexpr OnnxOp Row(absl::string_view name, Signature signature, InferRule types,
                     uint32_t inplace = 0, uint32_t weights = 0) {
  return {.name = name,
          .domain = kMicrosoft,
          .signature = signature,
          .types = types,
          .inplace = inplace,
          .weights = weights};
}
constexpr OnnxOp Norm(absl::string_view name, Signature signature, InferRule types,
                      uint32_t weights) {
  return {.name = name,
          .domain = kMicrosoft,
          .signature = signature,
          .types = types,
          .weights = weights,
          .textbook = TextbookKind::kNormalization};
}

constexpr OnnxOp kRows[] = {
    Row("BiasAdd", "3->1", SameAsInput0, 0b1, 0b10),
    Row("BiasDropout", "2-5->1-2", BiasDropoutTypes, 0b1, 0b10),
    Row("BiasGelu", "2->1", SameAsInput0, 0b1, 0b10),
    Row("BiasSoftmax", "2->1 is_inner_broadcast", SameAsInput0, 0b1),
    Row("BiasSplitGelu", "2->1", HalvedTypes, 0, 0b10),
    Row("BitmaskBiasDropout", "2-5->1-2", BitmaskDropoutTypes, 0b1, 0b10),
    Row("BitmaskDropout", "1-3->1-2", BitmaskDropoutTypes, 0b1),
    Norm("BranchwiseRMSNorm", "1-2->1", SameAsInput0, 0b10),
    Row("ComplexMul", "2->1", BroadcastTypes),
    Row("ComplexMulConj", "2->1", BroadcastTypes),
    Row("ConvStateReplay", "4->1", LikeInput2),
    Norm("EmbedLayerNormalization", "7-9->1-3", EmbedLayerNormTypes, 0b1111100),
    Row("EngramGate", "5-6->1-2", EngramGateTypes, 0, 0b111000),
    Row("FastGelu", "1-2->1", SameAsInput0, 0b1, 0b10),
    Row("GatedAdd", "3-4->1", SameAsInput0, 0b1, 0b1000),
    Row("GatedDeltaNetStateReplay", "4->1", LikeInput2),
    Norm("GatedRMSNorm", "3->1", SameAsInput0, 0b10),
    Row("Gelu", "1->1", SameAsInput0, 0b1),
    Norm("GroupNorm", "3->1 activation groups", SameAsInput0, 0b110),
    Row("HyperConnectionLowRankMix", "5-7->2-3 num_branches", LowRankMixTypes, 0, 0b11110),
    Row("HyperConnectionPostMix", "3-4->1", SameAsInput0),
    Row("HyperConnectionPreMix", "2->1", PreMixTypes),
    Row("Inverse", "1->1", SameAsInput0),
    Row("LinearAttentionGate", "3-4->1-2", AttentionGateTypes, 0, 0b110),
    Row("NGramRepeatBlock", "2->1 ngram_size", LikeInput1),
    Norm("QEmbedLayerNormalization", "18->2", QuantizedEmbedLayerNormTypes, 0b1111100)
        .Quantized(0b111111111100000000),
    Row("QuickGelu", "1->1", SameAsInput0, 0b1),
    Norm("RMSNormRotary", "5-6->1-2 rotary_embedding_dim", RmsNormRotaryTypes, 0b10),
    Row("SampleOp", "1->1", SameAsInput0),
    Row("ScaledSiLU", "1-2->1", SameAsInput0, 0b1),
    {.name = "SimplifiedLayerNormalization",
     .signature = "2->1-2",
     .types = SimplifiedLayerNormTypes,
     .weights = 0b10,
     .textbook = TextbookKind::kNormalization},
    Norm("SkipGroupNorm", "4-5->1-2 activation groups", SkipGroupNormTypes, 0b10110),
    Norm("SkipLayerNormalization", "3-5->1-4", SkipLayerNormTypes, 0b11100),
    Norm("SkipSimplifiedLayerNormalization", "3-4->1-4", SkipLayerNormTypes, 0b1100),
    Row("SwiGLU", "1-2->1", SwiGluTypes),
    Row("Trilu", "1-2->1", SameAsInput0),
};

}  // namespace

OnnxFamily MicrosoftFusedOps() { return kRows; }

}  // namespace footprint
