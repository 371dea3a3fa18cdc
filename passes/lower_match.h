// Finds the shapes of ir/ops/lowering in a graph.
#ifndef FOOTPRINT_PASSES_LOWER_MATCH_H_
#define FOOTPRINT_PASSES_LOWER_MATCH_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "ir/graph.h"
#include "ir/ops/lowering/lowering.h"
#include "ir/ops/lowering/shape.h"
#include "passes/lower_facts.h"

namespace footprint {

struct ShapeMatch {
  const Lowering* row = nullptr;
  std::vector<ValueId> operands;  // by Lowering::operands
  std::vector<NodeId> inner;      // nodes that the match stands for, the last one excluded
};

class ShapeMatcher {
 public:
  ShapeMatcher(const LowerFacts& facts, bool fuse_attention);

  // Shapes that end in `root`, in the order they are to be tried.
  std::vector<ShapeMatch> Find(NodeId root) const;

 private:
  struct Entry {
    const Lowering* row;
    Shape shape;
    std::vector<int> operands;  // variables, in the order of Lowering::operands
  };
  struct State {
    absl::InlinedVector<ValueId, 8> bindings;
    absl::InlinedVector<NodeId, 8> nodes;  // matched, shared ones excluded
    absl::InlinedVector<NodeId, 8> shared;
  };

  bool MatchPart(const Shape& shape, int part, ValueId value, State& state) const;
  bool MatchNode(const Shape& shape, int part, NodeId node, State& state) const;  // which fits
  bool MatchOperands(const Shape& shape, const ShapePart& part, const Node& node, bool swapped,
                     State& state) const;
  bool IsClosed(const State& state, NodeId root) const;

  const LowerFacts& facts_;
  const Graph& graph_;
  std::vector<Entry> entries_;
  absl::flat_hash_map<absl::string_view, std::vector<int>> by_root_;
};

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_LOWER_MATCH_H_
