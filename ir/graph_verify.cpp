// Verify: does a graph keep what graph.h promises? It trusts no table: ids are checked before they
// are followed, then the regions are walked once in execution order, a body before the outputs of
// the node that owns it:
//
//   top:  x  n0  [n1: body of n1 ...]  outputs of n1  n2 ...
//
// A value may be read where it was defined before, in a region that is open at that moment.
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "ir/graph.h"

namespace footprint {
namespace {

class Verifier {
 public:
  explicit Verifier(const Graph& graph)
      : graph_(graph),
        defined_(graph.values.size(), false),
        open_(graph.regions.size(), false),
        visited_(graph.nodes.size(), false) {}

  std::string Run() {
    if (graph_.regions.empty()) return "no top region";
    CheckScopes();
    if (ok()) CheckValues();
    if (ok()) CheckNodes();
    if (ok()) CheckRegions();
    if (ok()) Walk();
    if (ok()) {
      for (size_t i = 0; i < visited_.size(); ++i) {
        if (!visited_[NodeId(i)]) Fail("node ", i, " is in no region that is reached");
      }
    }
    return problem_;
  }

 private:
  struct Frame {
    RegionId region;
    size_t next = 0;
    std::vector<RegionId> bodies;  // of the node before `next`, still to be walked, in reverse
    bool inside_node = false;      // that node's outputs are not defined yet
  };

  bool ok() const { return problem_.empty(); }

  template <typename... Parts>
  void Fail(const Parts&... parts) {
    if (problem_.empty()) problem_ = absl::StrCat(parts...);
  }

  template <typename IdType, typename T>
  static bool In(const IdVector<IdType, T>& table, IdType id) {
    return id.valid() && static_cast<size_t>(id.index()) < table.size();
  }

  void CheckScopes() {
    if (graph_.scopes.empty()) return Fail("no root scope");
    for (size_t i = 0; i < graph_.scopes.size(); ++i) {
      const ScopeId parent = graph_.scopes[ScopeId(i)].parent;
      if (i == 0 ? parent.valid() : !parent.valid() || parent >= ScopeId(i)) {
        return Fail("scope ", i, " does not follow its parent");
      }
    }
  }

  void CheckValues() {
    absl::flat_hash_set<absl::string_view> names;
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      const ValueId id(i);
      const Value& value = graph_.values[id];
      if (value.name.empty()) return Fail("value ", i, " has no name");
      if (!names.insert(value.name).second) return Fail("two values are called ", value.name);
      if (!In(graph_.regions, value.region)) return Fail(value.name, " is in no region");
      const bool top = value.region == RegionId(0);
      switch (value.kind) {
        case ValueKind::kInput:
        case ValueKind::kRegionInput:
          if ((value.kind == ValueKind::kInput) != top) return Fail(value.name, ": wrong kind");
          break;
        case ValueKind::kConstant:
          if (!In(graph_.constants, value.constant)) return Fail(value.name, " has no contents");
          break;
        case ValueKind::kNodeOutput:
          if (!In(graph_.nodes, value.producer) || value.output_index < 0 ||
              graph_.nodes[value.producer].output(static_cast<size_t>(value.output_index)) != id) {
            return Fail(value.name, " is no output of its producer");
          }
          break;
      }
    }
    for (const Constant& constant : graph_.constants) {
      if (!In(graph_.scopes, constant.scope)) return Fail(constant.name, " is in no scope");
    }
  }

