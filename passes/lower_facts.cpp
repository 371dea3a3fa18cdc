#include "passes/lower_facts.h"

#include <algorithm>

#include "ir/ops/lowering/casts.h"
#include "ir/ops/lowering/habits.h"
#include "ir/ops/lowering/lowering.h"

// An ONNX graph computes with tensors what PyTorch's program computed with Python integers:
//
//   x -> Shape -> Gather -> Unsqueeze -> Concat -> Reshape        x.view(x.size(0), -1)
//          `---------- no tensors in PyTorch ---'
//
// A value is arithmetic if it has no tensor of its own in the program: its contents are known and
// few, or it is one number made from shapes alone. Longer results of shape arithmetic (arange,
// causal masks) are tensors that the program makes.

namespace footprint {
namespace {

constexpr int64_t kFewElements = 64;

// False for unknown and symbolic counts.
bool HasFewElements(const ValueType& type) {
  if (!type.is_tensor() || !type.tensor.has_rank) return false;
  int64_t count = 1;
  for (Dim dim : type.tensor.dims) {
    if (!dim.is_constant() || dim.value() > kFewElements) return false;
    count *= std::max<int64_t>(dim.value(), 1);
    if (count > kFewElements) return false;
  }
  return true;
}

// Computes with sizes only: its row has no rule.
bool IsShapeSource(const Node& node) {
  const Lowering* row = FindLowering(node.domain, node.op_type);
  return row != nullptr && row->lower == nullptr;
}

}  // namespace

LowerFacts::LowerFacts(const Graph& graph, const InferredTypes& types, const Roles& roles)
    : graph_(graph),
      types_(types),
      roles_(roles),
      from_pytorch_(graph.producer_name == "pytorch"),
      source_(graph.values.size()),
      arithmetic_(graph.values.size(), false),
      from_shapes_(graph.values.size(), false),
      from_stored_(graph.values.size(), false) {
  for (const Node& node : graph.nodes) in_training_mode_ |= node.Int("training_mode", 0) != 0;
  ClassifyValues();
  ListReaders();
  for (const Node& node : graph.nodes) {
    const int mode = ModeOperand(node);
    const ValueId operand = mode < 0 ? ValueId() : node.input(mode);
    if (!operand.valid()) continue;
    const KnownValuePtr& known = types.values[Resolve(operand)];
    drops_somewhere_ |= known != nullptr && !known->integers.empty() && known->integers[0].Is(1);
  }
}

void LowerFacts::ClassifyValues() {
  for (size_t i = 0; i < graph_.values.size(); ++i) {
    const ValueId id(i);
    source_[id] = id;
    const Value& value = graph_.values[id];
    if (value.kind != ValueKind::kConstant) continue;
    const bool stored = roles_.of[id] == Role::kParameter || roles_.of[id] == Role::kBuffer;
    from_shapes_[id] = !stored;
    from_stored_[id] = stored && IsFloatingPoint(types_.types[id].tensor.element);
    arithmetic_[id] = !stored && HasFewElements(types_.types[id]);
  }
  for (NodeId id : graph_.top().nodes) ClassifyNode(graph_.nodes[id]);
}

void LowerFacts::ClassifyNode(const Node& node) {
  bool from_shapes = node.op == nullptr || node.op->control == Control::kNone;
  bool from_stored = false;
  if (!IsShapeSource(node)) {
    bool any = false;
    for (ValueId input : node.inputs) {
      if (!input.valid()) continue;
      any = true;
      from_shapes &= from_shapes_[source_[input]];
      from_stored |= from_stored_[input];
    }
    from_shapes &= any;
  }
  for (ValueId output : node.outputs) {
    if (!output.valid()) continue;
    // The contents of a small parameter or buffer may be known; it is a tensor all the same.
    const bool known = types_.values[output] != nullptr && !from_stored &&
                       HasFewElements(types_.types[output]);
    from_stored_[output] = from_stored;
    from_shapes_[output] = from_shapes || known;
    arithmetic_[output] =
        known || IsShapeSource(node) || (from_shapes && HasFewElements(types_.types[output]));
  }
  const bool identity = node.op != nullptr && node.op->is_identity && node.inputs.size() == 1;
  if (identity && node.outputs[0].valid() && !roles_.IsStored(node.outputs[0])) {
    source_[node.outputs[0]] = source_[node.inputs[0]];
  }
}

bool LowerFacts::IsOneNumber(ValueId value) const {
  if (!IsArithmetic(value)) return false;
  const ValueType& type = types_.types[Resolve(value)];
  return type.tensor.has_rank && std::all_of(type.tensor.dims.begin(), type.tensor.dims.end(),
                                             [](Dim dim) { return dim.Is(1); });
}

bool LowerFacts::IsWithin(ScopeId scope, ScopeId outer) const {
  while (scope.valid() && scope != outer) scope = graph_.scopes[scope].parent;
  return scope == outer;
}

ValueId LowerFacts::SeenFrom(NodeId reader, ValueId value) const {
  value = Resolve(value);
  const NodeId producer = graph_.values[value].producer;
  if (!from_pytorch_ || !producer.valid()) return value;
  const Node& cast = graph_.nodes[producer];
  if (!cast.scope.valid() || IsWithin(graph_.nodes[reader].scope, cast.scope)) return value;
  const ValueId argument = cast.input(0).valid() ? Resolve(cast.input(0)) : ValueId();
  if (!argument.valid() || !IsIdleCast(cast, types_.types[argument].tensor.element)) return value;
  const NodeId made = graph_.values[argument].producer;
  const bool from_inside = made.valid() && IsWithin(graph_.nodes[made].scope, cast.scope);
  return from_inside ? value : argument;
}

void LowerFacts::ListReaders() {
  const auto for_each_read = [this](auto&& visit) {
    for (NodeId id : graph_.top().nodes) {
      const Node& node = graph_.nodes[id];
      // Who asks for a shape reads no tensor.
      if (std::all_of(node.outputs.begin(), node.outputs.end(),
                      [this](ValueId output) { return !output.valid() || IsArithmetic(output); })) {
        continue;
      }
      for (ValueId input : node.inputs) {
        if (input.valid()) visit(source_[input], id);
      }
    }
  };
  first_reader_.resize(graph_.values.size() + 1, 0);
  for_each_read([this](ValueId value, NodeId) { ++first_reader_[ValueId(value.index() + 1)]; });
  for (int32_t i = 1; i < static_cast<int32_t>(first_reader_.size()); ++i) {
    first_reader_[ValueId(i)] += first_reader_[ValueId(i - 1)];
  }
  readers_.resize(static_cast<size_t>(first_reader_[ValueId(graph_.values.size())]));
  IdVector<ValueId, int32_t> next = first_reader_;
  for_each_read(
      [&](ValueId value, NodeId node) { readers_[static_cast<size_t>(next[value]++)] = node; });
}

absl::Span<const NodeId> LowerFacts::Readers(ValueId value) const {
  const auto begin = static_cast<size_t>(first_reader_[value]);
  const auto end = static_cast<size_t>(first_reader_[ValueId(value.index() + 1)]);
  return absl::MakeConstSpan(readers_).subspan(begin, end - begin);
}

}  // namespace footprint
