// Slice and Split.
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/ops/onnx/families.h"
#include "ir/ops/onnx/rules.h"
#include "ir/ops/onnx/values.h"

// The size of a slice [start, end) by step, of an axis of `size`. Going up, with the ends brought
// to [0, size]:
//
//   start >= 0: from = min(start, size)       start < 0: from = max(start + size, 0)
//   end likewise: to                          result = max(0, ceil((to - from) / step))
//   sign unknown, size a number: start + size * min(max(-start, 0), 1) takes its place
//
// From a negative start on, to - from is written min(to - size - start, to): the last L of N are
// min(L, N). Going down, start is brought to [0, size - 1] and end to [-1, size - 1]. Bounds of at
// least 2^31 - 1 mean "to the end" of an axis of symbolic size.

namespace footprint {
namespace {

constexpr int64_t kFar = std::numeric_limits<int32_t>::max();

struct SliceAxis {
  Dim start;
  Dim end;
  Dim step;
};

enum class Sign : uint8_t { kNegative, kNotNegative, kUnknown };
Sign SignOf(const DimTable& dims, Dim value) {
  if (value.is_unknown()) return Sign::kUnknown;
  const DimBounds bounds = dims.Bounds(value);
  if (bounds.lower >= 0) return Sign::kNotNegative;
  return bounds.upper < 0 ? Sign::kNegative : Sign::kUnknown;
}

// `value`, counted from the front, brought to [low, high]. `high` is size or size - 1.
Dim Bounded(DimTable& dims, Dim value, Dim size, int64_t low, Dim high) {
  switch (SignOf(dims, value)) {
    case Sign::kUnknown: {
      if (value.is_unknown() || !size.is_constant()) return Dim();
      const Dim wraps = dims.Min(dims.Max(dims.Neg(value), 0), 1);
      return dims.Max(dims.Min(dims.Add(value, dims.Mul(size, wraps)), high), low);
    }
    case Sign::kNegative:
      if (value.is_constant() && value.value() <= -kFar && !size.is_constant()) return low;
      return dims.Max(dims.Add(value, size), low);
    case Sign::kNotNegative:
      if (value.is_constant() && value.value() >= kFar && !size.is_constant()) return high;
      return dims.Max(dims.Min(value, high), low);
  }
  return Dim();
}

Dim ForwardSpan(DimTable& dims, Dim size, const SliceAxis& axis) {
  const Dim to = Bounded(dims, axis.end, size, 0, size);
  const bool far = axis.start.is_constant() && axis.start.value() <= -kFar;
  if (SignOf(dims, axis.start) == Sign::kNegative && !far) {
    return dims.Min(dims.Sub(to, dims.Add(axis.start, size)), to);
  }
  return dims.Sub(to, Bounded(dims, axis.start, size, 0, size));
}

Dim BackwardSpan(DimTable& dims, Dim size, const SliceAxis& axis) {
  const Dim last = dims.Sub(size, 1);
  return dims.Sub(Bounded(dims, axis.start, size, 0, last),
                  Bounded(dims, axis.end, size, -1, last));
}

Dim SliceSize(InferContext& c, Dim size, const SliceAxis& axis) {
  DimTable& dims = c.dims();
  if (axis.step.Is(0)) {
    c.Error("step is 0");
    return Dim();
  }
  if (axis.step.Is(1) && axis.start.Is(0) && axis.end.is_constant() && axis.end.value() >= kFar &&
      !size.is_constant()) {
    return size;
  }
  if (size.is_unknown()) return Dim();
  if (size.Is(0)) return 0;
  Dim span;
  if (axis.step.is_constant()) {
    span = axis.step.value() > 0 ? ForwardSpan(dims, size, axis) : BackwardSpan(dims, size, axis);
  }
  if (span.is_unknown()) return c.Fresh(0, size);
  // |INT64_MIN| does not exist; any step that large picks one element.
  const int64_t step = std::max(axis.step.value(), -std::numeric_limits<int64_t>::max());
  return dims.Max(dims.CeilDiv(span, step > 0 ? step : -step), 0);
}

// What the operands say about each axis; axes that are not named have no entry (an unset step).
// kNo: not even the axes are known.
Known ReadSlice(InferContext& c, int rank, std::vector<SliceAxis>* result, Sizes* sliced) {
  const bool from_attributes = c.version() < 10;
  std::vector<Dim> starts;
  std::vector<Dim> ends;
  std::vector<Dim> steps;
  const Known has_starts = ReadDims(c, from_attributes ? "starts" : "", 1, &starts);
  const Known has_ends = ReadDims(c, from_attributes ? "ends" : "", 2, &ends);
  const Known has_axes =
      ReadAxes(c, from_attributes ? "axes" : "", from_attributes ? -1 : 3, rank, sliced);
  const Known has_steps = ReadDims(c, "", from_attributes ? -1 : 4, &steps);
  if (has_axes == Known::kNo) return Known::kNo;
  size_t count = has_axes == Known::kYes ? sliced->size() : starts.size();
  if (has_axes == Known::kAbsent) {
    if (has_starts != Known::kYes && has_ends == Known::kYes) count = ends.size();
    if (has_starts != Known::kYes && has_ends != Known::kYes) {
      const std::optional<int> length = RankFromLength(c, 1);
      if (!length) return Known::kNo;
      count = static_cast<size_t>(*length);
    }
    for (size_t i = 0; i < count; ++i) sliced->push_back(static_cast<int64_t>(i));
  }
  if (has_starts != Known::kYes) starts.assign(count, Dim());
  if (has_ends != Known::kYes) ends.assign(count, Dim());
  if (has_steps == Known::kAbsent) steps.assign(count, 1);
  if (has_steps == Known::kNo) steps.assign(count, Dim());
  if (starts.size() != count || ends.size() != count || steps.size() != count ||
      count > static_cast<size_t>(rank)) {
    c.Error(absl::StrCat("starts, ends, axes and steps have ", starts.size(), ", ", ends.size(),
                         ", ", count, " and ", steps.size(), " elements for rank ", rank));
    return Known::kNo;
  }
  for (size_t i = 0; i < count; ++i) result->push_back({starts[i], ends[i], steps[i]});
  return Known::kYes;
}

void SliceTypes(InferContext& c) {
  const TensorType* data = c.RankedInput(0);
  if (data == nullptr) return SetUnranked(c, 0, c.InputElement(0));
  TensorType result = TensorType::Make(data->element, data->dims);
  std::vector<SliceAxis> slices;
  Sizes axes;
  if (ReadSlice(c, data->rank(), &slices, &axes) != Known::kYes) {
    for (Dim& size : result.dims) size = size.is_unknown() ? size : c.Fresh(0, size);
    return c.SetOutput(0, std::move(result));
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    Dim& size = result.dims[static_cast<size_t>(axes[i])];
    size = SliceSize(c, size, slices[i]);
  }
  c.SetOutput(0, std::move(result));
}

void SliceValues(InferContext& c) {
  const KnownValuePtr value = c.InputValue(0);
  Sizes from;
  Sizes to;
  if (value == nullptr || !SmallSizes(c.InputType(0), &from) || !SmallSizes(c.OutputType(0), &to)) {
    return;
  }
  std::vector<SliceAxis> slices;
  Sizes axes;
  if (ReadSlice(c, static_cast<int>(from.size()), &slices, &axes) != Known::kYes) return;
  Sizes first(from.size(), 0);
  Sizes step(from.size(), 1);
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto at = static_cast<size_t>(axes[i]);
    const int64_t high =
        slices[i].step.is_constant() && slices[i].step.value() < 0 ? from[at] - 1 : from[at];
    const Dim start = Bounded(c.dims(), slices[i].start, from[at], 0, high);
    if (!start.is_constant() || !slices[i].step.is_constant()) return;
    first[at] = start.value();
    step[at] = slices[i].step.value();
  }
  const Sizes strides = Strides(from);
  std::vector<int64_t> index;
  Odometer at(to);
  if (Product(to) != 0) {
    do {
      int64_t position = 0;
      for (size_t i = 0; i < from.size(); ++i) {
        position += (first[i] + (at[i] == 0 ? 0 : at[i] * step[i])) * strides[i];
      }
      index.push_back(position);
    } while (at.Next());
  }
  c.SetOutputValue(0, Pick(*value, index));
}

// The sizes of the parts: given, or as equal as may be.
std::vector<Dim> SplitSizes(InferContext& c, Dim size) {
  const auto parts = static_cast<size_t>(c.num_outputs());
  DimTable& dims = c.dims();
  std::vector<Dim> sizes;
  const bool by_attribute = c.version() < 13;
  const Known known = ReadDims(c, by_attribute ? "split" : "", 1, &sizes);
  if (known == Known::kYes) {
    if (sizes.size() != parts) {
      c.Error(absl::StrCat(sizes.size(), " sizes for ", parts, " outputs"));
    } else if (const Dim sum = dims.Sum(sizes); !sum.is_unknown() && !size.is_unknown()) {
      c.RequireEqual(sum, size, "the sizes of the parts do not add up to the axis");
    }
    sizes.resize(parts);
    return sizes;
  }
  if (known == Known::kNo) {
    // Whatever they are, together they are the axis.
    Dim rest = size;
    for (size_t i = 0; i + 1 < parts; ++i) {
      sizes.push_back(c.Fresh(0, rest));
      rest = dims.Sub(rest, sizes.back());
    }
    sizes.push_back(rest);
    return sizes;
  }
  const int64_t count = c.node().Int("num_outputs", static_cast<int64_t>(parts));
  if (count != static_cast<int64_t>(parts)) {
    c.Error(absl::StrCat("num_outputs is ", count, " and the node has ", parts, " outputs"));
  }
  // From version 18 on the last part may be smaller.
  const auto divisor = static_cast<int64_t>(parts);
  if (c.version() < 18 && size.is_constant() && size.value() % divisor != 0) {
    c.Error(
        absl::StrCat("an axis of ", size.value(), " cannot be split into ", parts, " equal parts"));
  }
  const Dim chunk = c.version() < 18 ? dims.FloorDiv(size, divisor) : dims.CeilDiv(size, divisor);
  sizes.assign(parts, chunk);
  if (c.version() < 18) return sizes;
  // What remains of ceil(size/n) * n beyond the axis is missing from the end.
  for (size_t i = 1; i < parts; ++i) {
    const Dim rest = dims.Sub(size, dims.Mul(chunk, static_cast<int64_t>(i)));
    sizes[i] = dims.Max(dims.Min(chunk, rest), 0);
  }
  return sizes;
}

void SplitTypes(InferContext& c) {
  const TensorType* data = c.RankedInput(0);
  if (c.num_outputs() == 0) return;
  if (data == nullptr) {
    for (int i = 0; i < c.num_outputs(); ++i) SetUnranked(c, i, c.InputElement(0));
    return;
  }
  const std::optional<int> axis = NormalAxis(c, c.node().Int("axis", 0), data->rank());
  if (!axis) return;
  const auto at = static_cast<size_t>(*axis);
  TensorType part = TensorType::Make(data->element, data->dims);
  const std::vector<Dim> sizes = SplitSizes(c, part.dims[at]);
  for (size_t i = 0; i < sizes.size(); ++i) {
    part.dims[at] = sizes[i];
    c.SetOutput(static_cast<int>(i), part);
  }
}

void SplitValues(InferContext& c) {
  const KnownValuePtr value = c.InputValue(0);
  Sizes from;
  if (value == nullptr || !SmallSizes(c.InputType(0), &from) || from.empty()) return;
  const int64_t axis = c.node().Int("axis", 0);
  const auto at = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(from.size()) : axis);
  int64_t inner = 1;
  for (size_t i = at + 1; i < from.size(); ++i) inner *= from[i];
  const int64_t row = from[at] * inner;
  int64_t begin = 0;
  for (int i = 0; i < c.num_outputs(); ++i) {
    Sizes to;
    if (!SmallSizes(c.OutputType(i), &to) || to.size() != from.size()) return;
    const int64_t chunk = to[at] * inner;
    std::vector<int64_t> index;
    for (int64_t outer = 0; row > 0 && outer < Product(from) / row; ++outer) {
      for (int64_t j = 0; j < chunk; ++j) index.push_back(outer * row + begin + j);
    }
    c.SetOutputValue(i, Pick(*value, index));
    begin += chunk;
  }
}

constexpr OnnxOp kRows[] = {
    {.name = "Slice",
     .signature = "1->1 ends starts; 10: 3-5->1",
     .types = SliceTypes,
     .values = SliceValues},
    {.name = "Split",
     .signature = "1-2->1-*; 2: 1->1-*; 13: 1-2->1-*",
     .types = SplitTypes,
     .values = SplitValues},
};

}  // namespace

OnnxFamily SliceOps() { return kRows; }

}  // namespace footprint
