// An If whose condition is stored: the nodes of one branch take its place.
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "backend/runtime/onnxruntime_rewrites.h"

namespace footprint {
namespace {

class Inliner {
 public:
  Inliner(RuntimeGraph& graph, const InferredTypes& inferred, const InferredTypes& visible)
      : graph_(graph), inferred_(inferred), visible_(visible) {
    for (size_t i = 0; i < graph.values.size(); ++i) {
      const ValueId value = graph.values[i].value;
      if (value.valid()) ids_.emplace(value, static_cast<int32_t>(i));
    }
  }

  // Whether the node was one.
  bool Inline(int32_t id) {
    const RuntimeNode node = graph_.node(id);
    const RegionId region = TakenBranch(node);
    if (!region.valid()) return false;
    RuntimeGraph branch = MakeRuntimeGraph(*graph_.graph, region, inferred_, visible_);
    const std::vector<ValueId>& results = graph_.graph->regions[region].outputs;
    if (results.size() != node.outputs.size()) return false;
    for (size_t i = 0; i < results.size(); ++i) NameResult(region, results[i], node.outputs[i]);
    std::vector<int32_t> to;
    for (const RuntimeValue& value : branch.values) to.push_back(Place(value));
    for (RuntimeNode& inner : branch.nodes) {
      for (std::vector<int32_t>* list : {&inner.inputs, &inner.outputs}) {
        for (int32_t& value : *list) value = value < 0 ? -1 : to[static_cast<size_t>(value)];
      }
      inner.captures.clear();
      for (const ValueId read : ReadByBodies(*graph_.graph, graph_.graph->nodes[inner.source])) {
        const auto found = ids_.find(read);
        if (found != ids_.end()) inner.captures.push_back(found->second);
      }
      graph_.nodes.push_back(std::move(inner));
    }
    for (size_t i = 0; i < results.size(); ++i) HandOn(results[i], node.outputs[i]);
    graph_.node(id).removed = true;
    return true;
  }

 private:
  RegionId TakenBranch(const RuntimeNode& node) const {
    if (node.op_type != "If" || !node.domain.empty() || !node.source.valid()) return RegionId();
    const RuntimeValue& condition = graph_.value(node.inputs[0]);
    const KnownValuePtr& contents = condition.contents;
    if (!condition.constant || contents == nullptr || contents->integers.size() != 1 ||
        !contents->integers[0].is_constant()) {
      return RegionId();
    }
    const char* name = contents->integers[0].Is(0) ? "else_branch" : "then_branch";
    for (const Attribute& attribute : graph_.graph->nodes[node.source].attributes) {
      if (attribute.name == name) return attribute.region;
    }
    return RegionId();
  }

  // What a node of the branch makes goes by the name of the node's result.
  void NameResult(RegionId branch, ValueId value, int32_t result) {
    if (result < 0 || !value.valid()) return;
    const Value& row = graph_.graph->values[value];
    if (row.kind == ValueKind::kNodeOutput && row.region == branch) ids_.emplace(value, result);
  }

  int32_t Place(const RuntimeValue& value) {
    const auto [found, is_new] =
        ids_.emplace(value.value, static_cast<int32_t>(graph_.values.size()));
    if (is_new) {
      graph_.values.push_back(value);
      graph_.values.back().output = false;
    }
    return found->second;
  }

  // What the branch only hands on, or hands out twice.
  void HandOn(ValueId value, int32_t result) {
    const auto found = value.valid() ? ids_.find(value) : ids_.end();
    if (result < 0 || found == ids_.end() || found->second == result) return;
    graph_.nodes.push_back(Unary("Identity", "", NodeId(), found->second, result));
  }

  RuntimeGraph& graph_;
  const InferredTypes& inferred_;
  const InferredTypes& visible_;
  absl::flat_hash_map<ValueId, int32_t> ids_;
};

}  // namespace

bool InlineBranches(Rewriter& rewriter, const InferredTypes& inferred,
                    const InferredTypes& visible) {
  std::vector<int32_t> found;
  for (const int32_t id : rewriter.Order()) {
    if (rewriter.Is(id, "If")) found.push_back(id);
  }
  if (found.empty()) return false;
  Inliner inliner(rewriter.graph(), inferred, visible);
  int64_t inlined = 0;
  for (const int32_t id : found) inlined += inliner.Inline(id) ? 1 : 0;
  if (inlined == 0) return false;
  rewriter.FindUsesAgain();
  for (int64_t i = 0; i < inlined; ++i) rewriter.Count("branch taken beforehand");
  return true;
}

}  // namespace footprint
