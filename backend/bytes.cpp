#include "backend/bytes.h"

#include <array>
#include <utility>

#include "backend/report_json_writer.h"
#include "backend/terminal_table.h"
#include "backend/units.h"
#include "passes/optimizer.h"

namespace footprint {
namespace {

struct Regime {
  const char* name;
  int64_t parameter_width;
  int64_t gradient_width;
  int64_t master_width;
  int64_t state_value_width;
};
constexpr std::array<Regime, 5> kRegimes = {
    {{"fp32", 4, 4, 0, 4},
     {"fp32, each gradient freed once used", 4, 0, 0, 4},
     {"16-bit", 2, 2, 0, 2},
     {"16-bit, fp32 master weights and state", 2, 2, 4, 4},
     {"16-bit, fp32 master, state and gradients", 2, 4, 4, 4}}};

bool Multiply(int64_t count, int64_t width, int64_t* bytes) {
  return !__builtin_mul_overflow(count, width, bytes);
}

std::optional<TrainingRegime> ComputeRegime(const Regime& regime, int64_t count,
                                            int64_t state_values) {
  TrainingRegime result;
  result.name = regime.name;
  result.parameter_width = regime.parameter_width;
  result.gradient_width = regime.gradient_width;
  result.master_width = regime.master_width;
  result.state_width = regime.state_value_width * state_values;
  result.width =
      result.parameter_width + result.gradient_width + result.master_width + result.state_width;
  // The total is the largest: if it fits, all do.
  if (!Multiply(count, result.width, &result.total_bytes)) return std::nullopt;
  result.parameter_bytes = count * result.parameter_width;
  result.gradient_bytes = count * result.gradient_width;
  result.master_bytes = count * result.master_width;
  result.optimizer_state_bytes = count * result.state_width;
  return result;
}

void WriteRegime(const TrainingRegime& regime, JsonWriter* json) {
  json->BeginObject(JsonWriter::Layout::kOneLine);
  json->Field("name", regime.name);
  json->Field("bytes_per_parameter", regime.width);
  json->Field("parameter_bytes", regime.parameter_bytes);
  json->Field("gradient_bytes", regime.gradient_bytes);
  json->Field("master_bytes", regime.master_bytes);
  json->Field("optimizer_state_bytes", regime.optimizer_state_bytes);
  json->Field("total_bytes", regime.total_bytes);
  json->EndObject();
}

std::string Width(int64_t width) { return width == 0 ? "-" : std::to_string(width); }

std::string WidthsText(const BytesReport& report, const Terminal& terminal) {
  constexpr TableColumn::Align kRight = TableColumn::Align::kRight;
  TerminalTable table({{.title = ""},
                       {.title = "bytes each", .align = kRight},
                       {.title = "parameters", .align = kRight},
                       {.title = "binary", .align = kRight, .leaves_as = 1},
                       {.title = "bytes", .align = kRight, .leaves_as = 2}});
  constexpr const char* kEach[] = {"4", "2", "1", "0.5"};
  const int64_t reference = report.widths.front().bytes;
  for (size_t i = 0; i < report.widths.size(); ++i) {
    const WidthBytes& width = report.widths[i];
    table.AddRow({width.name, kEach[i], DecimalUnitsLike(width.bytes, reference),
                  BinaryUnits(width.bytes), WithThousands(width.bytes)});
  }
  return table.Render(terminal);
}

std::string RegimesText(const BytesReport& report, const Terminal& terminal) {
  constexpr TableColumn::Align kRight = TableColumn::Align::kRight;
  TerminalTable table({{.title = "bytes per parameter", .excess = TableColumn::Excess::kElideEnd},
                       {.title = "weight", .align = kRight, .leaves_as = 2},
                       {.title = "gradient", .align = kRight, .leaves_as = 3},
                       {.title = "master", .align = kRight, .leaves_as = 5},
                       {.title = "state", .align = kRight, .leaves_as = 4},
                       {.title = "sum", .align = kRight},
                       {.title = "in all", .align = kRight},
                       {.title = "binary", .align = kRight, .leaves_as = 1}});
  for (const TrainingRegime& regime : report.regimes) {
    table.AddRow({regime.name, Width(regime.parameter_width), Width(regime.gradient_width),
                  Width(regime.master_width), Width(regime.state_width), Width(regime.width),
                  DecimalUnits(regime.total_bytes), BinaryUnits(regime.total_bytes)});
  }
  return table.Render(terminal);
}

}  // namespace

std::optional<std::vector<WidthBytes>> BytesOfWidths(int64_t parameter_count) {
  int64_t fp32 = 0;
  if (!Multiply(parameter_count, 4, &fp32)) return std::nullopt;
  return std::vector<WidthBytes>{{"fp32", fp32},
                                 {"fp16/bf16", parameter_count * 2},
                                 {"int8", parameter_count},
                                 {"int4", parameter_count / 2 + parameter_count % 2}};
}

std::optional<int64_t> StateValuesPerParameter(std::string_view optimizer) {
  using Size = OptimizerState::Size;
  const Optimizer* known = FindOptimizer({optimizer.data(), optimizer.size()});
  if (known == nullptr) return std::nullopt;
  int64_t values = 0;
  for (const OptimizerState& state : known->states) {
    if (state.size == Size::kNone || state.size == Size::kScalar) continue;
    if (state.size != Size::kLikeParameter) return std::nullopt;
    ++values;
  }
  return values;
}

std::vector<std::string> OptimizerNames() {
  std::vector<std::string> names;
  for (const Optimizer& known : AllOptimizers()) names.emplace_back(known.name);
  return names;
}

std::optional<BytesReport> ComputeBytes(int64_t parameter_count, std::string_view optimizer) {
  BytesReport report;
  report.parameter_count = parameter_count;
  report.optimizer = optimizer;
  std::optional<std::vector<WidthBytes>> widths = BytesOfWidths(parameter_count);
  if (!widths) return std::nullopt;
  report.widths = std::move(*widths);
  const std::optional<int64_t> state_values = StateValuesPerParameter(optimizer);
  if (!state_values) return report;
  for (const Regime& regime : kRegimes) {
    std::optional<TrainingRegime> computed = ComputeRegime(regime, parameter_count, *state_values);
    if (!computed) return std::nullopt;
    report.regimes.push_back(std::move(*computed));
  }
  return report;
}

std::string BytesJson(const BytesReport& report) {
  JsonWriter json;
  json.BeginObject(JsonWriter::Layout::kLines);
  json.Field("schema", "footprint-bytes/1");
  json.Field("parameter_count", report.parameter_count);
  json.Key("widths");
  json.BeginObject(JsonWriter::Layout::kOneLine);
  for (const WidthBytes& width : report.widths) json.Field(width.name, width.bytes);
  json.EndObject();
  json.FieldOrNull("optimizer", report.optimizer);
  json.Key("training");
  json.BeginArray(JsonWriter::Layout::kLines);
  for (const TrainingRegime& regime : report.regimes) WriteRegime(regime, &json);
  json.EndArray();
  json.EndObject();
  return json.Take();
}

std::string BytesText(const BytesReport& report, const Terminal& terminal) {
  std::string text = Bold(WithThousands(report.parameter_count) + " parameters", terminal) + "\n";
  text += WidthsText(report, terminal);
  if (report.regimes.empty()) return text;
  text += "\n" + Bold("Training with " + report.optimizer, terminal) + "\n";
  text += RegimesText(report, terminal);
  text += Wrap("  Activations, workspace and what the optimizer needs during its call come on top.",
               2, terminal);
  return text + "\n";
}

std::string MixedUnitsNote(const TextbookReport& textbook) {
  if (!textbook.activation_bytes || !textbook.total_bytes) return "";
  const int64_t fixed = *textbook.total_bytes - *textbook.activation_bytes;
  // In hundredths of each unit, so that the wrong sum comes out as an article prints it.
  const auto hundredths = [](int64_t bytes, int64_t unit) {
    return bytes / unit * 100 + (bytes % unit * 100 + unit / 2) / unit;
  };
  const int64_t sum =
      hundredths(fixed, 1000000000) + hundredths(*textbook.activation_bytes, 1LL << 30);
  const std::string cents = std::to_string(100 + sum % 100).substr(1);
  return "articles add " + DecimalUnitsLike(fixed, 1000000000) + " (10^9) to " +
         BinaryUnits(*textbook.activation_bytes) + " (2^30) of activations and print " +
         WithThousands(sum / 100) + "." + cents + "; the sum is " +
         DecimalUnits(*textbook.total_bytes) + " or " + BinaryUnits(*textbook.total_bytes);
}

}  // namespace footprint
