#include "passes/textbook.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "ir/onnx_op.h"

// Which linear layers form an attention is read from the data flow, since names differ from model
// to model. Around each Softmax:
//
//   query  key        value        an owner is a linear layer. Backward from the Softmax to the
//      \   /            |          nearest owners: query and key. Forward to the product with the
//      MatMul           |          value: the nearest owner behind its other operand is the
//        |              |          value's projection, the first owner after it the output's.
//     Softmax --------MatMul       Walks stop at norms, so that they never leave the attention.
//                       |
//                     output
//
// Linear layers of a model with attention that are none of these and feed each other without a norm
// or a residual sum in between are one feed forward.

namespace footprint {
namespace {

constexpr int32_t kNoGroup = -1;

class TextbookGrouper {
 public:
  TextbookGrouper(const Graph& graph, const InferredTypes& inferred, const Roles& roles)
      : graph_(graph),
        inferred_(inferred),
        from_weights_(graph.values.size(), false),
        from_inputs_(graph.values.size(), false),
        readers_(graph.values.size()),
        is_owner_(graph.nodes.size(), false),
        group_of_(graph.nodes.size(), kNoGroup) {
    for (size_t i = 0; i < graph.values.size(); ++i) {
      from_weights_[ValueId(i)] = roles.IsParameter(ValueId(i));
      from_inputs_[ValueId(i)] = graph.values[ValueId(i)].kind == ValueKind::kInput;
    }
  }

