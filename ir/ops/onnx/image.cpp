// Regions of interest, sampling grids, patches and pictures.
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/ops/onnx/families.h"
#include "ir/ops/onnx/rules.h"
#include "ir/ops/onnx/window_rules.h"

namespace footprint {
namespace {

// theta [N, 2, 3] and size (N, C, H, W) give [N, H, W, 2]; likewise in three dimensions.
void AffineGridTypes(InferContext& c) {
  const ElementType element = c.InputElement(0);
  std::vector<Dim> size;
  if (ReadDims(c, "", 1, &size) != Known::kYes) {
    const std::optional<int> rank = RankFromLength(c, 1);
    if (!rank || *rank < 3) return SetUnranked(c, 0, element);
    size.assign(static_cast<size_t>(*rank), Dim());
  }
  if (size.size() != 4 && size.size() != 5) {
    return c.Error(absl::StrCat("size has ", size.size(), " elements where 4 or 5 are needed"));
  }
  Dims dims = {size[0]};
  dims.insert(dims.end(), size.begin() + 2, size.end());
  dims.push_back(static_cast<int64_t>(size.size()) - 2);
  SetRanked(c, 0, element, dims);
}

// X [N, C, d...] and grid [N, out..., r] give [N, C, out...].
void GridSampleTypes(InferContext& c) {
  const TensorType* x = RequireRankAtLeast(c, 0, 3, "X");
  const TensorType* grid = RequireRankAtLeast(c, 1, 3, "grid");
  const ElementType element = c.InputElement(0);
  if (x == nullptr && grid == nullptr) return SetUnranked(c, 0, element);
  if (x != nullptr && grid != nullptr && x->rank() != grid->rank()) {
    return c.Error(absl::StrCat("X has rank ", x->rank(), " and grid rank ", grid->rank()));
  }
  const int rank = x != nullptr ? x->rank() : grid->rank();
  Dims dims = {DimOf(x, 0), DimOf(x, 1)};
  if (dims[0].is_unknown()) dims[0] = DimOf(grid, 0);
  for (int i = 1; i < rank - 1; ++i) dims.push_back(DimOf(grid, i));
  SetRanked(c, 0, element, dims);
}

// [N, C * product(block), L] to [N, C, image...].
void Col2ImTypes(InferContext& c) {
  const TensorType* data = RequireRank(c, 0, 3, "input");
  const ElementType element = c.InputElement(0);
  std::vector<Dim> image;
  std::vector<Dim> block;
  if (ReadDims(c, "", 1, &image) != Known::kYes) {
    const std::optional<int> rank = RankFromLength(c, 1);
    if (!rank) return SetUnranked(c, 0, element);
    image.assign(static_cast<size_t>(*rank), Dim());
  }
  Dims dims = {DimOf(data, 0), Dim()};
  if (ReadDims(c, "", 2, &block) == Known::kYes) {
    dims[1] = c.dims().FloorDiv(DimOf(data, 1), c.dims().Product(block));
  }
  dims.insert(dims.end(), image.begin(), image.end());
  SetRanked(c, 0, element, dims);
}

void CenterCropPadTypes(InferContext& c) {
  const TensorType* data = c.RankedInput(0);
  const ElementType element = c.InputElement(0);
  if (data == nullptr) return SetUnranked(c, 0, element);
  Sizes axes;
  const Known known = ReadAxes(c, "axes", -1, data->rank(), &axes);
  if (known == Known::kNo) return;
  if (known == Known::kAbsent) {
    axes.resize(data->dims.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  std::vector<Dim> shape;
  if (ReadDims(c, "", 1, &shape) != Known::kYes) shape.assign(axes.size(), Dim());
  if (shape.size() != axes.size()) {
    return c.Error(
        absl::StrCat("shape has ", shape.size(), " elements for ", axes.size(), " axes"));
  }
  Dims dims = data->dims;
  for (size_t i = 0; i < axes.size(); ++i) dims[static_cast<size_t>(axes[i])] = shape[i];
  SetRanked(c, 0, element, dims);
}

// X [N, C, H, W] and rois [R, ...]: one picture per region.
void SetRegions(InferContext& c, Dim height, Dim width) {
  const TensorType* x = RequireRank(c, 0, 4, "X");
  const TensorType* rois = RequireRank(c, 1, 2, "rois");
  Dim count = DimOf(rois, 0);
  if (count.is_unknown()) count = LengthOf(c, 2);
  SetRanked(c, 0, c.InputElement(0), {count, DimOf(x, 1), height, width});
}

void RoiAlignTypes(InferContext& c) {
  SetRegions(c, c.node().Int("output_height", 1), c.node().Int("output_width", 1));
}

void MaxRoiPoolTypes(InferContext& c) {
  const absl::Span<const int64_t> shape = c.node().Ints("pooled_shape");
  if (shape.size() != 2) return c.Error("pooled_shape must have 2 elements");
  SetRegions(c, shape[0], shape[1]);
}

// Height, width, channels of a picture that only decoding tells.
void ImageDecoderTypes(InferContext& c) {
  const int64_t channels = c.node().String("pixel_format", "RGB") == "Grayscale" ? 1 : 3;
  SetRanked(c, 0, ElementType::kUint8, {c.Fresh(0, Dim()), c.Fresh(0, Dim()), channels});
}

constexpr OnnxOp kRows[] = {
    {.name = "AffineGrid", .since = 20, .signature = "2->1", .types = AffineGridTypes},
    {.name = "CenterCropPad", .since = 18, .signature = "2->1", .types = CenterCropPadTypes},
    {.name = "Col2Im", .since = 18, .signature = "3->1", .types = Col2ImTypes},
    {.name = "GridSample", .since = 16, .signature = "2->1", .types = GridSampleTypes},
    {.name = "GridSample",
     .domain = "com.microsoft",
     .signature = "2->1",
     .types = GridSampleTypes},
    {.name = "ImageDecoder", .since = 20, .types = ImageDecoderTypes},
    {.name = "MaxRoiPool", .signature = "2->1 pooled_shape", .types = MaxRoiPoolTypes},
    {.name = "RoiAlign", .since = 10, .signature = "3->1", .types = RoiAlignTypes},
};

}  // namespace

OnnxFamily ImageOps() { return kRows; }

}  // namespace footprint
