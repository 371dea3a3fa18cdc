#include "backend/gate.h"

#include <fnmatch.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "backend/figures.h"
#include "backend/units.h"
#include "ir/layer_glob.h"

namespace footprint {
namespace {

constexpr std::string_view kLayer = "layer:";
constexpr std::string_view kTensor = "tensor:";

// A figure that a limit is for.
struct Held {
  std::string place;
  Bytes bytes;
  int64_t left_out = 0;  // storages of unknown size that it does not count
};

// Nullopt: that run was not analyzed.
std::optional<Held> HeldOf(const NamedFigure& figure, const Report& report) {
  using Of = NamedFigure::Of;
  if (!IsAnalyzed(report, figure.of)) return std::nullopt;
  Held held{"", figure.bytes(report)};
  if (figure.of == Of::kTrainingPeak) held.place = PlaceOf(report.training->peak);
  if (figure.of == Of::kInferencePeak) held.place = PlaceOf(report.inference->peak);
  if (figure.of == Of::kOnnxRuntime) held.place = "at " + FindOnnxRuntime(report)->peak_step;
  held.left_out = figure.of == Of::kTraining ? report.training->unknown_storages
                                             : LeftOut(report, figure.of);
  return held;
}

// "peak" is inference's where no training was analyzed.
std::optional<Held> HeldOf(std::string_view name, const Report& report) {
  if (name == "peak" && !report.training) name = "inference-peak";
  return HeldOf(*FindFigure(name), report);
}

std::vector<Held> LayersOf(const Report& report, const std::string& pattern) {
  std::vector<Held> held;
  for (const ReportLayer& layer : report.layers) {
    if (layer.path.empty() || !MatchesLayer(pattern, layer.path)) continue;
    held.push_back({"layer " + layer.path, LayerBytes(layer.total, report.training.has_value())});
  }
  return held;
}

std::vector<Held> TensorsOf(const Report& report, const std::string& pattern) {
  std::vector<Held> held;
  for (const ReportTensor& tensor : report.tensors) {
    if (fnmatch(pattern.c_str(), tensor.name.c_str(), 0) != 0) continue;
    held.push_back({"tensor " + tensor.name, tensor.bytes});
  }
  return held;
}

GateReport Hold(std::string name, int64_t limit_bytes, std::vector<Held> held) {
  std::stable_sort(held.begin(), held.end(),
                   [](const Held& a, const Held& b) { return IsLarger(a.bytes, b.bytes); });
  GateReport gate;
  gate.name = std::move(name);
  gate.limit_bytes = limit_bytes;
  if (!held.empty()) gate.actual_bytes = held.front().bytes;
  for (Held& figure : held) {
    std::string why;
    if (!figure.bytes) why = "its size is unknown";
    if (figure.left_out > 0) {
      why = WithThousands(figure.left_out) + " of its storages have no known size";
    }
    const bool over = !figure.bytes || *figure.bytes > limit_bytes;
    if (!over && why.empty()) continue;
    gate.violations.push_back({std::move(figure.place), figure.bytes, std::move(why)});
  }
  gate.passed = gate.violations.empty();
  return gate;
}

void Refuse(const Budget& budget, const std::string& message, DiagnosticSink& sink) {
  sink.UsageError("unknown-budget", "--budget " + budget.subject, message);
}

// No figures: what is wrong with the budget is in `sink`.
std::vector<Held> FiguresOf(const Budget& budget, const Report& report, DiagnosticSink& sink) {
  const std::string_view subject = budget.subject;
  if (FindFigure(subject) != nullptr) {
    if (std::optional<Held> held = HeldOf(subject, report)) return {std::move(*held)};
    Refuse(budget, "is a figure of a run that --mode or --runtime leaves out", sink);
    return {};
  }
  std::vector<Held> held;
  if (subject.starts_with(kLayer)) {
    held = LayersOf(report, std::string(subject.substr(kLayer.size())));
    if (held.empty()) {
      std::vector<std::string> paths;
      for (const ReportLayer& layer : report.layers) paths.push_back(layer.path);
      const std::string pattern(subject.substr(kLayer.size()));
      Refuse(budget, "matches no layer of the report" + DidYouMeanLayer(pattern, std::move(paths)),
             sink);
    }
  } else {
    const bool every = subject == "tensor";
    held = TensorsOf(report, every ? "*" : std::string(subject.substr(kTensor.size())));
    if (held.empty() && !every) Refuse(budget, "matches no tensor of the model", sink);
  }
  return held;
}

}  // namespace

bool IsLarger(const Bytes& a, const Bytes& b) {
  if (!a || !b) return !a && b;
  return *a > *b;
}

std::vector<std::string> BudgetSubjects() {
  std::vector<std::string> names;
  for (const NamedFigure& figure : NamedFigures()) names.emplace_back(figure.name);
  names.insert(names.end(), {"layer:GLOB", "tensor", "tensor:GLOB"});
  return names;
}

bool IsBudgetSubject(const std::string& subject) {
  const auto has_glob = [&](std::string_view prefix) {
    return subject.starts_with(prefix) && subject.size() > prefix.size();
  };
  return FindFigure(subject) != nullptr || subject == "tensor" || has_glob(kLayer) ||
         has_glob(kTensor);
}

std::vector<GateReport> HoldBudgets(const std::vector<Budget>& budgets, const Report& report,
                                    DiagnosticSink& sink) {
  std::vector<GateReport> gates;
  for (const Budget& budget : budgets) {
    gates.push_back(Hold(budget.subject, budget.limit_bytes, FiguresOf(budget, report, sink)));
  }
  if (report.device) {
    const int64_t left_out = report.training ? report.training->unknown_storages : 0;
    gates.push_back(Hold("device " + report.device->name, report.device->memory_bytes,
                         {{"needed by a training step", report.device->needed_bytes, left_out}}));
  }
  return gates;
}

}  // namespace footprint
