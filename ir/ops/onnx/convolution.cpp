// Convolutions.
#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/ops/onnx/families.h"
#include "ir/ops/onnx/rules.h"
#include "ir/ops/onnx/window_rules.h"

namespace footprint {
namespace {

void ConvTypes(InferContext& c) { SetConvolution(c, 0, 1, c.InputElement(0)); }
void ConvIntegerTypes(InferContext& c) { SetConvolution(c, 0, 1, ElementType::kInt32); }
void QLinearConvTypes(InferContext& c) { SetConvolution(c, 0, 3, c.InputElement(7)); }

// W is [C, M/group, k...].
void ConvTransposeTypes(InferContext& c) {
  const TensorType* x = RequireRankAtLeast(c, 0, 3, "X");
  const TensorType* w = RequireRankAtLeast(c, 1, 3, "W");
  const ElementType element = c.InputElement(0);
  if (x == nullptr || w == nullptr) {
    const TensorType* known = x != nullptr ? x : w;
    return known == nullptr ? SetUnranked(c, 0, element)
                            : SetRankOnly(c, 0, element, known->rank());
  }
  if (x->rank() != w->rank()) {
    return c.Error(
        absl::StrCat("X has rank ", x->rank(), " and W rank ", w->rank(), ": they must be equal"));
  }
  if (!SameSize(x->dims[1], w->dims[0])) {
    c.RequireEqual(x->dims[1], w->dims[0], "channels of X and of W differ");
  }
  const auto spatial = absl::Span<const Dim>(x->dims).subspan(2);
  Window window;
  const auto kernel = absl::Span<const Dim>(w->dims).subspan(2);
  if (!ReadWindow(c, spatial.size(), kernel, &window)) return;
  RequireKernelOf(c, 1, kernel, window);
  Dims dims = SlideTransposed(c, spatial, window);
  dims.insert(dims.begin(), c.dims().Mul(w->dims[1], c.node().Int("group", 1)));
  dims.insert(dims.begin(), x->dims[0]);
  SetRanked(c, 0, element, dims);
}

// [B, C, L] and the last k - 1 positions, for the next call. W is [C, 1, k].
void CausalConvTypes(InferContext& c) {
  CopyType(c, 0, 0);
  if (!c.HasOutput(1)) return;
  const TensorType* x = RequireRank(c, 0, 3, "input");
  const TensorType* w = RequireRank(c, 1, 3, "weight");
  SetRanked(c, 1, c.InputElement(0), {DimOf(x, 0), DimOf(x, 1), c.dims().Sub(DimOf(w, 2), 1)});
}

constexpr OnnxOp Convolution(absl::string_view name, Signature signature, int since,
                             InferRule types, uint32_t weights, uint32_t same_element = 0) {
  return {.name = name,
          .since = since,
          .signature = signature,
          .types = types,
          .same_element = same_element,
          .weights = weights,
          .textbook = TextbookKind::kConvolution};
}

constexpr OnnxOp kRows[] = {
    Convolution("CausalConvWithState", "2-4->2", 27, CausalConvTypes, 0b110),
    Convolution("Conv", "2-3->1", 1, ConvTypes, 0b110, 0b111),
    Convolution("ConvInteger", "2-4->1", 10, ConvIntegerTypes, 0b10).Quantized(0b1100),
    Convolution("ConvTranspose", "2-3->1", 1, ConvTransposeTypes, 0b110, 0b111),
    Convolution("DeformConv", "3-5->1", 19, ConvTypes, 0b1010, 0b11111),
    Convolution("QLinearConv", "8-9->1", 10, QLinearConvTypes, 0b100001000).Quantized(0b11110110),
};

}  // namespace

OnnxFamily ConvolutionOps() { return kRows; }

}  // namespace footprint
