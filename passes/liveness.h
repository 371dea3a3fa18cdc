// Liveness: when each buffer of an inference run lives, on an ideal runtime.
#ifndef FOOTPRINT_PASSES_LIVENESS_H_
#define FOOTPRINT_PASSES_LIVENESS_H_

#include "ir/dim.h"
#include "ir/graph.h"
#include "passes/infer_shapes.h"
#include "passes/memory_trace.h"
#include "passes/roles.h"

namespace footprint {

struct LivenessOptions {
  // Operators may write over an operand of the same size that dies there, where their row allows
  // it.
  bool in_place = true;
};

// `evaluator` decides whether two sizes are the same where the expressions do not; such decisions
// are recorded as guards.
MemoryTrace ComputeLiveness(const Graph& graph, const InferredTypes& inferred, const Roles& roles,
                            DimEvaluator& evaluator, const LivenessOptions& options = {});

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_LIVENESS_H_
