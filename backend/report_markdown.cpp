#include "backend/report_markdown.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "backend/figures.h"
#include "backend/report_gates.h"
#include "backend/report_text_parts.h"
#include "backend/terminal.h"
#include "backend/units.h"

namespace footprint {
namespace {

constexpr size_t kRows = 15;
constexpr size_t kNotes = 10;
constexpr int kTextWidth = 160;

void FigureRow(const char* label, const Bytes& bytes, std::string& text,
               const std::string& sign = "") {
  text += "| " + std::string(label) + " | " + sign + Figure(bytes) + " | " +
          (bytes ? WithThousands(*bytes) : "") + " |\n";
}

void AddHead(const Report& report, std::string& text) {
  text += "### Memory of " + MarkdownCode(report.model_path) + "\n\n";
  std::vector<std::string> facts = {WithThousands(report.parameter_count) + " parameters"};
  if (report.training) {
    facts.push_back(report.training->optimizer);
    facts.push_back(report.training->precision);
  }
  for (const Binding& binding : report.bindings) {
    facts.push_back(MarkdownCode(binding.name) + " = " + std::to_string(binding.value) +
                    (binding.assumed ? " (assumed)" : ""));
  }
  text += Joined(facts) + "\n\n";
}

void AddFigures(const Report& report, std::string& text) {
  text += "| | size | bytes |\n|---|---:|---:|\n";
  FigureRow("parameters", report.parameter_bytes, text);
  if (report.training) {
    const TrainingReport& training = *report.training;
    FigureRow("gradients", training.gradient_bytes, text);
    FigureRow("optimizer state", training.optimizer_state_bytes, text);
    FigureRow("saved activations", training.saved_excluding_inputs_bytes, text);
    FigureRow("**peak of a training step**", training.peak.live_bytes, text,
              SignOf(training.peak.is_bounded, training.unknown_storages > 0));
    FigureRow("reserved by the allocator", training.peak.reserved_bytes, text);
  }
  if (report.inference) {
    const InferenceReport& inference = *report.inference;
    FigureRow("**peak of inference**", inference.peak.live_bytes, text,
              SignOf(inference.peak.is_bounded, inference.unknown_storages > 0));
    for (const RuntimeReport& runtime : inference.runtimes) {
      const std::string label = "activations at the peak, " + runtime.name;
      FigureRow(label.c_str(), runtime.activation_peak_bytes, text);
    }
  }
  text += "\n";
  if (!report.training) return;
  const TrainingReport& training = *report.training;
  if (!training.peak.step.empty()) {
    text += "The peak is " + MarkdownCode(PlaceOf(training.peak)) + ".\n\n";
  }
  if (!training.complete) {
    text += "**Incomplete**: " + Incompleteness(training) + "\n\n";
  }
}

void AddGates(const Report& report, std::string& text) {
  if (report.gates.empty()) return;
  text += "| budget | limit | actual | |\n|---|---:|---:|---|\n";
  for (const GateReport& gate : report.gates) {
    text += "| " + MarkdownCode(gate.name) + " | " + BinaryUnits(gate.limit_bytes) + " | " +
            Figure(gate.actual_bytes) + " | " + (gate.passed ? "kept" : "**broken**") + " |\n";
  }
  text += "\n";
  for (const GateReport& gate : report.gates) {
    for (const std::string& message : GateMessages(gate)) {
      text += "- " + MarkdownCode(message) + "\n";
    }
    if (!gate.passed) text += "\n";
  }
}

void BeginDetails(const std::string& summary, std::string& text) {
  text += "<details><summary>" + summary + "</summary>\n\n";
}

void EndDetails(size_t all, std::string& text) {
  if (all > kRows) {
    text += "\nand " + WithThousands(static_cast<int64_t>(all - kRows)) + " more\n";
  }
  text += "\n</details>\n\n";
}

void AddLayers(const Report& report, std::string& text) {
  const bool training = report.training.has_value();
  std::vector<const ReportLayer*> layers;
  for (const ReportLayer& layer : report.layers) {
    if (!layer.path.empty() && LayerBytes(layer.own, training) > 0) layers.push_back(&layer);
  }
  if (layers.empty()) return;
  std::stable_sort(layers.begin(), layers.end(), [&](const ReportLayer* a, const ReportLayer* b) {
    return LayerBytes(a->own, training) > LayerBytes(b->own, training);
  });
  BeginDetails("Largest layers, each without those below it", text);
  text += "| layer | parameters | gradients | state | saved | sum |\n";
  text += "|---|---:|---:|---:|---:|---:|\n";
  for (size_t i = 0; i < std::min(kRows, layers.size()); ++i) {
    const CategoryBytes& own = layers[i]->own;
    text += "| " + MarkdownCode(layers[i]->path) + " | " + BinaryUnits(own.parameter) + " | " +
            BinaryUnits(own.gradient) + " | " + BinaryUnits(own.optimizer_state) + " | " +
            BinaryUnits(own.saved_activation) + " | " + BinaryUnits(LayerBytes(own, training)) +
            " |\n";
  }
  EndDetails(layers.size(), text);
}

void AddLive(const char* summary, const Peak& peak, std::string& text) {
  if (peak.live.empty()) return;
  BeginDetails(summary, text);
  text += "| storage | category | size | why |\n|---|---|---:|---|\n";
  for (size_t i = 0; i < std::min(kRows, peak.live.size()); ++i) {
    const LiveStorage& live = peak.live[i];
    text += "| " + MarkdownCode(live.name) + " | " + live.category + " | " + Figure(live.bytes) +
            " | " + MarkdownCode(live.reason) + " |\n";
  }
  EndDetails(peak.live.size(), text);
}

void AddSweep(const Report& report, std::string& text) {
  if (!report.sweep) return;
  const std::vector<SweepPoint>& points = report.sweep->points;
  text += "| " + MarkdownCode(report.sweep->name) +
          " | saved + inputs | training peak | inference peak |\n|---:|---:|---:|---:|\n";
  const size_t step = (points.size() + kRows - 1) / kRows;
  for (size_t i = 0; i < points.size(); i += step) {
    text += "| " + WithThousands(points[i].value) + " | " + Figure(points[i].saved_bytes) + " | " +
            Figure(points[i].training_peak_bytes) + " | " +
            Figure(points[i].inference_peak_bytes) + " |\n";
  }
  text += "\n";
}

void AddNotes(const Report& report, std::string& text) {
  size_t shown = 0;
  for (const ReportDiagnostic& diagnostic : report.diagnostics) {
    if (shown++ == kNotes) break;
    text += "- " + diagnostic.severity + ": " +
            MarkdownCode((diagnostic.place.empty() ? "" : diagnostic.place + ": ") +
                         diagnostic.message) +
            "\n";
  }
  if (report.diagnostics.size() > kNotes) {
    text += "- and " +
            WithThousands(static_cast<int64_t>(report.diagnostics.size() - kNotes)) + " more\n";
  }
}

}  // namespace

std::string MarkdownCode(std::string_view text) {
  std::string code;
  for (const char c : Printable(ElideMiddle(text, kTextWidth))) {
    if (c == '|') code += '\\';
    code += c == '`' ? '\'' : c;
  }
  return code.empty() ? "" : "`" + code + "`";
}

std::string ReportMarkdown(const Report& report) {
  std::string text;
  AddHead(report, text);
  AddFigures(report, text);
  AddGates(report, text);
  AddSweep(report, text);
  for (const std::string& asked : AskedForTexts(report)) text += "```\n" + asked + "```\n\n";
  AddLayers(report, text);
  if (report.training) AddLive("Alive at the peak of training", report.training->peak, text);
  if (report.inference) AddLive("Alive at the peak of inference", report.inference->peak, text);
  AddNotes(report, text);
  return text;
}

}  // namespace footprint
