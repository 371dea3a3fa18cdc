// What shape inference found, in the one textual form that tests and --dump use.
#ifndef FOOTPRINT_PASSES_INFER_PRINT_H_
#define FOOTPRINT_PASSES_INFER_PRINT_H_

#include <string>

#include "passes/infer_shapes.h"

namespace footprint {

// One line for each output of a node: its type, its contents where they are known, and with an
// `evaluator` its bytes. Then what must hold when names are bound.
//
//   y: int64[2] = (batch, 4)
//   requires batch <= 8 (Gather -> z: ...)
std::string Print(const Graph& graph, const InferredTypes& inferred,
                  DimEvaluator* evaluator = nullptr);

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_INFER_PRINT_H_
