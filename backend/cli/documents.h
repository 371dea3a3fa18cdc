// A report in the format that is asked for.
#ifndef FOOTPRINT_BACKEND_CLI_DOCUMENTS_H_
#define FOOTPRINT_BACKEND_CLI_DOCUMENTS_H_

#include <string>

#include "backend/cli/formats.h"
#include "backend/report.h"
#include "backend/report_text.h"

namespace footprint {

// `text` is for Format::kText, which is the dump of a step where the report has one.
std::string ReportDocument(const Report& report, Format format, const TextOptions& text);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_CLI_DOCUMENTS_H_
