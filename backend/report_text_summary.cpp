#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backend/figures.h"
#include "backend/report_gates.h"
#include "backend/report_text_parts.h"
#include "backend/units.h"

namespace footprint {
namespace {

constexpr int kLabelWidth = 20;
constexpr int kFigureWidth = 15;
constexpr int kBytesWidth = 21;

std::string PadLeft(const std::string& text, int width) {
  const int missing = width - DisplayWidth(text);
  return missing > 0 ? std::string(static_cast<size_t>(missing), ' ') + text : text;
}

std::string PadRight(const std::string& text, int width) {
  const int missing = width - DisplayWidth(text);
  return missing > 0 ? text + std::string(static_cast<size_t>(missing), ' ') : text;
}

std::string Heading(std::string_view title, const std::string& detail, const Terminal& terminal) {
  const std::string padded = PadRight(std::string(title), kLabelWidth + 2);
  const std::string rest = ElideEnd(detail, terminal.width - static_cast<int>(padded.size()) - 2);
  if (rest.empty()) return Bold(title, terminal) + "\n";
  return Bold(padded, terminal) + "  " + rest + "\n";
}

// What a total stands for where some storages of a category (of any, if empty) are only bounded or
// unknown: an unknown part is missing from the total, a bounded one counts in full.
std::string SignOfTotal(const Report& report, int64_t unknown_storages,
                        std::string_view category = "") {
  bool bounded = false;
  bool unknown = category.empty() && unknown_storages > 0;
  for (const ReportStorage& storage : report.storages) {
    if (!category.empty() && storage.category != category) continue;
    bounded |= storage.certainty == "bounded";
    unknown |= storage.certainty == "unknown" && unknown_storages > 0;
  }
  return SignOf(bounded, unknown);
}

std::string PeakPlace(const Peak& peak, const Terminal& terminal) {
  const std::string at = Printable(PlaceOf(peak));
  return at.empty() ? "" : Wrap("    " + at, 4, terminal) + "\n";
}

std::string Expression(const std::string& expression, const Terminal& terminal) {
  if (expression.empty()) return "";
  std::string line = "    = " + Printable(expression);
  const bool has_names = expression.find_first_not_of("0123456789 ?") != std::string::npos;
  if (has_names) line += ", as decided at these bindings";
  return Wrap(line, 6, terminal) + "\n";
}

std::string IncompleteLines(const TrainingReport& training, const Terminal& terminal) {
  std::string text;
  if (training.unknown_storages > 0) {
    text += Wrap("  incomplete: " + Counted(training.unknown_storages, "storage") +
                     " of unknown size, which every total leaves out",
                 4, terminal) +
            "\n";
  }
  std::string generic;
  for (const std::string& count : training.generic_operators) {
    generic += (generic.empty() ? "" : ", ") + Printable(count);
  }
  if (!generic.empty()) {
    text += Wrap("  incomplete: no PyTorch counterpart is known for " + generic +
                     "; what backward keeps for them is derived from their mathematics",
                 4, terminal) +
            "\n";
  }
  return Bold(text, terminal);
}

}  // namespace

std::string FigureLine(std::string_view label, const Bytes& bytes, std::string_view sign) {
  std::string line = "  " + PadRight(std::string(label), kLabelWidth) +
                     PadLeft(std::string(bytes ? sign : "") + Figure(bytes), kFigureWidth);
  if (bytes) line += PadLeft(WithThousands(*bytes), kBytesWidth);
  return line + "\n";
}

std::string CategoryWords(std::string_view category) {
  std::string words(category);
  for (char& c : words) {
    if (c == '_') c = ' ';
  }
  return words;
}

std::string HeadText(const Report& report, const Terminal& terminal) {
  std::string text = Bold(Printable(report.model_path), terminal) + "\n";
  std::vector<std::string> facts = {Printable(report.model_name),
                                    Counted(report.node_count, "node"),
                                    Printable(report.producer)};
  for (const auto& [domain, version] : report.opsets) {
    const bool standard = domain.empty() || domain == "ai.onnx";
    facts.push_back((standard ? "opset " : Printable(domain) + " ") + std::to_string(version));
  }
  text += Wrap("  " + Joined(facts), 2, terminal) + "\n";
  std::vector<std::string> bindings;
  for (const Binding& binding : report.bindings) {
    bindings.push_back(Printable(binding.name) + " = " + std::to_string(binding.value) +
                       (binding.assumed ? " (assumed)" : ""));
  }
  if (!bindings.empty()) text += Wrap("  " + Joined(bindings), 2, terminal) + "\n";
  return text;
}

std::string ParametersText(const Report& report, const Terminal& terminal) {
  std::string detail = WithThousands(report.parameter_count);
  if (report.trainable_parameter_count != report.parameter_count) {
    detail += ", " + WithThousands(report.trainable_parameter_count) + " of them trained";
  }
  std::string text = Heading("Parameters", detail, terminal);
  const StoredReport& stored = report.stored;
  if (stored.sparse_bytes > 0) {
    text += FigureLine("stored sparse", stored.sparse_bytes);
    text += FigureLine("the same, dense", stored.sparse_as_dense_bytes);
    text += FigureLine("all, dense", report.parameter_bytes);
  } else {
    text += FigureLine("as stored", report.parameter_bytes);
  }
  if (report.file_parameter_count != report.parameter_count) {
    text += FigureLine("of the file", report.file_parameter_bytes);
    text += "    " + WithThousands(report.file_parameter_count) +
            " of them: an export folds, merges and copies\n";
  }
  for (const WidthBytes& width : report.widths) text += FigureLine(width.name, width.bytes);
  if (report.buffer_bytes > 0) text += FigureLine("buffers", report.buffer_bytes);
  if (report.constant_bytes > 0) text += FigureLine("constants", report.constant_bytes);
  if (stored.string_payload_bytes > 0) {
    text += FigureLine("string payload", stored.string_payload_bytes);
  }
  if (stored.bytes != stored.referenced_bytes) {
    text += FigureLine("in the file", stored.bytes);
    text += FigureLine("of it read by nodes", stored.referenced_bytes);
  }
  return text;
}

std::string TrainingText(const Report& report, const Terminal& terminal) {
  if (!report.training) return "";
  const TrainingReport& training = *report.training;
  const std::string sign = SignOfTotal(report, training.unknown_storages);
  const std::string loss = training.loss.empty() ? "" : "loss " + Printable(training.loss);
  const std::string micro = training.accumulate > 1 ? std::to_string(training.accumulate) +
                                                          " micro-batches, the last one here"
                                                    : "";
  const std::string again =
      training.checkpoints.empty()
          ? ""
          : Counted(static_cast<int64_t>(training.checkpoints.size()), "checkpointed segment");
  std::string text = Heading(
      "Training step",
      Joined({"eager PyTorch", training.optimizer, training.precision,
              training.scales_loss ? "GradScaler" : "", loss, micro, again}),
      terminal);
  text += FigureLine("parameters", training.parameter_bytes);
  text += FigureLine("buffers", training.buffer_bytes);
  text += FigureLine("gradients", training.gradient_bytes);
  text += FigureLine("optimizer state", training.optimizer_state_bytes);
  if (training.unified_state_bytes.value_or(0) != 0) {
    text += FigureLine("in unified memory", training.unified_state_bytes);
  }
  text += FigureLine("inputs", training.input_bytes,
                     SignOfTotal(report, training.unknown_storages, "input"));
  text += FigureLine("saved activations", training.saved_excluding_inputs_bytes,
                     SignOfTotal(report, training.unknown_storages, "saved_activation"));
  text += Expression(training.saved_expression, terminal);
  text += FigureLine("with inputs", training.saved_bytes,
                     SignOfTotal(report, training.unknown_storages));
  text += FigureLine("after forward", training.after_forward_bytes, sign);
  for (const PhaseReport& phase : training.phases) {
    text += FigureLine("peak of " + phase.name, phase.peak_bytes, sign);
  }
  const std::string peak_sign = SignOf(training.peak.is_bounded, training.unknown_storages > 0);
  text += Bold(FigureLine("peak", training.peak.live_bytes, peak_sign), terminal);
  text += PeakPlace(training.peak, terminal);
  if (training.peak.allocated_bytes) {
    text += FigureLine("allocated", training.peak.allocated_bytes, sign);
  }
  if (training.peak.reserved_bytes) {
    text += FigureLine("reserved", training.peak.reserved_bytes, sign);
  }
  return text + IncompleteLines(training, terminal);
}

std::string DeviceText(const Report& report, const Terminal& terminal) {
  if (!report.device) return "";
  const DeviceReport& device = *report.device;
  std::string text =
      Heading("On " + Printable(device.name), Printable(device.architecture), terminal);
  text += FigureLine("reserved", device.reserved_bytes);
  text += FigureLine("context (assumed)", device.context_bytes);
  text += FigureLine("matrix workspaces", device.blas_workspace_bytes);
  if (device.convolution_workspace_bytes != 0) {
    text += FigureLine("convolutions", device.convolution_workspace_bytes);
  }
  text += FigureLine("needed", device.needed_bytes);
  text += FigureLine(device.nominal ? "memory (assumed)" : "memory", device.memory_bytes);
  if (device.fits) {
    const int64_t margin = device.memory_bytes - *device.needed_bytes;
    const std::string size = BinaryUnits(margin < 0 ? -margin : margin);
    text += Bold(*device.fits ? "  fits, with " + size + " left" : "  does not fit: " + size +
                                                                       " are missing",
                 terminal) +
            "\n";
  }
  for (const std::string& reason : device.reasons) text += Wrap("  " + reason, 4, terminal) + "\n";
  return text;
}

std::string GatesText(const Report& report, const Terminal& terminal) {
  if (report.gates.empty()) return "";
  std::string text = Heading("Budgets", "", terminal);
  for (const GateReport& gate : report.gates) {
    text += gate.passed ? "  kept    " : "  broken  ";
    text += Printable(gate.name) + ": " + Figure(gate.actual_bytes) + " of " +
            BinaryUnits(gate.limit_bytes) + "\n";
    for (const std::string& message : GateMessages(gate)) {
      text += Wrap("    " + Printable(message), 6, terminal) + "\n";
    }
  }
  return text;
}

std::string InferenceText(const Report& report, const Terminal& terminal) {
  if (!report.inference) return "";
  const InferenceReport& inference = *report.inference;
  const bool unknown = inference.unknown_storages > 0;
  const std::string sign = SignOf(inference.peak.is_bounded, unknown);
  const bool ideal = ShowsIdeal(inference);
  std::string text =
      Heading("Inference", ideal ? "ideal reuse, in place, no arena" : "", terminal);
  text += FigureLine("weights", inference.weight_bytes);
  text += FigureLine("inputs", inference.input_bytes);
  text += FigureLine("outputs", inference.output_bytes,
                     SignOf(inference.output_is_bounded, unknown));
  if (inference.constant_foldable_bytes > 0) {
    text += FigureLine("constant-foldable", inference.constant_foldable_bytes);
  }
  if (!ideal) return text;
  text += FigureLine("activation peak", inference.activation_peak_bytes, sign);
  text += Expression(inference.activation_peak_expression, terminal);
  text += Bold(FigureLine("peak", inference.peak.live_bytes, sign), terminal);
  return text + PeakPlace(inference.peak, terminal);
}

}  // namespace footprint
