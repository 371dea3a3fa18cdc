// MergedNodes: what an exporter merged across the layers of a module.
#ifndef FOOTPRINT_PASSES_LOWER_MERGED_H_
#define FOOTPRINT_PASSES_LOWER_MERGED_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "passes/lower_facts.h"
#include "passes/lower_node.h"

namespace footprint {

class MergedNodes {
 public:
  MergedNodes(const LowerFacts& facts, const IdVector<NodeId, PlannedNode>& nodes);

  // Two layers of one list: encoder/layer.0 and encoder/layer.3.
  struct Layers {
    ScopeId made_in, read_in;
    bool valid() const { return made_in.valid(); }
  };
  // Invalid unless the layer of `reader` must have made `value` itself.
  Layers Between(NodeId reader, ValueId value) const;
  // The nodes of that layer that make `value`, in order; empty if one of them reads a parameter.
  std::vector<NodeId> Makers(ValueId value, const Layers& layers) const;
  // Where in the reader's layer the same happens; the layer itself if it has no such module.
  ScopeId Counterpart(ScopeId scope, const Layers& layers) const;
  std::string NameIn(const std::string& name, const Layers& layers) const;

 private:
  std::vector<ScopeId> Ancestors(ScopeId scope) const;  // outermost first

  const LowerFacts& facts_;
  const Graph& graph_;
  const IdVector<NodeId, PlannedNode>& nodes_;
  absl::flat_hash_map<absl::string_view, ScopeId> scope_of_path_;
};

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_LOWER_MERGED_H_
