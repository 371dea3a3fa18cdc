// The memory of each run in the Trace Event Format that Perfetto and chrome://tracing open: one
// process per run; its steps are slices, the bytes of each category a counter, and each storage an
// asynchronous event from its first step to its last. The file has no clock: a step is 1 us long.
#ifndef FOOTPRINT_BACKEND_REPORT_TRACE_H_
#define FOOTPRINT_BACKEND_REPORT_TRACE_H_

#include <string>

#include "backend/report.h"

namespace footprint {

// Needs Options::timeline.
std::string ChromeTrace(const Report& report);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_REPORT_TRACE_H_
