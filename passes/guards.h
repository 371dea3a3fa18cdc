// Guards: whether a trace made at one binding serves another.
#ifndef FOOTPRINT_PASSES_GUARDS_H_
#define FOOTPRINT_PASSES_GUARDS_H_

#include <vector>

#include "ir/dim.h"
#include "passes/memory_trace.h"

namespace footprint {

// False if a guard does not hold, or is not known to, at the bindings of `evaluator`.
bool GuardsHold(const std::vector<Guard>& guards, DimEvaluator& evaluator);

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_GUARDS_H_
