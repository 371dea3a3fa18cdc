#include "ir/infer_context.h"

namespace footprint {

const TensorType* InferContext::Input(int i) const {
  const ValueType& type = InputType(i);
  return type.is_tensor() ? &type.tensor : nullptr;
}

const TensorType* InferContext::RankedInput(int i) const {
  const TensorType* type = Input(i);
  return type != nullptr && type->has_rank ? type : nullptr;
}

ElementType InferContext::InputElement(int i) const {
  const TensorType* type = Input(i);
  return type != nullptr ? type->element : ElementType::kUndefined;
}

bool InferContext::InputInts(int i, std::vector<Dim>* result) const {
  const KnownValuePtr value = InputValue(i);
  if (value == nullptr || value->is_float || value->is_sequence) return false;
  for (const Dim& element : value->integers) {
    if (element.is_unknown()) return false;
  }
  *result = value->integers;
  return true;
}

}  // namespace footprint
