// Operators whose output size depends on run-time values, and the like of them.
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/ops/onnx/families.h"
#include "ir/ops/onnx/rules.h"
#include "ir/ops/onnx/values.h"

namespace footprint {
namespace {

// How many elements of a known value are not zero; unknown if one of them is.
Dim CountTrue(InferContext& c, const KnownValuePtr& value) {
  if (value == nullptr || value->is_sequence) return Dim();
  int64_t count = 0;
  for (const double element : value->floats) count += element != 0;
  for (const Dim& element : value->integers) {
    if (!element.is_constant() && !c.dims().IsPositive(element)) return Dim();
    count += !element.Is(0);
  }
  return count;
}

// One column per element that is not zero, one row per axis.
void NonZeroTypes(InferContext& c) {
  const TensorType* data = c.RankedInput(0);
  Dim count = CountTrue(c, c.InputValue(0));
  if (count.is_unknown()) {
    count = c.Fresh(0, data == nullptr ? Dim() : ElementCount(*data, c.dims()));
  }
  const Dim rows = data == nullptr ? Dim() : Dim(data->rank());
  SetRanked(c, 0, ElementType::kInt64, {rows, count});
}

void NonZeroValues(InferContext& c) {
  const KnownValuePtr value = c.InputValue(0);
  Sizes from;
  if (value == nullptr || !SmallSizes(c.InputType(0), &from) || Product(from) == 0 ||
      CountTrue(c, value).is_unknown()) {
    return;
  }
  std::vector<std::vector<Dim>> rows(from.size());
  Odometer at(from);
  for (int64_t i = 0; i < ElementsOf(*value); ++i, at.Next()) {
    const auto position = static_cast<size_t>(i);
    const bool zero =
        value->floats.empty() ? value->integers[position].Is(0) : value->floats[position] == 0;
    for (size_t axis = 0; axis < from.size() && !zero; ++axis) rows[axis].push_back(at[axis]);
  }
  std::vector<Dim> result;
  for (const std::vector<Dim>& row : rows) result.insert(result.end(), row.begin(), row.end());
  c.SetOutputValue(0, IntegerValue(std::move(result)));
}

// Without an axis: of the data flattened.
void CompressTypes(InferContext& c) {
  const TensorType* data = c.RankedInput(0);
  const ElementType element = c.InputElement(0);
  const bool flat = !c.node().Has("axis");
  if (data == nullptr) {
    return flat ? SetRanked(c, 0, element, {c.Fresh(0, Dim())}) : SetUnranked(c, 0, element);
  }
  Dims dims = {ElementCount(*data, c.dims())};
  size_t at = 0;
  if (!flat) {
    const std::optional<int> axis = NormalAxis(c, c.node().Int("axis", 0), data->rank());
    if (!axis) return;
    dims = data->dims;
    at = static_cast<size_t>(*axis);
  }
  const Dim count = CountTrue(c, c.InputValue(1));
  dims[at] = count.is_unknown() ? c.Fresh(0, c.dims().Min(dims[at], LengthOf(c, 1))) : count;
  if (dims[at].is_unknown()) dims[at] = c.Fresh(0, Dim());
  SetRanked(c, 0, element, dims);
}

void UniqueTypes(InferContext& c) {
  const TensorType* data = c.RankedInput(0);
  const ElementType element = c.InputElement(0);
  Dim count;
  Dim all;
  if (!c.node().Has("axis")) {
    all = data == nullptr ? Dim() : ElementCount(*data, c.dims());
    count = c.Fresh(0, all);
    SetRanked(c, 0, element, {count});
  } else if (data == nullptr) {
    SetUnranked(c, 0, element);
    count = c.Fresh(0, Dim());
  } else {
    const std::optional<int> axis = NormalAxis(c, c.node().Int("axis", 0), data->rank());
    if (!axis) return;
    Dims dims = data->dims;
    all = dims[static_cast<size_t>(*axis)];
    count = c.Fresh(0, all);
    dims[static_cast<size_t>(*axis)] = count;
    SetRanked(c, 0, element, dims);
  }
  if (c.HasOutput(1)) SetRanked(c, 1, ElementType::kInt64, {count});
  if (c.HasOutput(2)) SetRanked(c, 2, ElementType::kInt64, {all});
  if (c.HasOutput(3)) SetRanked(c, 3, ElementType::kInt64, {count});
}

// boxes [batches, n, 4], scores [batches, classes, n]: rows of (batch, class, box).
void NonMaxSuppressionTypes(InferContext& c) {
  const TensorType* boxes = RequireRank(c, 0, 3, "boxes");
  const TensorType* scores = RequireRank(c, 1, 3, "scores");
  DimTable& dims = c.dims();
  if (boxes != nullptr && scores != nullptr && !SameSize(boxes->dims[1], scores->dims[2])) {
    c.RequireEqual(boxes->dims[1], scores->dims[2], "numbers of boxes and scores differ");
  }
  // Left out, max_output_boxes_per_class is 0: nothing is selected.
  Dim per_class = c.HasInput(2) ? ScalarInput(c, 2) : Dim(0);
  if (per_class.is_constant()) per_class = std::max<int64_t>(per_class.value(), 0);
  const Dim boxes_count = DimOf(boxes, 1);
  const Dim most = per_class.is_unknown() ? boxes_count : dims.Min(per_class, boxes_count);
  const Dim upper = dims.Mul(dims.Mul(DimOf(scores, 0), DimOf(scores, 1)), most);
  SetRanked(c, 0, ElementType::kInt64, {upper.Is(0) ? Dim(0) : c.Fresh(0, upper), 3});
}

// k was an attribute before version 10.
void TopKTypes(InferContext& c) {
  const TensorType* data = c.RankedInput(0);
  const ElementType element = c.InputElement(0);
  const Dim k = c.version() < 10 ? Dim(c.node().Int("k", -1)) : ScalarInput(c, 1);
  if (k.is_constant() && k.value() < 0) return c.Error(absl::StrCat("k is ", k.value()));
  if (data == nullptr) {
    SetUnranked(c, 0, element);
    if (c.HasOutput(1)) SetUnranked(c, 1, ElementType::kInt64);
    return;
  }
  const std::optional<int> axis = NormalAxis(c, c.node().Int("axis", -1), data->rank());
  if (!axis) return;
  Dims dims = data->dims;
  Dim& size = dims[static_cast<size_t>(*axis)];
  if (!k.is_unknown() && !size.is_unknown()) {
    c.RequireLessEqual(k, size, "k is more than the axis has");
  }
  size = k.is_unknown() ? c.Fresh(0, size) : k;
  SetRanked(c, 0, element, dims);
  if (c.HasOutput(1)) SetRanked(c, 1, ElementType::kInt64, dims);
}

// indices, depth, [off, on]: a new axis of size depth.
void OneHotTypes(InferContext& c) {
  const TensorType* indices = c.RankedInput(0);
  const ElementType element = c.InputElement(2);
  if (indices == nullptr) return SetUnranked(c, 0, element);
  const std::optional<int> axis = NormalAxis(c, c.node().Int("axis", -1), indices->rank() + 1);
  if (!axis) return;
  Dim depth = ScalarInput(c, 1);
  if (const KnownValuePtr value = c.InputValue(1); value != nullptr && value->floats.size() == 1) {
    depth = static_cast<int64_t>(std::min(std::max(value->floats[0], 0.0), 1e15));
  }
  Dims dims = indices->dims;
  dims.insert(dims.begin() + *axis, depth.is_unknown() ? c.Fresh(0, Dim()) : depth);
  SetRanked(c, 0, element, dims);
}

constexpr OnnxOp kRows[] = {
    {.name = "Compress", .since = 9, .signature = "2->1", .types = CompressTypes},
    {.name = "NonMaxSuppression",
     .since = 10,
     .signature = "2-5->1",
     .types = NonMaxSuppressionTypes},
    {.name = "NonZero", .since = 9, .types = NonZeroTypes, .values = NonZeroValues},
    {.name = "OneHot", .since = 9, .signature = "3->1", .types = OneHotTypes},
    {.name = "TopK", .signature = "1->2 k; 10: 2->2", .types = TopKTypes},
    {.name = "Unique", .since = 11, .signature = "1->1-4", .types = UniqueTypes},
};

}  // namespace

OnnxFamily SelectionOps() { return kRows; }

}  // namespace footprint
