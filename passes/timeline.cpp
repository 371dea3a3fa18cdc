#include "ir/wide.h"
#include "passes/timeline.h"

#include <algorithm>

// A difference array: each storage adds its bytes at its first tick and takes them back at its end;
// a running sum gives live bytes at every tick in time linear in storages and ticks.

namespace footprint {
namespace {

bool FitsInt64(Wide value) { return value >= 0 && value <= std::numeric_limits<int64_t>::max(); }

}  // namespace

Timeline ComputeTimeline(const MemoryTrace& trace, DimEvaluator& evaluator, int64_t granularity) {
  Timeline timeline;
  timeline.bytes.resize(trace.storages.size());
  std::vector<Wide> change(static_cast<size_t>(trace.end_tick) + 1, 0);
  for (size_t i = 0; i < trace.storages.size(); ++i) {
    const StorageId id(i);
    const StorageRecord& storage = trace.storages[id];
    timeline.bytes[id] = evaluator.Evaluate(storage.bytes);
    if (!timeline.bytes[id].has_value()) {
      ++timeline.unknown_storages;
      continue;
    }
    if (storage.first_tick >= storage.end_tick) continue;
    const Wide blocks = (Wide{*timeline.bytes[id]} + granularity - 1) / granularity;
    change[static_cast<size_t>(storage.first_tick)] += blocks * granularity;
    change[static_cast<size_t>(storage.end_tick)] -= blocks * granularity;
  }
  timeline.live_bytes.reserve(static_cast<size_t>(trace.end_tick));
  Wide live = 0;
  for (int64_t tick = 0; tick < trace.end_tick; ++tick) {
    live += change[static_cast<size_t>(tick)];
    timeline.overflow |= !FitsInt64(live);
    timeline.live_bytes.push_back(FitsInt64(live) ? static_cast<int64_t>(live) : 0);
  }
  return timeline;
}

int64_t Timeline::PeakTick(int64_t begin, int64_t end) const {
  if (begin >= end) return begin;
  const auto first = live_bytes.begin() + begin;
  return begin + (std::max_element(first, live_bytes.begin() + end) - first);
}

std::vector<StorageId> LiveAt(const MemoryTrace& trace, const Timeline& timeline, int64_t tick) {
  std::vector<StorageId> live;
  for (size_t i = 0; i < trace.storages.size(); ++i) {
    const StorageRecord& storage = trace.storages[StorageId(i)];
    if (storage.first_tick <= tick && tick < storage.end_tick) live.push_back(StorageId(i));
  }
  std::stable_sort(live.begin(), live.end(), [&](StorageId a, StorageId b) {
    return timeline.bytes[a].value_or(0) > timeline.bytes[b].value_or(0);
  });
  return live;
}

int64_t StepAt(const MemoryTrace& trace, int64_t tick) {
  const auto after =
      std::upper_bound(trace.steps.begin(), trace.steps.end(), tick,
                       [](int64_t t, const Step& step) { return t < step.first_tick; });
  return after - trace.steps.begin() - 1;
}

}  // namespace footprint
