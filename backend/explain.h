// What Report::explanation says, for people and for programs ("footprint-explain/1").
#ifndef FOOTPRINT_BACKEND_EXPLAIN_H_
#define FOOTPRINT_BACKEND_EXPLAIN_H_

#include <string>

#include "backend/report.h"
#include "backend/terminal.h"

namespace footprint {

std::string ExplainText(const Explanation& explanation, const Terminal& terminal);
std::string ExplainJson(const Explanation& explanation);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_EXPLAIN_H_
