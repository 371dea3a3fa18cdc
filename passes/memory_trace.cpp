#include "passes/memory_trace.h"

namespace footprint {

const char* CategoryName(Category category) {
  static constexpr const char* kNames[kCategoryCount] = {
      "parameter", "buffer",   "constant",            "input",           "saved_activation",
      "transient", "gradient", "activation_gradient", "optimizer_state", "workspace"};
  return kNames[static_cast<int>(category)];
}

const char* CertaintyName(Certainty certainty) {
  static constexpr const char* kNames[] = {"exact", "bounded", "assumed", "unknown"};
  return kNames[static_cast<int>(certainty)];
}

const char* PhaseName(Phase phase) {
  static constexpr const char* kNames[kPhaseCount] = {"forward", "backward", "optimizer"};
  return kNames[static_cast<int>(phase)];
}

}  // namespace footprint
