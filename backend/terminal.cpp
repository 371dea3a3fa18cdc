#include "backend/terminal.h"

#include <locale.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace footprint {
namespace {

constexpr int kNarrowest = 40;
constexpr int kWidest = 200;
constexpr std::string_view kEllipsis = "…";
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// The C library's own tables of widths, whatever the user's locale is.
class Utf8Scope {
 public:
  Utf8Scope() {
    static const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    if (utf8 != nullptr) previous_ = uselocale(utf8);
  }
  ~Utf8Scope() {
    if (previous_ != nullptr) uselocale(previous_);
  }
  Utf8Scope(const Utf8Scope&) = delete;
  Utf8Scope& operator=(const Utf8Scope&) = delete;

 private:
  locale_t previous_ = nullptr;
};

struct Glyph {
  size_t begin;  // byte offset
  size_t size;   // bytes
  int width;     // columns; -1: a control character or not UTF-8
};

bool IsPlainAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

// The C1 controls begin terminal sequences too; some libraries give them a width.
bool IsControl(wchar_t c) { return c < 0x20 || (c >= 0x7F && c < 0xA0); }

std::vector<Glyph> Glyphs(std::string_view text) {
  const Utf8Scope scope;
  std::vector<Glyph> glyphs;
  size_t at = 0;
  while (at < text.size()) {
    wchar_t c = 0;
    std::mbstate_t state = {};
    const size_t size = std::mbrtowc(&c, text.data() + at, text.size() - at, &state);
    if (size == 0 || size > text.size() - at) {  // a zero byte, or not UTF-8
      glyphs.push_back({at, 1, -1});
      ++at;
      continue;
    }
    glyphs.push_back({at, size, IsControl(c) ? -1 : wcwidth(c)});
    at += size;
  }
  return glyphs;
}

int Columns(const Glyph& glyph) { return glyph.width < 0 ? 1 : glyph.width; }

// Keeps `front` columns at the start and `back` at the end.
std::string Elide(std::string_view text, int width, int back) {
  if (DisplayWidth(text) <= width) return std::string(text);
  if (width <= 0) return "";
  const std::vector<Glyph> glyphs = Glyphs(text);
  back = std::min(back, width - 1);
  const int front = width - 1 - back;
  size_t first = 0;
  for (int used = 0; first < glyphs.size() && used + Columns(glyphs[first]) <= front; ++first) {
    used += Columns(glyphs[first]);
  }
  size_t last = glyphs.size();
  for (int used = 0; last > first && used + Columns(glyphs[last - 1]) <= back; --last) {
    used += Columns(glyphs[last - 1]);
  }
  const auto offset = [&](size_t i) { return i < glyphs.size() ? glyphs[i].begin : text.size(); };
  std::string result(text.substr(0, offset(first)));
  result += kEllipsis;
  result += text.substr(offset(last));
  return result;
}

int WidthFromEnvironment() {
  const char* columns = std::getenv("COLUMNS");
  int width = 0;
  if (columns != nullptr) std::from_chars(columns, columns + std::strlen(columns), width);
  return width;
}

std::string Styled(std::string_view text, const char* code, const Terminal& terminal) {
  if (!terminal.styled || text.empty()) return std::string(text);
  return std::string(code) + std::string(text) + "\033[0m";
}

}  // namespace

Terminal DescribeTerminal(int file_descriptor) {
  Terminal terminal;
  int width = WidthFromEnvironment();
  if (isatty(file_descriptor) != 0) {
    winsize size = {};
    if (width <= 0 && ioctl(file_descriptor, TIOCGWINSZ, &size) == 0) width = size.ws_col;
    const char* no_color = std::getenv("NO_COLOR");
    const char* kind = std::getenv("TERM");
    terminal.styled = (no_color == nullptr || *no_color == '\0') &&
                      !(kind != nullptr && std::string_view(kind) == "dumb");
  }
  if (width > 0) terminal.width = std::clamp(width, kNarrowest, kWidest);
  return terminal;
}

int DisplayWidth(std::string_view text) {
  if (IsPlainAscii(text)) return static_cast<int>(text.size());
  int width = 0;
  for (const Glyph& glyph : Glyphs(text)) width += Columns(glyph);
  return width;
}

std::string ElideMiddle(std::string_view text, int width) { return Elide(text, width, width / 2); }

std::string ElideEnd(std::string_view text, int width) { return Elide(text, width, 0); }

std::string Printable(std::string_view text) {
  if (IsPlainAscii(text)) return std::string(text);
  std::string result;
  for (const Glyph& glyph : Glyphs(text)) {
    result += glyph.width < 0 ? kReplacement : text.substr(glyph.begin, glyph.size);
  }
  return result;
}

std::string Bold(std::string_view text, const Terminal& terminal) {
  return Styled(text, "\033[1m", terminal);
}

std::string Faint(std::string_view text, const Terminal& terminal) {
  return Styled(text, "\033[2m", terminal);
}

std::string Wrap(std::string_view text, int indent, const Terminal& terminal) {
  const size_t lead = std::min(text.find_first_not_of(' '), text.size());
  std::string result(lead, ' ');
  text.remove_prefix(lead);
  int column = static_cast<int>(lead);
  bool first = true;
  while (!text.empty()) {
    const size_t space = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, space);
    text.remove_prefix(std::min(space + 1, text.size()));
    const int width = DisplayWidth(word);
    if (!first && column > indent && column + 1 + width > terminal.width) {
      result += "\n" + std::string(static_cast<size_t>(indent), ' ');
      column = indent;
    } else if (!first) {
      result += ' ';
      ++column;
    }
    first = false;
    result += word;
    column += width;
  }
  return result;
}

}  // namespace footprint
