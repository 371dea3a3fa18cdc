// From the tables of all passes to the report: no analysis happens here.
#ifndef FOOTPRINT_BACKEND_BUILD_REPORT_H_
#define FOOTPRINT_BACKEND_BUILD_REPORT_H_

#include <optional>
#include <string>
#include <vector>

#include "backend/analysis.h"
#include "backend/report.h"
#include "ir/diagnostic.h"

namespace footprint {

Report BuildReport(Analysis& analysis);

// The parts, each in a file of its own.
TrainingReport BuildTraining(Analysis& analysis);
DeviceReport BuildDevice(Analysis& analysis, const TrainingReport& training);
InferenceReport BuildInference(Analysis& analysis);
// The ideal and the runtime, as far as asked for; the headline's last.
std::vector<RuntimeReport> BuildRuntimes(Analysis& analysis, const InferenceReport& inference);
std::optional<KvCacheReport> BuildKvCache(Analysis& analysis, const InferenceReport& inference);
// Of a trace of inference: neither an input nor stored.
bool IsActivation(const StorageRecord& storage);
// Of a training step.
GradientNeeds BuildGradientNeeds(Analysis& analysis);
TextbookReport BuildTextbook(Analysis& analysis, const Report& report);
std::vector<ReportLayer> BuildLayers(Analysis& analysis);
// Tensors, storages, unknown values and the rounding line.
void BuildTables(Analysis& analysis, Report& report);

ReportTimeline BuildTimeline(const Graph& graph, const MemoryTrace& trace,
                             const Timeline& timeline, int64_t granularity, const char* run);

// Nullopt: the report has no tensor of this name.
std::optional<Explanation> BuildExplanation(const Analysis& analysis, const Report& report,
                                            const std::string& tensor);

// What is alive at `tick`, with the step it belongs to; `granularity` is that of the timeline.
Peak BuildPeak(Analysis& analysis, const MemoryTrace& trace, const Timeline& timeline, int64_t tick,
               const char* id_prefix, int64_t granularity);
std::vector<ReportDiagnostic> ToReport(const std::vector<Diagnostic>& diagnostics);
// Exit code 2 if one of the errors is the model's, else 3.
Failure ToFailure(const std::vector<Diagnostic>& diagnostics);

// Where a category's bytes are counted.
int64_t CategoryBytes::*BytesField(Category category);
// What a stored constant takes as a dense tensor.
Bytes DenseBytes(const Analysis& analysis, const Constant& constant);

// Computed, and from stored constants alone: it could be stored, or fused into what reads it.
bool IsFoldable(const Analysis& analysis, const StorageRecord& storage);
std::string ReasonOf(const Analysis& analysis, const StorageRecord& storage);

// "s12": the id of a storage in reports.
std::string StorageName(const char* prefix, StorageId id);
constexpr const char* kTrainingPrefix = "s";
constexpr const char* kInferencePrefix = "i";

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_BUILD_REPORT_H_
