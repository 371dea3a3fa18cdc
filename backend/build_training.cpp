#include <map>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "backend/build_report.h"
#include "passes/allocator.h"
#include "backend/names.h"

namespace footprint {
namespace {

// A sum that stays unknown once a part of it is.
class Total {
 public:
  void Add(const std::optional<int64_t>& bytes) {
    if (!bytes.has_value() || !sum_.has_value() || __builtin_add_overflow(*sum_, *bytes, &*sum_)) {
      sum_.reset();
    }
  }
  Bytes value() const { return sum_; }

 private:
  Bytes sum_ = 0;
};

Bytes RoundUpBytes(Bytes bytes) {
  if (bytes.has_value() && *bytes % kAllocationGranularity != 0) {
    *bytes += kAllocationGranularity - *bytes % kAllocationGranularity;
  }
  return bytes;
}

Bytes SumOf(const TrainingAnalysis& training, Category category) {
  Total total;
  for (size_t i = 0; i < training.trace.storages.size(); ++i) {
    const StorageId id(i);
    if (training.trace.storages[id].category == category) total.Add(training.timeline.bytes[id]);
  }
  return total.value();
}

void FillSaved(Analysis& analysis, TrainingReport& report) {
  const TrainingAnalysis& training = *analysis.training;
  Total saved;
  Total without_inputs;
  std::vector<Dim> terms;
  for (StorageId id : training.trace.saved) {
    saved.Add(training.timeline.bytes[id]);
    if (training.trace.storages[id].category == Category::kInput) continue;
    without_inputs.Add(training.timeline.bytes[id]);
    terms.push_back(training.trace.storages[id].bytes);
  }
  report.saved_bytes = saved.value();
  report.saved_excluding_inputs_bytes = without_inputs.value();
  report.saved_expression = analysis.dims().ToString(analysis.dims().Sum(terms));
}

void FillPhases(const TrainingAnalysis& training, TrainingReport& report) {
  const MemoryTrace& trace = training.trace;
  for (int phase = 0; phase < kPhaseCount; ++phase) {
    const int64_t begin = trace.phase_tick[phase];
    const int64_t end = phase + 1 < kPhaseCount ? trace.phase_tick[phase + 1] : trace.end_tick;
    PhaseReport row;
    row.name = PhaseName(static_cast<Phase>(phase));
    if (begin < end && !training.timeline.overflow) {
      row.peak_bytes =
          training.timeline.live_bytes[static_cast<size_t>(training.timeline.PeakTick(begin, end))];
    }
    report.phases.push_back(std::move(row));
  }
}

// What is alive between the tick before `tick` and `tick`: locals of the step are gone, nothing of
// the next phase is there yet.
Bytes LiveAcross(const TrainingAnalysis& training, int64_t tick) {
  Total total;
  for (size_t i = 0; i < training.trace.storages.size(); ++i) {
    const StorageId id(i);
    const StorageRecord& storage = training.trace.storages[id];
    if (storage.first_tick >= tick || storage.end_tick <= tick) continue;
    total.Add(RoundUpBytes(training.timeline.bytes[id]));
  }
  return total.value();
}

void FillGeneric(const Analysis& analysis, TrainingReport& report) {
  std::map<std::string, int64_t> counts;
  for (NodeId node : analysis.training->program.generic_nodes) {
    ++counts[analysis.graph().nodes[node].op_type];
  }
  for (const auto& [name, count] : counts) {
    report.generic_operators.push_back(absl::StrCat(count, " x ", name));
  }
  report.unknown_storages = analysis.training->timeline.unknown_storages;
  report.complete = counts.empty() && analysis.training->timeline.unknown_storages == 0;
}

}  // namespace

TrainingReport BuildTraining(Analysis& analysis) {
  const TrainingAnalysis& training = *analysis.training;
  TrainingReport report;
  report.optimizer = analysis.options.optimizer;
  report.precision = PrecisionName(analysis.options.precision);
  report.loss = training.loss;
  report.accumulate = analysis.options.accumulate;
  report.checkpoints = training.checkpoints;
  report.parameter_bytes = SumOf(training, Category::kParameter);
  report.buffer_bytes = SumOf(training, Category::kBuffer);
  report.gradient_bytes = SumOf(training, Category::kGradient);
  report.optimizer_state_bytes = SumOf(training, Category::kOptimizerState);
  report.input_bytes = SumOf(training, Category::kInput);
  FillSaved(analysis, report);
  FillPhases(training, report);
  FillGeneric(analysis, report);
  if (training.timeline.overflow || training.timeline.live_bytes.empty()) return report;
  report.after_forward_bytes =
      LiveAcross(training, training.trace.phase_tick[static_cast<int>(Phase::kBackward)]);
  const int64_t tick = training.timeline.PeakTick(0, training.trace.end_tick);
  report.peak =
      BuildPeak(analysis.graph(), training.trace, training.timeline, tick, kTrainingPrefix);
  if (const std::optional<AllocatorPeak> peak = ReplayAllocator(
          training.trace, training.timeline, analysis.options.expandable_segments)) {
    report.peak.allocated_bytes = peak->allocated_bytes;
    report.peak.reserved_bytes = peak->reserved_bytes;
  }
  const int64_t step = StepAt(training.trace, tick);
  if (step >= 0) {
    report.peak.phase = PhaseName(training.trace.steps[static_cast<size_t>(step)].phase);
  }
  return report;
}

}  // namespace footprint
