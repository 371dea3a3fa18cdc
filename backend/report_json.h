// The report as JSON, "footprint-report/1". backend/report-schema.json describes it.
#ifndef FOOTPRINT_BACKEND_REPORT_JSON_H_
#define FOOTPRINT_BACKEND_REPORT_JSON_H_

#include <string>
#include <string_view>
#include <vector>

#include "backend/report.h"
#include "backend/report_json_writer.h"

namespace footprint {

inline constexpr std::string_view kReportSchema = "footprint-report/1";

// The same report gives the same bytes. Integers are exact; unknown is null.
std::string ReportJson(const Report& report);

// What stands in the report's place when there is none. `model` may be empty.
std::string FailureJson(const Failure& failure, std::string_view model);

// The member "gates" of a document.
void WriteGatesJson(const std::vector<GateReport>& gates, JsonWriter& json);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_REPORT_JSON_H_
