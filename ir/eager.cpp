#include "ir/eager.h"

namespace footprint {
namespace {

using Kind = TorchArgument::Kind;

const Tensor& NoTensor() {
  static const Tensor none;
  return none;
}

}  // namespace

const TorchArgument* CallArguments::argument(int index) const {
  if (index < 0 || index >= size()) return nullptr;
  const TorchArgument& found = call_.arguments[static_cast<size_t>(index)];
  return found.kind == Kind::kNone ? nullptr : &found;
}

bool CallArguments::Has(int index) const { return argument(index) != nullptr; }

bool CallArguments::IsTensor(int index) const {
  const TorchArgument* found = argument(index);
  return found != nullptr && found->kind == Kind::kTensor;
}

bool CallArguments::IsFraction(int index) const {
  const TorchArgument* found = argument(index);
  return found != nullptr && found->kind == Kind::kFloat;
}

const Tensor& CallArguments::tensor(int index) const {
  return IsTensor(index) ? resolved[static_cast<size_t>(index)][0] : NoTensor();
}

absl::Span<const Tensor> CallArguments::tensors(int index) const {
  if (index < 0 || index >= size()) return {};
  return resolved[static_cast<size_t>(index)];
}

Dim CallArguments::integer(int index, Dim otherwise) const {
  const TorchArgument* found = argument(index);
  if (found == nullptr) return otherwise;
  if (found->kind == Kind::kInt) return found->integer;
  if (found->kind == Kind::kInts && found->integers.size() == 1) return found->integers[0];
  return otherwise;
}

int64_t CallArguments::constant(int index, int64_t otherwise) const {
  const Dim value = integer(index, Dim(otherwise));
  return value.is_constant() ? value.value() : otherwise;
}

Dims CallArguments::integers(int index) const {
  const TorchArgument* found = argument(index);
  if (found == nullptr) return {};
  if (found->kind == Kind::kInt) return {found->integer};
  return {found->integers.begin(), found->integers.end()};
}

double CallArguments::number(int index, double otherwise) const {
  const TorchArgument* found = argument(index);
  if (found == nullptr) return otherwise;
  if (found->kind == Kind::kFloat) return found->number;
  if (found->kind == Kind::kInt && found->integer.is_constant()) {
    return static_cast<double>(found->integer.value());
  }
  return otherwise;
}

bool CallArguments::boolean(int index, bool otherwise) const {
  const TorchArgument* found = argument(index);
  if (found == nullptr) return otherwise;
  if (found->kind == Kind::kBool) return found->boolean;
  if (found->kind == Kind::kInt) return !found->integer.Is(0);
  return otherwise;
}

absl::string_view CallArguments::text(int index) const {
  const TorchArgument* found = argument(index);
  return found != nullptr && found->kind == Kind::kString ? absl::string_view(found->text)
                                                          : absl::string_view();
}

ElementType CallArguments::element(int index, ElementType otherwise) const {
  const TorchArgument* found = argument(index);
  return found != nullptr && found->kind == Kind::kElementType ? found->element : otherwise;
}

const TensorType* CallArguments::declared(int index) const {
  if (index < 0 || index >= result_count()) return nullptr;
  const TorchValueId id = call_.results[static_cast<size_t>(index)];
  if (!id.valid()) return nullptr;
  const TensorType& type = program_.values[id].type;
  return type.has_rank ? &type : nullptr;
}

bool CallArguments::WritesInPlace(Eager& eager, ElementType element) const {
  const Tensor& self = tensor(0);
  if (call_.in_place == InPlace::kNo || !self) return false;
  // x += y keeps the type of x, whatever the sum of the two would have.
  const bool both_float = IsFloatingPoint(self.element()) && IsFloatingPoint(element);
  if (self.element() != element && !both_float) return false;
  if (self.is_leaf() && self.requires_grad()) return false;
  // A wider operand would stretch the result.
  for (int i = 1; i < size(); ++i) {
    if (IsTensor(i) && tensor(i).rank() > self.rank()) return false;
  }
  return call_.in_place == InPlace::kYes || eager.StorageReferences(self) == 1;
}

}  // namespace footprint
