// What the plan of a small model takes at once.
#ifndef FOOTPRINT_TESTS_BACKEND_PLANNED_PEAK_H_
#define FOOTPRINT_TESTS_BACKEND_PLANNED_PEAK_H_

#include <cstdint>
#include <string>
#include <variant>

#include "backend/analyze.h"
#include "tests/support/measured_models.h"

namespace footprint {

inline RuntimeReport PlannedReport(const MeasuredModel& model, GraphOptimization optimization) {
  Options options;
  options.model_path = "model.onnxtxt";
  const std::string text = FullText(model);
  options.model_bytes = text;
  options.mode = Mode::kInference;
  options.runtime = Runtime::kOnnxRuntime;
  options.graph_optimization = optimization;
  options.default_dims = {{"b", 2}, {"h", 12}, {"w", 10}, {"i", 12}, {"j", 10}};
  const std::variant<Report, Failure> result = Analyze(options);
  if (const auto* failure = std::get_if<Failure>(&result)) {
    ADD_FAILURE() << failure->diagnostics.front().message;
    return {};
  }
  return std::get<Report>(result).inference->runtimes.back();
}

inline int64_t PlannedPeak(const MeasuredModel& model, GraphOptimization optimization) {
  return PlannedReport(model, optimization).activation_peak_bytes.value_or(-1);
}

inline void ExpectMeasured(const MeasuredModel& model) {
  EXPECT_EQ(PlannedPeak(model, GraphOptimization::kNone), model.none);
  EXPECT_EQ(PlannedPeak(model, GraphOptimization::kAll), model.all);
}

// The end of a graph that computes `c`: where its sizes are seen, i takes the buffer of d, which is
// then held while g is there.
constexpr char kTellsSeenSizes[] = R"(
  d = Exp(c)
  e = Exp(d)
  g = Concat<axis = 0>(e, e, e)
  h = ReduceMax<axes = [0], keepdims = 1>(g)
  i = Add(e, h)
  j = Exp(i)
  y = Neg(j)
}
)";

}  // namespace footprint

#endif  // FOOTPRINT_TESTS_BACKEND_PLANNED_PEAK_H_
