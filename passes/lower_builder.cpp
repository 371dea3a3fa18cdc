#include "passes/lower_builder.h"

#include <utility>

#include "ir/ops/lowering/lowering.h"

namespace footprint {

ProgramBuilder::ProgramBuilder(const Graph& graph, const InferredTypes& types, const Roles& roles)
    : graph_(graph), types_(types), roles_(roles) {
  program_.torch_of.resize(graph.values.size());
  for (ValueId input : graph.top().inputs) {
    if (graph.values[input].kind != ValueKind::kInput) continue;
    TorchValue value;
    value.name = graph.values[input].name;
    value.kind = TorchValueKind::kInput;
    value.type = types.types[input].tensor;
    value.onnx_value = input;
    program_.torch_of[input] = program_.values.Add(std::move(value));
  }
}

TorchValueId ProgramBuilder::TensorOf(ValueId value) {
  if (!value.valid()) return TorchValueId();
  if (program_.torch_of[value].valid()) return program_.torch_of[value];
  const Role role = roles_.of[value];
  if (role == Role::kParameter || role == Role::kBuffer) return AddStored(value);
  return MakeLiteral(value);
}

TorchValueId ProgramBuilder::AddStored(ValueId id) {
  TorchValue value;
  value.name = graph_.values[id].name;
  value.kind = roles_.IsParameter(id) ? TorchValueKind::kParameter : TorchValueKind::kBuffer;
  value.type = types_.types[id].tensor;
  value.trainable = roles_.trainable[id];
  value.onnx_value = id;
  value.constant = graph_.values[id].constant;
  if (value.constant.valid()) value.scope = graph_.constants[value.constant].scope;
  program_.torch_of[id] = program_.values.Add(std::move(value));
  return program_.torch_of[id];
}

TorchValueId ProgramBuilder::MakeLiteral(ValueId id) {
  const ValueType& type = types_.types[id];
  TorchValue value;
  value.name = graph_.values[id].name;
  value.type = type.tensor;
  value.onnx_value = id;
  value.scope = origin_.scope;
  const TorchValueId literal = program_.values.Add(std::move(value));
  program_.torch_of[id] = literal;
  Append(kLiteralCall,
         {TorchArgument::Ints(type.tensor.dims), TorchArgument::Float(0)}, {literal});
  return literal;
}

TorchValueId ProgramBuilder::AddComputed(std::string name, TensorType type) {
  TorchValue value;
  value.name = std::move(name);
  value.type = std::move(type);
  value.scope = origin_.scope;
  return program_.values.Add(std::move(value));
}

TorchValueId ProgramBuilder::AddComputedFor(ValueId id) {
  if (!id.valid()) return TorchValueId();
  TorchValue value;
  value.name = graph_.values[id].name;
  value.type = types_.types[id].tensor;
  value.onnx_value = id;
  value.scope = origin_.scope;
  program_.torch_of[id] = program_.values.Add(std::move(value));
  return program_.torch_of[id];
}

TorchValueId ProgramBuilder::TransposedParameter(ValueId value) {
  const TorchValueId id = TensorOf(value);
  transposed_.resize(program_.values.size(), false);
  TorchValue& parameter = program_.values[id];
  if (!transposed_[id] && parameter.type.rank() == 2) {
    std::swap(parameter.type.dims[0], parameter.type.dims[1]);
    transposed_[id] = true;
  }
  return id;
}

void ProgramBuilder::Append(absl::string_view op, std::vector<TorchArgument> arguments,
                            absl::InlinedVector<TorchValueId, 1> results) {
  const TorchOp* row = FindTorchOp(op);
  if (row == nullptr) {
    std::vector<TorchValueId> tensors;
    for (const TorchArgument& argument : arguments) {
      if (argument.kind == TorchArgument::Kind::kTensor) tensors.push_back(argument.tensor);
      for (TorchValueId tensor : argument.tensors) {
        if (tensor.valid()) tensors.push_back(tensor);
      }
    }
    AppendGeneric(tensors, std::move(results));
    return;
  }
  TorchCall call;
  call.op = row;
  call.arguments = std::move(arguments);
  call.results = std::move(results);
  call.scope = origin_.scope;
  call.node = origin_.node;
  call.evidence = origin_.evidence;
  call.note = origin_.note;
  NoteResults(call);
  program_.calls.Add(std::move(call));
}

void ProgramBuilder::AppendGeneric(const std::vector<TorchValueId>& tensors,
                                   absl::InlinedVector<TorchValueId, 1> results) {
  // Which operands the gradients read is not known: all that may take one are kept.
  std::vector<TorchValueId> saved;
  for (TorchValueId tensor : tensors) {
    if (IsFloatingPoint(program_.values[tensor].type.element)) saved.push_back(tensor);
  }
  TorchCall call;
  call.op = FindTorchOp(kGenericCall);
  call.arguments = {TorchArgument::Tensors(tensors), TorchArgument::Tensors(std::move(saved))};
  call.results = std::move(results);
  call.scope = origin_.scope;
  call.node = origin_.node;
  call.evidence = Evidence::kGeneric;
  NoteResults(call);
  program_.calls.Add(std::move(call));
  if (origin_.node.valid() && (program_.generic_nodes.empty() ||
                               program_.generic_nodes.back() != origin_.node)) {
    program_.generic_nodes.push_back(origin_.node);
  }
}

void ProgramBuilder::NoteResults(const TorchCall& call) {
  requires_grad_.resize(program_.values.size(), false);
  maker_.resize(program_.values.size());
  const TorchValueId first = call.results.empty() ? TorchValueId() : call.results[0];
  if (first.valid()) maker_[first] = CallId(program_.calls.size());
  const auto requires_grad = [this](TorchValueId id) {
    return id.valid() && (program_.values[id].trainable || requires_grad_[id]);
  };
  bool any = false;
  for (const TorchArgument& argument : call.arguments) {
    any |= requires_grad(argument.tensor);
    for (TorchValueId tensor : argument.tensors) any |= requires_grad(tensor);
  }
  for (TorchValueId result : call.results) {
    if (result.valid()) {
      requires_grad_[result] = any && IsFloatingPoint(program_.values[result].type.element);
    }
  }
}

void ProgramBuilder::AddUnread() {
  for (size_t i = 0; i < graph_.values.size(); ++i) {
    const ValueId id(i);
    const Role role = roles_.of[id];
    const bool stored = role == Role::kParameter || role == Role::kBuffer;
    if (stored && !program_.torch_of[id].valid()) AddStored(id);
  }
}

}  // namespace footprint
