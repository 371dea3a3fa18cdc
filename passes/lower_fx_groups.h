// FxGroups: the ONNX nodes behind each PyTorch operator of a dynamo file.
#ifndef FOOTPRINT_PASSES_LOWER_FX_GROUPS_H_
#define FOOTPRINT_PASSES_LOWER_FX_GROUPS_H_

#include <vector>

#include "ir/provenance.h"
#include "passes/lower_facts.h"

namespace footprint {

struct FxGroup {
  const FxNode* fx = nullptr;    // null: a node without metadata
  std::vector<NodeId> nodes;     // in order
  std::vector<ValueId> inputs;   // tensors from outside, each once, in order
  std::vector<ValueId> outputs;  // read outside, in order
  // The value that is the operator's (first) result.
  ValueId result;
};

// In order of their last nodes, which is the order of the calls.
std::vector<FxGroup> GroupNodes(const LowerFacts& facts, const Provenance& provenance);

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_LOWER_FX_GROUPS_H_
