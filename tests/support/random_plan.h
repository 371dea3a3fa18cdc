// Random programs for the planner of buffers.
#ifndef FOOTPRINT_TESTS_SUPPORT_RANDOM_PLAN_H_
#define FOOTPRINT_TESTS_SUPPORT_RANDOM_PLAN_H_

#include <random>

#include "passes/plan.h"

namespace footprint {

// Steps read tensors made before, of few shapes, and alias or overwrite some of them.
PlanProblem RandomProblem(std::mt19937& random, int steps);

}  // namespace footprint

#endif  // FOOTPRINT_TESTS_SUPPORT_RANDOM_PLAN_H_
