// com.microsoft: quantized operators. Each operand is followed by its scale and zero point.
#include <utility>
#include <vector>

#include "ir/ops/onnx/families.h"
#include "ir/ops/onnx/matmul_rules.h"
#include "ir/ops/onnx/microsoft_rules.h"

namespace footprint {
namespace {

// Broadcasts inputs a and b (and c).
void SetBroadcastOf(InferContext& c, ElementType element, std::initializer_list<int> inputs) {
  std::vector<const TensorType*> operands;
  for (const int input : inputs) {
    if (c.RankedInput(input) == nullptr) return SetUnranked(c, 0, element);
    operands.push_back(c.RankedInput(input));
  }
  Dims dims;
  if (BroadcastDims(c, operands, &dims)) SetRanked(c, 0, element, dims);
}

void BinaryTypes(InferContext& c) { SetBroadcastOf(c, c.InputElement(0), {0, 3}); }
void WhereTypes(InferContext& c) { SetBroadcastOf(c, c.InputElement(1), {0, 1, 4}); }
void MulIntegerTypes(InferContext& c) { SetBroadcastOf(c, ElementType::kInt32, {0, 2}); }

void QuantizeTypes(InferContext& c) {
  CopyShape(c, 0, 0, c.HasInput(2) ? c.InputElement(2) : ElementType::kUint8);
}
void DequantizeTypes(InferContext& c) { CopyShape(c, 0, 0, c.InputElement(1)); }
void QuantizeOrderTypes(InferContext& c) { CopyShape(c, 0, 0, ElementType::kInt8); }
void DequantizeOrderTypes(InferContext& c) {
  CopyShape(c, 0, 0, ElementAttribute(c, "to", ElementType::kFloat));
}

void ConvTypes(InferContext& c) { SetConvolution(c, 0, 3, c.InputElement(7), LayoutOf(c)); }
void AveragePoolTypes(InferContext& c) { SetPooling(c, 0, c.InputElement(0), LayoutOf(c)); }
void GlobalPoolTypes(InferContext& c) { SetGlobalPooling(c, 0, c.InputElement(0), LayoutOf(c)); }

// Scale and zero point of the output, then triples.
void ConcatTypes(InferContext& c) {
  SetConcat(c, c.InputElement(1), 2, 3, c.node().Int("axis", 0));
}

// Axes are an attribute; none: all.
void SetReduced(InferContext& c, ElementType element) {
  const TensorType* data = c.RankedInput(0);
  if (data == nullptr) return SetUnranked(c, 0, element);
  Sizes axes;
  if (ReadAxes(c, "axes", -1, data->rank(), &axes) == Known::kNo) return;
  const bool keep = c.node().Int("keepdims", 1) != 0;
  Dims dims;
  for (int i = 0; i < data->rank(); ++i) {
    const bool reduced = axes.empty() || std::find(axes.begin(), axes.end(), i) != axes.end();
    if (!reduced) {
      dims.push_back(data->dims[static_cast<size_t>(i)]);
    } else if (keep) {
      dims.push_back(1);
    }
  }
  SetRanked(c, 0, element, dims);
}

void ReduceMeanTypes(InferContext& c) { SetReduced(c, c.InputElement(0)); }
void ReduceSumTypes(InferContext& c) { SetReduced(c, ElementType::kInt32); }

// A, scale, zero point, B, scale, zero point, C, and those of Y; without the last Y is float.
void QGemmTypes(InferContext& c) {
  const TensorType* a = RequireRank(c, 0, 2, "A");
  const TensorType* b = RequireRank(c, 3, 2, "B");
  const bool a_transposed = c.node().Int("transA", 0) != 0;
  const bool b_transposed = c.node().Int("transB", 0) != 0;
  c.RequireEqual(DimOf(a, a_transposed ? 0 : 1), DimOf(b, b_transposed ? 1 : 0),
                 "inner dimensions differ");
  SetRanked(c, 0, c.HasInput(8) ? c.InputElement(8) : ElementType::kFloat,
            {DimOf(a, a_transposed ? 1 : 0), DimOf(b, b_transposed ? 0 : 1)});
}

void OrderedMatMulTypes(InferContext& c) { SetMatMul(c, 0, 2, c.InputElement(0)); }

// Block floating point: bytes, and beside them what they were.
void QuantizeBlocksTypes(InferContext& c) {
  const TensorType* data = c.RankedInput(0);
  const Dim rank = data == nullptr ? Dim() : Dim(data->rank());
  SetRanked(c, 0, ElementType::kUint8, {c.Fresh(0, Dim())});
  SetRanked(c, 1, ElementType::kInt64, {rank});
  SetRanked(c, 2, ElementType::kInt64, {rank});
}

void DequantizeBlocksTypes(InferContext& c) {
  const ElementType element = ElementAttribute(c, "dtype", ElementType::kFloat);
  std::vector<Dim> shape;
  if (ReadDims(c, "", 1, &shape) == Known::kYes) return SetRanked(c, 0, element, shape);
  const std::optional<int> rank = RankFromLength(c, 1);
  rank ? SetRankOnly(c, 0, element, *rank) : SetUnranked(c, 0, element);
}

// Bytes may hold several elements along the last axis; the output has the scales' type.
void GatherBlocksTypes(InferContext& c) {
  const TensorType* data = RequireRankAtLeast(c, 0, 1, "data");
  const TensorType* indices = c.RankedInput(1);
  const ElementType element = c.InputElement(2);
  if (data == nullptr || indices == nullptr) return SetUnranked(c, 0, element);
  const std::optional<int> axis = NormalAxis(c, c.node().Int("gather_axis", 0), data->rank());
  if (!axis) return;
  Dims logical = data->dims;
  const int64_t bits = c.node().Int("bits", 4);
  if (data->element == ElementType::kUint8 && bits > 0 && bits < 8) {
    logical.back() = c.dims().Mul(logical.back(), 8 / bits);
  }
  Dims dims(logical.begin(), logical.begin() + *axis);
  dims.insert(dims.end(), indices->dims.begin(), indices->dims.end());
  dims.insert(dims.end(), logical.begin() + *axis + 1, logical.end());
  SetRanked(c, 0, element, dims);
}

int64_t GatheredWeights(const Node& node, int, int64_t elements) {
  return ElementsInBytes(elements, node.Int("bits", 4));
}

void GatherPackedTypes(InferContext& c) {
  const TensorType* indices = c.RankedInput(1);
  const ElementType element = ElementAttribute(c, "output_dtype", ElementType::kBfloat16);
  if (indices == nullptr) return SetUnranked(c, 0, element);
  Dims dims = indices->dims;
  dims.push_back(SizeAttribute(c, "K"));
  SetRanked(c, 0, element, dims);
}

constexpr OnnxOp Row(absl::string_view name, Signature signature, InferRule types,
                     uint32_t weights = 0) {
  return {.name = name,
          .domain = kMicrosoft,
          .signature = signature,
          .types = types,
          .weights = weights};
}
constexpr OnnxOp Owner(absl::string_view name, Signature signature, InferRule types,
                       uint32_t weights, TextbookKind kind) {
  return {.name = name,
          .domain = kMicrosoft,
          .signature = signature,
          .types = types,
          .weights = weights,
          .textbook = kind};
}

constexpr OnnxOp kRows[] = {
    Row("DequantizeBFP", "3->1 bfp_type", DequantizeBlocksTypes),
    Row("DequantizeLinear", "2-3->1", DequantizeTypes, 0b1).Quantized(0b110),
    Row("DequantizeWithOrder", "2->1 order_input order_output to", DequantizeOrderTypes),
    Owner("GatherBlockQuantized", "3-4->1", GatherBlocksTypes, 0b1101, TextbookKind::kEmbedding)
        .Quantized(0b1100, GatheredWeights),
    Owner("GatherPacked", "2->1 K packed_type", GatherPackedTypes, 0b1, TextbookKind::kEmbedding),
    Row("MulInteger", "3-4->1", MulIntegerTypes),
    Owner("QGemm", "6-9->1", QGemmTypes, 0b1001000, TextbookKind::kLinear).Quantized(0b110110110),
    Row("QLinearAdd", "7-8->1", BinaryTypes, 0b1001).Quantized(0b11110110),
    Row("QLinearAveragePool", "4-5->1 kernel_shape", AveragePoolTypes),
    Row("QLinearConcat", "3-*->1 axis", ConcatTypes),
    Owner("QLinearConv", "8-9->1", ConvTypes, 0b100001000, TextbookKind::kConvolution)
        .Quantized(0b11110110),
    Row("QLinearGlobalAveragePool", "5->1", GlobalPoolTypes),
    Row("QLinearLeakyRelu", "4-5->1", SameAsInput0),
    Row("QLinearMul", "7-8->1", BinaryTypes, 0b1001).Quantized(0b11110110),
    Row("QLinearReduceMean", "4-5->1 axes keepdims", ReduceMeanTypes),
    Row("QLinearSigmoid", "4-5->1", SameAsInput0),
    Row("QLinearSoftmax", "5->1 opset", SameAsInput0),
    Row("QLinearWhere", "9->1", WhereTypes),
    Row("QOrderedGelu", "3->1", SameAsInput0),
    Owner("QOrderedLayerNormalization", "5->1", SameAsInput0, 0b1100, TextbookKind::kNormalization)
        .Quantized(0b10010),
    Owner("QOrderedMatMul", "5-8->1 order_A order_B order_Y", OrderedMatMulTypes, 0b100100,
          TextbookKind::kLinear)
        .Quantized(0b10011010),
    Row("QuantizeBFP", "1->3 bfp_type", QuantizeBlocksTypes),
    Row("QuantizeLinear", "2-3->1", QuantizeTypes, 0b1).Quantized(0b110),
    Row("QuantizeWithOrder", "2->1 order_input order_output", QuantizeOrderTypes),
    Row("ReduceSumInteger", "1->1 axes keepdims", ReduceSumTypes),
};

}  // namespace

OnnxFamily MicrosoftQuantizedOps() { return kRows; }

}  // namespace footprint
