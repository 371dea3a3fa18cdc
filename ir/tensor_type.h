// Element types, shapes and the types of values.
#ifndef FOOTPRINT_IR_TENSOR_TYPE_H_
#define FOOTPRINT_IR_TENSOR_TYPE_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ir/dim.h"

namespace footprint {

// Numbered as ONNX's TensorProto.DataType.
enum class ElementType : uint8_t {
  kUndefined = 0,
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBfloat16 = 16,
  kFloat8E4M3FN = 17,
  kFloat8E4M3FNUZ = 18,
  kFloat8E5M2 = 19,
  kFloat8E5M2FNUZ = 20,
  kUint4 = 21,
  kInt4 = 22,
  kFloat4E2M1 = 23,
  kFloat8E8M0 = 24,
  kUint2 = 25,
  kInt2 = 26,
  kFloat6E2M3 = 27,
  kFloat6E3M2 = 28,
};

// True for the numbers of the enumeration, kUndefined excepted.
bool IsKnownElementType(int32_t onnx_data_type);
// Bits of one element; 0 for strings and undefined.
int BitsPerElement(ElementType type);
// Floating point of any width, complex excluded.
bool IsFloatingPoint(ElementType type);
// Signed and unsigned integers of any width; bool excluded.
bool IsInteger(ElementType type);
// "float32", "int4", "bool", "float8e4m3fn" ...: the names NumPy and ONNX use.
absl::string_view ElementTypeName(ElementType type);
std::optional<ElementType> ElementTypeFromName(absl::string_view name);

// Bytes of `elements` elements, sub-byte types packed and rounded up once per tensor.
// nullopt: string, undefined, negative or overflow.
std::optional<int64_t> BytesOf(ElementType type, int64_t elements);

// The dimensions of a tensor of known rank.
using Dims = absl::InlinedVector<Dim, 4>;

// A tensor. Rank, element count and dims are known separately: a Reshape to a run-time shape keeps
// its element count, and bytes can be exact where dims are not.
struct TensorType {
  ElementType element = ElementType::kUndefined;
  bool has_rank = false;
  Dims dims;          // meaningful if has_rank; single dims may be unknown
  Dim element_count;  // set only where it is known although not all dims are; see ElementCount()

  static TensorType Make(ElementType element, absl::Span<const Dim> dims);
  static TensorType Make(ElementType element, std::initializer_list<Dim> dims);
  static TensorType UnknownRank(ElementType element);

  int rank() const { return has_rank ? static_cast<int>(dims.size()) : -1; }
  bool AllDimsKnown() const;
  bool AllDimsConstant() const;
};

// Product of the dims, or element_count where dims are missing; unknown if neither is known.
Dim ElementCount(const TensorType& type, DimTable& table);
// Bytes of a tensor, sub-byte types rounded up once; unknown for strings and unknown counts.
Dim ByteCount(const TensorType& type, DimTable& table);

// "float32[batch, 3, 224, 224]", "int64[]", "float32[?, 4]", "float32[...]" for unknown rank.
std::string ToString(const TensorType& type, const DimTable& table);
// "[batch, 3, 224, 224]"
std::string ShapeToString(const TensorType& type, const DimTable& table);

enum class TypeKind : uint8_t {
  kUnknown,
  kTensor,
  kSparseTensor,
  kSequence,
  kOptional,
  kMap,
  kOpaque
};

// The type of a value. Sequence, optional and map carry the tensor type of their elements;
// sequences inside optionals and the like are described by `spelling` alone.
struct ValueType {
  TypeKind kind = TypeKind::kUnknown;
  TensorType tensor;  // tensor, sparse tensor (dense shape), or the element of sequence / optional
  std::string spelling;  // for nested and map types: "optional(sequence(tensor(float)))"

  bool is_tensor() const { return kind == TypeKind::kTensor; }
  static ValueType Tensor(TensorType type) { return {TypeKind::kTensor, std::move(type), {}}; }
};

}  // namespace footprint

#endif  // FOOTPRINT_IR_TENSOR_TYPE_H_
