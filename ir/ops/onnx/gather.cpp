// Operators that pick elements or slices by indices.
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/ops/onnx/families.h"
#include "ir/ops/onnx/rules.h"
#include "ir/ops/onnx/values.h"

namespace footprint {
namespace {

// Indices must lie in [-size, size): an error of the model where they are known not to, else
// something that must hold when sizes are known (positions up to sequence - 1, a table of 1024).
void CheckIndices(InferContext& c, int input, Dim size) {
  if (size.is_unknown()) return;
  const KnownValuePtr indices = c.InputValue(input);
  if (indices != nullptr && !indices->is_float && size.is_constant()) {
    for (const Dim& index : indices->integers) {
      if (!index.is_constant()) continue;
      if (index.value() >= size.value() || index.value() < -size.value()) {
        return c.Error(absl::StrCat("index ", index.value(), " is out of range for an axis of ",
                                    size.value()));
      }
    }
  }
  constexpr const char* kWhat = "indices reach beyond the axis";
  const ElementBounds bounds = c.InputBounds(input);
  c.RequireLessEqual(c.dims().Add(bounds.most, 1), size, kWhat);
  c.RequireLessEqual(c.dims().Neg(bounds.least), size, kWhat);
}

void GatherTypes(InferContext& c) {
  const TensorType* data = RequireRankAtLeast(c, 0, 1, "data");
  const TensorType* indices = c.RankedInput(1);
  const ElementType element = c.InputElement(0);
  if (data == nullptr || indices == nullptr) return SetUnranked(c, 0, element);
  const std::optional<int> axis = NormalAxis(c, c.node().Int("axis", 0), data->rank());
  if (!axis) return;
  CheckIndices(c, 1, data->dims[static_cast<size_t>(*axis)]);
  Dims dims(data->dims.begin(), data->dims.begin() + *axis);
  dims.insert(dims.end(), indices->dims.begin(), indices->dims.end());
  dims.insert(dims.end(), data->dims.begin() + *axis + 1, data->dims.end());
  SetRanked(c, 0, element, dims);
}

// `index` counted from the front, or -1 if it is not known.
int64_t Position(Dim index, int64_t size) {
  if (!index.is_constant()) return -1;
  const int64_t at = index.value() < 0 ? index.value() + size : index.value();
  return at >= 0 && at < size ? at : -1;
}

void GatherValues(InferContext& c) {
  const KnownValuePtr value = c.InputValue(0);
  const KnownValuePtr indices = c.InputValue(1);
  Sizes from;
  Sizes to;
  if (value == nullptr || indices == nullptr || indices->is_float ||
      !SmallSizes(c.InputType(0), &from) || !SmallSizes(c.OutputType(0), &to)) {
    return;
  }
  const int64_t axis = c.node().Int("axis", 0);
  const auto at = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(from.size()) : axis);
  int64_t outer = 1;
  int64_t inner = 1;
  for (size_t i = 0; i < at; ++i) outer *= from[i];
  for (size_t i = at + 1; i < from.size(); ++i) inner *= from[i];
  std::vector<int64_t> picked;
  for (int64_t o = 0; o < outer; ++o) {
    for (const Dim& index : indices->integers) {
      const int64_t row = Position(index, from[at]);
      for (int64_t j = 0; j < inner; ++j) {
        picked.push_back(row < 0 ? -1 : (o * from[at] + row) * inner + j);
      }
    }
  }
  c.SetOutputValue(0, Pick(*value, picked));
}

void GatherElementsTypes(InferContext& c) {
  const TensorType* data = c.RankedInput(0);
  const TensorType* indices = c.RankedInput(1);
  const ElementType element = c.InputElement(0);
  if (data != nullptr) {
    const std::optional<int> axis = NormalAxis(c, c.node().Int("axis", 0), data->rank());
    if (!axis) return;
    if (indices != nullptr && indices->rank() != data->rank()) {
      return c.Error(
          absl::StrCat("data has rank ", data->rank(), " and indices rank ", indices->rank()));
    }
    CheckIndices(c, 1, data->dims[static_cast<size_t>(*axis)]);
    if (indices == nullptr) return SetRankOnly(c, 0, element, data->rank());
  }
  CopyShape(c, 1, 0, element);
}

void GatherElementsValues(InferContext& c) {
  const KnownValuePtr value = c.InputValue(0);
  const KnownValuePtr indices = c.InputValue(1);
  Sizes from;
  Sizes to;
  if (value == nullptr || indices == nullptr || indices->is_float ||
      !SmallSizes(c.InputType(0), &from) || !SmallSizes(c.OutputType(0), &to) || to.empty()) {
    return;
  }
  const int64_t given = c.node().Int("axis", 0);
  const auto axis =
      static_cast<size_t>(given < 0 ? given + static_cast<int64_t>(from.size()) : given);
  const Sizes strides = Strides(from);
  std::vector<int64_t> picked;
  Odometer at(to);
  for (const Dim& index : indices->integers) {
    const int64_t row = Position(index, from[axis]);
    int64_t position = row < 0 ? -1 : row * strides[axis];
    for (size_t i = 0; i < to.size() && row >= 0; ++i) {
      if (i != axis) position += at[i] * strides[i];
    }
    picked.push_back(position);
    at.Next();
  }
  c.SetOutputValue(0, Pick(*value, picked));
}

// data [b..., i0, i1, rest...] with indices [b..., k..., 2] gives [b..., k..., rest...].
void GatherNDTypes(InferContext& c) {
  const TensorType* data = RequireRankAtLeast(c, 0, 1, "data");
  const TensorType* indices = RequireRankAtLeast(c, 1, 1, "indices");
  const ElementType element = c.InputElement(0);
  if (data == nullptr || indices == nullptr || !indices->dims.back().is_constant()) {
    return SetUnranked(c, 0, element);
  }
  const int64_t batch = c.node().Int("batch_dims", 0);
  const int64_t depth = indices->dims.back().value();
  if (batch < 0 || batch >= indices->rank() || depth < 0 || depth > data->rank() - batch) {
    return c.Error(absl::StrCat("indices of shape ", ShapeToString(*indices, c.dims()), " with ",
                                batch, " batch dimensions do not fit data of shape ",
                                ShapeToString(*data, c.dims())));
  }
  if (depth == 1) CheckIndices(c, 1, data->dims[static_cast<size_t>(batch)]);
  Dims dims(indices->dims.begin(), indices->dims.end() - 1);
  for (size_t i = 0; i < static_cast<size_t>(batch); ++i) {
    dims[i] = c.RequireEqual(data->dims[i], dims[i], "batch sizes of data and indices differ");
  }
  dims.insert(dims.end(), data->dims.begin() + batch + depth, data->dims.end());
  SetRanked(c, 0, element, dims);
}

// Without batch dimensions.
void GatherNDValues(InferContext& c) {
  const KnownValuePtr value = c.InputValue(0);
  const KnownValuePtr indices = c.InputValue(1);
  Sizes from;
  Sizes tuples;
  if (value == nullptr || indices == nullptr || indices->is_float ||
      c.node().Int("batch_dims", 0) != 0 || !SmallSizes(c.InputType(0), &from) ||
      !SmallSizes(c.InputType(1), &tuples) || tuples.empty()) {
    return;
  }
  const auto depth = static_cast<size_t>(tuples.back());
  if (depth > from.size()) return;
  const Sizes strides = Strides(from);
  const int64_t inner = depth == 0 ? Product(from) : strides[depth - 1];
  std::vector<int64_t> picked;
  const int64_t count = depth == 0 ? 0 : ElementsOf(*indices) / tuples.back();
  for (int64_t tuple = 0; tuple < count; ++tuple) {
    int64_t position = 0;
    for (size_t i = 0; i < depth && position >= 0; ++i) {
      const Dim& index = indices->integers[static_cast<size_t>(tuple) * depth + i];
      const int64_t row = Position(index, from[i]);
      position = row < 0 ? -1 : position + row * strides[i];
    }
    for (int64_t j = 0; j < inner; ++j) picked.push_back(position < 0 ? -1 : position + j);
  }
  if (depth > 0) c.SetOutputValue(0, Pick(*value, picked));
}

constexpr OnnxOp kRows[] = {
    {.name = "Gather",
     .signature = "2->1",
     .types = GatherTypes,
     .values = GatherValues,
     .weights = 1,
     .textbook = TextbookKind::kEmbedding},
    {.name = "GatherElements",
     .since = 11,
     .signature = "2->1",
     .types = GatherElementsTypes,
     .values = GatherElementsValues},
    {.name = "GatherND",
     .since = 11,
     .signature = "2->1",
     .types = GatherNDTypes,
     .values = GatherNDValues},
    {.name = "GatherND", .domain = "com.microsoft", .signature = "2->1", .types = GatherNDTypes},
};

}  // namespace

OnnxFamily GatherOps() { return kRows; }

}  // namespace footprint
