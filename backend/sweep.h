// Sweep: one analysis, evaluated at many values of one dimension.
#ifndef FOOTPRINT_BACKEND_SWEEP_H_
#define FOOTPRINT_BACKEND_SWEEP_H_

#include <functional>

#include "backend/analysis.h"
#include "backend/report.h"

namespace footprint {

// Makes a trace at the bindings of an evaluator.
using MakeTrace = std::function<MemoryTrace(DimEvaluator&)>;

// Traces are made again only where no earlier one keeps its guards.
SweepReport EvaluateSweep(const Analysis& analysis, const Sweep& sweep, const MakeTrace& replay,
                          const MakeTrace& liveness);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_SWEEP_H_
