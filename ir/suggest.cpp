#include "ir/suggest.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace footprint {
namespace {

// Levenshtein's distance from what `glob` matches to `text`, one row at a time.
size_t Distance(std::string_view glob, std::string_view text) {
  std::vector<size_t> row(text.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (const char wanted : glob) {
    if (wanted == '*') {
      for (size_t j = 1; j < row.size(); ++j) row[j] = std::min(row[j], row[j - 1]);
      continue;
    }
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < text.size(); ++j) {
      const bool same = wanted == text[j] || wanted == '?';
      const size_t substituted = diagonal + (same ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string DidYouMean(std::string_view word, const std::vector<std::string>& known) {
  constexpr size_t kLongestWord = 64;
  if (word.size() > kLongestWord) return "";
  std::string best;
  size_t least = std::max<size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const size_t distance = Distance(word, candidate);
    if (distance >= least || distance >= candidate.size()) continue;
    least = distance;
    best = candidate;
  }
  return best.empty() ? "" : "; did you mean " + best + "?";
}

}  // namespace footprint
