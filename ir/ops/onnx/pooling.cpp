// Poolings.
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/ops/onnx/families.h"
#include "ir/ops/onnx/rules.h"
#include "ir/ops/onnx/window_rules.h"

namespace footprint {
namespace {

void PoolTypes(InferContext& c) { SetPooling(c, 0, c.InputElement(0)); }
void GlobalPoolTypes(InferContext& c) { SetGlobalPooling(c, 0, c.InputElement(0)); }

void MaxPoolTypes(InferContext& c) {
  PoolTypes(c);
  if (!c.HasOutput(1) || !c.OutputType(0).is_tensor()) return;
  TensorType indices = c.OutputType(0).tensor;
  indices.element = ElementType::kInt64;
  c.SetOutput(1, std::move(indices));
}

void MaxUnpoolTypes(InferContext& c) {
  const TensorType* x = RequireRankAtLeast(c, 0, 3, "X");
  const ElementType element = c.InputElement(0);
  if (c.HasInput(2)) {
    std::vector<Dim> shape;
    if (ReadDims(c, "", 2, &shape) == Known::kYes) return SetRanked(c, 0, element, shape);
    return x != nullptr ? SetRankOnly(c, 0, element, x->rank()) : SetUnranked(c, 0, element);
  }
  if (x == nullptr) return SetUnranked(c, 0, element);
  Window window;
  if (!c.node().Has("kernel_shape")) return c.Error("attribute kernel_shape is missing");
  const auto spatial = absl::Span<const Dim>(x->dims).subspan(2);
  if (!ReadWindow(c, spatial.size(), {}, &window)) return;
  Dims dims = SlideTransposed(c, spatial, window);
  dims.insert(dims.begin(), x->dims.begin(), x->dims.begin() + 2);
  SetRanked(c, 0, element, dims);
}

constexpr OnnxOp kRows[] = {
    {.name = "AveragePool", .signature = "1->1 kernel_shape", .types = PoolTypes},
    {.name = "GlobalAveragePool", .types = GlobalPoolTypes},
    {.name = "GlobalLpPool", .types = GlobalPoolTypes},
    {.name = "GlobalMaxPool", .types = GlobalPoolTypes},
    {.name = "LpPool", .signature = "1->1; 2: 1->1 kernel_shape", .types = PoolTypes},
    {.name = "MaxPool",
     .signature = "1->1 kernel_shape; 8: 1->1-2 kernel_shape",
     .types = MaxPoolTypes},
    {.name = "MaxUnpool", .since = 9, .signature = "2-3->1 kernel_shape", .types = MaxUnpoolTypes},
};

}  // namespace

OnnxFamily PoolingOps() { return kRows; }

}  // namespace footprint
