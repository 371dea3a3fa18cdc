#include "passes/lower_node.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/match.h"

namespace footprint {
const TensorType& NodeContext::TypeOf(ValueId value) const {
  static const TensorType* const unknown = new TensorType();
  return value.valid() ? facts_.types().types[facts_.Resolve(value)].tensor : *unknown;
}

KnownValuePtr NodeContext::KnownOf(ValueId value) const {
  return value.valid() ? facts_.types().values[facts_.Resolve(value)] : nullptr;
}

bool NodeContext::HasNumber(const Node& node) const {
  return std::any_of(node.inputs.begin(), node.inputs.end(), [this](ValueId input) {
    return input.valid() && facts_.IsOneNumber(input);
  });
}

TorchValueId NodeContext::TensorOf(ValueId value) {
  const bool stored = facts_.roles().IsStored(value);
  return stored || builder_->IsBound(value) ? builder_->TensorOf(value) : TorchValueId();
}

ValueId NodeContext::operand(int i) const {
  return i < num_operands() ? planned_.operands[static_cast<size_t>(i)] : ValueId();
}

const TensorType& NodeContext::Type(int i) const { return TypeOf(operand(i)); }

KnownValuePtr NodeContext::Known(int i) const {
  return Has(i) ? facts_.types().values[operand(i)] : nullptr;
}

const Node* NodeContext::Producer(int i) const {
  const NodeId producer = Has(i) ? facts_.graph().values[operand(i)].producer : NodeId();
  return producer.valid() ? &facts_.graph().nodes[producer] : nullptr;
}

bool NodeContext::IsParameter(int i) const {
  return Has(i) && facts_.roles().IsParameter(operand(i));
}

const Constant* NodeContext::StoredConstant(int i) const {
  if (!Has(i)) return nullptr;
  const ConstantId constant = facts_.graph().values[operand(i)].constant;
  return constant.valid() ? &facts_.graph().constants[constant] : nullptr;
}

bool NodeContext::HasMadeUpName(int i) const {
  return Has(i) && facts_.roles().IsStored(operand(i)) &&
         absl::StrContains(facts_.graph().values[operand(i)].name, "::");
}

bool NodeContext::IsLiteral(int i) const {
  return StoredConstant(i) != nullptr && facts_.roles().of[operand(i)] == Role::kConstant;
}

bool NodeContext::IsArithmetic(int i) const { return Has(i) && facts_.IsArithmetic(operand(i)); }

bool NodeContext::IsFree(int i) const {
  if (!Has(i)) return false;
  const ValueId source = facts_.Resolve(operand(i));
  const bool is_computed =
      facts_.graph().values[source].producer.valid() && !facts_.roles().IsStored(source);
  if (((row().stored_operands >> i) & 1) != 0 && is_computed) return true;
  if (((row().free_operands >> i) & 1) == 0) return false;
  // A mask is the same for all heads; a bias of their own is a tensor, even of zeros.
  constexpr size_t kHeads = 3;  // from the end
  const TensorType& type = Type(i);
  const bool has_heads = IsFloatingPoint(type.element) && type.dims.size() >= kHeads &&
                         !type.dims[type.dims.size() - kHeads].Is(1);
  return !has_heads && facts_.IsFromShapes(operand(i));
}

TorchValueId NodeContext::ModuleTensor(TorchValueKind kind, absl::string_view name,
                                       TensorType type, int beside) {
  TorchValue value;
  value.name = absl::StrCat(facts_.graph().values[operand(beside)].name, "/", name);
  value.kind = kind;
  value.type = std::move(type);
  value.scope = node().scope;
  value.trainable = kind == TorchValueKind::kParameter && IsParameter(beside) &&
                    facts_.roles().trainable[operand(beside)];
  return builder_->AddValue(std::move(value));
}

const TensorType& NodeContext::ResultType(int i) const {
  return TypeOf(node().output(static_cast<size_t>(i)));
}

int NodeContext::NumResultReaders() const {
  return HasResult(0) ? static_cast<int>(facts_.Readers(node().output(0)).size()) : 0;
}

TorchValueId NodeContext::Call(absl::string_view op, std::vector<TorchArgument> arguments,
                               TensorType type) {
  const TorchValueId result = builder_->AddComputed(
      absl::StrCat(facts_.graph().values[node().output(0)].name, "/", op), std::move(type));
  builder_->Append(op, std::move(arguments), {result});
  return result;
}

void NodeContext::Result(absl::string_view op, std::vector<TorchArgument> arguments, int results) {
  absl::InlinedVector<TorchValueId, 1> ids;
  for (int i = 0; i < results; ++i) {
    ids.push_back(builder_->AddComputedFor(node().output(static_cast<size_t>(i))));
  }
  builder_->Append(op, std::move(arguments), std::move(ids));
}

void NodeContext::Alias(int i, TorchValueId tensor) {
  if (HasResult(i)) builder_->Bind(node().output(static_cast<size_t>(i)), tensor);
}

void NodeContext::SetEvidence(Evidence evidence, std::string note) {
  builder_->last().evidence = evidence;
  builder_->last().note = std::move(note);
}

}  // namespace footprint
