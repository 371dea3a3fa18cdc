#include "passes/lower_fx_groups.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"

namespace footprint {
namespace {

class Grouping {
 public:
  Grouping(const LowerFacts& facts, const Provenance& provenance)
      : facts_(facts),
        graph_(facts.graph()),
        provenance_(provenance),
        group_of_(graph_.nodes.size(), -1) {}

  std::vector<FxGroup> Run() {
    CollectNodes();
    TakeInNodes();
    for (size_t i = 0; i < groups_.size(); ++i) {
      FindInputs(groups_[i]);
      FindOutputs(groups_[i], static_cast<int32_t>(i));
    }
    std::stable_sort(groups_.begin(), groups_.end(), [](const FxGroup& a, const FxGroup& b) {
      return a.nodes.back() < b.nodes.back();
    });
    return std::move(groups_);
  }

 private:
  void CollectNodes() {
    std::vector<int32_t> by_text(provenance_.fx_nodes.size(), -1);
    absl::flat_hash_map<absl::string_view, int32_t> by_name;
    for (size_t i = 0; i < provenance_.fx_nodes.size(); ++i) {
      by_name.emplace(provenance_.fx_nodes[i].name, static_cast<int32_t>(i));
    }
    for (NodeId id : graph_.top().nodes) {
      int32_t text = static_cast<size_t>(id.index()) < provenance_.fx_of_node.size()
                         ? provenance_.fx_of_node[id]
                         : -1;
      // A node that lost its text to a rewrite but makes what another text is called.
      if (text < 0 && graph_.nodes[id].output(0).valid()) {
        const auto named = by_name.find(graph_.values[graph_.nodes[id].output(0)].name);
        if (named != by_name.end()) text = named->second;
      }
      int32_t index = text < 0 ? -1 : by_text[static_cast<size_t>(text)];
      if (index < 0) {
        index = static_cast<int32_t>(groups_.size());
        groups_.emplace_back();
        if (text >= 0) {
          by_text[static_cast<size_t>(text)] = index;
          groups_.back().fx = &provenance_.fx_nodes[static_cast<size_t>(text)];
        }
      }
      groups_[static_cast<size_t>(index)].nodes.push_back(id);
      group_of_[id] = index;
    }
  }

  // A node without a text that stands between two of one text is of that text.
  void TakeInNodes() {
    for (FxGroup& group : groups_) {
      if (group.fx != nullptr || group.nodes.size() != 1) continue;
      const NodeId id = group.nodes[0];
      const Value* source = nullptr;
      for (ValueId input : graph_.nodes[id].inputs) {
        if (input.valid() && source == nullptr) source = &graph_.values[facts_.Resolve(input)];
      }
      const bool is_made = source != nullptr && source->kind == ValueKind::kNodeOutput &&
                           source->region == graph_.nodes[id].region;
      const int32_t around = is_made ? group_of_[source->producer] : -1;
      if (around < 0 || groups_[static_cast<size_t>(around)].fx == nullptr) continue;
      bool stays = groups_[static_cast<size_t>(around)].nodes.back() < id;
      for (ValueId output : graph_.nodes[id].outputs) {
        const absl::Span<const NodeId> readers = facts_.Readers(output);
        stays |= graph_.values[output].is_graph_output ||
                 !std::all_of(readers.begin(), readers.end(),
                              [&](NodeId reader) { return group_of_[reader] == around; });
      }
      if (stays) continue;
      std::vector<NodeId>& nodes = groups_[static_cast<size_t>(around)].nodes;
      nodes.insert(std::upper_bound(nodes.begin(), nodes.end(), id), id);
      group_of_[id] = around;
      group.nodes.clear();
    }
    groups_.erase(std::remove_if(groups_.begin(), groups_.end(),
                                 [](const FxGroup& group) { return group.nodes.empty(); }),
                  groups_.end());
    for (size_t i = 0; i < groups_.size(); ++i) {
      for (NodeId id : groups_[i].nodes) group_of_[id] = static_cast<int32_t>(i);
    }
  }

  void FindInputs(FxGroup& group) {
    absl::flat_hash_set<ValueId> seen;
    for (NodeId id : group.nodes) {
      for (ValueId output : graph_.nodes[id].outputs) seen.insert(output);
      for (ValueId input : graph_.nodes[id].inputs) {
        if (!input.valid()) continue;
        input = facts_.Resolve(input);
        if (!facts_.IsArithmetic(input) && seen.insert(input).second) group.inputs.push_back(input);
      }
    }
  }

  void FindOutputs(FxGroup& group, int32_t index) {
    for (NodeId id : group.nodes) {
      for (ValueId output : graph_.nodes[id].outputs) {
        if (!output.valid()) continue;
        const absl::Span<const NodeId> readers = facts_.Readers(output);
        const bool outside = graph_.values[output].is_graph_output ||
                             std::any_of(readers.begin(), readers.end(), [&](NodeId reader) {
                               return group_of_[reader] != index;
                             });
        if (!outside) continue;
        group.outputs.push_back(output);
        if (group.fx != nullptr && graph_.values[output].name == group.fx->name) {
          group.result = output;
        }
      }
    }
    if (!group.result.valid()) group.result = graph_.nodes[group.nodes.back()].output(0);
  }

  const LowerFacts& facts_;
  const Graph& graph_;
  const Provenance& provenance_;
  IdVector<NodeId, int32_t> group_of_;
  std::vector<FxGroup> groups_;
};

}  // namespace

std::vector<FxGroup> GroupNodes(const LowerFacts& facts, const Provenance& provenance) {
  return Grouping(facts, provenance).Run();
}

}  // namespace footprint
