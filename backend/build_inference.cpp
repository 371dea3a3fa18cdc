#include <string>
#include <utility>
#include <vector>

#include "backend/build_report.h"
#include "passes/byte_total.h"

namespace footprint {

bool IsActivation(const StorageRecord& storage) { return storage.category == Category::kTransient; }

namespace {

InferenceReport BuildIdeal(Analysis& analysis) {
  const MemoryTrace& trace = analysis.inference->trace;
  const Timeline& timeline = analysis.inference->timeline;
  InferenceReport report;
  int64_t inputs = 0;
  int64_t weights = 0;
  for (size_t i = 0; i < trace.storages.size(); ++i) {
    const StorageRecord& storage = trace.storages[StorageId(i)];
    const int64_t bytes = timeline.bytes[StorageId(i)].value_or(0);
    if (IsFoldable(analysis, storage)) report.constant_foldable_bytes += bytes;
    if (storage.category == Category::kInput) {
      inputs += bytes;
    } else if (!IsActivation(storage)) {
      weights += bytes;
    }
  }
  ByteTotal outputs(analysis.evaluator);
  for (ValueId output : analysis.graph().top().outputs) {
    const ValueType& type = analysis.inferred.types[output];
    const Dim bytes = type.is_tensor() ? ByteCount(type.tensor, analysis.dims()) : Dim();
    if (analysis.evaluator.Evaluate(bytes)) outputs.Add(bytes);
  }
  report.input_bytes = inputs;
  report.weight_bytes = weights;
  report.output_bytes = outputs.bytes();
  report.output_is_bounded = outputs.is_bounded();
  report.unknown_storages = timeline.unknown_storages;
  if (timeline.overflow) return report;
  if (timeline.live_bytes.empty()) {
    report.activation_peak_bytes = 0;
    report.peak.live_bytes = inputs + weights;
    return report;
  }
  const int64_t tick = timeline.PeakTick(0, trace.end_tick);
  report.peak = BuildPeak(analysis, trace, timeline, tick, kInferencePrefix, /*granularity=*/1);
  report.activation_peak_bytes = *report.peak.live_bytes - inputs - weights;
  std::vector<Dim> terms;
  for (StorageId id : LiveAt(trace, timeline, tick)) {
    if (IsActivation(trace.storages[id])) terms.push_back(trace.storages[id].bytes);
  }
  report.activation_peak_expression = analysis.dims().ToString(analysis.dims().Sum(terms));
  return report;
}

}  // namespace

InferenceReport BuildInference(Analysis& analysis) {
  InferenceReport report = BuildIdeal(analysis);
  report.runtimes = BuildRuntimes(analysis, report);
  report.kv_cache = BuildKvCache(analysis, report);
  return report;
}

}  // namespace footprint