  void CheckNodes() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const NodeId id(i);
      const Node& node = graph_.nodes[id];
      if (!In(graph_.regions, node.region)) return Fail("node ", i, " is in no region");
      if (!In(graph_.scopes, node.scope)) return Fail("node ", i, " is in no scope");
      for (const ValueId input : node.inputs) {
        if (input.valid() && !In(graph_.values, input)) return Fail("node ", i, " reads nothing");
      }
      for (const ValueId output : node.outputs) {
        if (!output.valid()) continue;
        if (!In(graph_.values, output)) return Fail("node ", i, " writes nothing");
        const Value& value = graph_.values[output];
        if (value.producer != id || value.region != node.region) {
          return Fail(value.name, " is defined by two nodes, or elsewhere than its node");
        }
      }
      for (const Attribute& attribute : node.attributes) {
        if (attribute.kind == Attribute::Kind::kTensor &&
            !In(graph_.constants, attribute.constant)) {
          return Fail("node ", i, ", attribute ", attribute.name, ": no contents");
        }
        if (attribute.kind != Attribute::Kind::kRegion) continue;
        if (!In(graph_.regions, attribute.region) || graph_.regions[attribute.region].owner != id) {
          return Fail("node ", i, ", attribute ", attribute.name, ": a body that it does not own");
        }
      }
    }
  }

  void CheckRegions() {
    if (graph_.regions[RegionId(0)].owner.valid()) return Fail("the top region has an owner");
    for (size_t i = 0; i < graph_.regions.size(); ++i) {
      const Region& region = graph_.regions[RegionId(i)];
      if (i > 0 && !In(graph_.nodes, region.owner)) return Fail("region ", i, " has no owner");
      for (const ValueId input : region.inputs) {
        if (!In(graph_.values, input)) return Fail("region ", i, " has no such input");
        const Value& value = graph_.values[input];
        const ValueKind kind = i == 0 ? ValueKind::kInput : ValueKind::kRegionInput;
        if (value.kind != kind || value.region != RegionId(i)) {
          return Fail(value.name, " is no input of region ", i);
        }
      }
      for (const NodeId node : region.nodes) {
        if (!In(graph_.nodes, node) || graph_.nodes[node].region != RegionId(i)) {
          return Fail("region ", i, " lists a node that is elsewhere");
        }
      }
    }
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      if (graph_.values[ValueId(i)].kind != ValueKind::kConstant) continue;
      defined_[ValueId(i)] = true;
    }
  }

  bool Readable(ValueId value) const {
    return defined_[value] && open_[graph_.values[value].region];
  }

  void Enter(RegionId region) {
    if (open_[region]) return Fail("region ", region.index(), " contains itself");
    open_[region] = true;
    for (const ValueId input : graph_.regions[region].inputs) defined_[input] = true;
    stack_.push_back({region, 0, {}, false});
  }

  void Leave(RegionId region) {
    for (const ValueId output : graph_.regions[region].outputs) {
      if (!In(graph_.values, output)) return Fail("region ", region.index(), ": no such output");
      if (!Readable(output)) return Fail(graph_.values[output].name, " is not defined at the end");
    }
    open_[region] = false;
    stack_.pop_back();
  }

  void EnterNode(Frame& frame, NodeId id) {
    const Node& node = graph_.nodes[id];
    if (visited_[id]) return Fail("node ", id.index(), " is listed twice");
    visited_[id] = true;
    for (const ValueId input : node.inputs) {
      if (input.valid() && !Readable(input)) {
        return Fail(Describe(graph_, id), " reads ", graph_.values[input].name, " too early");
      }
    }
    frame.inside_node = true;
    for (size_t i = node.attributes.size(); i-- > 0;) {
      if (node.attributes[i].kind == Attribute::Kind::kRegion) {
        frame.bodies.push_back(node.attributes[i].region);
      }
    }
  }

  void Walk() {
    Enter(RegionId(0));
    while (ok() && !stack_.empty()) {
      Frame& frame = stack_.back();
      const std::vector<NodeId>& nodes = graph_.regions[frame.region].nodes;
      if (!frame.bodies.empty()) {
        const RegionId body = frame.bodies.back();
        frame.bodies.pop_back();
        Enter(body);
      } else if (frame.inside_node) {
        frame.inside_node = false;
        for (const ValueId output : graph_.nodes[nodes[frame.next - 1]].outputs) {
          if (output.valid()) defined_[output] = true;
        }
      } else if (frame.next < nodes.size()) {
        EnterNode(frame, nodes[frame.next++]);
      } else {
        Leave(frame.region);
      }
    }
  }

  const Graph& graph_;
  IdVector<ValueId, char> defined_;
  IdVector<RegionId, char> open_;
  IdVector<NodeId, char> visited_;
  std::vector<Frame> stack_;
  std::string problem_;
};

}  // namespace

std::string Verify(const Graph& graph) { return Verifier(graph).Run(); }

}  // namespace footprint
