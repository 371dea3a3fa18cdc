// The loss that backward starts from: the graph's own, or one that the step adds.
#ifndef FOOTPRINT_PASSES_LOWER_LOSS_H_
#define FOOTPRINT_PASSES_LOWER_LOSS_H_

#include <vector>

#include "ir/diagnostic.h"
#include "passes/lower.h"
#include "passes/lower_builder.h"

namespace footprint {

// Sets the program's loss and returns what the module handed to the step: outputs that live until
// the step ends.
std::vector<TorchValueId> LowerLoss(const Graph& graph, LossKind kind, ProgramBuilder& builder,
                                    DiagnosticSink& sink);

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_LOWER_LOSS_H_
