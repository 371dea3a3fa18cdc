// Operators whose output is the data with some elements replaced.
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/ops/onnx/families.h"
#include "ir/ops/onnx/rules.h"
#include "ir/ops/onnx/values.h"

namespace footprint {
namespace {

void ScatterElementsTypes(InferContext& c) {
  const TensorType* data = c.RankedInput(0);
  const TensorType* indices = c.RankedInput(1);
  CopyType(c, 0, 0);
  if (data == nullptr) return;
  if (!NormalAxis(c, c.node().Int("axis", 0), data->rank())) return;
  if (indices != nullptr && indices->rank() != data->rank()) {
    c.Error(absl::StrCat("data has rank ", data->rank(), " and indices rank ", indices->rank()));
  }
}

// Copies that can be rewritten element by element; null where floats are not plain.
bool Editable(const KnownValuePtr& value) {
  return value != nullptr && !value->is_sequence && !(value->is_float && value->floats.empty());
}

void Replace(KnownValue& data, int64_t to, const KnownValue& updates, int64_t from) {
  if (data.is_float) {
    data.floats[static_cast<size_t>(to)] = updates.floats[static_cast<size_t>(from)];
  } else {
    data.integers[static_cast<size_t>(to)] = updates.integers[static_cast<size_t>(from)];
  }
}

void ScatterElementsValues(InferContext& c) {
  const KnownValuePtr data = c.InputValue(0);
  const KnownValuePtr indices = c.InputValue(1);
  const KnownValuePtr updates = c.InputValue(2);
  Sizes to;
  Sizes from;
  if (!Editable(data) || !Editable(updates) || indices == nullptr || indices->is_float ||
      data->is_float != updates->is_float || c.node().String("reduction", "none") != "none" ||
      !SmallSizes(c.InputType(0), &to) || !SmallSizes(c.InputType(1), &from) ||
      from.size() != to.size() || ElementsOf(*updates) != ElementsOf(*indices)) {
    return;
  }
  const int64_t given = c.node().Int("axis", 0);
  const auto axis =
      static_cast<size_t>(given < 0 ? given + static_cast<int64_t>(to.size()) : given);
  const Sizes strides = Strides(to);
  KnownValue result = *data;
  Odometer at(from);
  for (int64_t i = 0; i < ElementsOf(*indices); ++i, at.Next()) {
    const Dim& index = indices->integers[static_cast<size_t>(i)];
    if (!index.is_constant()) return;
    int64_t position = 0;
    for (size_t d = 0; d < to.size(); ++d) {
      int64_t row = d == axis ? index.value() : at[d];
      if (row < 0) row += to[d];
      if (row < 0 || row >= to[d]) return;
      position += row * strides[d];
    }
    Replace(result, position, *updates, i);
  }
  c.SetOutputValue(0, std::make_shared<const KnownValue>(std::move(result)));
}

// updates has the shape indices[:-1] + data[depth:].
void ScatterNDTypes(InferContext& c) {
  const TensorType* data = RequireRankAtLeast(c, 0, 1, "data");
  const TensorType* indices = RequireRankAtLeast(c, 1, 1, "indices");
  CopyType(c, 0, 0);
  if (data == nullptr || indices == nullptr || !indices->dims.back().is_constant()) return;
  if (indices->dims.back().value() > data->rank()) {
    c.Error(absl::StrCat("indices of shape ", ShapeToString(*indices, c.dims()),
                         " do not fit data of shape ", ShapeToString(*data, c.dims())));
  }
}

void ScatterNDValues(InferContext& c) {
  const KnownValuePtr data = c.InputValue(0);
  const KnownValuePtr indices = c.InputValue(1);
  const KnownValuePtr updates = c.InputValue(2);
  Sizes to;
  Sizes tuples;
  if (!Editable(data) || !Editable(updates) || indices == nullptr || indices->is_float ||
      data->is_float != updates->is_float || c.node().String("reduction", "none") != "none" ||
      !SmallSizes(c.InputType(0), &to) || !SmallSizes(c.InputType(1), &tuples) || tuples.empty() ||
      tuples.back() < 1 || tuples.back() > static_cast<int64_t>(to.size())) {
    return;
  }
  const auto depth = static_cast<size_t>(tuples.back());
  const Sizes strides = Strides(to);
  const int64_t inner = strides[depth - 1];
  const int64_t count = ElementsOf(*indices) / tuples.back();
  if (ElementsOf(*updates) != count * inner) return;
  KnownValue result = *data;
  for (int64_t tuple = 0; tuple < count; ++tuple) {
    int64_t position = 0;
    for (size_t d = 0; d < depth; ++d) {
      const Dim& index = indices->integers[static_cast<size_t>(tuple) * depth + d];
      if (!index.is_constant()) return;
      const int64_t row = index.value() < 0 ? index.value() + to[d] : index.value();
      if (row < 0 || row >= to[d]) return;
      position += row * strides[d];
    }
    for (int64_t j = 0; j < inner; ++j) Replace(result, position + j, *updates, tuple * inner + j);
  }
  c.SetOutputValue(0, std::make_shared<const KnownValue>(std::move(result)));
}

constexpr OnnxOp kRows[] = {
    {.name = "Scatter",
     .since = 9,
     .signature = "3->1",
     .types = ScatterElementsTypes,
     .values = ScatterElementsValues},
    {.name = "ScatterElements",
     .since = 11,
     .signature = "3->1",
     .types = ScatterElementsTypes,
     .values = ScatterElementsValues},
    {.name = "ScatterND",
     .since = 11,
     .signature = "3->1",
     .types = ScatterNDTypes,
     .values = ScatterNDValues},
    {.name = "TensorScatter", .since = 24, .signature = "2-3->1", .types = SameAsInput0},
};

}  // namespace

OnnxFamily ScatterOps() { return kRows; }

}  // namespace footprint
