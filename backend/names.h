// Names of options as the command line spells them.
#ifndef FOOTPRINT_BACKEND_NAMES_H_
#define FOOTPRINT_BACKEND_NAMES_H_

#include <array>
#include <cstddef>

#include "backend/options.h"

namespace footprint {

// A value of an option by the name that the command line gives it.
template <typename T>
struct Choice {
  const char* name;
  T value;
  bool available = true;  // false: part of the command line, not of this version
};

inline constexpr std::array<Choice<Mode>, 3> kModes = {
    {{"training", Mode::kTraining}, {"inference", Mode::kInference}, {"both", Mode::kBoth}}};
inline constexpr std::array<Choice<Precision>, 6> kPrecisions = {
    {{"fp32", Precision::kFp32},
     {"bf16", Precision::kBf16},
     {"fp16", Precision::kFp16},
     {"amp-bf16", Precision::kAmpBf16},
     {"amp-fp16", Precision::kAmpFp16},
     {"mixed:master", Precision::kMixedMaster}}};
inline constexpr std::array<Choice<Loss>, 5> kLosses = {{{"auto", Loss::kAuto},
                                                  {"none", Loss::kNone},
                                                  {"cross-entropy", Loss::kCrossEntropy},
                                                  {"mse", Loss::kMse},
                                                  {"sum", Loss::kSum}}};
inline constexpr std::array<Choice<Attention>, 5> kAttentionKernels = {
    {{"auto", Attention::kAuto},
     {"math", Attention::kMath},
     {"efficient", Attention::kEfficient},
     {"flash", Attention::kFlash},
     {"cudnn", Attention::kCudnn}}};
inline constexpr std::array<Choice<Modules>, 2> kModules = {
    {{"recomposed", Modules::kRecomposed}, {"as-exported", Modules::kAsExported}}};
inline constexpr std::array<Choice<GradScaler>, 3> kGradScalers = {
    {{"auto", GradScaler::kAuto}, {"on", GradScaler::kOn}, {"off", GradScaler::kOff}}};
inline constexpr std::array<Choice<Accounting>, 3> kAccountings = {
    {{"autograd", Accounting::kAutograd},
     {"graph", Accounting::kGraph},
     {"textbook", Accounting::kTextbook}}};
inline constexpr std::array<Choice<Runtime>, 3> kRuntimes = {
    {{"both", Runtime::kBoth}, {"ideal", Runtime::kIdeal}, {"onnxruntime", Runtime::kOnnxRuntime}}};
inline constexpr std::array<Choice<GraphOptimization>, 2> kGraphOptimizations = {
    {{"none", GraphOptimization::kNone}, {"all", GraphOptimization::kAll}}};
template <typename T, size_t n>
constexpr const char* NameOf(T value, const std::array<Choice<T>, n>& choices) {
  for (const Choice<T>& choice : choices) {
    if (choice.value == value) return choice.name;
  }
  return "";
}

constexpr const char* PrecisionName(Precision precision) { return NameOf(precision, kPrecisions); }

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_NAMES_H_
