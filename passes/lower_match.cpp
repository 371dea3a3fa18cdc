#include "passes/lower_match.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_split.h"

// A shape is matched from its last node backwards along the operands:
//
//   Mul(x, Sigmoid(x))        x -----------.
//                             x -> Sigmoid -> Mul   <- here
//
// Shapes are a few parts deep, so the search may be recursive and may copy its state where there is
// a choice (operands that commute, operators that may be absent). A match stands for its inner
// nodes only if nobody else reads what they make.

namespace footprint {
namespace {

bool HasAttributes(const ShapePart& part, const Node& node) {
  for (const auto& [name, values] : part.attributes) {
    const absl::Span<const int64_t> ints = node.Ints(name);
    if (!std::equal(ints.begin(), ints.end(), values.begin(), values.end())) return false;
  }
  return true;
}

bool Fits(const ShapePart& part, const Node& node) {
  const auto& operators = part.operators;
  return node.domain.empty() &&
         std::find(operators.begin(), operators.end(), node.op_type) != operators.end() &&
         HasAttributes(part, node);
}

}  // namespace

ShapeMatcher::ShapeMatcher(const LowerFacts& facts, bool fuse_attention)
    : facts_(facts), graph_(facts.graph()) {
  for (const Lowering* row : LoweringShapes()) {
    if (row->fuses_attention && !fuse_attention) continue;
    Entry entry = {row, ParseShape(row->onnx), {}};
    for (absl::string_view name : absl::StrSplit(row->operands, ' ', absl::SkipEmpty())) {
      const auto& variables = entry.shape.variables;
      const auto it = std::find(variables.begin(), variables.end(), name);
      entry.operands.push_back(it == variables.end() ? -1
                                                     : static_cast<int>(it - variables.begin()));
    }
    for (absl::string_view op : entry.shape.parts.back().operators) {
      by_root_[op].push_back(static_cast<int>(entries_.size()));
    }
    entries_.push_back(std::move(entry));
  }
}

std::vector<ShapeMatch> ShapeMatcher::Find(NodeId root) const {
  std::vector<ShapeMatch> matches;
  const Node& node = graph_.nodes[root];
  if (!node.domain.empty()) return matches;
  const auto it = by_root_.find(node.op_type);
  if (it == by_root_.end()) return matches;
  for (int index : it->second) {
    const Entry& entry = entries_[static_cast<size_t>(index)];
    State state;
    state.bindings.resize(entry.shape.variables.size());
    const int last = static_cast<int>(entry.shape.parts.size()) - 1;
    if (!Fits(entry.shape.parts.back(), node) || !MatchNode(entry.shape, last, root, state) ||
        !IsClosed(state, root)) {
      continue;
    }
    ShapeMatch match;
    match.row = entry.row;
    for (int variable : entry.operands) {
      match.operands.push_back(variable < 0 ? ValueId()
                                            : state.bindings[static_cast<size_t>(variable)]);
    }
    for (NodeId inner : state.nodes) {
      if (inner != root) match.inner.push_back(inner);
    }
    matches.push_back(std::move(match));
  }
  return matches;
}

bool ShapeMatcher::MatchPart(const Shape& shape, int index, ValueId value, State& state) const {
  const ShapePart& part = shape.parts[static_cast<size_t>(index)];
  if (part.kind == ShapePart::Kind::kAnything) return true;
  if (!value.valid()) return false;
  value = facts_.Resolve(value);
  if (part.kind == ShapePart::Kind::kNumber && !facts_.IsOneNumber(value)) return false;
  if (part.kind == ShapePart::Kind::kOperator) {
    const Value& v = graph_.values[value];
    const bool fits = v.kind == ValueKind::kNodeOutput && v.output_index == part.output &&
                      Fits(part, graph_.nodes[v.producer]);
    if (!fits) return part.optional && MatchPart(shape, part.operands[0], value, state);
    const State before = state;
    if (!MatchNode(shape, index, v.producer, state)) {
      state = before;
      return part.optional && MatchPart(shape, part.operands[0], value, state);
    }
  }
  if (part.variable < 0) return true;
  ValueId& bound = state.bindings[static_cast<size_t>(part.variable)];
  if (bound.valid() && bound != value) return false;
  bound = value;
  return true;
}

bool ShapeMatcher::MatchNode(const Shape& shape, int index, NodeId id, State& state) const {
  const ShapePart& part = shape.parts[static_cast<size_t>(index)];
  const Node& node = graph_.nodes[id];
  (part.shared ? state.shared : state.nodes).push_back(id);
  if (!part.commutes || part.operands.size() != 2) {
    return MatchOperands(shape, part, node, false, state);
  }
  const State before = state;
  if (MatchOperands(shape, part, node, false, state)) return true;
  state = before;
  return MatchOperands(shape, part, node, true, state);
}

bool ShapeMatcher::MatchOperands(const Shape& shape, const ShapePart& part, const Node& node,
                                 bool swapped, State& state) const {
  for (size_t i = 0; i < part.operands.size(); ++i) {
    const size_t input = swapped ? part.operands.size() - 1 - i : i;
    const ShapePart& operand = shape.parts[static_cast<size_t>(part.operands[i])];
    const bool may_be_absent = operand.kind == ShapePart::Kind::kVariable && i > 0;
    if (may_be_absent && !node.input(input).valid()) continue;
    if (!MatchPart(shape, part.operands[i], node.input(input), state)) return false;
  }
  return true;
}

bool ShapeMatcher::IsClosed(const State& state, NodeId root) const {
  for (NodeId id : state.nodes) {
    if (id == root) continue;
    for (ValueId output : graph_.nodes[id].outputs) {
      if (!output.valid() || facts_.IsArithmetic(output)) continue;
      if (graph_.values[output].is_graph_output) return false;
      for (NodeId reader : facts_.Readers(output)) {
        if (std::find(state.nodes.begin(), state.nodes.end(), reader) == state.nodes.end() &&
            std::find(state.shared.begin(), state.shared.end(), reader) == state.shared.end()) {
          return false;
        }
      }
    }
  }
  return true;
}

}  // namespace footprint
