#include "backend/figures.h"

namespace footprint {

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
