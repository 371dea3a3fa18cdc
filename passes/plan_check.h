// The slow, obvious checker of plans.
#ifndef FOOTPRINT_PASSES_PLAN_CHECK_H_
#define FOOTPRINT_PASSES_PLAN_CHECK_H_

#include <string>

#include "passes/plan.h"

namespace footprint {

// No two tensors that are alive at the same time lie in one buffer, unless they are the same or one
// is written over the other by a kernel that may; every buffer is there while a tensor in it is.
// Empty, or what is wrong.
std::string CheckPlan(const PlanProblem& problem, const Plan& plan);

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_PLAN_CHECK_H_
