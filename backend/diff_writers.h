// What a comparison says: for people, for a pull request, and for programs ("footprint-diff/1").
#ifndef FOOTPRINT_BACKEND_DIFF_WRITERS_H_
#define FOOTPRINT_BACKEND_DIFF_WRITERS_H_

#include <string>

#include "backend/diff.h"
#include "backend/terminal.h"

namespace footprint {

std::string DiffText(const Diff& diff, const Terminal& terminal);
std::string DiffMarkdown(const Diff& diff);
std::string DiffJson(const Diff& diff);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_DIFF_WRITERS_H_
