#include "passes/replay_print.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "passes/needed.h"
#include "passes/timeline.h"

namespace footprint {
namespace {

// Names come from the file: a line break in one is no line of the program.
std::string OneLine(const std::string& text) {
  const bool plain = std::none_of(text.begin(), text.end(),
                                  [](char c) { return absl::ascii_iscntrl(c); });
  return plain ? text : absl::Utf8SafeCEscape(text);
}

class Printer {
 public:
  Printer(const MemoryTrace& trace, int64_t in_place_additions, DimEvaluator& evaluator)
      : trace_(trace),
        in_place_additions_(in_place_additions),
        timeline_(ComputeTimeline(trace, evaluator, kAllocationGranularity)),
        made_at_(static_cast<size_t>(trace_.end_tick)) {
    for (size_t i = 0; i < trace_.storages.size(); ++i) {
      const int64_t tick = trace_.storages[StorageId(i)].first_tick;
      if (tick > 0) made_at_[static_cast<size_t>(tick)] = StorageId(i);
    }
  }

  std::string Print() const {
    std::string out;
    PrintPersistent(&out);
    for (size_t i = 0; i < trace_.steps.size(); ++i) PrintStep(i, &out);
    PrintSaved(&out);
    PrintPeaks(&out);
    return out;
  }

 private:
  std::string Bytes(StorageId id) const {
    const std::optional<int64_t> bytes = timeline_.bytes[id];
    return bytes ? absl::StrCat(*bytes) : "?";
  }

  void PrintPersistent(std::string* out) const {
    for (size_t i = 0; i < trace_.storages.size(); ++i) {
      const StorageId id(i);
      const StorageRecord& storage = trace_.storages[id];
      if (storage.first_tick > 0) break;
      absl::StrAppend(out, CategoryName(storage.category), " ", OneLine(storage.name), " ",
                      Bytes(id), "\n");
    }
  }

  void PrintStep(size_t index, std::string* out) const {
    const Step& step = trace_.steps[index];
    const int64_t end =
        index + 1 < trace_.steps.size() ? trace_.steps[index + 1].first_tick : trace_.end_tick;
    absl::StrAppend(out, PhaseName(step.phase), " ", step.name, "\n");
    for (int64_t tick = step.first_tick; tick < end; ++tick) {
      const StorageId id = made_at_[static_cast<size_t>(tick)];
      const int64_t live = timeline_.live_bytes[static_cast<size_t>(tick)];
      if (!id.valid()) {
        absl::StrAppend(out, "  = ", live, "\n");
        continue;
      }
      const StorageRecord& storage = trace_.storages[id];
      absl::StrAppend(out, "  +", Bytes(id), " = ", live, " ", OneLine(storage.name), ": ",
                      CategoryName(storage.category), " until ", StepName(storage.end_tick), ", ",
                      OneLine(storage.reason), "\n");
    }
  }

  // The step that frees it: the last one that began before the interval ended.
  std::string StepName(int64_t end_tick) const {
    if (end_tick >= trace_.end_tick) return "the end";
    return trace_.steps[static_cast<size_t>(StepAt(trace_, end_tick - 1))].name;
  }

  void PrintSaved(std::string* out) const {
    int64_t total = 0;
    std::string list;
    for (StorageId id : trace_.saved) {
      total += timeline_.bytes[id].value_or(0);
      const StorageRecord& storage = trace_.storages[id];
      absl::StrAppend(&list, list.empty() ? " " : "; ", OneLine(storage.name), " ",
                      ElementTypeName(storage.element), " ", Bytes(id));
    }
    absl::StrAppend(out, "saved ", total, list.empty() ? "" : ":", list, "\n");
  }

  void PrintPeaks(std::string* out) const {
    const int64_t* phase = trace_.phase_tick;
    const auto live = [&](int64_t tick) {
      return timeline_.live_bytes[static_cast<size_t>(tick)];
    };
    const auto peak = [&](int64_t begin, int64_t end) {
      return live(timeline_.PeakTick(begin, end));
    };
    absl::StrAppend(out, "after forward ", live(phase[1]), ", after backward ", live(phase[2]),
                    "\npeaks: forward ", peak(phase[0], phase[1]), ", backward ",
                    peak(phase[1], phase[2]), ", optimizer ", peak(phase[2], trace_.end_tick),
                    "\n");
    if (in_place_additions_ > 0) {
      absl::StrAppend(out, "gradients added in place: ", in_place_additions_, "\n");
    }
  }

  const MemoryTrace& trace_;
  int64_t in_place_additions_;
  Timeline timeline_;
  std::vector<StorageId> made_at_;  // by tick; invalid: nothing is allocated there
};

}  // namespace

std::string Print(const MemoryTrace& trace, int64_t in_place_additions, DimEvaluator& evaluator) {
  return Printer(trace, in_place_additions, evaluator).Print();
}

std::string PrintNeeds(const MemoryTrace& trace, DimEvaluator& evaluator) {
  const Timeline timeline = ComputeTimeline(trace, evaluator, kAllocationGranularity);
  const Needs needs = FindNeeds(trace, timeline, evaluator);
  std::string out;
  for (const Needed& needed : needs.needed) {
    const int64_t whole = timeline.bytes[needed.storage].value_or(0);
    absl::StrAppend(&out, "needed ", trace.storages[needed.storage].name, " ", needed.bytes,
                    needed.bytes < whole ? absl::StrCat(" of ", whole) : "", "\n");
  }
  for (const Unneeded& found : needs.unneeded) {
    absl::StrAppend(&out, "beyond ", trace.storages[found.storage].name, " ", found.bytes);
    switch (found.why) {
      case Surplus::kUnread: out += ": not read"; break;
      case Surplus::kPart: out += ": the rest of it is read"; break;
      case Surplus::kOther:
        absl::StrAppend(&out, ": ", trace.storages[found.other].name, " does as well");
        break;
    }
    out += "\n";
  }
  return out;
}

}  // namespace footprint
