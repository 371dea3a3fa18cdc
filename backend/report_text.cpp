#include "backend/report_text.h"

#include <vector>

#include "backend/report_text_parts.h"

namespace footprint {
namespace {

constexpr int kLiveRows = 12;
constexpr int kLiveRowsBesideTraining = 5;

std::string Join(const std::vector<std::string>& sections) {
  std::string text;
  for (const std::string& section : sections) {
    if (section.empty()) continue;
    if (!text.empty()) text += "\n";
    text += section;
  }
  return text;
}

}  // namespace

std::vector<std::string> AskedForTexts(const Report& report) {
  const Terminal plain;
  std::vector<std::string> texts = {FitText(report, plain), TextbookText(report, plain),
                                    GradientNeedsText(report, kLiveRows, plain)};
  std::erase(texts, "");
  return texts;
}

std::string ReportText(const Report& report, const TextOptions& options) {
  const Terminal& terminal = options.terminal;
  std::vector<std::string> sections = {
      HeadText(report, terminal),     ParametersText(report, terminal),
      TrainingText(report, terminal), DeviceText(report, terminal), InferenceText(report, terminal),
      RuntimeText(report, report.training ? kLiveRowsBesideTraining : kLiveRows, terminal),
      KvCacheText(report, terminal),
      FitText(report, terminal),      SweepText(report, terminal),
      GatesText(report, terminal),    TextbookText(report, terminal),
      GradientNeedsText(report, kLiveRows, terminal), LayersText(report, options)};
  if (report.training) {
    sections.push_back(
        PeakText("Alive at the peak of training", report.training->peak, kLiveRows, terminal));
  }
  if (report.inference && ShowsIdeal(*report.inference)) {
    sections.push_back(PeakText("Alive at the peak of inference", report.inference->peak,
                                report.training ? kLiveRowsBesideTraining : kLiveRows, terminal));
  }
  sections.push_back(NotesText(report, terminal));
  return Join(sections);
}

std::string FailureText(const Failure& failure, std::string_view model) {
  std::string text;
  for (const ReportDiagnostic& diagnostic : failure.diagnostics) {
    text += "footprint: ";
    if (!model.empty()) text += Printable(model) + ": ";
    text += diagnostic.severity + ": ";
    if (!diagnostic.place.empty()) text += Printable(diagnostic.place) + ": ";
    text += Printable(diagnostic.message) + "\n";
  }
  return text;
}

}  // namespace footprint
