#include "frontend/printable.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace footprint {

std::string Printable(absl::string_view text) {
  constexpr size_t kLongest = 160;
  constexpr size_t kKept = kLongest / 2 - 3;
  const auto has_control = [](absl::string_view part) {
    for (const char c : part) {
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return true;
    }
    return false;
  };
  const auto clean = [&](absl::string_view part) {
    return has_control(part) ? absl::Utf8SafeCEscape(part) : std::string(part);
  };
  if (text.size() <= kLongest) return clean(text);
  return absl::StrCat(clean(text.substr(0, kKept)), " ... ",
                      clean(text.substr(text.size() - kKept)));
}

}  // namespace footprint
