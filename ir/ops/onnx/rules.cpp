#include "ir/ops/onnx/rules.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace footprint {

void CopyType(InferContext& c, int input, int output) {
  const ValueType& type = c.InputType(input);
  if (type.kind != TypeKind::kUnknown) c.SetOutputType(output, type);
}

void CopyShape(InferContext& c, int input, int output, ElementType element) {
  const TensorType* type = c.Input(input);
  if (type == nullptr) return SetUnranked(c, output, element);
  TensorType result = *type;
  result.element = element;
  c.SetOutput(output, std::move(result));
}

void SameAsInput0(InferContext& c) { CopyType(c, 0, 0); }

void AllSameAsInput0(InferContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) CopyType(c, 0, i);
}

void OutputsLikeInputs(InferContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) CopyType(c, i, i);
}

void BoolLikeInput0(InferContext& c) { CopyShape(c, 0, 0, ElementType::kBool); }

void SetRanked(InferContext& c, int output, ElementType element, absl::Span<const Dim> dims) {
  c.SetOutput(output, TensorType::Make(element, dims));
}

void SetUnranked(InferContext& c, int output, ElementType element) {
  c.SetOutput(output, TensorType::UnknownRank(element));
}

void SetRankOnly(InferContext& c, int output, ElementType element, int64_t rank) {
  if (rank < 0 || rank > kMaxRank) return SetUnranked(c, output, element);
  SetRanked(c, output, element, Dims(static_cast<size_t>(rank)));
}

Dims BroadcastDims(InferContext& c, absl::Span<const Dim> a, absl::Span<const Dim> b) {
  if (a.size() < b.size()) std::swap(a, b);
  Dims result(a.begin(), a.end());
  const size_t shift = a.size() - b.size();
  for (size_t i = 0; i < b.size(); ++i) {
    Dim& dim = result[shift + i];
    if (!SameSize(dim, b[i])) dim = c.RequireBroadcast(dim, b[i], "operands do not broadcast");
  }
  return result;
}

bool BroadcastDims(InferContext& c, absl::Span<const TensorType* const> operands, Dims* result) {
  result->clear();
  for (const TensorType* operand : operands) {
    if (operand == nullptr) continue;
    if (!operand->has_rank) return false;
    *result = BroadcastDims(c, *result, operand->dims);
  }
  return true;
}

void SetBroadcast(InferContext& c, ElementType element, int first, int count) {
  Dims dims;
  for (int i = first; i < first + count; ++i) {
    const TensorType* operand = c.RankedInput(i);
    if (operand == nullptr) return SetUnranked(c, 0, element);
    if (i == first) {
      dims = operand->dims;
    } else {
      dims = BroadcastDims(c, dims, operand->dims);
    }
  }
  SetRanked(c, 0, element, dims);
}

