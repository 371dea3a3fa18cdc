// Signals: Fourier transforms, windows, mel filters.
#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/ops/onnx/families.h"
#include "ir/ops/onnx/rules.h"

namespace footprint {
namespace {

// floor(n/2) + 1: what is left of a spectrum whose other half mirrors it.
Dim Half(DimTable& dims, Dim size) { return dims.Add(dims.FloorDiv(size, 2), 1); }

// A size that an integer input gives; a fresh symbol where it is not known.
Dim SizeInput(InferContext& c, int input) {
  const Dim size = ScalarInput(c, input);
  return size.is_unknown() ? c.Fresh(0, Dim()) : size;
}

// [..., n, ..., 1 or 2]: the last axis holds real and imaginary parts.
void DftTypes(InferContext& c) {
  const TensorType* data = RequireRankAtLeast(c, 0, 2, "input");
  const ElementType element = c.InputElement(0);
  if (data == nullptr) return SetUnranked(c, 0, element);
  Dim given = c.node().Int("axis", 1);
  if (c.version() >= 20) given = c.HasInput(2) ? ScalarInput(c, 2) : Dim(-2);
  if (!given.is_constant()) return SetRankOnly(c, 0, element, data->rank());
  const std::optional<int> axis = NormalAxis(c, given.value(), data->rank());
  if (!axis) return;
  const bool half = c.node().Int("onesided", 0) != 0;
  const bool to_real = half && c.node().Int("inverse", 0) != 0;
  Dims dims = data->dims;
  Dim& size = dims[static_cast<size_t>(*axis)];
  if (c.HasInput(1)) {
    size = SizeInput(c, 1);
  } else if (to_real) {
    size = c.dims().Mul(c.dims().Sub(size, 1), 2);
  }
  if (half && !to_real) size = Half(c.dims(), size);
  dims.back() = to_real ? 1 : 2;
  SetRanked(c, 0, element, dims);
}

// signal [B, L, 1 or 2] in frames of a length, every so many steps.
void StftTypes(InferContext& c) {
  const TensorType* signal = RequireRankAtLeast(c, 0, 2, "signal");
  DimTable& dims = c.dims();
  const Dim step = ScalarInput(c, 1);
  const Dim samples = DimOf(signal, 1);
  Dim length = samples;
  if (c.HasInput(2)) length = LengthOf(c, 2);
  if (c.HasInput(3)) length = ScalarInput(c, 3);
  if (step.is_constant() && step.value() <= 0) {
    return c.Error(absl::StrCat("frame_step is ", step.value()));
  }
  Dim frames = dims.Add(dims.FloorDiv(dims.Sub(samples, length), step), 1);
  if (frames.is_unknown()) frames = c.Fresh(0, samples);
  const Dim bins = c.node().Int("onesided", 1) != 0 ? Half(dims, length) : length;
  SetRanked(c, 0, c.InputElement(0), {DimOf(signal, 0), frames, bins, 2});
}

void WindowTypes(InferContext& c) {
  SetRanked(c, 0, ElementAttribute(c, "output_datatype", ElementType::kFloat), {SizeInput(c, 0)});
}

void MelWeightTypes(InferContext& c) {
  SetRanked(c, 0, ElementAttribute(c, "output_datatype", ElementType::kFloat),
            {Half(c.dims(), SizeInput(c, 1)), SizeInput(c, 0)});
}

constexpr OnnxOp Window(absl::string_view name) {
  return {.name = name, .since = 17, .types = WindowTypes};
}

// The determinant of each matrix.
void DetTypes(InferContext& c) {
  const TensorType* data = RequireRankAtLeast(c, 0, 2, "X");
  if (data == nullptr) return SetUnranked(c, 0, c.InputElement(0));
  const size_t rank = data->dims.size();
  if (!SameSize(data->dims[rank - 1], data->dims[rank - 2])) {
    c.RequireEqual(data->dims[rank - 1], data->dims[rank - 2], "the matrices are not square");
  }
  SetRanked(c, 0, data->element, absl::Span<const Dim>(data->dims).subspan(0, rank - 2));
}

constexpr OnnxOp kRows[] = {
    Window("BlackmanWindow"),
    {.name = "DFT", .since = 17, .signature = "1-2->1; 20: 1-3->1", .types = DftTypes},
    {.name = "Det", .since = 11, .types = DetTypes},
    Window("HammingWindow"),
    Window("HannWindow"),
    {.name = "MelWeightMatrix", .since = 17, .signature = "5->1", .types = MelWeightTypes},
    {.name = "STFT", .since = 17, .signature = "2-4->1", .types = StftTypes},
};

}  // namespace

OnnxFamily SignalOps() { return kRows; }

}  // namespace footprint
