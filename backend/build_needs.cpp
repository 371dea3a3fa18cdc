#include <string>

#include "absl/strings/str_cat.h"
#include "backend/build_report.h"
#include "backend/total.h"
#include "passes/needed.h"

namespace footprint {
namespace {

std::string ReasonOf(const Unneeded& found, const MemoryTrace& trace) {
  switch (found.why) {
    case Surplus::kUnread: return "no gradient reads its numbers";
    case Surplus::kPart: return "only a part of it is read";
    case Surplus::kOther: return absl::StrCat(trace.storages[found.other].name, " does as well");
  }
  return "";
}

}  // namespace

GradientNeeds BuildGradientNeeds(Analysis& analysis) {
  const TrainingAnalysis& training = *analysis.training;
  const MemoryTrace& trace = training.trace;
  const Needs needs = FindNeeds(trace, training.timeline, analysis.evaluator);
  GradientNeeds report;
  Total needed, without_inputs, kept, unneeded;
  for (const Needed& part : needs.needed) {
    needed.Add(part.bytes);
    if (trace.storages[part.storage].category != Category::kInput) without_inputs.Add(part.bytes);
  }
  for (StorageId id : trace.saved) kept.Add(training.timeline.bytes[id]);
  for (const Unneeded& found : needs.unneeded) {
    const StorageRecord& storage = trace.storages[found.storage];
    unneeded.Add(found.bytes);
    SurplusStorage row;
    row.name = storage.name;
    row.bytes = found.bytes;
    row.category = CategoryName(storage.category);
    if (storage.scope.valid()) row.layer = analysis.graph().scopes[storage.scope].path;
    row.reason = absl::StrCat(ReasonOf(found, trace), "; ", storage.reason);
    row.storage = StorageName(kTrainingPrefix, found.storage);
    report.surplus.push_back(std::move(row));
  }
  report.needed_bytes = needed.value();
  report.needed_excluding_inputs_bytes = without_inputs.value();
  report.surplus_bytes = unneeded.value();
  if (needed.value() && kept.value() && unneeded.value()) {
    report.instead_bytes = *needed.value() - (*kept.value() - *unneeded.value());
  }
  return report;
}

}  // namespace footprint
