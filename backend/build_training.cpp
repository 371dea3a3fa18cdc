#include <map>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "backend/build_report.h"
#include "backend/names.h"
#include "backend/translate.h"
#include "passes/allocator.h"
#include "passes/byte_total.h"

namespace footprint {
namespace {

Bytes SumOf(Analysis& analysis, Category category) {
  ByteTotal total(analysis.evaluator);
  for (const StorageRecord& storage : analysis.training->trace.storages) {
    if (storage.category == category) total.Add(storage.bytes);
  }
  return total.bytes();
}

void FillSaved(Analysis& analysis, TrainingReport& report) {
  const TrainingAnalysis& training = *analysis.training;
  ByteTotal saved(analysis.evaluator);
  ByteTotal without_inputs(analysis.evaluator);
  std::vector<Dim> terms;
  for (StorageId id : training.trace.saved) {
    const StorageRecord& storage = training.trace.storages[id];
    saved.Add(storage.bytes);
    if (storage.category == Category::kInput) continue;
    without_inputs.Add(storage.bytes);
    terms.push_back(storage.bytes);
  }
  report.saved_bytes = saved.bytes();
  report.saved_excluding_inputs_bytes = without_inputs.bytes();
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
Bytes LiveAcross(Analysis& analysis, int64_t tick) {
  ByteTotal total(analysis.evaluator, kAllocationGranularity);
  for (const StorageRecord& storage : analysis.training->trace.storages) {
    if (storage.first_tick < tick && storage.end_tick > tick) total.Add(storage.bytes);
  }
  return total.bytes();
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
  report.scales_loss = ScalesLoss(analysis.options);
  report.loss = training.loss;
  report.accumulate = analysis.options.accumulate;
  report.checkpoints = training.checkpoints;
  report.parameter_bytes = SumOf(analysis, Category::kParameter);
  report.buffer_bytes = SumOf(analysis, Category::kBuffer);
  report.gradient_bytes = SumOf(analysis, Category::kGradient);
  report.optimizer_state_bytes = SumOf(analysis, Category::kOptimizerState);
  report.unified_state_bytes = analysis.evaluator.Evaluate(training.trace.unified_bytes);
  report.input_bytes = SumOf(analysis, Category::kInput);
  FillSaved(analysis, report);
  FillPhases(training, report);
  FillGeneric(analysis, report);
  if (training.timeline.overflow || training.timeline.live_bytes.empty()) return report;
  report.after_forward_bytes =
      LiveAcross(analysis, training.trace.phase_tick[static_cast<int>(Phase::kBackward)]);
  const int64_t tick = training.timeline.PeakTick(0, training.trace.end_tick);
  report.peak =
      BuildPeak(analysis, training.trace, training.timeline, tick, kTrainingPrefix,
                kAllocationGranularity);
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
