// FxSequences: calls that the exporter writes as several texts, found again.
#ifndef FOOTPRINT_PASSES_LOWER_FX_SEQUENCES_H_
#define FOOTPRINT_PASSES_LOWER_FX_SEQUENCES_H_

#include <cstddef>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "ir/ops/lowering/fx.h"
#include "passes/lower_facts.h"
#include "passes/lower_fx_groups.h"
#include "passes/lower_fx_names.h"

namespace footprint {

// One call: groups[begin, end) of a file.
struct FxSequenceMatch {
  struct Operand {
    size_t group = 0;
    size_t argument = 0;
  };
  const FxSequence* row = nullptr;
  size_t begin = 0;
  size_t end = 0;
  std::vector<Operand> operands;
  int axes = 0;        // that the row's reduction takes
  int parameter = -1;  // argument of the last text that is the call's parameter; -1: none
  int reduction = 0;   // of a loss: 0 none, 1 mean, 2 sum
};

// By the first group. A sequence is one where each text reads nothing but the operands and earlier
// ones, and nothing else reads what is made in between.
absl::flat_hash_map<size_t, FxSequenceMatch> FindSequences(const std::vector<FxGroup>& groups,
                                                           const LowerFacts& facts,
                                                           const FxNames& names);

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_LOWER_FX_SEQUENCES_H_
