// One analysis as a command asks for it: what the command line and the Python package share.
#ifndef FOOTPRINT_BACKEND_CLI_PERFORM_H_
#define FOOTPRINT_BACKEND_CLI_PERFORM_H_

#include <variant>

#include "backend/cli/command_line.h"
#include "backend/report.h"

namespace footprint {

// The report of the command's one model, with the fit that it asks for. Where the documents go is
// not looked at. Does not throw but for want of memory.
std::variant<Report, Failure> Perform(const AnalyzeCommand& command);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_CLI_PERFORM_H_