std::optional<int> NormalAxis(InferContext& c, int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    c.Error(absl::StrCat("axis ", axis, " is out of range for rank ", rank,
                         rank > 0 ? absl::StrCat(" (", -rank, " to ", rank - 1, ")") : ""));
    return std::nullopt;
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Known ReadDims(InferContext& c, absl::string_view attribute, int input, std::vector<Dim>* result) {
  const Attribute* found = attribute.empty() ? nullptr : c.node().Find(attribute);
  if (found != nullptr) {
    if (found->dropped_elements > 0) return Known::kNo;
    if (found->kind == Attribute::Kind::kInt) {
      result->assign(1, found->int_value);
    } else {
      result->assign(found->ints.begin(), found->ints.end());
    }
    return Known::kYes;
  }
  if (input < 0 || !c.HasInput(input)) return Known::kAbsent;
  const KnownValuePtr value = c.InputValue(input);
  if (value == nullptr || value->is_float || value->is_sequence) return Known::kNo;
  *result = value->integers;
  return Known::kYes;
}

Known ReadInts(InferContext& c, absl::string_view attribute, int input, Sizes* result) {
  std::vector<Dim> elements;
  const Known known = ReadDims(c, attribute, input, &elements);
  result->clear();
  for (const Dim& element : elements) {
    if (!element.is_constant()) return Known::kNo;
    result->push_back(element.value());
  }
  return known;
}

Known ReadAxes(InferContext& c, absl::string_view attribute, int input, int rank, Sizes* axes) {
  const Known known = ReadInts(c, attribute, input, axes);
  if (known != Known::kYes) return known;
  for (int64_t& axis : *axes) {
    const std::optional<int> normal = NormalAxis(c, axis, rank);
    if (!normal) return Known::kNo;
    axis = *normal;
  }
  return Known::kYes;
}

ElementType ElementAttribute(InferContext& c, absl::string_view name, ElementType otherwise) {
  const Attribute* attribute = c.node().Find(name);
  // 0, the undefined type, says no more than leaving the attribute out.
  if (attribute == nullptr || attribute->int_value == 0) return otherwise;
  if (attribute->int_value < 0 || attribute->int_value > 1000 ||
      !IsKnownElementType(static_cast<int32_t>(attribute->int_value))) {
    c.Error(absl::StrCat("attribute ", name, " is ", attribute->int_value,
                         ", which is no element type"));
    return ElementType::kUndefined;
  }
  return static_cast<ElementType>(attribute->int_value);
}

Dim ScalarInput(InferContext& c, int input) {
  const KnownValuePtr value = c.InputValue(input);
  if (value == nullptr || value->is_float || value->integers.size() != 1) return Dim();
  return value->integers[0];
}

Dim LengthOf(InferContext& c, int input) {
  const TensorType* type = c.RankedInput(input);
  return type != nullptr && type->dims.size() == 1 ? type->dims[0] : Dim();
}

std::optional<int> RankFromLength(InferContext& c, int input) {
  const Dim length = LengthOf(c, input);
  if (!length.is_constant() || length.value() < 0) return std::nullopt;
  if (length.value() > kMaxRank) {
    c.Error(absl::StrCat("expected at most ", kMaxRank, " sizes or axes in input ", input,
                         "; it has ", length.value()));
    return std::nullopt;
  }
  return static_cast<int>(length.value());
}

const TensorType* RequireRankAtLeast(InferContext& c, int i, int rank, absl::string_view name) {
  const TensorType* type = c.RankedInput(i);
  if (type == nullptr || type->rank() >= rank) return type;
  c.Error(absl::StrCat(name, " has shape ", ShapeToString(*type, c.dims()), ": rank ", type->rank(),
                       " where at least ", rank, " is needed"));
  return nullptr;
}

const TensorType* RequireRank(InferContext& c, int i, int rank, absl::string_view name) {
  const TensorType* type = c.RankedInput(i);
  if (type == nullptr || type->rank() == rank) return type;
  c.Error(absl::StrCat(name, " has shape ", ShapeToString(*type, c.dims()), ": rank ", type->rank(),
                       " where ", rank, " is needed"));
  return nullptr;
}

Dim DimOf(const TensorType* type, int axis) {
  if (type == nullptr || !type->has_rank) return Dim();
  const int rank = type->rank();
  if (axis < 0) axis += rank;
  return axis >= 0 && axis < rank ? type->dims[static_cast<size_t>(axis)] : Dim();
}

void SetConcat(InferContext& c, ElementType element, int first, int step, int64_t axis) {
  Dims result;
  Dim total = 0;
  std::optional<int> at;
  for (int i = first; i < c.num_inputs(); i += step) {
    const TensorType* part = c.RankedInput(i);
    if (part == nullptr) {
      total = Dim();
      continue;
    }
    if (!at) {
      at = NormalAxis(c, axis, part->rank());
      if (!at) return;
      result = part->dims;
    } else if (part->dims.size() != result.size()) {
      return c.Error(absl::StrCat("operands have ranks ", result.size(), " and ", part->rank()));
    }
    total = c.dims().Add(total, DimOf(part, *at));
    for (size_t d = 0; d < result.size(); ++d) {
      if (static_cast<int>(d) == *at || SameSize(result[d], part->dims[d])) continue;
      result[d] = c.RequireEqual(result[d], part->dims[d], "sizes off the axis differ");
    }
  }
  if (!at) return SetUnranked(c, 0, element);
  result[static_cast<size_t>(*at)] = total;
  SetRanked(c, 0, element, result);
}

}  // namespace footprint
