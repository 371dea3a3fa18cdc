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

constexpr OnnxOp Linear(absl::string_view name, InferRule types, uint32_t weights = 0b10) {
  return {.name = name,
          .domain = kMicrosoft,
          .types = types,
          .weights = weights,
          .textbook = TextbookKind::kLinear};
}
constexpr OnnxOp Convolution(absl::string_view name, InferRule types, uint32_t weights = 0b110) {
  return {.name = name,
          .domain = kMicrosoft,
          .types = types,
          .weights = weights,
          .textbook = TextbookKind::kConvolution};
}
constexpr OnnxOp Row(absl::string_view name, InferRule types) {
  return {.name = name, .domain = kMicrosoft, .types = types};
}

constexpr OnnxOp kRows[] = {
    Convolution("ConvTransposeWithDynamicPads", DynamicPadsTypes, 0b1010),
    Linear("DynamicQuantizeMatMul", MatMulTypes, 0b10110),
    Convolution("FusedConv", ConvTypes),
    Linear("FusedGemm", GemmTypes, 0b110),
    Linear("FusedMatMul", FusedMatMulTypes, 0b11),
    Linear("FusedMatMulActivation", FusedMatMulTypes, 0b11),
    Linear("GemmFastGelu", MatMulTypes, 0b110),
    Linear("GemmFloat8", GemmFloat8Types, 0b110),
    Linear("MatMulBlockQuantizedFp4Weight", BlockQuantizedMatMulTypes, 0b101110),
    Linear("MatMulBlockQuantizedFp8Weight", BlockQuantizedMatMulTypes, 0b10110),
    Linear("MatMulBnb4", Bnb4MatMulTypes, 0b110),
    Linear("MatMulFpQ4", FpQ4MatMulTypes),
    Linear("MatMulInteger16", MatMulInteger16Types, 0b11),
    Linear("MatMulIntegerToFloat", MatMulIntegerToFloatTypes, 0b1001010),
    Linear("MatMulNBits", PackedMatMulTypes, 0b101110),
    Linear("MatMulNBitsMlp", PackedMlpTypes, 0b111111100),
    Linear("MatMulNBitsQLoRA", PackedMatMulTypes, 0b1111110),
    Linear("MatMulNBitsQkv", PackedQkvTypes, 0b111111111100),
    Linear("MatMulPacked", PackedMatMulTypes),
    Row("MaxpoolWithMask", MaxPoolTypes),
    Linear("MoE", SameAsInput0, 0b11111100),
    Row("MoEGroupRouter", GroupRouterTypes),
    Linear("MoEPacked", SameAsInput0, 0b11100),
    Convolution("NhwcConv", ChannelsLastConvTypes),
    Convolution("NhwcFusedConv", ChannelsLastConvTypes),
    Row("NhwcMaxPool", ChannelsLastMaxPoolTypes),
    Linear("QMoE", SameAsInput0, 0b11111111111100),
    Linear("RouterGateUpProj", RouterGateUpTypes),
    Linear("SparseToDenseMatMul", TransposableMatMulTypes),
    Linear("TransposeMatMul", FusedMatMulTypes, 0b11),
};

}  // namespace

OnnxFamily MicrosoftLinearOps() { return kRows; }

}  // namespace footprint
