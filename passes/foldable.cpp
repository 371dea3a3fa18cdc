#include "passes/foldable.h"

#include <algorithm>
#include <utility>

#include "ir/onnx_op.h"

// All values but inputs are taken for constant until something they depend on turns out not to be.
// Outside of bodies one walk in execution order finds that; a body hands its doubts to the node
// that owns it, and the walk is repeated until nothing changes.

namespace footprint {
namespace {

class Folding {
 public:
  explicit Folding(const Graph& graph) : graph_(graph), constant_(graph.values.size(), true) {
    for (ValueId input : graph.top().inputs) {
      if (graph.values[input].kind == ValueKind::kInput) constant_[input] = false;
    }
  }

  IdVector<ValueId, bool> Run() {
    while (Walk()) {
    }
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      const Value& value = graph_.values[ValueId(i)];
      if (value.kind != ValueKind::kNodeOutput) constant_[ValueId(i)] = false;
    }
    return std::move(constant_);
  }

 private:
  // True if it must be repeated.
  bool Walk() {
    bool changed = false;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[NodeId(i)];
      if (IsConstant(node)) continue;
      const bool news = Doubt(node.outputs);
      // Inside of bodies, and in front of their owners, somebody may have been passed already.
      changed |= news && graph_.regions.size() > 1;
    }
    return changed;
  }

  bool IsConstant(const Node& node) {
    if (node.op == nullptr || node.op->is_random) return false;
    bool constant = AreConstant(node.inputs);
    for (const Attribute& attribute : node.attributes) {
      if (!attribute.region.valid()) continue;
      constant &= AreConstant(graph_.regions[attribute.region].outputs);
    }
    if (constant) return true;
    // What goes in comes from outside, or from the iteration before.
    for (const Attribute& attribute : node.attributes) {
      if (attribute.region.valid()) Doubt(graph_.regions[attribute.region].inputs);
    }
    return false;
  }

  bool AreConstant(absl::Span<const ValueId> values) const {
    return std::all_of(values.begin(), values.end(),
                       [this](ValueId id) { return !id.valid() || constant_[id]; });
  }

  // True if any was taken for constant.
  bool Doubt(absl::Span<const ValueId> values) {
    bool news = false;
    for (const ValueId id : values) {
      if (!id.valid() || !constant_[id]) continue;
      constant_[id] = false;
      news = true;
    }
    return news;
  }

  const Graph& graph_;
  IdVector<ValueId, bool> constant_;
};

}  // namespace

IdVector<ValueId, bool> FindFoldable(const Graph& graph) { return Folding(graph).Run(); }

}  // namespace footprint
