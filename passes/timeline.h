// Timeline: live bytes at every tick of a MemoryTrace, the peak, and who is alive there.
#ifndef FOOTPRINT_PASSES_TIMELINE_H_
#define FOOTPRINT_PASSES_TIMELINE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/dim.h"
#include "passes/memory_trace.h"

namespace footprint {

// The caching allocator of PyTorch hands out multiples of this many bytes.
constexpr int64_t kAllocationGranularity = 512;

struct Timeline {
  // Bytes of each storage at the binding, not rounded; nullopt: unknown.
  IdVector<StorageId, std::optional<int64_t>> bytes;
  // Live bytes at each tick, each storage rounded up to the granularity; unknown storages count 0,
  // and those that run-time data decides are bounded together.
  std::vector<int64_t> live_bytes;
  int64_t unknown_storages = 0;
  // The sum of all storages, dead ones included, leaves 64 bits: no figure may be used.
  bool overflow = false;

  // First tick of the highest live bytes in [begin, end); `begin` if that is empty.
  int64_t PeakTick(int64_t begin, int64_t end) const;
};

// `granularity` 1: no rounding.
Timeline ComputeTimeline(const MemoryTrace& trace, DimEvaluator& evaluator, int64_t granularity);

// Storages alive at `tick`, largest first (equal ones in the order of their ids).
std::vector<StorageId> LiveAt(const MemoryTrace& trace, const Timeline& timeline, int64_t tick);

// The step that a tick belongs to; -1 if the trace has none.
int64_t StepAt(const MemoryTrace& trace, int64_t tick);

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_TIMELINE_H_
