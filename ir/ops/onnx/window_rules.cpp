#include "ir/ops/onnx/window_rules.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

// With k' = dilation * (kernel - 1) + 1, the extent of the window:
//
//   explicit   floor((size + begin + end - k') / stride) + 1
//   ceil_mode  as many windows as begin inside the axis or its left padding, the last one reaching
//              over the end at most: ceil(min(size + begin + end - k' + stride, size + begin) /
//              stride)
//   SAME       ceil(size / stride)
//   VALID      explicit without padding
//   transposed stride * (size - 1) + output_padding + k' - begin - end;  SAME: size * stride
//
// The minimum of ceil_mode is of two sums that differ by a constant wherever the kernel is one, so
// it is taken there and not left in the expression. Older versions of the standard lack it, and say
// one window too many; runtimes never made that one.

namespace footprint {
namespace {

// A list attribute with one positive element per spatial axis; ones if absent.
bool ReadPositive(InferContext& c, absl::string_view name, size_t rank, Sizes* result) {
  result->assign(rank, 1);
  if (!c.node().Has(name)) return true;
  const absl::Span<const int64_t> given = c.node().Ints(name);
  if (given.size() != rank) {
    c.Error(absl::StrCat(name, " has ", given.size(), " elements for ", rank, " spatial axes"));
    return false;
  }
  for (const int64_t value : given) {
    if (value > 0) continue;
    c.Error(absl::StrCat(name, " is [", absl::StrJoin(given, ", "), "]: all must be positive"));
    return false;
  }
  result->assign(given.begin(), given.end());
  return true;
}

bool ReadPads(InferContext& c, size_t rank, Window* window) {
  window->begin_pads.assign(rank, 0);
  window->end_pads.assign(rank, 0);
  const absl::string_view mode = c.node().String("auto_pad", "NOTSET");
  if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    window->auto_pad = AutoPad::kSame;
  } else if (mode == "VALID") {
    window->auto_pad = AutoPad::kValid;
  } else if (mode != "NOTSET" && !mode.empty()) {
    c.Error(absl::StrCat("auto_pad is '", mode, "'"));
    return false;
  }
  if (!c.node().Has("pads") || window->auto_pad != AutoPad::kExplicit) return true;
  const absl::Span<const int64_t> pads = c.node().Ints("pads");
  if (pads.size() != 2 * rank) {
    c.Error(absl::StrCat("pads has ", pads.size(), " elements for ", rank, " spatial axes"));
    return false;
  }
  window->begin_pads.assign(pads.begin(), pads.begin() + static_cast<int64_t>(rank));
  window->end_pads.assign(pads.begin() + static_cast<int64_t>(rank), pads.end());
  return true;
}

// dilation * (kernel - 1) + 1
Dim Extent(DimTable& dims, const Window& window, size_t axis) {
  const Dim kernel = window.kernel[axis];
  if (window.dilations[axis] == 1) return kernel;
  return dims.Add(dims.Mul(window.dilations[axis], dims.Sub(kernel, 1)), 1);
}

Dim SlideAxis(InferContext& c, Dim size, const Window& window, size_t axis) {
  DimTable& dims = c.dims();
  const int64_t stride = window.strides[axis];
  if (window.auto_pad == AutoPad::kSame) return dims.CeilDiv(size, stride);
  const Dim extent = Extent(dims, window, axis);
  const Dim begin = dims.Add(size, window.begin_pads[axis]);
  const Dim room = dims.Sub(dims.Add(begin, window.end_pads[axis]), extent);
  if (room.is_constant() && room.value() < 0) {
    c.Error(absl::StrCat("the kernel's extent ", extent.value(), " on spatial axis ", axis,
                         " is more than the padded size ", room.value() + extent.value()));
    return Dim();
  }
  if (!window.ceil_mode) return dims.Add(dims.FloorDiv(room, stride), 1);
  return dims.CeilDiv(dims.Min(dims.Add(room, stride), begin), stride);
}

struct Image {
  const TensorType* type = nullptr;
  Dim channels;
  absl::Span<const Dim> spatial;
};

// Input `x` as [N, C, spatial...] or [N, spatial..., C]; false if unknown or after an error.
bool ReadImage(InferContext& c, int x, Layout layout, int least_rank, Image* image) {
  image->type = RequireRankAtLeast(c, x, least_rank, "X");
  if (image->type == nullptr) return false;
  const auto dims = absl::Span<const Dim>(image->type->dims);
  const size_t spatial = dims.size() - 2;
  const bool first = layout == Layout::kChannelsFirst;
  image->channels = first ? dims[1] : dims.back();
  image->spatial = dims.subspan(first ? 2 : 1, spatial);
  return true;
}

void SetImage(InferContext& c, ElementType element, Dim batch, Dim channels, Dims spatial,
              Layout layout) {
  if (layout == Layout::kChannelsFirst) {
    spatial.insert(spatial.begin(), channels);
  } else {
    spatial.push_back(channels);
  }
  spatial.insert(spatial.begin(), batch);
  SetRanked(c, 0, element, spatial);
}

}  // namespace

bool ReadWindow(InferContext& c, size_t spatial_rank, absl::Span<const Dim> kernel,
                Window* window) {
  if (c.node().Has("kernel_shape")) {
    Sizes given;
    if (!ReadPositive(c, "kernel_shape", spatial_rank, &given)) return false;
    window->kernel.assign(given.begin(), given.end());
  } else {
    window->kernel.assign(kernel.begin(), kernel.end());
    window->kernel.resize(spatial_rank);
  }
  window->ceil_mode = c.node().Int("ceil_mode", 0) != 0;
  return ReadPositive(c, "strides", spatial_rank, &window->strides) &&
         ReadPositive(c, "dilations", spatial_rank, &window->dilations) &&
         ReadPads(c, spatial_rank, window);
}

