// Gates of a sweep: budgets and the device, held at each value.
#ifndef FOOTPRINT_BACKEND_SWEEP_GATES_H_
#define FOOTPRINT_BACKEND_SWEEP_GATES_H_

#include <functional>
#include <variant>
#include <vector>

#include "backend/options.h"
#include "backend/report.h"
#include "ir/dim.h"

namespace footprint {

using AnalyzeWith = std::function<std::variant<Report, Failure>(const Options&)>;

// What the gates speak of (layers, tensors, reserved bytes) is more than a sweep evaluates, so each
// value is analyzed in full. `gates` are those of the value in `bound`. A value with which the
// model cannot run passes no gate.
void HoldOverSweep(const Options& options, const DimBindings& bound, const AnalyzeWith& analyze,
                   std::vector<GateReport>& gates);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_SWEEP_GATES_H_
