// Sequences and optionals. A sequence of known length carries the types of its elements as
// contents.
#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/ops/onnx/families.h"
#include "ir/ops/onnx/rules.h"
#include "ir/ops/onnx/type_rules.h"
#include "ir/ops/onnx/values.h"

namespace footprint {
namespace {

constexpr size_t kMaxSequence = 4096;

// Sets output 0 to the sequence of these elements.
void SetSequence(InferContext& c, std::vector<ValueType> elements) {
  if (elements.empty() || elements.size() > kMaxSequence) return;
  ValueType joined = elements[0];
  for (const ValueType& element : elements) joined = JoinTypes(joined, element, c.dims());
  c.SetOutputType(0, Containing(TypeKind::kSequence, joined, c.dims()));
  c.SetOutputValue(0, SequenceOf(std::move(elements)));
}

// Elements of input 0 if the sequence's length is known.
const std::vector<ValueType>* Elements(const KnownValuePtr& value) {
  return value != nullptr && value->is_sequence ? &value->elements : nullptr;
}

// Input `input` as a position in [0, size), or -1 if not known. Absent: `otherwise`.
int64_t PositionInput(InferContext& c, int input, int64_t size, int64_t otherwise) {
  if (!c.HasInput(input)) return otherwise;
  const Dim index = ScalarInput(c, input);
  if (!index.is_constant()) return -1;
  const int64_t position = index.value() < 0 ? index.value() + size : index.value();
  if (position >= 0 && position <= size) return position;
  c.Error(absl::StrCat("position ", index.value(), " in a sequence of ", size));
  return -1;
}

void SequenceConstructTypes(InferContext& c) {
  std::vector<ValueType> elements;
  for (int i = 0; i < c.num_inputs(); ++i) elements.push_back(c.InputType(i));
  SetSequence(c, std::move(elements));
}

void SequenceEmptyTypes(InferContext& c) {
  const ElementType element = ElementAttribute(c, "dtype", ElementType::kFloat);
  c.SetOutputType(0, Containing(TypeKind::kSequence,
                                ValueType::Tensor(TensorType::UnknownRank(element)), c.dims()));
  c.SetOutputValue(0, SequenceOf({}));
}

void SequenceInsertTypes(InferContext& c) {
  const KnownValuePtr value = c.InputValue(0);
  if (const auto* elements = Elements(value); elements != nullptr) {
    const auto size = static_cast<int64_t>(elements->size());
    const int64_t position = PositionInput(c, 2, size, size);
    if (position >= 0) {
      std::vector<ValueType> result = *elements;
      result.insert(result.begin() + position, c.InputType(1));
      return SetSequence(c, std::move(result));
    }
  }
  const ValueType element = ElementTypeOf(c.InputType(0), c.dims());
  c.SetOutputType(
      0, Containing(TypeKind::kSequence, JoinTypes(element, c.InputType(1), c.dims()), c.dims()));
}

void SequenceEraseTypes(InferContext& c) {
  CopyType(c, 0, 0);
  const KnownValuePtr value = c.InputValue(0);
  const auto* elements = Elements(value);
  if (elements == nullptr) return;
  const auto size = static_cast<int64_t>(elements->size());
  const int64_t position = PositionInput(c, 1, size, size - 1);
  if (position < 0 || position >= size) return;
  std::vector<ValueType> result = *elements;
  result.erase(result.begin() + position);
  c.SetOutputValue(0, SequenceOf(result));
  SetSequence(c, std::move(result));
}

void SequenceAtTypes(InferContext& c) {
  const KnownValuePtr value = c.InputValue(0);
  if (const auto* elements = Elements(value); elements != nullptr) {
    const auto size = static_cast<int64_t>(elements->size());
    const int64_t position = PositionInput(c, 1, size, -1);
    if (position >= 0 && position < size) {
      return c.SetOutputType(0, (*elements)[static_cast<size_t>(position)]);
    }
  }
  c.SetOutputType(0, ElementTypeOf(c.InputType(0), c.dims()));
}

void SequenceLengthTypes(InferContext& c) { SetRanked(c, 0, ElementType::kInt64, {}); }

void SequenceLengthValues(InferContext& c) {
  const KnownValuePtr value = c.InputValue(0);
  if (const auto* elements = Elements(value); elements != nullptr) {
    c.SetOutputValue(0, IntegerValue({static_cast<int64_t>(elements->size())}));
  }
}

// The sizes of the parts along an axis of `size`; false if not known.
bool PartSizes(InferContext& c, Dim size, std::vector<Dim>* parts) {
  if (c.HasInput(1)) {
    if (ReadDims(c, "", 1, parts) != Known::kYes) return false;
    const TensorType* split = c.RankedInput(1);
    if (split == nullptr || split->rank() == 1) return true;
  } else {
    parts->assign(1, 1);
  }
  // A scalar: chunks of that size, the last one may be smaller.
  const Dim chunk = (*parts)[0];
  if (!chunk.is_constant() || !size.is_constant()) return false;
  if (chunk.value() <= 0) {
    c.Error(absl::StrCat("split is ", chunk.value()));
    return false;
  }
  if (size.value() / chunk.value() > static_cast<int64_t>(kMaxSequence)) return false;
  parts->clear();
  for (int64_t begin = 0; begin < size.value(); begin += chunk.value()) {
    parts->push_back(std::min(chunk.value(), size.value() - begin));
  }
  return true;
}

void SplitToSequenceTypes(InferContext& c) {
  const TensorType* data = c.RankedInput(0);
  TensorType part = TensorType::UnknownRank(c.InputElement(0));
  if (data != nullptr) {
    const std::optional<int> axis = NormalAxis(c, c.node().Int("axis", 0), data->rank());
    if (!axis) return;
    const bool drop = !c.HasInput(1) && c.node().Int("keepdims", 1) == 0;
    std::vector<Dim> sizes;
    const bool known = PartSizes(c, data->dims[static_cast<size_t>(*axis)], &sizes);
    part = TensorType::Make(data->element, data->dims);
    if (drop) part.dims.erase(part.dims.begin() + *axis);
    std::vector<ValueType> elements;
    for (size_t i = 0; known && i < sizes.size(); ++i) {
      if (!drop) part.dims[static_cast<size_t>(*axis)] = sizes[i];
      elements.push_back(ValueType::Tensor(part));
    }
    if (known && !elements.empty()) return SetSequence(c, std::move(elements));
    if (!drop) {
      part.dims[static_cast<size_t>(*axis)] =
          c.HasInput(1) ? c.Fresh(0, data->dims[static_cast<size_t>(*axis)]) : Dim(1);
    }
  }
  c.SetOutputType(0, Containing(TypeKind::kSequence, ValueType::Tensor(part), c.dims()));
}

void ConcatFromSequenceTypes(InferContext& c) {
  const ValueType element = ElementTypeOf(c.InputType(0), c.dims());
  if (!element.is_tensor()) return;
  if (!element.tensor.has_rank) return SetUnranked(c, 0, element.tensor.element);
  const bool stacks = c.node().Int("new_axis", 0) != 0;
  const std::optional<int> axis =
      NormalAxis(c, c.node().Int("axis", 0), element.tensor.rank() + (stacks ? 1 : 0));
  if (!axis) return;
  const KnownValuePtr value = c.InputValue(0);
  const auto* elements = Elements(value);
  Dims dims = element.tensor.dims;
  if (stacks) {
    dims.insert(dims.begin() + *axis, elements == nullptr
                                          ? c.Fresh(0, Dim())
                                          : Dim(static_cast<int64_t>(elements->size())));
  } else {
    Dim total = elements == nullptr ? c.Fresh(0, Dim()) : Dim(0);
    for (size_t i = 0; elements != nullptr && i < elements->size(); ++i) {
      total = c.dims().Add(total, DimOf(&(*elements)[i].tensor, *axis));
    }
    dims[static_cast<size_t>(*axis)] = total;
  }
  SetRanked(c, 0, element.tensor.element, dims);
}

void OptionalTypes(InferContext& c) {
  if (c.HasInput(0)) {
    c.SetOutputType(0, Containing(TypeKind::kOptional, c.InputType(0), c.dims()));
  } else if (const Attribute* type = c.node().Find("type"); type != nullptr) {
    c.SetOutputType(0, Containing(TypeKind::kOptional, type->type, c.dims()));
  }
}

void OptionalGetElementTypes(InferContext& c) {
  const ValueType& input = c.InputType(0);
  if (input.kind != TypeKind::kOptional) return CopyType(c, 0, 0);
  c.SetOutputType(0, ElementTypeOf(input, c.dims()));
}

void OptionalHasElementTypes(InferContext& c) { SetRanked(c, 0, ElementType::kBool, {}); }

// Absent: no element. A tensor or sequence: an element. An optional: run time tells.
void OptionalHasElementValues(InferContext& c) {
  const TypeKind kind = c.InputType(0).kind;
  if (!c.HasInput(0)) return c.SetOutputValue(0, IntegerValue({0}));
  if (kind == TypeKind::kTensor || kind == TypeKind::kSequence) {
    c.SetOutputValue(0, IntegerValue({1}));
  }
}

constexpr OnnxOp Sequence(absl::string_view name, Signature signature, InferRule types,
                          InferRule values = nullptr) {
  return {.name = name, .since = 11, .signature = signature, .types = types, .values = values};
}

constexpr OnnxOp kRows[] = {
    Sequence("ConcatFromSequence", "1->1 axis", ConcatFromSequenceTypes),
    {.name = "Optional", .since = 15, .signature = "0-1->1", .types = OptionalTypes},
    {.name = "OptionalGetElement",
     .since = 15,
     .types = OptionalGetElementTypes,
     .values = SameElements},
    {.name = "OptionalHasElement",
     .since = 15,
     .signature = "1->1; 18: 0-1->1",
     .types = OptionalHasElementTypes,
     .values = OptionalHasElementValues},
    Sequence("SequenceAt", "2->1", SequenceAtTypes),
    Sequence("SequenceConstruct", "1-*->1", SequenceConstructTypes),
    Sequence("SequenceEmpty", "0->1", SequenceEmptyTypes),
    Sequence("SequenceErase", "1-2->1", SequenceEraseTypes),
    Sequence("SequenceInsert", "2-3->1", SequenceInsertTypes),
    Sequence("SequenceLength", "1->1", SequenceLengthTypes, SequenceLengthValues),
    Sequence("SplitToSequence", "1-2->1", SplitToSequenceTypes),
};

}  // namespace

OnnxFamily SequenceOps() { return kRows; }

}  // namespace footprint
