// com.microsoft: matrix products, convolutions, mixtures of experts.
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/ops/onnx/families.h"
#include "ir/ops/onnx/matmul_rules.h"
#include "ir/ops/onnx/microsoft_rules.h"

namespace footprint {
namespace {

// transA exchanges the last two axes; transBatchA first moves the batch axes behind the rows:
// [m, b..., k] is read as [b..., m, k].
void FusedMatMulTypes(InferContext& c) {
  const bool a_moves = c.node().Int("transBatchA", 0) != 0;
  const bool b_moves = c.node().Int("transBatchB", 0) != 0;
  const MatMulTransposes transposes = {c.node().Int("transA", 0) != 0,
                                       c.node().Int("transB", 0) != 0};
  if (!a_moves && !b_moves) return SetMatMul(c, 0, 1, c.InputElement(0), transposes);
  const TensorType* a = RequireRankAtLeast(c, 0, 3, "A");
  const TensorType* b = RequireRankAtLeast(c, 1, 3, "B");
  if (a == nullptr || b == nullptr) return SetUnranked(c, 0, c.InputElement(0));
  const auto matrix = [](const TensorType& type, bool moves, bool transposes_last) {
    Dims dims = type.dims;
    if (moves) std::rotate(dims.begin(), dims.begin() + 1, dims.end() - 1);
    if (transposes_last) std::swap(dims[dims.size() - 2], dims[dims.size() - 1]);
    return dims;
  };
  const Dims left = matrix(*a, a_moves, transposes.a);
  const Dims right = matrix(*b, b_moves, transposes.b);
  c.RequireEqual(left.back(), right[right.size() - 2], "inner dimensions differ");
  Dims dims = BroadcastDims(c, absl::Span<const Dim>(left).subspan(0, left.size() - 2),
                            absl::Span<const Dim>(right).subspan(0, right.size() - 2));
  dims.push_back(left[left.size() - 2]);
  dims.push_back(right.back());
  SetRanked(c, 0, c.InputElement(0), dims);
}

void MatMulTypes(InferContext& c) { SetMatMul(c, 0, 1, c.InputElement(0)); }
void TransposableMatMulTypes(InferContext& c) {
  SetMatMul(c, 0, 1, c.InputElement(1),
            {c.node().Int("transA", 0) != 0, c.node().Int("transB", 0) != 0});
}
void MatMulInteger16Types(InferContext& c) { SetMatMul(c, 0, 1, ElementType::kInt32); }
void MatMulIntegerToFloatTypes(InferContext& c) { SetMatMul(c, 0, 1, c.InputElement(2)); }
void GemmTypes(InferContext& c) { SetGemm(c, 2, c.InputElement(0)); }
void GemmFloat8Types(InferContext& c) {
  SetGemm(c, -1, ElementAttribute(c, "dtype", ElementType::kFloat));
}

// Packed weights: attributes say what the bytes are, N rows of K.
void PackedMatMulTypes(InferContext& c) {
  const TensorType* a = c.RankedInput(0);
  const Dim inner = SizeAttribute(c, "K");
  if (a != nullptr && a->rank() > 0 && !inner.is_unknown() && !SameSize(a->dims.back(), inner)) {
    c.RequireEqual(a->dims.back(), inner, "the input's last size and K differ");
  }
  SetLastDim(c, 0, 0, c.InputElement(0), SizeAttribute(c, "N"));
}

// transB = 0 is for backward passes: N and K change places.
void Bnb4MatMulTypes(InferContext& c) {
  if (c.node().Int("transB", 1) != 0) return PackedMatMulTypes(c);
  SetLastDim(c, 0, 0, c.InputElement(0), SizeAttribute(c, "K"));
}

int64_t PackedWeights(const Node& node, int, int64_t) {
  return TimesOrZero(node.Int("K", 0), node.Int("N", 0));
}
int64_t PackedQkvWeights(const Node& node, int operand, int64_t) {
  return TimesOrZero(node.Int("K", 0), node.Int(operand == 3 ? "Nq" : "Nkv", 0));
}
int64_t LowRankWeights(const Node& node, int operand, int64_t elements) {
  constexpr int kWeight = 1;
  if (operand == kWeight) return PackedWeights(node, operand, elements);
  return ElementsInBytes(elements, node.Int("lora_bits", 8));
}

// Of the first, second and third layer of all experts: operands 2, 5 and 8.
int64_t ExpertWeights(const Node& node, int operand, int64_t elements) {
  const absl::string_view own = operand == 2   ? "fc1_expert_weight_bits"
                                : operand == 5 ? "fc2_expert_weight_bits"
                                               : "fc3_expert_weight_bits";
  const int64_t bits = node.Int(own, 0);
  return ElementsInBytes(elements, bits > 0 ? bits : node.Int("expert_weight_bits", 4));
}

void FpQ4MatMulTypes(InferContext& c) {
  std::vector<Dim> shape;
  const bool known = ReadDims(c, "", 2, &shape) == Known::kYes && shape.size() == 2;
  SetLastDim(c, 0, 0, c.InputElement(0), known ? shape[1] : Dim());
}

// B is [N, K] or [N, K/2].
void BlockQuantizedMatMulTypes(InferContext& c) {
  SetLastDim(c, 0, 0, c.InputElement(0), DimOf(c.Input(1), 0));
}

void PackedMlpTypes(InferContext& c) {
  SetLastDim(c, 0, 0, c.InputElement(0), SizeAttribute(c, "N"));
  if (c.HasOutput(1)) CopyType(c, 0, 1);
}

void PackedQkvTypes(InferContext& c) {
  SetLastDim(c, 0, 0, c.InputElement(0), SizeAttribute(c, "Nq"));
  SetLastDim(c, 0, 1, c.InputElement(0), SizeAttribute(c, "Nkv"));
  SetLastDim(c, 0, 2, c.InputElement(0), SizeAttribute(c, "Nkv"));
  if (c.HasOutput(3)) CopyType(c, 0, 3);
}

// W is [K, router + 2*inter].
void RouterGateUpTypes(InferContext& c) {
  const Dim router = SizeAttribute(c, "router_size");
  const Dim rest = c.dims().Sub(DimOf(c.Input(1), 1), router);
  SetLastDim(c, 0, 0, c.InputElement(0), router);
  SetLastDim(c, 0, 1, c.InputElement(0), c.dims().FloorDiv(rest, 2));
}

// [tokens, experts]: of the bias where it is known.
void GroupRouterTypes(InferContext& c) {
  const TensorType* logits = c.RankedInput(0);
  const Dim experts = DimOf(c.Input(1), 0);
  Dim tokens;
  if (logits != nullptr && logits->rank() > 0) {
    tokens =
        c.dims().Product(absl::Span<const Dim>(logits->dims).subspan(0, logits->dims.size() - 1));
  }
  for (int i = 0; i < c.num_outputs(); ++i) {
    if (!c.HasOutput(i)) continue;
    SetRanked(c, i, i == 0 ? c.InputElement(0) : ElementType::kFloat, {tokens, experts});
  }
}

void ConvTypes(InferContext& c) { SetConvolution(c, 0, 1, c.InputElement(0)); }
void ChannelsLastConvTypes(InferContext& c) {
  SetConvolution(c, 0, 1, c.InputElement(0), Layout::kChannelsLast);
}
void MaxPoolTypes(InferContext& c) { SetPooling(c, 0, c.InputElement(0)); }
void ChannelsLastMaxPoolTypes(InferContext& c) {
  SetPooling(c, 0, c.InputElement(0), Layout::kChannelsLast);
}

// As ConvTranspose, with paddings that an input gives.
void DynamicPadsTypes(InferContext& c) {
  const TensorType* x = RequireRankAtLeast(c, 0, 3, "X");
  const TensorType* w = RequireRankAtLeast(c, 1, 3, "W");
  const ElementType element = c.InputElement(0);
  if (x == nullptr || w == nullptr || x->rank() != w->rank()) return SetUnranked(c, 0, element);
  const auto spatial = absl::Span<const Dim>(x->dims).subspan(2);
  Window window;
  if (!ReadWindow(c, spatial.size(), absl::Span<const Dim>(w->dims).subspan(2), &window)) return;
  Sizes pads;
  const Known known = ReadInts(c, "", 2, &pads);
  Dims dims(spatial.size());
  if (known == Known::kYes && pads.size() == 2 * spatial.size()) {
    const auto middle = pads.begin() + static_cast<int64_t>(spatial.size());
    window.begin_pads.assign(pads.begin(), middle);
    window.end_pads.assign(middle, pads.end());
  }
  if (known != Known::kNo) dims = SlideTransposed(c, spatial, window);
  dims.insert(dims.begin(), c.dims().Mul(w->dims[1], c.node().Int("group", 1)));
  dims.insert(dims.begin(), x->dims[0]);
  SetRanked(c, 0, element, dims);
}

constexpr OnnxOp Linear(absl::string_view name, Signature signature, InferRule types,
                        uint32_t weights = 0b10) {
  return {.name = name,
          .domain = kMicrosoft,
          .signature = signature,
          .types = types,
          .weights = weights,
          .textbook = TextbookKind::kLinear};
}
constexpr OnnxOp Convolution(absl::string_view name, Signature signature, InferRule types,
                             uint32_t weights = 0b110) {
  return {.name = name,
          .domain = kMicrosoft,
          .signature = signature,
          .types = types,
          .weights = weights,
          .textbook = TextbookKind::kConvolution};
}
constexpr OnnxOp Row(absl::string_view name, Signature signature, InferRule types) {
  return {.name = name, .domain = kMicrosoft, .signature = signature, .types = types};
}

constexpr OnnxOp kRows[] = {
    Convolution("ConvTransposeWithDynamicPads", "2-4->1", DynamicPadsTypes, 0b1010),
    Linear("DynamicQuantizeMatMul", "3-5->1", MatMulTypes, 0b10110).Quantized(0b1100),
    Convolution("FusedConv", "2-4->1", ConvTypes),
    Linear("FusedGemm", "2-3->1", GemmTypes, 0b110),
    Linear("FusedMatMul", "2->1", FusedMatMulTypes, 0b11),
    Linear("FusedMatMulActivation", "2->1 activation", FusedMatMulTypes, 0b11),
    Linear("GemmFastGelu", "2-3->1", MatMulTypes, 0b110),
    Linear("GemmFloat8", "2-6->1", GemmFloat8Types, 0b110),
    Linear("MatMulBlockQuantizedFp4Weight", "4-6->1", BlockQuantizedMatMulTypes, 0b101110)
        .Quantized(0b11100),
    Linear("MatMulBlockQuantizedFp8Weight", "3-5->1", BlockQuantizedMatMulTypes, 0b10110)
        .Quantized(0b1100),
    Linear("MatMulBnb4", "3->1 K N block_size quant_type", Bnb4MatMulTypes, 0b110)
        .Quantized(0b100, PackedWeights),
    Linear("MatMulFpQ4", "3->1", FpQ4MatMulTypes),
    Linear("MatMulInteger16", "2->1", MatMulInteger16Types, 0b11),
    Linear("MatMulIntegerToFloat", "4-7->1", MatMulIntegerToFloatTypes, 0b1001010)
        .Quantized(0b111100),
    Linear("MatMulNBits", "3-6->1 K N block_size", PackedMatMulTypes, 0b101110)
        .Quantized(0b11100, PackedWeights),
    Linear("MatMulNBitsMlp", "8-9->1-2 K N activation block_size", PackedMlpTypes, 0b111111100)
        .Quantized(0b10010000, PackedWeights),
    Linear("MatMulNBitsQLoRA", "7->1 K N", PackedMatMulTypes, 0b1111110)
        .Quantized(0b1010100, LowRankWeights),
    Linear("MatMulNBitsQkv", "11-12->3-4 K Nkv Nq block_size", PackedQkvTypes, 0b111111111100)
        .Quantized(0b10010010000, PackedQkvWeights),
    Linear("MatMulPacked", "2-3->1 K N packed_type", PackedMatMulTypes)
        .Quantized(0b100, PackedWeights),
    Row("MaxpoolWithMask", "2->1", MaxPoolTypes),
    Linear("MoE", "5-8->1", SameAsInput0, 0b11111100),
    Row("MoEGroupRouter", "2-3->0-3 top_k", GroupRouterTypes),
    Linear("MoEPacked", "5-6->1 down_type gate_type", SameAsInput0, 0b11100),
    Convolution("NhwcConv", "2-3->1", ChannelsLastConvTypes),
    Convolution("NhwcFusedConv", "2-4->1", ChannelsLastConvTypes),
    Row("NhwcMaxPool", "1->1 kernel_shape", ChannelsLastMaxPoolTypes),
    Linear("QMoE", "6-21->1", SameAsInput0, 0b11111111111100)
        .Quantized(0b111111011101001001000, ExpertWeights),
    Linear("RouterGateUpProj", "2->2 router_size", RouterGateUpTypes),
    Linear("SparseToDenseMatMul", "2->1", TransposableMatMulTypes),
    Linear("TransposeMatMul", "2->1", FusedMatMulTypes, 0b11),
};

}  // namespace

OnnxFamily MicrosoftLinearOps() { return kRows; }

}  // namespace footprint