Dims Slide(InferContext& c, absl::Span<const Dim> spatial, const Window& window) {
  Dims result;
  for (size_t axis = 0; axis < spatial.size(); ++axis) {
    result.push_back(SlideAxis(c, spatial[axis], window, axis));
  }
  return result;
}

Dims SlideTransposed(InferContext& c, absl::Span<const Dim> spatial, const Window& window) {
  DimTable& dims = c.dims();
  const absl::Span<const int64_t> extra = c.node().Ints("output_padding");
  const absl::Span<const int64_t> given = c.node().Ints("output_shape");
  Dims result;
  if (!given.empty()) {
    // The standard means spatial sizes; some exporters write all of them.
    result.assign(given.size() > spatial.size() ? given.end() - static_cast<int64_t>(spatial.size())
                                                : given.begin(),
                  given.end());
    if (result.size() != spatial.size()) {
      c.Error(absl::StrCat("output_shape has ", given.size(), " elements for ", spatial.size(),
                           " spatial axes"));
    }
    result.resize(spatial.size());
    return result;
  }
  if (window.auto_pad == AutoPad::kSame && !extra.empty()) {
    c.Note("ambiguous: auto_pad with output_padding; taken as input size times stride");
  }
  for (size_t axis = 0; axis < spatial.size(); ++axis) {
    const Dim size = spatial[axis];
    if (window.auto_pad == AutoPad::kSame) {
      result.push_back(dims.Mul(size, window.strides[axis]));
      continue;
    }
    const Dim padding = axis < extra.size() ? Dim(extra[axis]) : Dim(0);
    const Dim inner = dims.Sub(Extent(dims, window, axis),
                               dims.Add(window.begin_pads[axis], window.end_pads[axis]));
    const Dim total = dims.Sum({dims.Mul(window.strides[axis], dims.Sub(size, 1)), padding, inner});
    if (total.is_constant() && total.value() < 0) {
      c.Error(absl::StrCat("padding leaves a size of ", total.value(), " on spatial axis ", axis));
      result.push_back(Dim());
    } else {
      result.push_back(total);
    }
  }
  return result;
}

void RequireKernelOf(InferContext& c, int w, absl::Span<const Dim> kernel, const Window& window) {
  const auto differs = [&](size_t axis) {
    return kernel[axis].is_constant() && window.kernel[axis].is_constant() &&
           kernel[axis] != window.kernel[axis];
  };
  for (size_t axis = 0; axis < kernel.size() && axis < window.kernel.size(); ++axis) {
    if (!differs(axis)) continue;
    return c.Error(absl::StrCat("expected kernel_shape to be the spatial sizes of W (input ", w,
                                "); on spatial axis ", axis, " it is ",
                                window.kernel[axis].value(), " and that of W ",
                                kernel[axis].value()));
  }
}

void SetConvolution(InferContext& c, int x, int w, ElementType element, Layout layout) {
  Image image;
  const TensorType* weights = c.RankedInput(w);
  if (weights != nullptr && weights->rank() < 3) {
    RequireRankAtLeast(c, w, 3, "W");
    return;
  }
  if (!ReadImage(c, x, layout, 3, &image)) {
    return weights == nullptr ? SetUnranked(c, 0, element)
                              : SetRankOnly(c, 0, element, weights->rank());
  }
  Dims kernel;
  if (weights != nullptr) {
    if (weights->rank() != image.type->rank()) {
      return c.Error(absl::StrCat("X has rank ", image.type->rank(), " and W rank ",
                                  weights->rank(), ": they must be equal"));
    }
    const Dim channels = c.dims().Mul(weights->dims[1], c.node().Int("group", 1));
    if (!SameSize(channels, image.channels)) {
      c.RequireEqual(image.channels, channels, "channels of X and of W times group differ");
    }
    kernel.assign(weights->dims.begin() + 2, weights->dims.end());
  }
  Window window;
  if (!ReadWindow(c, image.spatial.size(), kernel, &window)) return;
  RequireKernelOf(c, w, kernel, window);
  SetImage(c, element, image.type->dims[0], DimOf(weights, 0), Slide(c, image.spatial, window),
           layout);
}

void SetPooling(InferContext& c, int x, ElementType element, Layout layout) {
  Image image;
  if (!c.node().Has("kernel_shape")) return c.Error("attribute kernel_shape is missing");
  if (!ReadImage(c, x, layout, 3, &image)) {
    const auto rank = static_cast<int64_t>(c.node().Ints("kernel_shape").size());
    return SetRankOnly(c, 0, element, rank + 2);
  }
  Window window;
  if (!ReadWindow(c, image.spatial.size(), {}, &window)) return;
  SetImage(c, element, image.type->dims[0], image.channels, Slide(c, image.spatial, window),
           layout);
}

void SetGlobalPooling(InferContext& c, int x, ElementType element, Layout layout) {
  Image image;
  if (!ReadImage(c, x, layout, 2, &image)) return SetUnranked(c, 0, element);
  SetImage(c, element, image.type->dims[0], image.channels, Dims(image.spatial.size(), 1), layout);
}

}  // namespace footprint