  std::vector<TextbookGroup> Run() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) Visit(NodeId(i));
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (Kind(NodeId(i)) == TextbookKind::kSoftmax) GroupAttention(NodeId(i));
    }
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (is_owner_[NodeId(i)]) Place(NodeId(i));
    }
    return Finish();
  }

 private:
  TextbookKind Kind(NodeId id) const {
    const OnnxOp* op = graph_.nodes[id].op;
    return op == nullptr ? TextbookKind::kNone : op->textbook;
  }

  bool OwnsWeights(const Node& node) const {
    const TextbookKind kind = node.op == nullptr ? TextbookKind::kNone : node.op->textbook;
    if (kind != TextbookKind::kEmbedding && kind != TextbookKind::kLinear &&
        kind != TextbookKind::kConvolution) {
      return false;
    }
    for (size_t i = 0; i < node.inputs.size() && i < 32; ++i) {
      if ((node.op->weights >> i & 1) != 0 && node.inputs[i].valid() &&
          from_weights_[node.inputs[i]]) {
        return true;
      }
    }
    return false;
  }

  void Visit(NodeId id) {
    const Node& node = graph_.nodes[id];
    is_owner_[id] = OwnsWeights(node) && node.output(0).valid();
    bool all_weights = !node.inputs.empty();
    bool any_input = false;
    for (ValueId input : node.inputs) {
      if (!input.valid()) continue;
      readers_[input].push_back(id);
      all_weights &= from_weights_[input] || graph_.values[input].kind == ValueKind::kConstant;
      any_input |= from_inputs_[input];
    }
    for (ValueId output : node.outputs) {
      if (!output.valid()) continue;
      // A Transpose of a weight is still that weight; what an owner makes is data.
      from_weights_[output] = all_weights && !is_owner_[id] && AnyWeight(node);
      // Sizes are not contents: a position that counts up to the length does not depend on the
      // text.
      from_inputs_[output] = any_input && inferred_.values[output] == nullptr;
    }
  }

  bool AnyWeight(const Node& node) const {
    return std::any_of(node.inputs.begin(), node.inputs.end(),
                       [&](ValueId v) { return v.valid() && from_weights_[v]; });
  }

  // Nearest owners behind `start`, not crossing norms.
  void CollectOwnersBehind(ValueId start, std::vector<NodeId>* owners) const {
    std::vector<ValueId> pending = {start};
    absl::flat_hash_map<ValueId, bool> seen;
    while (!pending.empty() && seen.size() < kWalkLimit) {
      const ValueId value = pending.back();
      pending.pop_back();
      if (!value.valid() || !seen.emplace(value, true).second) continue;
      const NodeId producer = graph_.values[value].producer;
      if (!producer.valid() || Kind(producer) == TextbookKind::kNormalization) continue;
      if (is_owner_[producer]) {
        if (Kind(producer) == TextbookKind::kLinear) owners->push_back(producer);
        continue;
      }
      for (ValueId input : graph_.nodes[producer].inputs) pending.push_back(input);
    }
  }

  // From the Softmax's result through operators with one data operand to the product with the
  // value.
  void GroupAttention(NodeId softmax) {
    std::vector<NodeId> owners;
    CollectOwnersBehind(graph_.nodes[softmax].input(0), &owners);
    const size_t queries_and_keys = owners.size();
    ValueId value = graph_.nodes[softmax].output(0);
    bool multiplied = false;
    for (int hops = 0; hops < kHopLimit && value.valid() && readers_[value].size() == 1; ++hops) {
      const NodeId reader = readers_[value][0];
      const Node& node = graph_.nodes[reader];
      if (multiplied && is_owner_[reader]) {
        owners.push_back(reader);
        break;
      }
      if (Kind(reader) == TextbookKind::kLinear && !is_owner_[reader] && !multiplied) {
        multiplied = true;
        for (ValueId input : node.inputs) {
          if (input != value) CollectOwnersBehind(input, &owners);
        }
      }
      value = node.output(0);
    }
    if (!multiplied || queries_and_keys == 0) return;
    const int32_t group = NewGroup("attention");
    for (NodeId owner : owners) Assign(owner, group);
    has_attention_ = true;
  }

  int32_t NewGroup(std::string kind) {
    TextbookGroup group;
    group.kind = std::move(kind);
    groups_.push_back(std::move(group));
    return static_cast<int32_t>(groups_.size()) - 1;
  }

  void Assign(NodeId owner, int32_t group) {
    if (group_of_[owner] == kNoGroup) group_of_[owner] = group;
  }

  void Place(NodeId id) {
    if (group_of_[id] != kNoGroup) return;
    const Node& node = graph_.nodes[id];
    switch (Kind(id)) {
      case TextbookKind::kEmbedding: {
        const bool token = node.input(1).valid() && from_inputs_[node.input(1)];
        Assign(id, NewGroup(token ? "token embedding" : "position embedding"));
        return;
      }
      case TextbookKind::kConvolution:
        Assign(id, NewGroup("convolution"));
        return;
      default:
        break;
    }
    Assign(id, has_attention_ ? FeedForwardOf(id) : NewGroup("linear"));
  }

  // The feed forward that this linear layer continues, or a new one.
  int32_t FeedForwardOf(NodeId id) {
    for (ValueId input : graph_.nodes[id].inputs) {
      if (!input.valid() || from_weights_[input]) continue;
      ValueId value = input;
      for (int hops = 0; hops < kHopLimit && value.valid(); ++hops) {
        const NodeId producer = graph_.values[value].producer;
        if (!producer.valid() || Kind(producer) == TextbookKind::kNormalization) break;
        if (is_owner_[producer]) {
          const int32_t group = group_of_[producer];
          if (group != kNoGroup && groups_[static_cast<size_t>(group)].kind == "feed forward") {
            return group;
          }
          break;
        }
        value = DataOperand(producer);
      }
    }
    return NewGroup("feed forward");
  }

  // The operand that a walk follows: the first computed one.
  ValueId DataOperand(NodeId id) const {
    for (ValueId input : graph_.nodes[id].inputs) {
      if (input.valid() && graph_.values[input].producer.valid() && !from_weights_[input]) {
        return input;
      }
    }
    return ValueId();
  }

  std::string CommonName(const std::vector<NodeId>& nodes) const {
    if (nodes.size() == 1) {
      const Node& node = graph_.nodes[nodes[0]];
      const std::string& path = graph_.scopes[node.scope].path;
      return path.empty() ? node.name.empty() ? graph_.values[node.output(0)].name : node.name
                          : path;
    }
    ScopeId common = graph_.nodes[nodes[0]].scope;
    for (NodeId node : nodes) {
      while (!Contains(common, graph_.nodes[node].scope)) common = graph_.scopes[common].parent;
    }
    return graph_.scopes[common].path;
  }

  bool Contains(ScopeId ancestor, ScopeId scope) const {
    while (scope.valid() && scope != ancestor) scope = graph_.scopes[scope].parent;
    return scope.valid();
  }

  std::vector<TextbookGroup> Finish() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const int32_t group = group_of_[NodeId(i)];
      if (group != kNoGroup) groups_[static_cast<size_t>(group)].nodes.push_back(NodeId(i));
    }
    std::vector<TextbookGroup> result;
    for (TextbookGroup& group : groups_) {
      if (group.nodes.empty()) continue;
      if (group.kind == "feed forward" && group.nodes.size() == 1) group.kind = "linear";
      group.elements = 0;
      for (NodeId node : group.nodes) {
        const ValueType& type = inferred_.types[graph_.nodes[node].output(0)];
        const Dim elements = type.is_tensor() ? ElementCount(type.tensor, *graph_.dims) : Dim();
        group.elements = graph_.dims->Add(group.elements, elements);
      }
      group.name = CommonName(group.nodes);
      result.push_back(std::move(group));
    }
    std::stable_sort(result.begin(), result.end(), [](const auto& a, const auto& b) {
      return a.nodes.front() < b.nodes.front();
    });
    for (size_t i = 0; i < result.size(); ++i) {
      if (result[i].name.empty()) result[i].name = absl::StrCat(result[i].kind, " ", i);
    }
    return result;
  }

  static constexpr size_t kWalkLimit = 512;
  static constexpr int kHopLimit = 32;

  const Graph& graph_;
  const InferredTypes& inferred_;
  IdVector<ValueId, bool> from_weights_;
  IdVector<ValueId, bool> from_inputs_;
  IdVector<ValueId, std::vector<NodeId>> readers_;
  IdVector<NodeId, bool> is_owner_;
  IdVector<NodeId, int32_t> group_of_;
  std::vector<TextbookGroup> groups_;
  bool has_attention_ = false;
};

}  // namespace

std::vector<TextbookGroup> GroupTextbookLayers(const Graph& graph, const InferredTypes& inferred,
                                               const Roles& roles) {
  return TextbookGrouper(graph, inferred, roles).Run();
}

}  // namespace footprint
