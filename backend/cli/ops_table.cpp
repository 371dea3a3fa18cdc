#include "backend/cli/ops_table.h"

#include <cstdint>

#include "backend/report_json_writer.h"
#include "backend/terminal_table.h"
#include "backend/units.h"
#include "ir/onnx_op.h"
#include "ir/ops/onnx/without_row.h"

namespace footprint {
namespace {

std::string ToString(absl::string_view text) { return std::string(text.data(), text.size()); }

std::string DomainOf(const OnnxOp& op) {
  return op.domain.empty() ? "ai.onnx" : ToString(op.domain);
}

std::string QualifiedName(const OnnxOp& op) {
  return (op.domain.empty() ? "" : ToString(op.domain) + "::") + ToString(op.name);
}

const char* ControlName(Control control) {
  switch (control) {
    case Control::kIf:
      return "if";
    case Control::kLoop:
      return "loop";
    case Control::kScan:
      return "scan";
    case Control::kSequenceMap:
      return "sequence-map";
    case Control::kNone:
      break;
  }
  return "";
}

std::vector<int64_t> Overwritten(const OnnxOp& op) {
  std::vector<int64_t> operands;
  for (int i = 0; i < 32; ++i) {
    if ((op.inplace >> i & 1) != 0) operands.push_back(i);
  }
  return operands;
}

std::string InPlaceOf(const OnnxOp& op) {
  std::string text;
  for (const int64_t operand : Overwritten(op)) {
    text += (text.empty() ? "over operand " : ", ") + std::to_string(operand);
  }
  return text;
}

std::string VersionsOf(const OnnxOp& op) {
  const std::string since = std::to_string(op.since);
  return op.until == OnnxOp::kLatest ? since + "-" : since + "-" + std::to_string(op.until);
}

}  // namespace

std::string OnnxOpsText(const Terminal& terminal) {
  TerminalTable table({{.title = "operator", .excess = TableColumn::Excess::kElideMiddle},
                       {.title = "opsets"},
                       {.title = "types"},
                       {.title = "values", .leaves_as = 2},
                       {.title = "alias", .leaves_as = 3},
                       {.title = "in place", .leaves_as = 5},
                       {.title = "control", .leaves_as = 4}});
  for (const OnnxOp* op : AllOnnxOps()) {
    table.AddRow({QualifiedName(*op), VersionsOf(*op),
                  op->types != nullptr ? "rule" : "ONNX's schema",
                  op->values != nullptr ? "rule" : "",
                  op->alias < 0 ? "" : "operand " + std::to_string(op->alias), InPlaceOf(*op),
                  ControlName(op->control)});
  }
  std::string text = table.Render(terminal) + "  " +
                     WithThousands(static_cast<int64_t>(AllOnnxOps().size())) + " rows\n";
  for (const OpWithoutRow& op : OpsWithoutRow()) {
    text += Wrap("  without a row: " + ToString(op.domain) + "::" + ToString(op.name) + ", " +
                     ToString(op.why),
                 4, terminal) +
            "\n";
  }
  return text;
}

std::string OnnxOpsJson() {
  JsonWriter json;
  json.BeginObject(JsonWriter::Layout::kLines);
  json.Field("schema", "footprint-ops/1");
  json.Key("operators");
  json.BeginArray(JsonWriter::Layout::kLines);
  for (const OnnxOp* op : AllOnnxOps()) {
    json.BeginObject(JsonWriter::Layout::kOneLine);
    json.Field("domain", DomainOf(*op));
    json.Field("name", ToString(op->name));
    json.Field("since", op->since);
    json.Field("until",
               op->until == OnnxOp::kLatest ? std::nullopt : std::optional<int64_t>(op->until));
    json.Field("type_rule", op->types != nullptr);
    json.Field("value_rule", op->values != nullptr);
    json.Field("alias", op->alias < 0 ? std::nullopt : std::optional<int64_t>(op->alias));
    json.Key("in_place");
    json.BeginArray(JsonWriter::Layout::kOneLine);
    for (const int64_t operand : Overwritten(*op)) json.Value(operand);
    json.EndArray();
    json.FieldOrNull("control", ControlName(op->control));
    json.EndObject();
  }
  json.EndArray();
  json.Key("without_row");
  json.BeginArray(JsonWriter::Layout::kLines);
  for (const OpWithoutRow& op : OpsWithoutRow()) {
    json.BeginObject(JsonWriter::Layout::kOneLine);
    json.Field("domain", ToString(op.domain));
    json.Field("name", ToString(op.name));
    json.Field("why", ToString(op.why));
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return json.Take();
}

std::string MissingOpsText(const std::vector<MissingOp>& missing, const Terminal& terminal) {
  if (missing.empty()) return "  every operator of the model has a row\n";
  TerminalTable table({{.title = "domain", .excess = TableColumn::Excess::kElideEnd},
                       {.title = "operator", .excess = TableColumn::Excess::kElideMiddle},
                       {.title = "opset", .align = TableColumn::Align::kRight},
                       {.title = "nodes", .align = TableColumn::Align::kRight},
                       {.title = "types from", .leaves_as = 1}});
  for (const MissingOp& op : missing) {
    table.AddRow({op.domain, op.name, std::to_string(op.version), WithThousands(op.nodes),
                  op.shapes_from});
  }
  return table.Render(terminal);
}

std::string MissingOpsJson(const std::vector<MissingOp>& missing) {
  JsonWriter json;
  json.BeginObject(JsonWriter::Layout::kLines);
  json.Field("schema", "footprint-missing-ops/1");
  json.Key("operators");
  json.BeginArray(JsonWriter::Layout::kLines);
  for (const MissingOp& op : missing) {
    json.BeginObject(JsonWriter::Layout::kOneLine);
    json.Field("domain", op.domain);
    json.Field("name", op.name);
    json.Field("version", op.version);
    json.Field("nodes", op.nodes);
    json.Field("types_from", op.shapes_from);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return json.Take();
}

}  // namespace footprint
