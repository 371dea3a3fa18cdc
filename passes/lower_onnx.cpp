#include "passes/lower_onnx.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "passes/lower_match.h"
#include "passes/lower_node.h"

// The file's node order is the order of PyTorch's eager calls. Three walks:
//
//   backwards   a shape claims the nodes it stands for; later, larger shapes come first
//   backwards   a node is live if somebody reads what it makes: index arithmetic inside shapes,
//               Transposes of weights that every reader absorbed, dead ends drop out
//   forwards    live nodes become calls, a shape at the place of its last node

namespace footprint {
namespace {

class NodeLowering {
 public:
  NodeLowering(const LowerFacts& facts, const LowerOptions& options, ProgramBuilder& builder)
      : facts_(facts), graph_(facts.graph()), builder_(builder) {
    nodes_.resize(graph_.nodes.size());
    ChooseRows(options);
    MarkLive();
  }

  void Run() {
    for (NodeId id : graph_.top().nodes) {
      if (nodes_[id].live) LowerNode(id);
    }
  }

 private:
  void ChooseRows(const LowerOptions& options);
  bool ChooseShape(const ShapeMatcher& matcher, NodeId id);
  void MarkLive();
  void LowerNode(NodeId id);
  void LowerGenerically(NodeId id);
  std::vector<ValueId> Captures(const Node& node) const;

  const LowerFacts& facts_;
  const Graph& graph_;
  ProgramBuilder& builder_;
  IdVector<NodeId, PlannedNode> nodes_;
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

// What the bodies of a control-flow node read from outside.
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
        if (input.valid() && graph_.values[input].region == RegionId(0)) {
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

void NodeLowering::LowerNode(NodeId id) {
  const PlannedNode& planned = nodes_[id];
  ProgramBuilder::Origin origin;
  origin.node = id;
  origin.scope = graph_.nodes[id].scope;
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
