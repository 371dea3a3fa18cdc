// Operators that resample an image to another size.
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/ops/onnx/families.h"
#include "ir/ops/onnx/rules.h"
#include "ir/ops/onnx/values.h"

// A size times a scale is rounded down. The scale is the float32 that the file holds, taken
// exactly: it is a ratio with a power of two below, so that symbolic sizes stay exact too and 0.5 *
// H is floor(H/2). 706 * float32(224/706) is 223.99999...: by the standard 223, though some
// runtimes round to 224; that is noted.

namespace footprint {
namespace {

Dim Scaled(InferContext& c, int64_t axis, Dim size, double scale) {
  if (size.is_constant()) {
    const double exact = static_cast<double>(size.value()) * scale;
    if (!std::isfinite(exact) || exact < 0 || exact > 9e15) return Dim();
    const double down = std::floor(exact);
    const double nearest = std::nearbyint(exact);
    // As near as the rounding of the scale to float32 can tell.
    if (nearest > down && nearest - exact <= nearest * std::numeric_limits<float>::epsilon()) {
      c.Note(absl::StrCat("axis ", axis, ": floor(", size.value(), " * ", scale, ") is ",
                          static_cast<int64_t>(down), "; some runtimes round to ",
                          static_cast<int64_t>(nearest)));
    }
    return static_cast<int64_t>(down);
  }
  int64_t numerator = 0;
  int64_t denominator = 1;
  if (!AsRatio(scale, &numerator, &denominator) || numerator < 0) return c.Fresh(0, Dim());
  return c.dims().FloorDiv(c.dims().Mul(size, numerator), denominator);
}

// The axes that scales, sizes and roi speak of.
bool ResizedAxes(InferContext& c, int rank, Sizes* axes) {
  if (c.version() >= 18) {
    const Known known = ReadAxes(c, "axes", -1, rank, axes);
    if (known == Known::kYes) return true;
    if (known == Known::kNo) return false;
  }
  axes->resize(static_cast<size_t>(rank));
  std::iota(axes->begin(), axes->end(), 0);
  return true;
}

bool WrongLength(InferContext& c, absl::string_view what, size_t length, size_t axes) {
  if (length == axes) return false;
  c.Error(absl::StrCat(what, " has ", length, " elements for ", axes, " axes"));
  return true;
}

// With keep_aspect_ratio_policy one scale serves all axes: the least or the greatest of size / dim.
void KeepAspectRatio(InferContext& c, const Dims& from, const Sizes& axes, bool not_larger,
                     Dims* to) {
  double scale = 0;
  bool known = true;
  for (size_t i = 0; i < axes.size(); ++i) {
    const Dim size = from[static_cast<size_t>(axes[i])];
    const Dim target = (*to)[static_cast<size_t>(axes[i])];
    known &= size.is_constant() && target.is_constant() && size.value() > 0;
    if (!known) break;
    const double ratio = static_cast<double>(target.value()) / static_cast<double>(size.value());
    scale = i == 0 ? ratio : not_larger ? std::min(scale, ratio) : std::max(scale, ratio);
  }
  for (const int64_t axis : axes) {
    Dim& target = (*to)[static_cast<size_t>(axis)];
    if (known) {
      const Dim size = from[static_cast<size_t>(axis)];
      target = static_cast<int64_t>(std::floor(static_cast<double>(size.value()) * scale + 0.5));
    } else {
      target = c.Fresh(0, not_larger ? target : Dim());
    }
  }
}

void ResizeToSizes(InferContext& c, TensorType result, int input, const Sizes& axes) {
  std::vector<Dim> sizes;
  if (ReadDims(c, "", input, &sizes) != Known::kYes) sizes.assign(axes.size(), Dim());
  if (WrongLength(c, "sizes", sizes.size(), axes.size())) return;
  const Dims from = result.dims;
  for (size_t i = 0; i < axes.size(); ++i) {
    result.dims[static_cast<size_t>(axes[i])] = sizes[i];
  }
  const absl::string_view policy = c.node().String("keep_aspect_ratio_policy", "stretch");
  if (policy == "not_larger" || policy == "not_smaller") {
    KeepAspectRatio(c, from, axes, policy == "not_larger", &result.dims);
  }
  c.SetOutput(0, std::move(result));
}

// Extents of the region of interest that tf_crop_and_resize scales; ones otherwise.
std::vector<double> RoiExtents(InferContext& c, size_t axes) {
  std::vector<double> extents(axes, 1);
  if (c.node().String("coordinate_transformation_mode", "") != "tf_crop_and_resize" ||
      c.version() < 11) {
    return extents;
  }
  const KnownValuePtr roi = c.InputValue(1);
  if (roi == nullptr || roi->floats.size() != 2 * axes) return {};
  for (size_t i = 0; i < axes; ++i) extents[i] = roi->floats[axes + i] - roi->floats[i];
  return extents;
}

void ResizeToScales(InferContext& c, TensorType result, absl::Span<const double> scales,
                    const Sizes& axes) {
  if (WrongLength(c, "scales", scales.size(), axes.size())) return;
  const std::vector<double> extents = RoiExtents(c, axes.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    Dim& size = result.dims[static_cast<size_t>(axes[i])];
    if (!(scales[i] > 0)) {
      return c.Error(absl::StrCat("scale ", scales[i], " where a positive one is needed"));
    }
    if (extents.empty()) {
      size = c.Fresh(0, Dim());
    } else {
      size = size.is_unknown() ? size : Scaled(c, axes[i], size, extents[i] * scales[i]);
    }
  }
  c.SetOutput(0, std::move(result));
}

// A float input that is there and has elements (older files write empty tensors for none).
bool HasElements(InferContext& c, int input) {
  return c.HasInput(input) && !LengthOf(c, input).Is(0);
}

void SetUnknownSizes(InferContext& c, TensorType result, const Sizes& axes) {
  for (const int64_t axis : axes) result.dims[static_cast<size_t>(axis)] = Dim();
  c.SetOutput(0, std::move(result));
}

void ResizeTypes(InferContext& c) {
  const TensorType* data = c.RankedInput(0);
  const bool first_version = c.version() < 11;
  if (data == nullptr) return SetUnranked(c, 0, c.InputElement(0));
  TensorType result = TensorType::Make(data->element, data->dims);
  Sizes axes;
  if (!ResizedAxes(c, data->rank(), &axes)) return;
  if (!first_version && HasElements(c, 3)) return ResizeToSizes(c, std::move(result), 3, axes);
  const int scales_input = first_version ? 1 : 2;
  if (!HasElements(c, scales_input)) return c.Error("neither scales nor sizes are given");
  const KnownValuePtr scales = c.InputValue(scales_input);
  if (scales == nullptr || scales->floats.empty()) {
    return SetUnknownSizes(c, std::move(result), axes);
  }
  ResizeToScales(c, std::move(result), scales->floats, axes);
}

void UpsampleTypes(InferContext& c) {
  const TensorType* data = c.RankedInput(0);
  if (data == nullptr) return SetUnranked(c, 0, c.InputElement(0));
  TensorType result = TensorType::Make(data->element, data->dims);
  Sizes axes;
  if (!ResizedAxes(c, data->rank(), &axes)) return;
  std::vector<double> scales;
  if (c.version() < 7) {
    scales = {1, 1, c.node().Float("height_scale", 1), c.node().Float("width_scale", 1)};
  } else if (c.version() < 9) {
    const absl::Span<const double> given = c.node().Floats("scales");
    scales.assign(given.begin(), given.end());
  } else {
    const KnownValuePtr value = c.InputValue(1);
    if (value == nullptr || !value->is_float || value->floats.empty()) {
      return SetUnknownSizes(c, std::move(result), axes);
    }
    scales = value->floats;
  }
  ResizeToScales(c, std::move(result), scales, axes);
}

constexpr OnnxOp kRows[] = {
    {.name = "Resize",
     .since = 10,
     .signature = "2->1; 11: 3-4->1; 13: 1-4->1",
     .types = ResizeTypes},
    {.name = "Upsample",
     .signature = "1->1 height_scale width_scale; 7: 1->1 scales; 9: 2->1",
     .types = UpsampleTypes},
};

}  // namespace

OnnxFamily ResizeOps() { return kRows; }

}  // namespace footprint
