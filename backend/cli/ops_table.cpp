#include "backend/cli/ops_table.h"

#include <cstdint>

#include "backend/report_json_writer.h"
#include "backend/terminal_table.h"
#include "backend/units.h"
#include "ir/onnx_op.h"

namespace footprint {
namespace {

std::string ToString(absl::string_view text) { return std::string(text.data(), text.size()); }

std::string DomainOf(const OnnxOp& op) {
  return op.domain.empty() ? "ai.onnx" : ToString(op.domain);
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

std::string StorageOf(const OnnxOp& op) {
  if (op.alias >= 0) return "shares operand " + std::to_string(op.alias);
  return op.inplace != 0 ? "may overwrite" : "fresh";
}

std::string VersionsOf(const OnnxOp& op) {
  const std::string since = std::to_string(op.since);
  return op.until == OnnxOp::kLatest ? since + "-" : since + "-" + std::to_string(op.until);
}

}  // namespace

std::string OpsText(const Terminal& terminal) {
  TerminalTable table({{.title = "domain"},
                       {.title = "operator"},
                       {.title = "opsets"},
                       {.title = "shapes from"},
                       {.title = "contents"},
                       {.title = "storage"}});
  for (const OnnxOp* op : AllOnnxOps()) {
    table.AddRow({DomainOf(*op), ToString(op->name), VersionsOf(*op),
                  op->types != nullptr ? "rule" : "ONNX's schema",
                  op->values != nullptr ? "computed" : "", StorageOf(*op)});
  }
  return table.Render(terminal) + "  " + WithThousands(static_cast<int64_t>(AllOnnxOps().size())) +
         " rows\n";
}

std::string OpsJson() {
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
    json.Field("may_overwrite", op->inplace != 0);
    json.FieldOrNull("control", ControlName(op->control));
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return json.Take();
}

}  // namespace footprint
