#include "ir/tensor_type.h"

#include <array>
#include <string>

#include "absl/strings/str_cat.h"

namespace footprint {
namespace {

enum class Class : uint8_t { kNone, kFloat, kInteger, kBool, kComplex, kString };

struct ElementInfo {
  absl::string_view name;
  int bits;
  Class kind;
};

constexpr std::array<ElementInfo, 29> kElements = {{
    {"undefined", 0, Class::kNone},
    {"float32", 32, Class::kFloat},
    {"uint8", 8, Class::kInteger},
    {"int8", 8, Class::kInteger},
    {"uint16", 16, Class::kInteger},
    {"int16", 16, Class::kInteger},
    {"int32", 32, Class::kInteger},
    {"int64", 64, Class::kInteger},
    {"string", 0, Class::kString},
    {"bool", 8, Class::kBool},
    {"float16", 16, Class::kFloat},
    {"float64", 64, Class::kFloat},
    {"uint32", 32, Class::kInteger},
    {"uint64", 64, Class::kInteger},
    {"complex64", 64, Class::kComplex},
    {"complex128", 128, Class::kComplex},
    {"bfloat16", 16, Class::kFloat},
    {"float8e4m3fn", 8, Class::kFloat},
    {"float8e4m3fnuz", 8, Class::kFloat},
    {"float8e5m2", 8, Class::kFloat},
    {"float8e5m2fnuz", 8, Class::kFloat},
    {"uint4", 4, Class::kInteger},
    {"int4", 4, Class::kInteger},
    {"float4e2m1", 4, Class::kFloat},
    {"float8e8m0", 8, Class::kFloat},
    {"uint2", 2, Class::kInteger},
    {"int2", 2, Class::kInteger},
    {"float6e2m3", 6, Class::kFloat},
    {"float6e3m2", 6, Class::kFloat},
}};

const ElementInfo& Info(ElementType type) { return kElements[static_cast<size_t>(type)]; }

}  // namespace

bool IsKnownElementType(int32_t onnx_data_type) {
  return onnx_data_type > 0 && onnx_data_type < static_cast<int32_t>(kElements.size());
}

int BitsPerElement(ElementType type) { return Info(type).bits; }
bool IsFloatingPoint(ElementType type) { return Info(type).kind == Class::kFloat; }
bool IsInteger(ElementType type) { return Info(type).kind == Class::kInteger; }
absl::string_view ElementTypeName(ElementType type) { return Info(type).name; }

std::optional<ElementType> ElementTypeFromName(absl::string_view name) {
  for (size_t i = 1; i < kElements.size(); ++i) {
    if (kElements[i].name == name) return static_cast<ElementType>(i);
  }
  return std::nullopt;
}

std::optional<int64_t> BytesOf(ElementType type, int64_t elements) {
  const int bits = BitsPerElement(type);
  if (bits == 0 || elements < 0) return std::nullopt;
  if (bits < 8) return elements / 8 * bits + (elements % 8 * bits + 7) / 8;
  int64_t bytes = 0;
  if (__builtin_mul_overflow(elements, static_cast<int64_t>(bits / 8), &bytes)) return std::nullopt;
  return bytes;
}

TensorType TensorType::Make(ElementType element, absl::Span<const Dim> dims) {
  TensorType type;
  type.element = element;
  type.has_rank = true;
  type.dims.assign(dims.begin(), dims.end());
  return type;
}

TensorType TensorType::Make(ElementType element, std::initializer_list<Dim> dims) {
  return Make(element, absl::Span<const Dim>(dims.begin(), dims.size()));
}

TensorType TensorType::UnknownRank(ElementType element) {
  TensorType type;
  type.element = element;
  return type;
}

bool TensorType::AllDimsKnown() const {
  if (!has_rank) return false;
  for (const Dim& dim : dims) {
    if (dim.is_unknown()) return false;
  }
  return true;
}

bool TensorType::AllDimsConstant() const {
  if (!has_rank) return false;
  for (const Dim& dim : dims) {
    if (!dim.is_constant()) return false;
  }
  return true;
}

Dim ElementCount(const TensorType& type, DimTable& table) {
  if (type.AllDimsKnown()) return table.Product(type.dims);
  if (!type.element_count.is_unknown()) return type.element_count;
  if (type.has_rank) {
    for (const Dim& dim : type.dims) {
      if (dim.Is(0)) return 0;
    }
  }
  return Dim();
}

Dim ByteCount(const TensorType& type, DimTable& table) {
  const Dim count = ElementCount(type, table);
  const int bits = BitsPerElement(type.element);
  if (bits == 0) return Dim();
  if (bits == 6) return table.CeilDiv(table.Mul(count, 3), 4);
  if (bits < 8) return table.CeilDiv(count, 8 / bits);
  return table.Mul(count, bits / 8);
}

std::string ShapeToString(const TensorType& type, const DimTable& table) {
  if (!type.has_rank) return "[...]";
  std::string text = "[";
  for (size_t i = 0; i < type.dims.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", table.ToString(type.dims[i]));
  }
  return text + "]";
}

std::string ToString(const TensorType& type, const DimTable& table) {
  return absl::StrCat(ElementTypeName(type.element), ShapeToString(type, table));
}

}  // namespace footprint
