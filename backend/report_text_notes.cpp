#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "backend/report_text_parts.h"
#include "backend/units.h"

namespace footprint {
namespace {

constexpr size_t kShown = 20;

std::string CertaintyLine(const Report& report, std::string_view certainty,
                          std::string_view meaning) {
  int64_t count = 0;
  int64_t bytes = 0;
  for (const ReportStorage& storage : report.storages) {
    if (storage.certainty != certainty) continue;
    ++count;
    bytes += storage.bytes.value_or(0);
  }
  if (count == 0) return "";
  std::string text = "  " + std::string(certainty) + ": " + Counted(count, "storage");
  if (bytes > 0) text += " of " + BinaryUnits(bytes);
  return text + " " + std::string(meaning) + "\n";
}

std::string MoreLine(size_t all) {
  if (all <= kShown) return "";
  return "  and " + WithThousands(static_cast<int64_t>(all - kShown)) +
         " more, all of them in --format json\n";
}

std::string UnknownText(const Report& report, const Terminal& terminal) {
  std::string text;
  for (size_t i = 0; i < std::min(kShown, report.unknown.size()); ++i) {
    const UnknownValue& value = report.unknown[i];
    std::string line = "  unknown size: " + Printable(value.name);
    if (!value.producer.empty()) line += ", from " + Printable(value.producer);
    if (!value.why.empty()) line += ": " + Printable(value.why);
    text += Wrap(line, 4, terminal) + "\n";
  }
  return text + MoreLine(report.unknown.size());
}

std::string OperatorsText(const Report& report, const Terminal& terminal) {
  std::string text;
  for (const OperatorCount& op : report.operators) {
    if (op.has_row) continue;
    text += text.empty() ? "  operators without a row of their own: " : ", ";
    text += WithThousands(op.count) + " x " + Printable(op.op_type);
  }
  return text.empty() ? "" : Wrap(text, 4, terminal) + "\n";
}

}  // namespace

std::string NotesText(const Report& report, const Terminal& terminal) {
  std::string text = CertaintyLine(report, "assumed", "resting on an assumption");
  text += CertaintyLine(report, "bounded", "counted with an upper bound");
  text += CertaintyLine(report, "unknown", "of no known size, missing from the totals");
  text += UnknownText(report, terminal);
  text += OperatorsText(report, terminal);
  for (size_t i = 0; i < std::min(kShown, report.diagnostics.size()); ++i) {
    const ReportDiagnostic& diagnostic = report.diagnostics[i];
    std::string line = "  " + diagnostic.severity + ": ";
    if (!diagnostic.place.empty()) line += Printable(diagnostic.place) + ": ";
    text += Wrap(line + Printable(diagnostic.message), 4, terminal) + "\n";
  }
  text += MoreLine(report.diagnostics.size());
  return text.empty() ? "" : Bold("Notes", terminal) + "\n" + text;
}

}  // namespace footprint
