// Operators that change the element type and keep the shape.
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/ops/onnx/families.h"
#include "ir/ops/onnx/rules.h"
#include "ir/ops/onnx/values.h"

namespace footprint {
namespace {

// Cast-1 spelled its target as a string: "FLOAT16".
ElementType NamedElement(absl::string_view name) {
  static constexpr std::pair<absl::string_view, ElementType> kNames[] = {
      {"FLOAT", ElementType::kFloat},          {"FLOAT16", ElementType::kFloat16},
      {"DOUBLE", ElementType::kDouble},        {"INT8", ElementType::kInt8},
      {"INT16", ElementType::kInt16},          {"INT32", ElementType::kInt32},
      {"INT64", ElementType::kInt64},          {"UINT8", ElementType::kUint8},
      {"UINT16", ElementType::kUint16},        {"UINT32", ElementType::kUint32},
      {"UINT64", ElementType::kUint64},        {"BOOL", ElementType::kBool},
      {"STRING", ElementType::kString},        {"COMPLEX64", ElementType::kComplex64},
      {"COMPLEX128", ElementType::kComplex128}};
  for (const auto& [spelling, element] : kNames) {
    if (spelling == name) return element;
  }
  return ElementType::kUndefined;
}

void CastTypes(InferContext& c) {
  const Attribute* to = c.node().Find("to");
  if (to == nullptr) return c.Error("attribute to is missing");
  if (to->kind != Attribute::Kind::kString && to->int_value == 0) {
    return c.Error("attribute to is 0, the undefined type");
  }
  const ElementType element = to->kind == Attribute::Kind::kString
                                  ? NamedElement(to->string_value)
                                  : ElementAttribute(c, "to", ElementType::kUndefined);
  CopyShape(c, 0, 0, element);
}

void CastLikeTypes(InferContext& c) { CopyShape(c, 0, 0, c.InputElement(1)); }

void BitCastTypes(InferContext& c) {
  const ElementType from = c.InputElement(0);
  const ElementType to = ElementAttribute(c, "to", ElementType::kUndefined);
  if (from != ElementType::kUndefined && to != ElementType::kUndefined &&
      BitsPerElement(from) != BitsPerElement(to)) {
    c.Error(absl::StrCat("cannot reinterpret ", ElementTypeName(from), " as ", ElementTypeName(to),
                         ": their widths differ"));
  }
  CopyShape(c, 0, 0, to);
}

Dim TruthOf(DimTable& dims, Dim value) {
  if (value.is_constant()) return Dim(static_cast<int64_t>(value.value() != 0));
  return dims.IsPositive(value) ? Dim(1) : Dim();
}

// Toward zero; unknown where the sign is.
Dim Truncated(DimTable& dims, Dim numerator, int64_t denominator) {
  if (denominator == 1) return numerator;
  if (dims.IsNonNegative(numerator)) return dims.FloorDiv(numerator, denominator);
  return dims.IsNonNegative(dims.Neg(numerator)) ? dims.CeilDiv(numerator, denominator) : Dim();
}

Dim ToInteger(double value) {
  constexpr double kLimit = 9.2e18;
  if (!std::isfinite(value) || std::abs(value) >= kLimit) return Dim();
  return static_cast<int64_t>(value);
}

KnownValuePtr ToIntegers(DimTable& dims, const KnownValue& value, bool to_bool) {
  std::vector<Dim> result;
  for (const double element : value.floats) {
    result.push_back(to_bool ? Dim(static_cast<int64_t>(element != 0)) : ToInteger(element));
  }
  for (const Dim& element : value.integers) {
    result.push_back(to_bool ? TruthOf(dims, element)
                             : Truncated(dims, element, value.denominator));
  }
  return IntegerValue(std::move(result));
}

// Integers become doubles if all are constant, ratios with denominator 1 otherwise.
KnownValuePtr ToFloats(const KnownValue& value, ElementType to) {
  std::vector<double> floats;
  for (const Dim& element : value.integers) {
    if (element.is_unknown()) return nullptr;
    if (element.is_constant()) {
      floats.push_back(RoundedTo(to, static_cast<double>(element.value())));
    }
  }
  if (floats.size() == value.integers.size()) return FloatValue(std::move(floats));
  KnownValue ratios = value;
  ratios.is_float = true;
  return std::make_shared<const KnownValue>(std::move(ratios));
}

void CastValues(InferContext& c) {
  KeepBounds(c);
  const KnownValuePtr value = c.InputValue(0);
  if (value == nullptr || value->is_sequence) return;
  const ElementType to = c.OutputType(0).tensor.element;
  if (IsFloatingPoint(to)) {
    if (!value->is_float) return c.SetOutputValue(0, ToFloats(*value, to));
    return value->floats.empty() ? c.SetOutputValue(0, value) : SetRounded(c, value->floats);
  }
  if (to == ElementType::kBool) {
    return c.SetOutputValue(0, ToIntegers(c.dims(), *value, /*to_bool=*/true));
  }
  if (!IsInteger(to)) return;
  SetWrapped(c, value->is_float ? ToIntegers(c.dims(), *value, false)->integers : value->integers);
}

constexpr OnnxOp kRows[] = {
    {.name = "BitCast", .since = 26, .signature = "1->1 to", .types = BitCastTypes, .inplace = 1},
    {.name = "Cast",
     .signature = "1->1 to",
     .types = CastTypes,
     .values = CastValues,
     .inplace = 1},
    {.name = "CastLike",
     .since = 15,
     .signature = "2->1",
     .types = CastLikeTypes,
     .values = CastValues,
     .inplace = 1},
};

}  // namespace

OnnxFamily CastOps() { return kRows; }

}  // namespace footprint
