// Did you mean ...?
#ifndef FOOTPRINT_IR_SUGGEST_H_
#define FOOTPRINT_IR_SUGGEST_H_

#include <string>
#include <string_view>
#include <vector>

namespace footprint {

// "; did you mean --dim?" for a word that is a slip away from a known one, else "". The word may be
// a shell glob: "*" stands for anything, "?" for one character.
std::string DidYouMean(std::string_view word, const std::vector<std::string>& known);

}  // namespace footprint

#endif  // FOOTPRINT_IR_SUGGEST_H_
