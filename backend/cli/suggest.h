// Did you mean ...?
#ifndef FOOTPRINT_BACKEND_CLI_SUGGEST_H_
#define FOOTPRINT_BACKEND_CLI_SUGGEST_H_

#include <string>
#include <string_view>
#include <vector>

namespace footprint {

// "; did you mean --dim?" for a word that is a slip away from a known one, else "".
std::string DidYouMean(std::string_view word, const std::vector<std::string>& known);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_CLI_SUGGEST_H_
