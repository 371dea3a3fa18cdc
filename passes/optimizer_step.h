// Acts out the step of an optimizer on a ReplayMachine.
#ifndef FOOTPRINT_PASSES_OPTIMIZER_STEP_H_
#define FOOTPRINT_PASSES_OPTIMIZER_STEP_H_

#include <vector>

#include "absl/types/span.h"
#include "ir/eager.h"
#include "passes/optimizer.h"

namespace footprint {

// `parameters`: those that have a gradient, in the order of the module. `master_weights`: gradients
// are cast to float32 first, in which all that follows is computed.
void RunOptimizerStep(Eager& eager, const Optimizer& optimizer, bool master_weights,
                      absl::Span<const Tensor> parameters);

// What GradScaler makes for the step of an optimizer; the result lives until its update.
// `in_kernel`: the optimizer's kernel takes scale and flag, gradients are only checked here.
std::vector<Tensor> UnscaleGradients(Eager& eager, bool in_kernel);

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_OPTIMIZER_STEP_H_
