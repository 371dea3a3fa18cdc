// Needed: MemoryTrace -> the smallest set of storages that the mathematics of the gradients reads,
// beside what PyTorch keeps.
#ifndef FOOTPRINT_PASSES_NEEDED_H_
#define FOOTPRINT_PASSES_NEEDED_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/dim.h"
#include "passes/memory_trace.h"
#include "passes/timeline.h"

namespace footprint {

// Why PyTorch keeps more of a storage than is needed.
enum class Surplus : uint8_t {
  kUnread,    // no gradient reads its numbers
  kOther,     // they are also in another storage, or the gradient can read that one instead
  kPart,      // only a part of it is read
};

// What is there anyway, parameters, buffers and state, is left out.
struct Needed {
  StorageId storage;
  int64_t bytes = 0;  // of it that are read
};

struct Unneeded {
  StorageId storage;
  int64_t bytes = 0;
  Surplus why = Surplus::kUnread;
  StorageId other;  // kOther
};

struct Needs {
  std::vector<Needed> needed;      // in the order of the tape
  std::vector<Unneeded> unneeded;  // of MemoryTrace::saved, largest first
};

// Storages of unknown size are left out of both. `timeline` has their bytes.
Needs FindNeeds(const MemoryTrace& trace, const Timeline& timeline, DimEvaluator& evaluator);

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_NEEDED_H_
