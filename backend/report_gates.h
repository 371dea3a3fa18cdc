// Verdicts for pipelines: budgets as SARIF results and as JUnit test cases.
#ifndef FOOTPRINT_BACKEND_REPORT_GATES_H_
#define FOOTPRINT_BACKEND_REPORT_GATES_H_

#include <string>
#include <vector>

#include "backend/report.h"

namespace footprint {

// "peak: 26.1 GiB (28,024,897,536 bytes), in backward ..., 2.1 GiB over; the limit is 24 GiB (...)"
std::string GateMessage(const GateReport& gate, const GateViolation& violation);

// For people: the messages of the largest violations, and how many more there are.
std::vector<std::string> GateMessages(const GateReport& gate);

// SARIF 2.1.0: an error for each broken budget, at the model's file; warnings and notes of the
// analysis as results of their own. `version` is footprint's.
std::string ReportSarif(const Report& report, const std::string& version);
std::string FailureSarif(const Failure& failure, const std::string& model,
                         const std::string& version);

// One test suite with a test case for each budget. Without budgets the suite has one case, the
// analysis itself.
std::string ReportJunit(const Report& report);
std::string FailureJunit(const Failure& failure, const std::string& model);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_REPORT_GATES_H_
