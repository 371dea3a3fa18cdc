#include "ir/layer_glob.h"

#include <fnmatch.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "ir/suggest.h"

namespace footprint {
namespace {

// "m.layer1.0" -> "layer1.0"; the name itself if it has one component.
absl::string_view WithoutWrapper(absl::string_view name, char separator) {
  const size_t at = name.find(separator);
  return at == absl::string_view::npos ? name : name.substr(at + 1);
}

}  // namespace

std::string ModuleName(absl::string_view path) {
  std::string name;
  absl::string_view parent;
  // A component may repeat the name of the one above it.
  for (absl::string_view component : absl::StrSplit(path, '/', absl::SkipEmpty())) {
    absl::string_view own = component;
    if (!parent.empty() && absl::ConsumePrefix(&own, parent) && absl::StartsWith(own, ".")) {
      absl::StrAppend(&name, own);
    } else {
      absl::StrAppend(&name, name.empty() ? "" : ".", component);
    }
    parent = component;
  }
  return name;
}

bool IsNumbered(absl::string_view component) {
  const size_t dot = component.rfind('.');
  const absl::string_view number =
      dot == absl::string_view::npos ? component : component.substr(dot + 1);
  return !number.empty() && std::all_of(number.begin(), number.end(),
                                        [](char c) { return absl::ascii_isdigit(c); });
}

bool MatchesLayer(const std::string& pattern, const std::string& path) {
  const std::string name = ModuleName(path);
  for (const absl::string_view text : {absl::string_view(path), WithoutWrapper(path, '/'),
                                       absl::string_view(name), WithoutWrapper(name, '.')}) {
    if (fnmatch(pattern.c_str(), std::string(text).c_str(), 0) == 0) return true;
  }
  return false;
}

std::string DidYouMeanLayer(const std::string& pattern, std::vector<std::string> paths) {
  const size_t count = paths.size();
  for (size_t i = 0; i < count; ++i) paths.push_back(ModuleName(paths[i]));
  return DidYouMean(pattern, paths);
}

}  // namespace footprint
