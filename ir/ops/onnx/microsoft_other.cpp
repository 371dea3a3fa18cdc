// com.microsoft: the rest.
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/ops/onnx/families.h"
#include "ir/ops/onnx/microsoft_rules.h"
#include "ir/ops/onnx/without_row.h"

namespace footprint {
namespace {

void AllFiniteTypes(InferContext& c) { SetRanked(c, 0, ElementType::kBool, {}); }

void HashTypes(InferContext& c) {
  const bool positive = c.node().Int("positive", 1) != 0;
  CopyShape(c, 0, 0, positive ? ElementType::kUint32 : ElementType::kInt32);
}

// [M, N] and [K, N]: [M, K].
void DistanceTypes(InferContext& c) {
  const TensorType* a = RequireRank(c, 0, 2, "A");
  const TensorType* b = RequireRank(c, 1, 2, "B");
  SetRanked(c, 0, c.InputElement(0), {DimOf(a, 0), DimOf(b, 0)});
}

void ExpandDimsTypes(InferContext& c) {
  const TensorType* data = c.RankedInput(0);
  const ElementType element = c.InputElement(0);
  if (data == nullptr) return SetUnranked(c, 0, element);
  const Dim axis = ScalarInput(c, 1);
  if (!axis.is_constant()) return SetRankOnly(c, 0, element, data->rank() + 1);
  const std::optional<int> normal = NormalAxis(c, axis.value(), data->rank() + 1);
  if (!normal) return;
  Dims dims = data->dims;
  dims.insert(dims.begin() + *normal, 1);
  SetRanked(c, 0, element, dims);
}

// Windows of `size` every `step` along `dim`; the windows' elements are a new last axis.
void UnfoldTypes(InferContext& c) {
  const TensorType* data = RequireRankAtLeast(c, 0, 1, "input");
  const ElementType element = c.InputElement(0);
  if (data == nullptr) return SetUnranked(c, 0, element);
  const std::optional<int> axis = NormalAxis(c, c.node().Int("dim", -1), data->rank());
  const int64_t size = c.node().Int("size", 0);
  const int64_t step = c.node().Int("step", 1);
  if (!axis) return;
  if (size <= 0 || step <= 0) return c.Error("size and step must be positive");
  Dims dims = data->dims;
  Dim& windows = dims[static_cast<size_t>(*axis)];
  windows = c.dims().Add(c.dims().FloorDiv(c.dims().Sub(windows, size), step), 1);
  dims.push_back(size);
  SetRanked(c, 0, element, dims);
}

void EmbeddingTypes(InferContext& c) {
  const TensorType* indices = c.RankedInput(1);
  const ElementType element = c.InputElement(0);
  if (indices == nullptr) return SetUnranked(c, 0, element);
  Dims dims = indices->dims;
  dims.push_back(DimOf(c.RankedInput(0), 1));
  SetRanked(c, 0, element, dims);
}

void WordEmbeddingTypes(InferContext& c) {
  const TensorType* words = RequireRankAtLeast(c, 0, 1, "Sequence");
  if (words == nullptr) return SetUnranked(c, 0, c.InputElement(1));
  SetLastDim(c, 0, 0, c.InputElement(1), DimOf(c.RankedInput(1), 0));
}

// [N, C, H, W] and boxes [R, 4]: [R, C, height, width].
void CropTypes(InferContext& c) {
  std::vector<Dim> size;
  if (ReadDims(c, "", 3, &size) != Known::kYes || size.size() != 2) size.assign(2, Dim());
  SetRanked(c, 0, c.InputElement(0),
            {DimOf(c.RankedInput(1), 0), DimOf(c.RankedInput(0), 1), size[0], size[1]});
}

// n samples are n/2 + 1 pairs, and back.
void RfftTypes(InferContext& c) {
  const TensorType* data = RequireRankAtLeast(c, 0, 1, "X");
  if (data == nullptr) return SetUnranked(c, 0, c.InputElement(0));
  Dims dims = data->dims;
  dims.back() = c.dims().Add(c.dims().FloorDiv(dims.back(), 2), 1);
  dims.push_back(2);
  SetRanked(c, 0, data->element, dims);
}

void IrfftTypes(InferContext& c) {
  const TensorType* data = RequireRankAtLeast(c, 0, 2, "X");
  if (data == nullptr) return SetUnranked(c, 0, c.InputElement(0));
  Dims dims = data->dims;
  dims.pop_back();
  dims.back() = c.dims().Mul(c.dims().Sub(dims.back(), 1), 2);
  SetRanked(c, 0, data->element, dims);
}

void TokenizerTypes(InferContext& c) {
  const TensorType* data = c.RankedInput(0);
  if (data == nullptr) return SetUnranked(c, 0, ElementType::kString);
  Dims dims = data->dims;
  dims.push_back(c.Fresh(0, Dim()));
  SetRanked(c, 0, ElementType::kString, dims);
}

void BifurcationTypes(InferContext& c) {
  SetRanked(c, 0, c.InputElement(0), {c.Fresh(0, Dim())});
  SetRanked(c, 1, c.InputElement(0), {1});
}

// A path through [M, N]: at least max(M, N) steps, fewer than M + N.
void TimeWarpingTypes(InferContext& c) {
  const TensorType* cost = c.RankedInput(0);
  const Dim most = c.dims().Sub(c.dims().Add(DimOf(cost, -1), DimOf(cost, -2)), 1);
  SetRanked(c, 0, ElementType::kInt32, {2, c.Fresh(1, most)});
}

void UniqueTypes(InferContext& c) {
  const Dim count = c.Fresh(0, LengthOf(c, 0));
  SetRanked(c, 0, c.InputElement(0), {count});
  SetRanked(c, 1, ElementType::kInt64, {LengthOf(c, 0)});
  SetRanked(c, 2, ElementType::kInt64, {count});
}

// [B, S, H] to the tokens that are no padding, and back.
void RemovePaddingTypes(InferContext& c) {
  const TensorType* input = RequireRank(c, 0, 3, "input");
  const Dim batch = DimOf(input, 0);
  const Dim steps = DimOf(input, 1);
  SetRanked(c, 0, c.InputElement(0), {c.Fresh(0, c.dims().Mul(batch, steps)), DimOf(input, 2)});
  SetRanked(c, 1, ElementType::kInt32, {batch, steps});
  SetRanked(c, 2, ElementType::kInt32, {c.dims().Add(batch, 1)});
  SetRanked(c, 3, ElementType::kInt32, {1});
}

void RestorePaddingTypes(InferContext& c) {
  const TensorType* offsets = RequireRank(c, 1, 2, "token_offset");
  SetRanked(c, 0, c.InputElement(0),
            {DimOf(offsets, 0), DimOf(offsets, 1), DimOf(c.RankedInput(0), 1)});
}

constexpr OnnxOp Row(absl::string_view name, Signature signature, InferRule types) {
  return {.name = name, .domain = kMicrosoft, .signature = signature, .types = types};
}

constexpr OnnxOp kRows[] = {
    Row("BifurcationDetector", "3-4->2", BifurcationTypes),
    Row("CDist", "2->1", DistanceTypes),
    Row("CropAndResize", "4->1", CropTypes),
    Row("DynamicTimeWarping", "1->1", TimeWarpingTypes),
    Row("ExpandDims", "2->1", ExpandDimsTypes),
    Row("Irfft", "1->1 signal_ndim", IrfftTypes),
    Row("IsAllFinite", "1-*->1", AllFiniteTypes),
    Row("MurmurHash3", "1->1", HashTypes),
    Row("RemovePadding", "2->4", RemovePaddingTypes),
    Row("RestorePadding", "2->1", RestorePaddingTypes),
    Row("Rfft", "1->1", RfftTypes),
    Row("Tokenizer", "1->1 mark mincharnum pad_value", TokenizerTypes),
    {.name = "TorchEmbedding",
     .domain = kMicrosoft,
     .signature = "2-4->1",
     .types = EmbeddingTypes,
     .weights = 1,
     .textbook = TextbookKind::kEmbedding},
    Row("UnfoldTensor", "1->1 size", UnfoldTypes),
    Row("Unique", "1->3", UniqueTypes),
    Row("WordConvEmbedding", "4->1", WordEmbeddingTypes),
};

constexpr OpWithoutRow kWithoutRow[] = {
    {kMicrosoft, "EPContext", "compiled for a device: the file does not say what it computes"},
    {kMicrosoft, "Snpe", "compiled for a device: the file does not say what it computes"},
};

}  // namespace

absl::Span<const OpWithoutRow> OpsWithoutRow() { return kWithoutRow; }

OnnxFamily MicrosoftOtherOps() { return kRows; }

}  // namespace footprint
