// The report as a comment on a pull request: GitHub-flavored Markdown, short however large the
// model is.
#ifndef FOOTPRINT_BACKEND_REPORT_MARKDOWN_H_
#define FOOTPRINT_BACKEND_REPORT_MARKDOWN_H_

#include <string>
#include <string_view>

#include "backend/report.h"

namespace footprint {

std::string ReportMarkdown(const Report& report);

// Text from a model as inline code that may stand in a table.
std::string MarkdownCode(std::string_view text);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_REPORT_MARKDOWN_H_
