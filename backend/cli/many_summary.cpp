#include <algorithm>

#include "backend/cli/many.h"
#include "backend/csv_writer.h"
#include "backend/report_json.h"
#include "backend/report_json_writer.h"
#include "backend/report_markdown.h"
#include "backend/terminal_table.h"
#include "backend/units.h"

namespace footprint {
namespace {

using Layout = JsonWriter::Layout;

std::string Size(const Bytes& bytes) { return bytes ? BinaryUnits(*bytes) : "-"; }

int64_t CountFailed(const std::vector<ModelSummary>& summaries) {
  return std::count_if(summaries.begin(), summaries.end(),
                       [](const ModelSummary& summary) { return summary.exit_code > 1; });
}

// "3 models, 1 of them failed"
std::string Verdict(const std::vector<ModelSummary>& summaries) {
  return Counted(static_cast<int64_t>(summaries.size()), "model") + ", " +
         WithThousands(CountFailed(summaries)) + " of them failed";
}

std::string Outcome(const ModelSummary& summary) {
  if (!summary.error.empty()) return summary.error;
  if (summary.broken_budgets == 0) return "";
  return Counted(summary.broken_budgets, "budget") + " broken";
}

}  // namespace

std::string SummaryText(const std::vector<ModelSummary>& summaries, const Terminal& terminal) {
  constexpr TableColumn::Align kRight = TableColumn::Align::kRight;
  TerminalTable table({{.title = "model", .excess = TableColumn::Excess::kElideMiddle,
                        .readable = 30},
                       {.title = "parameters", .align = kRight},
                       {.title = "training peak", .align = kRight},
                       {.title = "inference peak", .align = kRight},
                       {.title = "", .excess = TableColumn::Excess::kElideEnd, .readable = 30}});
  for (const ModelSummary& summary : summaries) {
    table.AddRow({Printable(summary.model), Size(summary.parameter_bytes),
                  Size(summary.training_peak_bytes), Size(summary.inference_peak_bytes),
                  Printable(Outcome(summary))});
  }
  return table.Render(terminal) + "\n" + Verdict(summaries) + "\n";
}

std::string SummaryMarkdown(const std::vector<ModelSummary>& summaries) {
  std::string text = "| model | parameters | training peak | inference peak | |\n";
  text += "|---|---:|---:|---:|---|\n";
  for (const ModelSummary& summary : summaries) {
    text += "| " + MarkdownCode(summary.model) + " | " + Size(summary.parameter_bytes) + " | " +
            Size(summary.training_peak_bytes) + " | " + Size(summary.inference_peak_bytes) +
            " | " + MarkdownCode(Outcome(summary)) + " |\n";
  }
  return text;
}

std::string SummaryCsv(const std::vector<ModelSummary>& summaries) {
  CsvWriter csv;
  csv.Row("model", "exit_code", "error", "parameter_count", "parameter_bytes",
          "training_peak_bytes", "inference_peak_bytes", "broken_budgets");
  for (const ModelSummary& s : summaries) {
    csv.Row(s.model, int64_t{s.exit_code}, s.error, s.parameter_count, s.parameter_bytes,
            s.training_peak_bytes, s.inference_peak_bytes, s.broken_budgets);
  }
  return csv.Take();
}

std::string SummaryJson(const std::vector<ModelSummary>& summaries) {
  JsonWriter json;
  json.BeginObject(Layout::kLines);
  json.Field("schema", "footprint-summary/1");
  json.Key("models");
  json.BeginArray(Layout::kLines);
  for (const ModelSummary& summary : summaries) {
    json.BeginObject(Layout::kOneLine);
    json.Field("model", summary.model);
    json.Field("exit_code", summary.exit_code);
    json.FieldOrNull("error", summary.error);
    json.Field("parameter_count", summary.parameter_count);
    json.Field("parameter_bytes", summary.parameter_bytes);
    json.Field("training_peak_bytes", summary.training_peak_bytes);
    json.Field("inference_peak_bytes", summary.inference_peak_bytes);
    json.Field("broken_budgets", summary.broken_budgets);
    WriteGatesJson(summary.gates, json);
    json.EndObject();
  }
  json.EndArray();
  if (CountFailed(summaries) > 0) {
    json.Key("error");
    json.BeginObject(Layout::kLines);
    json.Field("message", Verdict(summaries));
    json.Field("exit_code", ExitCodeOf(summaries));
    json.EndObject();
  }
  json.EndObject();
  return json.Take();
}

}  // namespace footprint
