#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "backend/build_report.h"
#include "backend/bytes.h"
#include "passes/textbook.h"

// The closed form that articles teach: P parameters; as much again for gradients; Adam's state as a
// copy of the weights, momentum and variance; activations as the outputs of embeddings, linear
// layers and convolutions. It is what it is: the notes say in which way PyTorch differs.

namespace footprint {
namespace {

int64_t BytesPerElement(Precision precision) {
  return precision == Precision::kBf16 || precision == Precision::kFp16 ||
                 precision == Precision::kMixedMaster
             ? 2
             : 4;
}

// Copies of the parameters that articles count: a state of n tensors per parameter comes with a
// copy of the weights; stateless optimizers have none.
int64_t TextbookCopies(const std::string& optimizer) {
  const int64_t states = StateValuesPerParameter(optimizer).value_or(0);
  return states == 0 ? 0 : states + 1;
}

std::string InGib(int64_t bytes) {
  return absl::StrFormat("%.2f GiB", static_cast<double>(bytes) / (int64_t{1} << 30));
}

// The operators that keep most, for the line on activations.
std::string LargestSavers(const TrainingAnalysis& training) {
  std::map<std::string, int64_t> by_operator;
  for (StorageId id : training.trace.saved) {
    if (training.trace.saved_by[id].empty()) continue;
    const auto step = static_cast<size_t>(training.trace.saved_by[id].front());
    by_operator[training.trace.steps[step].name] += training.timeline.bytes[id].value_or(0);
  }
  std::vector<std::pair<std::string, int64_t>> sorted(by_operator.begin(), by_operator.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (size_t i = 0; i < sorted.size() && i < 4; ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", sorted[i].first, " ", InGib(sorted[i].second));
  }
  return text;
}

void AddComparison(const Analysis& analysis, const Report& report, TextbookReport& textbook) {
  if (!report.training.has_value()) return;
  const TrainingReport& real = *report.training;
  if (real.parameter_bytes.value_or(0) != textbook.parameter_bytes) {
    textbook.notes.push_back(absl::StrCat(
        "Parameters: the model's own are ", real.parameter_bytes.value_or(0), " bytes, not ",
        textbook.parameter_bytes,
        analysis.options.parameter_count.has_value() ? " (--params replaces the count)" : ""));
  }
  if (real.optimizer_state_bytes.value_or(0) != textbook.optimizer_state_bytes) {
    textbook.notes.push_back(absl::StrCat(
        "Optimizer state: PyTorch keeps ", real.optimizer_state_bytes.value_or(0), " bytes, not ",
        textbook.optimizer_state_bytes, ": no second copy of the weights"));
  }
  const int64_t saved = real.saved_excluding_inputs_bytes.value_or(0);
  textbook.notes.push_back(
      absl::StrCat("Activations: PyTorch keeps ", saved, " bytes (", InGib(saved), "), not ",
                   textbook.activation_bytes.value_or(0),
                   ": what gradients need, not the outputs of layers. Largest: ",
                   LargestSavers(*analysis.training)));
  textbook.notes.push_back(
      "Peak: a step also holds activation gradients in flight and the loss's own tensors; the "
      "textbook has neither");
}

}  // namespace

TextbookReport BuildTextbook(Analysis& analysis, const Report& report) {
  TextbookReport textbook;
  const int64_t width = BytesPerElement(analysis.options.precision);
  textbook.parameter_count = analysis.options.parameter_count.value_or(report.parameter_count);
  const Dim parameters = analysis.dims().Mul(textbook.parameter_count, width);
  const Dim state = analysis.dims().Mul(parameters, TextbookCopies(analysis.options.optimizer));
  textbook.parameter_bytes = analysis.evaluator.Evaluate(parameters).value_or(0);
  textbook.gradient_bytes = textbook.parameter_bytes;
  textbook.optimizer_state_bytes = analysis.evaluator.Evaluate(state).value_or(0);
  Dim activations = 0;
  for (const TextbookGroup& group :
       GroupTextbookLayers(analysis.graph(), analysis.inferred, analysis.roles)) {
    const Dim bytes = analysis.dims().Mul(group.elements, width);
    activations = analysis.dims().Add(activations, bytes);
    TextbookLayer layer;
    layer.name = group.name;
    layer.kind = group.kind;
    layer.kind_detail =
        absl::StrCat(group.nodes.size(), group.nodes.size() == 1 ? " operator" : " operators");
    layer.bytes = analysis.evaluator.Evaluate(bytes).value_or(0);
    textbook.layers.push_back(std::move(layer));
  }
  textbook.activation_bytes = analysis.evaluator.Evaluate(activations);
  const Dim total = analysis.dims().Sum({parameters, parameters, state, activations});
  textbook.total_bytes = analysis.evaluator.Evaluate(total);
  std::string units = MixedUnitsNote(textbook);
  if (!units.empty()) textbook.notes.push_back(std::move(units));
  AddComparison(analysis, report, textbook);
  return textbook;
}

}  // namespace footprint
