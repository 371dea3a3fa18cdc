// Small models in ONNX's text syntax, with what ONNX Runtime allocated at once when it ran them.
#ifndef FOOTPRINT_TESTS_SUPPORT_MEASURED_MODELS_H_
#define FOOTPRINT_TESTS_SUPPORT_MEASURED_MODELS_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <string>

namespace footprint {

struct MeasuredModel {
  const char* name;
  // What follows the name of the graph. `float[16, 3] w = {0...}` holds 48 zeros; of symbols b is
  // 2, h and i are 12, w and j 10.
  const char* graph;
  int64_t none;  // bytes, by level of graph optimization
  int64_t all;
  int opset = 17;
  const char* end = "";  // of the graph, where several share it
};
inline std::ostream& operator<<(std::ostream& out, const MeasuredModel& model) {
  return out << model.name;
}

// The name without what a test may not be called.
std::string TestName(const MeasuredModel& model);
// The whole model, with all numbers written out.
std::string FullText(const MeasuredModel& model);

}  // namespace footprint

#endif  // FOOTPRINT_TESTS_SUPPORT_MEASURED_MODELS_H_
