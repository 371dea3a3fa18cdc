// Gates: budgets held against a report. A figure that is unknown, or that leaves out storages of
// unknown size, passes no gate.
#ifndef FOOTPRINT_BACKEND_GATE_H_
#define FOOTPRINT_BACKEND_GATE_H_

#include <string>
#include <vector>

#include "backend/options.h"
#include "backend/report.h"
#include "ir/diagnostic.h"

namespace footprint {

// What a budget may speak of: "peak", ..., "layer:GLOB", "tensor", "tensor:GLOB".
std::vector<std::string> BudgetSubjects();
bool IsBudgetSubject(const std::string& subject);

// What is unknown may be larger than all that is known.
bool IsLarger(const Bytes& a, const Bytes& b);

// One result per budget; a device that was asked for is one more. A glob that matches nothing and a
// figure that was not analyzed are usage errors in `sink`.
std::vector<GateReport> HoldBudgets(const std::vector<Budget>& budgets, const Report& report,
                                    DiagnosticSink& sink);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_GATE_H_
