// The page of HTML reports, put together by backend/html/assemble.py at build time.
#ifndef FOOTPRINT_BACKEND_HTML_PAGE_H_
#define FOOTPRINT_BACKEND_HTML_PAGE_H_

#include <array>
#include <string_view>

namespace footprint {

// The text before the title, between it and the summary, between that and the data, and the rest.
extern const std::array<std::string_view, 4> kHtmlPage;

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_HTML_PAGE_H_
