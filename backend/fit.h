// Fit: the largest value of a dimension at which a training step fits a device, and what would make
// the value that was asked for fit.
#ifndef FOOTPRINT_BACKEND_FIT_H_
#define FOOTPRINT_BACKEND_FIT_H_

#include <optional>
#include <string>
#include <variant>

#include "backend/options.h"
#include "backend/report.h"

namespace footprint {

// `report` is the analysis of `options`, which name a device (else a failure with exit code 3). The
// need of a step is taken to grow with the dimension; each value tried is analyzed in full.
std::variant<FitReport, Failure> Fit(const Options& options, const std::string& dimension,
                                     const Report& report);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_FIT_H_
