#include "passes/lower_onnx.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "passes/lower_match.h"
#include "passes/lower_merged.h"
#include "passes/lower_node.h"

// The file's node order is the order of PyTorch's eager calls. Three walks:
//
//   backwards   a shape claims the nodes it stands for; later, larger shapes come first
//   backwards   a node is live if somebody reads what it makes: index arithmetic inside shapes,
//               Transposes of weights that every reader absorbed, dead ends drop out
//   forwards    live nodes become calls, a shape at the place of its last node; what the exporter
//               merged with an earlier layer is made again first

namespace footprint {
namespace {

class NodeLowering {
 public:
  NodeLowering(const LowerFacts& facts, const LowerOptions& options, ProgramBuilder& builder)
      : facts_(facts), graph_(facts.graph()), builder_(builder), merged_(facts, nodes_) {
    nodes_.resize(graph_.nodes.size());
    layer_.resize(graph_.nodes.size());
    ChooseRows(options);
    MarkLive();
  }

  void Run() {
    for (NodeId id : graph_.top().nodes) {
      if (!nodes_[id].live) continue;
      if (facts_.from_pytorch()) MakeAgain(id);
      LowerNode(id, graph_.nodes[id].scope);
    }
    for (const auto& [value, tensor] : first_) builder_.Bind(value, tensor);
  }

 private:
  void ChooseRows(const LowerOptions& options);
  std::vector<ValueId> ParametersOf(ValueId composed) const;
  void SpreadComposed(PlannedNode& planned) const;
  bool ChooseShape(const ShapeMatcher& matcher, NodeId id);
  void MarkLive();
  void MakeAgain(NodeId reader);
  void LowerNode(NodeId id, ScopeId scope);
  void LowerGenerically(NodeId id);
  std::vector<ValueId> Captures(const Node& node) const;

