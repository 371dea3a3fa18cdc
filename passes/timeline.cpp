#include "ir/wide.h"
#include "passes/timeline.h"

#include <algorithm>

#include "passes/byte_total.h"

// A difference array: each storage adds its bytes at its first tick and takes them back at its end;
// a running sum gives live bytes at every tick in time linear in storages and ticks.
//
// Sizes that run-time data decides are bounds, and bounds of what is alive together must be sought
// together: two parts of an axis of 10 are u and 10 - u, 10 at most each, and 10 in all. Whenever
// such a storage comes or goes, those that are alive are added up as one expression.

namespace footprint {
namespace {

// Sizes that are added up as expressions over the whole trace; beyond, each has its own bound.
constexpr size_t kMostAddends = 1 << 16;

bool FitsInt64(Wide value) { return value >= 0 && value <= std::numeric_limits<int64_t>::max(); }

Wide RoundUp(int64_t bytes, int64_t granularity) {
  return (Wide{bytes} + granularity - 1) / granularity * granularity;
}

// Storages of data-dependent size, as time goes on.
class DataDependentBytes {
 public:
  DataDependentBytes(const MemoryTrace& trace, DimEvaluator& evaluator, int64_t granularity)
      : trace_(trace), evaluator_(evaluator), granularity_(granularity) {}

  void Add(StorageId id, Wide bound) {
    const StorageRecord& storage = trace_.storages[id];
    changes_.push_back({storage.first_tick, id, bound, true});
    changes_.push_back({storage.end_tick, id, -bound, false});
  }

  void Start() {
    std::stable_sort(changes_.begin(), changes_.end(),
                     [](const Change& a, const Change& b) { return a.tick < b.tick; });
  }

  // At most so many bytes are alive at `tick`; ticks are asked for in order.
  Wide At(int64_t tick) {
    bool changed = false;
    for (; next_ < changes_.size() && changes_[next_].tick <= tick; ++next_) {
      const Change& change = changes_[next_];
      changed = true;
      separately_ += change.bytes;
      if (addends_ > kMostAddends) continue;
      if (change.comes) {
        alive_.push_back(change.storage);
      } else {
        alive_.erase(std::find(alive_.begin(), alive_.end(), change.storage));
      }
    }
    if (changed) together_ = Together();
    return together_;
  }

 private:
  struct Change {
    int64_t tick;
    StorageId storage;
    Wide bytes;
    bool comes;  // or goes
  };

  Wide Together() {
    addends_ += alive_.size();
    if (addends_ > kMostAddends || !FitsInt64(separately_)) return separately_;
    std::vector<Dim> sizes;
    for (const StorageId id : alive_) sizes.push_back(trace_.storages[id].bytes);
    return BoundTogether(sizes, static_cast<int64_t>(separately_), granularity_, evaluator_);
  }

  const MemoryTrace& trace_;
  DimEvaluator& evaluator_;
  const int64_t granularity_;
  std::vector<Change> changes_;
  size_t next_ = 0;
  size_t addends_ = 0;
  std::vector<StorageId> alive_;
  Wide separately_ = 0;
  Wide together_ = 0;
};

}  // namespace

Timeline ComputeTimeline(const MemoryTrace& trace, DimEvaluator& evaluator, int64_t granularity) {
  Timeline timeline;
  timeline.bytes.resize(trace.storages.size());
  std::vector<Wide> change(static_cast<size_t>(trace.end_tick) + 1, 0);
  DataDependentBytes data_dependent(trace, evaluator, granularity);
  Wide all = 0;
  for (size_t i = 0; i < trace.storages.size(); ++i) {
    const StorageId id(i);
    const StorageRecord& storage = trace.storages[id];
    timeline.bytes[id] = evaluator.Evaluate(storage.bytes);
    if (!timeline.bytes[id].has_value()) {
      ++timeline.unknown_storages;
      continue;
    }
    const Wide bytes = RoundUp(*timeline.bytes[id], granularity);
    all += bytes;
    if (storage.first_tick >= storage.end_tick) continue;
    if (evaluator.table().IsDataDependent(storage.bytes)) {
      data_dependent.Add(id, bytes);
      continue;
    }
    change[static_cast<size_t>(storage.first_tick)] += bytes;
    change[static_cast<size_t>(storage.end_tick)] -= bytes;
  }
  timeline.overflow = !FitsInt64(all);
  data_dependent.Start();
  timeline.live_bytes.reserve(static_cast<size_t>(trace.end_tick));
  Wide exact = 0;
  for (int64_t tick = 0; tick < trace.end_tick; ++tick) {
    exact += change[static_cast<size_t>(tick)];
    const Wide live = exact + data_dependent.At(tick);
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
