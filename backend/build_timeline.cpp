// What a run takes at each of its steps, by category: one sweep over the ticks with a list of what
// begins and ends at each. A step of several ticks is shown at its highest; one without ticks (it
// allocates nothing) as the tick it falls on.
#include <algorithm>
#include <vector>

#include "backend/build_report.h"
#include "backend/figures.h"

namespace footprint {
namespace {

struct Change {
  int64_t tick;
  StorageId storage;
  bool begins;
};

std::vector<Change> ChangesOf(const MemoryTrace& trace, const Timeline& timeline) {
  std::vector<Change> changes;
  for (size_t i = 0; i < trace.storages.size(); ++i) {
    const StorageRecord& storage = trace.storages[StorageId(i)];
    if (!timeline.bytes[StorageId(i)] || storage.first_tick >= storage.end_tick) continue;
    changes.push_back({storage.first_tick, StorageId(i), true});
    changes.push_back({storage.end_tick, StorageId(i), false});
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change& a, const Change& b) { return a.tick < b.tick; });
  return changes;
}

// The tick at which to look at each step, in order.
int64_t HighestTick(const MemoryTrace& trace, const Timeline& timeline, size_t step) {
  const int64_t begin = trace.steps[step].first_tick;
  const int64_t end =
      step + 1 < trace.steps.size() ? trace.steps[step + 1].first_tick : trace.end_tick;
  return std::min(timeline.PeakTick(begin, end), trace.end_tick - 1);
}

}  // namespace

int64_t CategoryBytes::*BytesField(Category category) {
  return kCategoryFields[static_cast<size_t>(category)].bytes;
}

ReportTimeline BuildTimeline(const Graph& graph, const MemoryTrace& trace,
                             const Timeline& timeline, int64_t granularity, const char* run) {
  ReportTimeline result;
  result.run = run;
  if (timeline.live_bytes.empty() || timeline.overflow) return result;
  const std::vector<Change> changes = ChangesOf(trace, timeline);
  size_t next = 0;
  CategoryBytes live;
  for (size_t i = 0; i < trace.steps.size(); ++i) {
    const int64_t tick = HighestTick(trace, timeline, i);
    for (; next < changes.size() && changes[next].tick <= tick; ++next) {
      const StorageId id = changes[next].storage;
      const int64_t blocks = (*timeline.bytes[id] + granularity - 1) / granularity * granularity;
      live.*BytesField(trace.storages[id].category) += changes[next].begins ? blocks : -blocks;
    }
    const Step& step = trace.steps[i];
    TimelineStep row;
    if (result.run == "training") row.phase = PhaseName(step.phase);
    row.name = step.name;
    if (step.node.valid()) row.node = graph.nodes[step.node].name;
    if (step.scope.valid()) row.layer = graph.scopes[step.scope].path;
    row.live_bytes = timeline.live_bytes[static_cast<size_t>(tick)];
    row.bytes = live;
    result.steps.push_back(std::move(row));
  }
  return result;
}

}  // namespace footprint
