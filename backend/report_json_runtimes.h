// The part of the JSON report about runtimes.
#ifndef FOOTPRINT_BACKEND_REPORT_JSON_RUNTIMES_H_
#define FOOTPRINT_BACKEND_REPORT_JSON_RUNTIMES_H_

#include <vector>

#include "backend/report.h"
#include "backend/report_json_writer.h"

namespace footprint {

void WriteRuntimes(const std::vector<RuntimeReport>& runtimes, JsonWriter* json);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_REPORT_JSON_RUNTIMES_H_