  const LowerFacts& facts_;
  const Graph& graph_;
  ProgramBuilder& builder_;
  IdVector<NodeId, PlannedNode> nodes_;
  MergedNodes merged_;
  IdVector<NodeId, ScopeId> layer_;  // of merged nodes: for which layer they were made last
  std::vector<std::pair<ValueId, TorchValueId>> first_;  // what merged nodes made the first time
};

void NodeLowering::ChooseRows(const LowerOptions& options) {
  const ShapeMatcher matcher(facts_, options.fuse_attention);
  const std::vector<NodeId>& order = graph_.top().nodes;
  for (size_t i = order.size(); i-- > 0;) {
    const NodeId id = order[i];
    if (nodes_[id].absorbed) continue;
    if (options.recompose_modules && ChooseShape(matcher, id)) continue;
    const Node& node = graph_.nodes[id];
    PlannedNode& planned = nodes_[id];
    planned.row = FindLowering(node.domain, node.op_type);
    for (ValueId input : node.inputs) {
      planned.operands.push_back(input.valid() ? facts_.SeenFrom(id, input) : ValueId());
    }
    if (planned.row != nullptr && planned.row->composed_operands != 0) SpreadComposed(planned);
  }
}

// The parameters that a value is put together from; empty if anything else went into it.
std::vector<ValueId> NodeLowering::ParametersOf(ValueId composed) const {
  constexpr size_t kMost = 256;
  std::vector<ValueId> parameters;
  std::vector<ValueId> open = {composed};
  absl::flat_hash_set<ValueId> seen;
  while (!open.empty()) {
    const ValueId value = facts_.Resolve(open.back());
    open.pop_back();
    if (facts_.IsArithmetic(value) || !seen.insert(value).second) continue;
    const NodeId producer = graph_.values[value].producer;
    if (facts_.roles().IsParameter(value)) {
      parameters.push_back(value);
    } else if (producer.valid() && seen.size() < kMost) {
      const auto& inputs = graph_.nodes[producer].inputs;
      for (size_t i = inputs.size(); i-- > 0;) {
        if (inputs[i].valid()) open.push_back(inputs[i]);
      }
    } else {
      return {};
    }
  }
  return parameters;
}

void NodeLowering::SpreadComposed(PlannedNode& planned) const {
  const size_t count = planned.operands.size();
  for (size_t i = 0; i < count && i < kFirstPart; ++i) {
    const ValueId operand = planned.operands[i];
    if (((planned.row->composed_operands >> i) & 1) == 0 || !operand.valid()) continue;
    const std::vector<ValueId> parts = ParametersOf(operand);
    if (parts.empty()) continue;
    planned.operands[i] = ValueId();
    if (planned.operands.size() < kFirstPart) planned.operands.resize(kFirstPart);
    planned.operands.insert(planned.operands.end(), parts.begin(), parts.end());
  }
}

bool NodeLowering::ChooseShape(const ShapeMatcher& matcher, NodeId id) {
  for (ShapeMatch& match : matcher.Find(id)) {
    bool free = true;
    for (NodeId inner : match.inner) free &= !nodes_[inner].absorbed;
    PlannedNode planned;
    planned.row = match.row;
    for (ValueId operand : match.operands) {
      planned.operands.push_back(operand.valid() ? facts_.SeenFrom(id, operand) : ValueId());
    }
    planned.is_shape = true;
    const NodeContext context(facts_, nullptr, id, planned);
    if (!free || (match.row->when != nullptr && !match.row->when(context))) continue;
    nodes_[id] = std::move(planned);
    for (NodeId inner : match.inner) nodes_[inner].absorbed = true;
    return true;
  }
  return false;
}

// What the bodies of a control-flow node read from outside, and the module's tensors that the file
// stores in them.
std::vector<ValueId> NodeLowering::Captures(const Node& node) const {
  std::vector<ValueId> captures;
  std::vector<RegionId> open;
  for (const Attribute& attribute : node.attributes) {
    if (attribute.region.valid()) open.push_back(attribute.region);
  }
  while (!open.empty()) {
    const Region& region = graph_.regions[open.back()];
    open.pop_back();
    for (NodeId inner : region.nodes) {
      for (ValueId input : graph_.nodes[inner].inputs) {
        if (!input.valid()) continue;
        const Role role = facts_.roles().of[input];
        const bool stored = role == Role::kParameter || role == Role::kBuffer;
        if (stored || graph_.values[input].region == RegionId(0)) {
          captures.push_back(facts_.Resolve(input));
        }
      }
      for (const Attribute& attribute : graph_.nodes[inner].attributes) {
        if (attribute.region.valid()) open.push_back(attribute.region);
      }
    }
  }
  return captures;
}

void NodeLowering::MarkLive() {
  IdVector<ValueId, bool> needed(graph_.values.size(), false);
  for (ValueId output : graph_.top().outputs) {
    if (output.valid()) needed[facts_.Resolve(output)] = true;
  }
  const std::vector<NodeId>& order = graph_.top().nodes;
  for (size_t i = order.size(); i-- > 0;) {
    const NodeId id = order[i];
    PlannedNode& planned = nodes_[id];
    if (planned.absorbed) continue;
    for (ValueId output : graph_.nodes[id].outputs) {
      if (!output.valid() || !needed[output]) continue;
      planned.live |= facts_.Resolve(output) == output && !facts_.IsArithmetic(output) &&
                      !facts_.roles().IsStored(output);
    }
    if (!planned.live) continue;
    const NodeContext context(facts_, nullptr, id, planned);
    std::vector<ValueId> read = Captures(graph_.nodes[id]);
    for (int k = 0; k < context.num_operands(); ++k) {
      const bool unread = planned.row != nullptr && context.IsFree(k);
      if (context.Has(k) && !unread) read.push_back(context.operand(k));
    }
    for (ValueId value : read) {
      if (!facts_.IsArithmetic(value)) needed[value] = true;
    }
  }
}

// What the reader's layer made for itself.
void NodeLowering::MakeAgain(NodeId reader) {
  for (ValueId value : nodes_[reader].operands) {
    if (!value.valid()) continue;
    const MergedNodes::Layers layers = merged_.Between(reader, value);
    if (!layers.valid()) continue;
    for (NodeId maker : merged_.Makers(value, layers)) {
      if (layer_[maker] == layers.read_in) continue;
      const bool is_second = !layer_[maker].valid();
      layer_[maker] = layers.read_in;
      for (ValueId output : graph_.nodes[maker].outputs) {
        if (is_second && output.valid() && builder_.IsBound(output)) {
          first_.emplace_back(output, builder_.TensorOf(output));
        }
      }
      LowerNode(maker, merged_.Counterpart(graph_.nodes[maker].scope, layers));
      for (ValueId output : graph_.nodes[maker].outputs) {
        if (!output.valid() || !builder_.IsBound(output)) continue;
        const TorchValueId made = builder_.TensorOf(output);
        if (builder_.value(made).onnx_value != output) continue;  // another value's
        builder_.Rename(made, merged_.NameIn(graph_.values[output].name, layers));
      }
    }
  }
}

void NodeLowering::LowerNode(NodeId id, ScopeId scope) {
  const PlannedNode& planned = nodes_[id];
  ProgramBuilder::Origin origin;
  origin.node = id;
  origin.scope = scope;
  origin.evidence = planned.is_shape ? Evidence::kPattern : Evidence::kOperator;
  if (planned.row != nullptr) origin.note = std::string(planned.row->note);
  builder_.SetOrigin(std::move(origin));
  NodeContext context(facts_, &builder_, id, planned);
  if (planned.row == nullptr || planned.row->lower == nullptr || !planned.row->lower(context)) {
    LowerGenerically(id);
  }
}

void NodeLowering::LowerGenerically(NodeId id) {
  const Node& node = graph_.nodes[id];
  std::vector<ValueId> operands = nodes_[id].operands;
  const std::vector<ValueId> captures = Captures(node);
  operands.insert(operands.end(), captures.begin(), captures.end());
  std::vector<TorchValueId> tensors;
  absl::flat_hash_set<ValueId> seen;
  for (ValueId operand : operands) {
    if (!operand.valid() || facts_.IsArithmetic(operand) || !seen.insert(operand).second) continue;
    const TorchValueId tensor = builder_.TensorOf(operand);
    if (tensor.valid()) tensors.push_back(tensor);
  }
  absl::InlinedVector<TorchValueId, 1> results;
  for (ValueId output : node.outputs) results.push_back(builder_.AddComputedFor(output));
  builder_.AppendGeneric(tensors, std::move(results));
}

}  // namespace

void LowerNodes(const LowerFacts& facts, const LowerOptions& options, ProgramBuilder& builder) {
  NodeLowering(facts, options, builder).Run();
}

}  // namespace footprint
