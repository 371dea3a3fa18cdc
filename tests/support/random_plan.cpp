#include "tests/support/random_plan.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace footprint {

PlanProblem RandomProblem(std::mt19937& random, int steps) {
  const auto below = [&](size_t n) { return static_cast<int32_t>(random() % n); };
  PlanProblem problem;
  for (int i = 0; i < 2; ++i) problem.tensors.push_back({.shape = below(3), .given = true});
  for (int i = 0; i < steps; ++i) {
    PlanStep step;
    const int32_t reads = 1 + below(3);
    const size_t recent = std::min<size_t>(problem.tensors.size(), 2 + random() % 8);
    for (int32_t k = 0; k < reads; ++k) {
      step.reads.push_back(static_cast<int32_t>(problem.tensors.size()) - 1 - below(recent));
    }
    const int32_t writes = 1 + below(2);
    for (int32_t k = 0; k < writes; ++k) {
      PlanWrite write;
      write.tensor = static_cast<int32_t>(problem.tensors.size());
      PlanTensor tensor{.shape = below(4) - 1};
      tensor.output = below(20) == 0;
      tensor.reusable = below(8) != 0;
      problem.tensors.push_back(tensor);
      const int32_t kind = below(4);
      if (k == 0 && kind == 0) write.alias = step.reads[0];
      if (kind == 1) write.overwrites = step.reads;
      step.writes.push_back(std::move(write));
    }
    problem.steps.push_back(std::move(step));
  }
  return problem;
}

}  // namespace footprint
