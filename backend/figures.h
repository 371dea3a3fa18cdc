// Figures that several writers derive from a report.
#ifndef FOOTPRINT_BACKEND_FIGURES_H_
#define FOOTPRINT_BACKEND_FIGURES_H_

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "backend/report.h"

namespace footprint {

// The members of CategoryBytes by the names that reports give categories.
struct CategoryField {
  const char* name;
  int64_t CategoryBytes::*bytes;
};
inline constexpr std::array<CategoryField, 10> kCategoryFields = {{
    {"parameter", &CategoryBytes::parameter},
    {"buffer", &CategoryBytes::buffer},
    {"constant", &CategoryBytes::constant},
    {"input", &CategoryBytes::input},
    {"saved_activation", &CategoryBytes::saved_activation},
    {"transient", &CategoryBytes::transient},
    {"gradient", &CategoryBytes::gradient},
    {"activation_gradient", &CategoryBytes::activation_gradient},
    {"optimizer_state", &CategoryBytes::optimizer_state},
    {"workspace", &CategoryBytes::workspace},
}};

// A figure of the whole model, by the name that budgets and comparisons give it.
struct NamedFigure {
  enum class Of { kModel, kTraining, kTrainingPeak, kInferencePeak, kOnnxRuntime };

  const char* name;
  // Of the figure in a report's JSON (RFC 6901); in an array, a name stands for the element that
  // has it.
  const char* pointer;
  Of of;
  Bytes (*bytes)(const Report& report);  // where that run was analyzed
};
std::span<const NamedFigure> NamedFigures();
const NamedFigure* FindFigure(std::string_view name);  // null: there is none
bool IsAnalyzed(const Report& report, NamedFigure::Of of);
// Storages of unknown size that a peak leaves out.
int64_t LeftOut(const Report& report, NamedFigure::Of of);
// Unknown where it was not analyzed, and where it is a lower bound only.
Bytes KnownFigure(const Report& report, const NamedFigure& figure);

// Whether the ideal reuse of buffers is told of: --runtime onnxruntime leaves it out.
bool ShowsIdeal(const InferenceReport& inference);

// Nullptr: not analyzed.
const RuntimeReport* FindOnnxRuntime(const Report& report);

// "2.54 GiB", or "unknown".
std::string Figure(const Bytes& bytes);

// "2.54 GiB (2,730,177,028 bytes)", "48 bytes", or "unknown".
std::string ExactFigure(const Bytes& bytes);

// What stands before a total: of an upper bound where run-time data decides sizes, of a lower one
// where some are unknown. "<= ", ">= ", "~ " for both, or nothing.
std::string SignOf(bool bounded, bool unknown);

// What the totals of a step leave out or guess: "left out: 3 storages of unknown size, 2 x Foo".
std::string Incompleteness(const TrainingReport& training);

// Text from anywhere, safe inside an element of HTML or XML and inside a quoted attribute.
std::string Markup(std::string_view text);

// What a layer stands for in layer tables: what it stores, keeps for backward and trains with; the
// outputs that nobody keeps only where there is no training.
int64_t LayerBytes(const CategoryBytes& bytes, bool training);

// "in backward, at ConvolutionBackward0 of /conv1/Conv, layer conv1"
std::string PlaceOf(const Peak& peak);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_FIGURES_H_
