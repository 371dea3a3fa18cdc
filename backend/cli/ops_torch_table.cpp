// The rows of PyTorch operators in words.
#include <cstdint>
#include <string>
#include <vector>

#include "backend/cli/ops_table.h"
#include "backend/report_json_writer.h"
#include "backend/terminal_table.h"
#include "backend/units.h"
#include "ir/torch_op.h"

namespace footprint {
namespace {

// A row with a function acts its operator out: in views, in the operators it is made of, or in
// parts that depend on the arguments.
constexpr const char* kActedOut = "acted out";

std::string ToString(absl::string_view text) { return std::string(text.data(), text.size()); }

std::string LayoutOf(const TorchOp& op) {
  if (op.run != nullptr) return kActedOut;
  switch (op.strides) {
    case ResultStrides::kLikeOperands:
      return "like operands";
    case ResultStrides::kContiguous:
      return "contiguous";
    case ResultStrides::kMemoryFormat:
      break;
  }
  return "memory format";
}

std::string NameOf(const TorchOp& op, int argument) {
  const std::string name = ToString(ArgumentName(op, argument));
  return name.empty() ? "argument " + std::to_string(argument) : name;
}

std::vector<std::string> SavedBy(const TorchOp& op) {
  std::vector<std::string> saved;
  for (const SavedOperand& operand : op.saves) {
    switch (operand.source) {
      case SavedOperand::Source::kArgument:
        saved.push_back(NameOf(op, operand.index));
        break;
      case SavedOperand::Source::kResult:
        saved.emplace_back("result");
        break;
      case SavedOperand::Source::kKept:
        saved.push_back(ToString(op.kept[static_cast<size_t>(operand.index)].what));
        break;
    }
  }
  return saved;
}

std::vector<std::string> GradientsOf(const TorchOp& op) {
  std::vector<std::string> gradients;
  for (const ArgumentGradient& gradient : op.gradients) {
    gradients.push_back(NameOf(op, gradient.argument));
  }
  return gradients;
}

std::string AutocastOf(const TorchOp& op) {
  switch (op.autocast) {
    case Autocast::kLow:
      return "low precision";
    case Autocast::kFloat32:
      return "float32";
    case Autocast::kFloat32Result:
      return "float32 result";
    case Autocast::kPromote:
      return "widest";
    case Autocast::kNone:
      break;
  }
  return "";
}

std::string Names(const TorchOp& op, const std::vector<std::string>& names) {
  return op.run != nullptr ? kActedOut : Joined(names);
}

}  // namespace

std::string TorchOpsText(const Terminal& terminal) {
  constexpr TableColumn::Excess kElideEnd = TableColumn::Excess::kElideEnd;
  TerminalTable table({{.title = "operator", .excess = TableColumn::Excess::kElideMiddle},
                       {.title = "layout", .leaves_as = 2},
                       {.title = "saved", .excess = kElideEnd},
                       {.title = "gradients", .excess = kElideEnd, .leaves_as = 1},
                       {.title = "autocast", .leaves_as = 3}});
  for (const TorchOp* op : AllTorchOps()) {
    table.AddRow({ToString(op->name), LayoutOf(*op), Names(*op, SavedBy(*op)),
                  Names(*op, GradientsOf(*op)), AutocastOf(*op)});
  }
  return table.Render(terminal) + "  " +
         WithThousands(static_cast<int64_t>(AllTorchOps().size())) + " rows\n";
}

std::string TorchOpsJson() {
  JsonWriter json;
  json.BeginObject(JsonWriter::Layout::kLines);
  json.Field("schema", "footprint-torch-ops/1");
  json.Key("operators");
  json.BeginArray(JsonWriter::Layout::kLines);
  for (const TorchOp* op : AllTorchOps()) {
    json.BeginObject(JsonWriter::Layout::kOneLine);
    json.Field("name", ToString(op->name));
    json.Field("arguments", ToString(op->arguments));
    json.Field("acted_out", op->run != nullptr);
    json.FieldOrNull("layout", op->run != nullptr ? "" : LayoutOf(*op));
    json.Strings("saved", SavedBy(*op));
    json.Strings("gradients", GradientsOf(*op));
    json.FieldOrNull("autocast", AutocastOf(*op));
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return json.Take();
}

}  // namespace footprint
