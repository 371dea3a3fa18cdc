// Sequences, optionals and the joining of types that may differ.
#ifndef FOOTPRINT_IR_OPS_ONNX_TYPE_RULES_H_
#define FOOTPRINT_IR_OPS_ONNX_TYPE_RULES_H_

#include <vector>

#include "ir/infer_context.h"

namespace footprint {

// The type of what a sequence or optional holds; kind kUnknown if not known.
ValueType ElementTypeOf(const ValueType& container, DimTable& dims);
// The sequence or optional that holds `element`.
ValueType Containing(TypeKind kind, const ValueType& element, const DimTable& dims);

// A type that describes values of both types: sizes that differ become unknown, ranks that differ
// the unknown rank.
ValueType JoinTypes(const ValueType& a, const ValueType& b, DimTable& dims);
bool SameType(const ValueType& a, const ValueType& b);
// Contents that both have; null if they differ.
KnownValuePtr JoinValues(const KnownValuePtr& a, const KnownValuePtr& b);
bool SameValue(const KnownValuePtr& a, const KnownValuePtr& b);

// The contents of a sequence whose elements have these types.
KnownValuePtr SequenceOf(std::vector<ValueType> elements);

}  // namespace footprint

#endif  // FOOTPRINT_IR_OPS_ONNX_TYPE_RULES_H_
