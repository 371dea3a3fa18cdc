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
  const FxSequence* row = nullptr;
  size_t begin = 0;
  size_t end = 0;
  int axes = 0;         // that the row's reduction takes
  int parameter = -1;   // argument of the last text that is the call's parameter; -1: none
};

// By the first group. A sequence is one where each text but the first reads an earlier one or what
// the first reads, and nothing else reads what is made in between.
absl::flat_hash_map<size_t, FxSequenceMatch> FindSequences(const std::vector<FxGroup>& groups,
                                                           const LowerFacts& facts,
                                                           const FxNames& names);

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_LOWER_FX_SEQUENCES_H_
