#include "backend/diff_writers.h"

#include <algorithm>

#include "backend/figures.h"
#include "backend/report_json.h"
#include "backend/report_json_writer.h"
#include "backend/report_markdown.h"
#include "backend/terminal_table.h"
#include "backend/units.h"

namespace footprint {
namespace {

using Layout = JsonWriter::Layout;

constexpr size_t kRows = 20;

// "+2.00 MiB (+4.1%)"
std::string Change(const Bytes& before, const Bytes& after) {
  if (!before || !after) return before == after ? "" : "unknown";
  const int64_t change = *after - *before;
  if (change == 0) return "";
  std::string text = (change > 0 ? "+" : "-") + BinaryUnits(std::abs(change));
  if (*before <= 0 || std::abs(change) > INT64_MAX / 1000) return text;
  const int64_t tenths = (std::abs(change) * 1000 + *before / 2) / *before;
  return text + " (" + (change > 0 ? "+" : "-") + WithThousands(tenths / 10) + "." +
         std::to_string(tenths % 10) + "%)";
}

const char* Word(DiffRow::Kind kind) {
  switch (kind) {
    case DiffRow::Kind::kAdded:
      return "added";
    case DiffRow::Kind::kRemoved:
      return "removed";
    case DiffRow::Kind::kRenamed:
      return "renamed";
    case DiffRow::Kind::kChanged:
      return "changed";
  }
  return "";
}

std::string NameOf(const DiffRow& row) {
  return row.renamed.empty() ? row.name : row.name + " -> " + row.renamed;
}

std::string ChangeOf(const DiffRow& row) {
  if (row.kind == DiffRow::Kind::kAdded) return "+" + Figure(row.after);
  if (row.kind == DiffRow::Kind::kRemoved) return "-" + Figure(row.before);
  return Change(row.before, row.after);
}

std::string Verdict(const GateReport& gate) {
  std::string text = gate.passed ? "kept" : "broken";
  text += ": " + gate.name + ", now " + Figure(gate.actual_bytes);
  if (!gate.passed && !gate.violations.front().why.empty()) {
    return text + ": " + gate.violations.front().why;
  }
  return text + ", the most is " + BinaryUnits(gate.limit_bytes);
}

std::string RowsText(const char* title, const std::vector<DiffRow>& rows,
                     const Terminal& terminal) {
  if (rows.empty()) return "";
  TerminalTable table({{.title = ""},
                       {.title = title,
                        .excess = TableColumn::Excess::kElideMiddle,
                        .readable = 30},
                       {.title = "change", .align = TableColumn::Align::kRight}});
  for (size_t i = 0; i < std::min(kRows, rows.size()); ++i) {
    table.AddRow({Word(rows[i].kind), Printable(NameOf(rows[i])), ChangeOf(rows[i])});
  }
  std::string text = "\n" + table.Render(terminal);
  if (rows.size() > kRows) {
    text += "  and " + WithThousands(static_cast<int64_t>(rows.size() - kRows)) +
            " more, all of them in --format json\n";
  }
  return text;
}

void RowsMarkdown(const char* title, const std::vector<DiffRow>& rows, std::string& text) {
  if (rows.empty()) return;
  text += "\n<details><summary>" + WithThousands(static_cast<int64_t>(rows.size())) + " " + title +
          "</summary>\n\n| | name | change |\n|---|---|---:|\n";
  for (size_t i = 0; i < std::min(kRows, rows.size()); ++i) {
    text += std::string("| ") + Word(rows[i].kind) + " | " + MarkdownCode(NameOf(rows[i])) +
            " | " + ChangeOf(rows[i]) + " |\n";
  }
  if (rows.size() > kRows) {
    text += "\nand " + WithThousands(static_cast<int64_t>(rows.size() - kRows)) + " more\n";
  }
  text += "\n</details>\n";
}

void RowsJson(JsonKey key, const std::vector<DiffRow>& rows, JsonWriter& json) {
  json.Key(key);
  json.BeginArray(Layout::kLines);
  for (const DiffRow& row : rows) {
    json.BeginObject(Layout::kOneLine);
    json.Field("kind", Word(row.kind));
    json.Field("name", row.name);
    json.FieldOrNull("renamed", row.renamed);
    json.Field("before_bytes", row.before);
    json.Field("after_bytes", row.after);
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace

std::string DiffText(const Diff& diff, const Terminal& terminal) {
  std::string text =
      Bold(Printable(diff.before_path) + " -> " + Printable(diff.after_path), terminal) + "\n";
  text += Wrap("  with " + Printable(Joined(diff.conditions)), 4, terminal) + "\n";
  if (!diff.HasChange()) text += "  no change\n";
  TerminalTable table({{.title = "total"},
                       {.title = "before", .align = TableColumn::Align::kRight},
                       {.title = "after", .align = TableColumn::Align::kRight},
                       {.title = "change", .align = TableColumn::Align::kRight}});
  for (const DiffTotal& total : diff.totals) {
    if (!total.before && !total.after) continue;
    table.AddRow({total.name, Figure(total.before), Figure(total.after),
                  Change(total.before, total.after)});
  }
  text += table.Render(terminal);
  text += RowsText("layer", diff.layers, terminal);
  text += RowsText("tensor", diff.tensors, terminal);
  if (!diff.gates.empty()) text += "\n";
  for (const GateReport& gate : diff.gates) {
    text += Wrap("  " + Printable(Verdict(gate)), 4, terminal) + "\n";
  }
  return text;
}

std::string DiffMarkdown(const Diff& diff) {
  std::string text = "### Memory: " + MarkdownCode(diff.before_path) + " → " +
                     MarkdownCode(diff.after_path) + "\n\n";
  text += "With " + MarkdownCode(Joined(diff.conditions)) + ".\n\n";
  if (!diff.HasChange()) text += "No change.\n\n";
  text += "| | before | after | change |\n|---|---:|---:|---:|\n";
  for (const DiffTotal& total : diff.totals) {
    if (!total.before && !total.after) continue;
    text += "| " + total.name + " | " + Figure(total.before) + " | " + Figure(total.after) + " | " +
            Change(total.before, total.after) + " |\n";
  }
  if (!diff.gates.empty()) text += "\n";
  for (const GateReport& gate : diff.gates) {
    text += (gate.passed ? "- " : "- **broken** ") + MarkdownCode(Verdict(gate)) + "\n";
  }
  RowsMarkdown("layers changed", diff.layers, text);
  RowsMarkdown("tensors changed", diff.tensors, text);
  return text;
}

std::string DiffJson(const Diff& diff) {
  JsonWriter json;
  json.BeginObject(Layout::kLines);
  json.Field("schema", "footprint-diff/1");
  json.Field("before", diff.before_path);
  json.Field("after", diff.after_path);
  json.Key("conditions");
  json.BeginArray(Layout::kOneLine);
  for (const std::string& condition : diff.conditions) json.Value(condition);
  json.EndArray();
  json.Field("changed", diff.HasChange());
  json.Key("totals");
  json.BeginObject(Layout::kLines);
  for (const DiffTotal& total : diff.totals) {
    json.Key(total.name);
    json.BeginObject(Layout::kOneLine);
    json.Field("before_bytes", total.before);
    json.Field("after_bytes", total.after);
    json.EndObject();
  }
  json.EndObject();
  WriteGatesJson(diff.gates, json);
  RowsJson("layers", diff.layers, json);
  RowsJson("tensors", diff.tensors, json);
  json.EndObject();
  return json.Take();
}

}  // namespace footprint
