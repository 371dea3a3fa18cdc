// The tables of a report as comma-separated values (RFC 4180): a head line, one row a line, unknown
// figures empty. Numbers are plain integers; lists are separated by "; ".
#ifndef FOOTPRINT_BACKEND_REPORT_CSV_H_
#define FOOTPRINT_BACKEND_REPORT_CSV_H_

#include <string>

#include "backend/report.h"

namespace footprint {

std::string TensorsCsv(const Report& report);
std::string StoragesCsv(const Report& report);
// Bytes by category, those of the layer itself and, as total_..., with everything below it.
std::string LayersCsv(const Report& report);
// Needs Options::timeline.
std::string TimelineCsv(const Report& report);

// One row per value of a swept dimension; only the head line without a sweep.
std::string SweepCsv(const Report& report);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_REPORT_CSV_H_
