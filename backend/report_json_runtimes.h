// The part of the JSON report about runtimes.
#ifndef FOOTPRINT_BACKEND_REPORT_JSON_RUNTIMES_H_
#define FOOTPRINT_BACKEND_REPORT_JSON_RUNTIMES_H_

#include <optional>
#include <vector>

#include "backend/report.h"
#include "backend/report_json_writer.h"

namespace footprint {

void WriteKvCache(const std::optional<KvCacheReport>& cache, JsonWriter* json);
void WriteRuntimes(const std::vector<RuntimeReport>& runtimes, JsonWriter* json);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_REPORT_JSON_RUNTIMES_H_
