#include "backend/figures.h"

#include "backend/terminal.h"
#include "backend/units.h"

namespace footprint {
namespace {

using Of = NamedFigure::Of;

template <Bytes TrainingReport::*bytes>
Bytes OfTraining(const Report& report) {
  return (*report.training).*bytes;
}
template <Bytes Peak::*bytes>
Bytes OfPeak(const Report& report) {
  return report.training->peak.*bytes;
}

constexpr std::array<NamedFigure, 11> kFigures = {{
    {"parameters", "/parameters/bytes", Of::kModel,
     [](const Report& r) { return Bytes(r.parameter_bytes); }},
    {"buffers", "/buffers/bytes", Of::kModel,
     [](const Report& r) { return Bytes(r.buffer_bytes); }},
    {"gradients", "/training/gradient_bytes", Of::kTraining,
     OfTraining<&TrainingReport::gradient_bytes>},
    {"optimizer-state", "/training/optimizer_state_bytes", Of::kTraining,
     OfTraining<&TrainingReport::optimizer_state_bytes>},
    {"saved", "/training/saved_bytes", Of::kTraining, OfTraining<&TrainingReport::saved_bytes>},
    {"peak", "/training/peak/live_bytes", Of::kTrainingPeak, OfPeak<&Peak::live_bytes>},
    {"allocated", "/training/peak/allocated_bytes", Of::kTrainingPeak,
     OfPeak<&Peak::allocated_bytes>},
    {"reserved", "/training/peak/reserved_bytes", Of::kTrainingPeak,
     OfPeak<&Peak::reserved_bytes>},
    {"inference-peak", "/inference/peak/live_bytes", Of::kInferencePeak,
     [](const Report& r) { return r.inference->peak.live_bytes; }},
    {"activation-peak", "/inference/activation_peak_bytes", Of::kInferencePeak,
     [](const Report& r) { return r.inference->activation_peak_bytes; }},
    {"onnxruntime-activation-peak", "/inference/runtimes/onnxruntime/activation_peak_bytes",
     Of::kOnnxRuntime, [](const Report& r) { return FindOnnxRuntime(r)->activation_peak_bytes; }},
}};

}  // namespace

bool ShowsIdeal(const InferenceReport& inference) {
  return inference.runtimes.empty() || inference.runtimes.front().name == "ideal";
}

const RuntimeReport* FindOnnxRuntime(const Report& report) {
  if (!report.inference) return nullptr;
  for (const RuntimeReport& runtime : report.inference->runtimes) {
    if (runtime.name == "onnxruntime") return &runtime;
  }
  return nullptr;
}

std::span<const NamedFigure> NamedFigures() { return kFigures; }

const NamedFigure* FindFigure(std::string_view name) {
  for (const NamedFigure& figure : kFigures) {
    if (figure.name == name) return &figure;
  }
  return nullptr;
}

bool IsAnalyzed(const Report& report, Of of) {
  if (of == Of::kModel) return true;
  if (of == Of::kOnnxRuntime) return FindOnnxRuntime(report) != nullptr;
  if (of != Of::kInferencePeak) return report.training.has_value();
  return report.inference && ShowsIdeal(*report.inference);
}

int64_t LeftOut(const Report& report, Of of) {
  switch (of) {
    case Of::kTrainingPeak:
      return report.training->unknown_storages;
    case Of::kInferencePeak:
      return report.inference->unknown_storages;
    case Of::kOnnxRuntime:
      return FindOnnxRuntime(report)->unknown_buffers;
    default:
      return 0;
  }
}

Bytes KnownFigure(const Report& report, const NamedFigure& figure) {
  if (!IsAnalyzed(report, figure.of) || LeftOut(report, figure.of) > 0) return std::nullopt;
  return figure.bytes(report);
}

std::string Figure(const Bytes& bytes) { return bytes ? BinaryUnits(*bytes) : "unknown"; }

std::string ExactFigure(const Bytes& bytes) {
  if (!bytes) return "unknown";
  const std::string exact = WithThousands(*bytes) + (*bytes == 1 ? " byte" : " bytes");
  return *bytes < 1024 ? exact : BinaryUnits(*bytes) + " (" + exact + ")";
}

std::string SignOf(bool bounded, bool unknown) {
  if (bounded && unknown) return "~ ";
  if (unknown) return ">= ";
  return bounded ? "<= " : "";
}

std::string Incompleteness(const TrainingReport& training) {
  const int64_t unknown = training.unknown_storages;
  return Joined({unknown > 0 ? "left out: " + Counted(unknown, "storage") + " of unknown size" : "",
                 Joined(training.generic_operators)});
}

std::string Markup(std::string_view text) {
  constexpr std::string_view kSpecial = "&<>\"'";
  constexpr std::array<std::string_view, 5> kEscaped = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
  std::string markup;
  for (const char c : Printable(text)) {
    const size_t special = kSpecial.find(c);
    if (special == std::string_view::npos) {
      markup += c;
    } else {
      markup += kEscaped[special];
    }
  }
  return markup;
}

int64_t LayerBytes(const CategoryBytes& bytes, bool training) {
  return bytes.parameter + bytes.buffer + bytes.constant + bytes.gradient + bytes.optimizer_state +
         bytes.saved_activation + (training ? 0 : bytes.transient);
}

std::string PlaceOf(const Peak& peak) {
  std::string at;
  if (!peak.phase.empty()) at = "in " + peak.phase;
  if (!peak.step.empty()) at += (at.empty() ? "at " : ", at ") + peak.step;
  if (!peak.node.empty()) at += " of " + peak.node;
  if (!peak.layer.empty()) at += ", layer " + peak.layer;
  return at;
}

}  // namespace footprint
