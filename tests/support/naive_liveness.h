// The peak of an inference run by its definition, slow and obvious: the oracle of passes/liveness.
#ifndef FOOTPRINT_TESTS_SUPPORT_NAIVE_LIVENESS_H_
#define FOOTPRINT_TESTS_SUPPORT_NAIVE_LIVENESS_H_

#include <cstdint>

#include "ir/dim.h"
#include "ir/graph.h"
#include "passes/infer_shapes.h"

namespace footprint {

// Highest sum of computed buffers, in bytes, over the nodes of a graph without bodies. Values of
// unknown size count 0.
int64_t NaiveActivationPeak(const Graph& graph, const InferredTypes& inferred,
                            DimEvaluator& evaluator, bool in_place);

}  // namespace footprint

#endif  // FOOTPRINT_TESTS_SUPPORT_NAIVE_LIVENESS_H_
