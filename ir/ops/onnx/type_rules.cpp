#include "ir/ops/onnx/type_rules.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace footprint {
namespace {

// "float32[2, min(a, b)]" read back.
TensorType ReadTensor(absl::string_view text, DimTable& dims) {
  const size_t open = text.find('[');
  const auto element = ElementTypeFromName(text.substr(0, open));
  TensorType type = TensorType::UnknownRank(element.value_or(ElementType::kUndefined));
  if (open == absl::string_view::npos || !absl::ConsumeSuffix(&text, "]")) return type;
  text.remove_prefix(open + 1);
  if (text == "...") return type;
  type.has_rank = true;
  while (!text.empty()) {
    int depth = 0;
    size_t end = 0;
    for (; end < text.size() && (depth > 0 || text[end] != ','); ++end) {
      depth += text[end] == '(' ? 1 : text[end] == ')' ? -1 : 0;
    }
    const absl::string_view size = text.substr(0, end);
    const auto parsed = dims.Parse(size);
    type.dims.push_back(size == "?" ? Dim() : parsed ? *parsed : dims.Symbol(size));
    text.remove_prefix(end);
    if (!absl::ConsumePrefix(&text, ", ")) break;
  }
  return type;
}

// Whether a spelling names a tensor; then the rest of ValueType can hold it.
bool IsContainer(absl::string_view text) {
  return absl::StartsWith(text, "sequence(") || absl::StartsWith(text, "optional(") ||
         absl::StartsWith(text, "map(") || absl::StartsWith(text, "opaque(") ||
         absl::StartsWith(text, "sparse ");
}

ValueType Read(absl::string_view text, DimTable& dims) {
  if (!IsContainer(text)) return ValueType::Tensor(ReadTensor(text, dims));
  ValueType type;
  type.spelling = std::string(text);
  if (absl::StartsWith(text, "map(")) type.kind = TypeKind::kMap;
  if (absl::StartsWith(text, "opaque(")) type.kind = TypeKind::kOpaque;
  const bool sequence = absl::ConsumePrefix(&text, "sequence(");
  if (!sequence && !absl::ConsumePrefix(&text, "optional(")) return type;
  type.kind = sequence ? TypeKind::kSequence : TypeKind::kOptional;
  absl::ConsumeSuffix(&text, ")");
  if (!IsContainer(text)) {
    type.tensor = ReadTensor(text, dims);
    type.spelling.clear();
  }
  return type;
}

std::string Spell(const ValueType& type, const DimTable& dims) {
  if (!type.spelling.empty()) return type.spelling;
  std::string tensor = ToString(type.tensor, dims);
  if (type.kind == TypeKind::kSequence) return absl::StrCat("sequence(", tensor, ")");
  if (type.kind == TypeKind::kOptional) return absl::StrCat("optional(", tensor, ")");
  return tensor;
}

TensorType JoinTensors(const TensorType& a, const TensorType& b, DimTable& dims) {
  TensorType result =
      TensorType::UnknownRank(a.element == b.element ? a.element : ElementType::kUndefined);
  const Dim a_count = ElementCount(a, dims);
  if (!a_count.is_unknown() && a_count == ElementCount(b, dims)) result.element_count = a_count;
  if (!a.has_rank || !b.has_rank || a.dims.size() != b.dims.size()) return result;
  result.has_rank = true;
  for (size_t i = 0; i < a.dims.size(); ++i) {
    result.dims.push_back(a.dims[i] == b.dims[i] ? a.dims[i] : Dim());
  }
  return result;
}

}  // namespace

ValueType ElementTypeOf(const ValueType& container, DimTable& dims) {
  if (container.kind != TypeKind::kSequence && container.kind != TypeKind::kOptional) return {};
  if (container.spelling.empty()) return ValueType::Tensor(container.tensor);
  absl::string_view text = container.spelling;
  if (!absl::ConsumePrefix(&text, "sequence(")) absl::ConsumePrefix(&text, "optional(");
  absl::ConsumeSuffix(&text, ")");
  return Read(text, dims);
}

ValueType Containing(TypeKind kind, const ValueType& element, const DimTable& dims) {
  ValueType result;
  result.kind = kind;
  if (element.is_tensor()) {
    result.tensor = element.tensor;
  } else if (element.kind != TypeKind::kUnknown) {
    result.spelling = absl::StrCat(kind == TypeKind::kSequence ? "sequence(" : "optional(",
                                   Spell(element, dims), ")");
  }
  return result;
}

bool SameType(const ValueType& a, const ValueType& b) {
  return a.kind == b.kind && a.spelling == b.spelling && a.tensor.element == b.tensor.element &&
         a.tensor.has_rank == b.tensor.has_rank && a.tensor.dims == b.tensor.dims &&
         a.tensor.element_count == b.tensor.element_count;
}

ValueType JoinTypes(const ValueType& a, const ValueType& b, DimTable& dims) {
  if (SameType(a, b)) return a;
  // An optional may hold what the other is.
  if (a.kind == TypeKind::kOptional && b.kind != TypeKind::kOptional) {
    return JoinTypes(a, Containing(TypeKind::kOptional, b, dims), dims);
  }
  if (b.kind == TypeKind::kOptional && a.kind != TypeKind::kOptional) return JoinTypes(b, a, dims);
  if (a.kind != b.kind || a.spelling != b.spelling) return {};
  ValueType result = a;
  result.tensor = JoinTensors(a.tensor, b.tensor, dims);
  return result;
}

bool SameValue(const KnownValuePtr& a, const KnownValuePtr& b) {
  if (a == b) return true;
  if (a == nullptr || b == nullptr) return false;
  if (a->is_float != b->is_float || a->is_sequence != b->is_sequence ||
      a->denominator != b->denominator || a->integers != b->integers || a->floats != b->floats ||
      a->elements.size() != b->elements.size()) {
    return false;
  }
  for (size_t i = 0; i < a->elements.size(); ++i) {
    if (!SameType(a->elements[i], b->elements[i])) return false;
  }
  return true;
}

KnownValuePtr JoinValues(const KnownValuePtr& a, const KnownValuePtr& b) {
  if (SameValue(a, b)) return a;
  if (a == nullptr || b == nullptr || a->is_float || b->is_float || a->is_sequence ||
      b->is_sequence || a->integers.size() != b->integers.size()) {
    return nullptr;
  }
  KnownValue result = *a;
  bool any = false;
  for (size_t i = 0; i < result.integers.size(); ++i) {
    if (result.integers[i] != b->integers[i]) result.integers[i] = Dim();
    any |= !result.integers[i].is_unknown();
  }
  return any ? std::make_shared<const KnownValue>(std::move(result)) : nullptr;
}

KnownValuePtr SequenceOf(std::vector<ValueType> elements) {
  KnownValue value;
  value.is_sequence = true;
  value.elements = std::move(elements);
  return std::make_shared<const KnownValue>(std::move(value));
}

}  // namespace footprint
