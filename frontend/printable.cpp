#include "frontend/printable.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace footprint {
namespace {

constexpr size_t kLongest = 160;
constexpr size_t kKeptAtEachEnd = kLongest / 2 - 3;

bool HasControl(absl::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return true;
  }
  return false;
}

std::string Clean(absl::string_view text) {
  return HasControl(text) ? absl::Utf8SafeCEscape(text) : std::string(text);
}

}  // namespace

std::string Printable(absl::string_view text) {
  if (text.size() <= kLongest) return Clean(text);
  return absl::StrCat(Clean(text.substr(0, kKeptAtEachEnd)), " ... ",
                      Clean(text.substr(text.size() - kKeptAtEachEnd)));
}

}  // namespace footprint
