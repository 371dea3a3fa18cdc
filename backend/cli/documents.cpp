#include "backend/cli/documents.h"

#include "backend/report_csv.h"
#include "backend/report_gates.h"
#include "backend/report_html.h"
#include "backend/report_json.h"
#include "backend/report_markdown.h"
#include "backend/report_netron.h"
#include "backend/report_trace.h"

namespace footprint {

std::string ReportDocument(const Report& report, Format format, const TextOptions& text) {
  switch (format) {
    case Format::kText:
      return report.dump.empty() ? ReportText(report, text) : report.dump;
    case Format::kJson:
      return ReportJson(report);
    case Format::kCsv:
    case Format::kCsvTensors:
      return TensorsCsv(report);
    case Format::kCsvStorages:
      return StoragesCsv(report);
    case Format::kCsvLayers:
      return LayersCsv(report);
    case Format::kCsvTimeline:
      return TimelineCsv(report);
    case Format::kCsvSweep:
      return SweepCsv(report);
    case Format::kMarkdown:
      return ReportMarkdown(report);
    case Format::kHtml:
      return ReportHtml(report);
    case Format::kNetron:
      return NetronAttachment(report);
    case Format::kTrace:
      return ChromeTrace(report);
    case Format::kSarif:
      return ReportSarif(report, FOOTPRINT_VERSION);
    case Format::kJunit:
      return ReportJunit(report);
  }
  return "";
}

}  // namespace footprint
