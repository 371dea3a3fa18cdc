// Analyze: the whole pipeline as one function. Read this to see what footprint does.
#ifndef FOOTPRINT_BACKEND_ANALYZE_H_
#define FOOTPRINT_BACKEND_ANALYZE_H_

#include <variant>

#include "backend/options.h"
#include "backend/report.h"

namespace footprint {

// Reads the model and analyzes it. Never throws; never loads weights. Thread-safe: analyses share
// nothing.
[[gnu::visibility("default")]] std::variant<Report, Failure> Analyze(const Options& options);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_ANALYZE_H_
