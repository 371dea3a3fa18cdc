#include "backend/runtime/onnxruntime_rewrites.h"

namespace footprint {

std::vector<std::string> OptimizeGraph(RuntimeGraph&, DimEvaluator&) { return {}; }

}  // namespace footprint
