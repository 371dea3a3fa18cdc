// The HTML format: one page that needs nothing but itself.
#ifndef FOOTPRINT_BACKEND_REPORT_HTML_H_
#define FOOTPRINT_BACKEND_REPORT_HTML_H_

#include <string>

#include "backend/report.h"

namespace footprint {

// Figures, budgets and notes are plain HTML; charts and tables are drawn by the page's script from
// ReportHtmlData. Wants Options::timeline.
std::string ReportHtml(const Report& report);

// JSON for a <script type="application/json">: holds no "<". Tables are stored by column; texts
// are indices into "strings", and columns of a timeline hold differences to the step before.
std::string ReportHtmlData(const Report& report);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_REPORT_HTML_H_
