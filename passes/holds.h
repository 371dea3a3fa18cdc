// Holds: how long Python keeps tensors alive after their last reader.
#ifndef FOOTPRINT_PASSES_HOLDS_H_
#define FOOTPRINT_PASSES_HOLDS_H_

#include <vector>

#include "ir/graph.h"
#include "ir/torch_program.h"

namespace footprint {

// Fills TorchValue::held_until of `program`. `model_outputs`: what the module returned to the step,
// which keeps it until the end (the logits that the loss reads).
void AssignHolds(const Graph& graph, const std::vector<TorchValueId>& model_outputs,
                 TorchProgram& program);

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_HOLDS_H_
