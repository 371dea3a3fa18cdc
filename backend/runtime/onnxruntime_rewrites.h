// How ONNX Runtime rewrites a graph before it plans it, as far as known.
#ifndef FOOTPRINT_BACKEND_RUNTIME_ONNXRUNTIME_REWRITES_H_
#define FOOTPRINT_BACKEND_RUNTIME_ONNXRUNTIME_REWRITES_H_

#include <string>
#include <vector>

#include "backend/runtime/runtime_graph.h"
#include "ir/dim.h"

namespace footprint {

// What was applied, in words, with counts.
std::vector<std::string> OptimizeGraph(RuntimeGraph& graph, DimEvaluator& evaluator);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_RUNTIME_ONNXRUNTIME_REWRITES_H_
