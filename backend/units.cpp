#include "backend/units.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <system_error>
#include <utility>

#include "ir/wide.h"

namespace footprint {
namespace {

struct Unit {
  int64_t size;
  const char* name;
};

// Up to 2^50 and 10^15: a remainder times 100 stays far below 2^63.
constexpr std::array<Unit, 6> kBinary = {{{1, "B"},
                                          {1LL << 10, "KiB"},
                                          {1LL << 20, "MiB"},
                                          {1LL << 30, "GiB"},
                                          {1LL << 40, "TiB"},
                                          {1LL << 50, "PiB"}}};
constexpr std::array<Unit, 6> kDecimal = {{{1, "B"},
                                           {1000LL, "kB"},
                                           {1000000LL, "MB"},
                                           {1000000000LL, "GB"},
                                           {1000000000000LL, "TB"},
                                           {1000000000000000LL, "PB"}}};

struct Hundredths {
  uint64_t whole;
  uint64_t rest;  // below 100
};

Hundredths Divide(uint64_t magnitude, const Unit& unit) {
  const uint64_t size = static_cast<uint64_t>(unit.size);
  const uint64_t rest = ((magnitude % size) * 100 + size / 2) / size;
  return {magnitude / size + rest / 100, rest % 100};
}

uint64_t Magnitude(int64_t value) {
  return value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

// The largest unit of which there is at least one, after rounding: 1,048,575 B is 1.00 MiB.
size_t SuitableUnit(const std::array<Unit, 6>& units, uint64_t magnitude) {
  size_t best = 0;
  for (size_t i = 0; i + 1 < units.size(); ++i) {
    const uint64_t step = static_cast<uint64_t>(units[i + 1].size / units[i].size);
    if (Divide(magnitude, units[i]).whole < step) break;
    best = i + 1;
  }
  return best;
}

std::string InUnit(int64_t bytes, const Unit& unit, bool trim) {
  const Hundredths value = Divide(Magnitude(bytes), unit);
  std::string text = WithThousands(static_cast<int64_t>(value.whole));
  if (unit.size > 1) {
    std::string digits = {'.', static_cast<char>('0' + value.rest / 10),
                          static_cast<char>('0' + value.rest % 10)};
    while (trim && digits.back() == '0') digits.pop_back();
    if (digits != ".") text += digits;
  }
  return (bytes < 0 ? "-" : "") + text + " " + unit.name;
}

std::optional<int64_t> ScaleOfSuffix(char suffix) {
  switch (suffix) {
    case 'k':
    case 'K':
      return 1000LL;
    case 'm':
    case 'M':
      return 1000000LL;
    case 'b':
    case 'B':
    case 'g':
    case 'G':
      return 1000000000LL;
    case 't':
    case 'T':
      return 1000000000000LL;
    default:
      return std::nullopt;
  }
}

std::optional<int64_t> ParseDigits(std::string_view digits) {
  int64_t value = 0;
  const char* end = digits.data() + digits.size();
  if (digits.empty() || digits.front() == '-') return std::nullopt;
  const auto parsed = std::from_chars(digits.data(), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return value;
}

struct Scaled {
  int64_t value = 0;   // rounded down
  bool exact = false;
};

// "1.5" times `scale`. Nullopt: no number of this form, negative, or beyond 64 bits.
std::optional<Scaled> Scale(std::string_view text, int64_t scale) {
  constexpr size_t kMostDigits = 18;  // as many as a 64-bit number surely holds
  std::string_view fraction;
  if (const size_t point = text.find('.'); point != std::string_view::npos) {
    fraction = text.substr(point + 1);
    text = text.substr(0, point);
    if (fraction.empty()) return std::nullopt;
    while (fraction.ends_with('0')) fraction.remove_suffix(1);
  }
  const std::optional<int64_t> whole = ParseDigits(text);
  const std::optional<int64_t> part = fraction.empty() ? 0 : ParseDigits(fraction);
  Scaled result;
  if (!whole || !part || fraction.size() > kMostDigits ||
      __builtin_mul_overflow(*whole, scale, &result.value)) {
    return std::nullopt;
  }
  Wide unit = 1;
  for (size_t digit = 0; digit < fraction.size(); ++digit) unit *= 10;
  const Wide rest = Wide{*part} * scale;
  result.exact = rest % unit == 0;
  if (__builtin_add_overflow(result.value, static_cast<int64_t>(rest / unit), &result.value)) {
    return std::nullopt;
  }
  return result;
}

}  // namespace

std::string WithThousands(int64_t value) {
  const std::string digits = std::to_string(Magnitude(value));
  std::string result = value < 0 ? "-" : "";
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) result += ',';
    result += digits[i];
  }
  return result;
}

std::string BinaryUnits(int64_t bytes) {
  return InUnit(bytes, kBinary[SuitableUnit(kBinary, Magnitude(bytes))], false);
}

std::string DecimalUnits(int64_t bytes) {
  return InUnit(bytes, kDecimal[SuitableUnit(kDecimal, Magnitude(bytes))], false);
}

std::string DecimalUnitsLike(int64_t bytes, int64_t reference) {
  return InUnit(bytes, kDecimal[SuitableUnit(kDecimal, Magnitude(reference))], true);
}

std::string Counted(int64_t count, const std::string& noun) {
  return WithThousands(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string Joined(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) {
    if (!joined.empty() && !text.empty()) joined += ", ";
    joined += text;
  }
  return joined;
}

std::optional<int64_t> ParseCount(std::string_view text) {
  if (text.empty()) return std::nullopt;
  int64_t scale = 1;
  if (const std::optional<int64_t> named = ScaleOfSuffix(text.back())) {
    scale = *named;
    text.remove_suffix(1);
  }
  const std::optional<Scaled> count = Scale(text, scale);
  return count && count->exact ? std::optional(count->value) : std::nullopt;
}

std::optional<int64_t> ParseSize(std::string_view text) {
  constexpr std::pair<std::string_view, int64_t> kUnits[] = {
      {"TiB", int64_t{1} << 40}, {"GiB", int64_t{1} << 30}, {"MiB", int64_t{1} << 20},
      {"KiB", int64_t{1} << 10}, {"TB", 1000000000000},     {"GB", 1000000000},
      {"MB", 1000000},           {"kB", 1000},              {"KB", 1000},
      {"B", 1}};
  int64_t scale = 1;
  for (const auto& [unit, bytes] : kUnits) {
    if (!text.ends_with(unit)) continue;
    scale = bytes;
    text.remove_suffix(unit.size());
    while (text.ends_with(' ')) text.remove_suffix(1);
    break;
  }
  const std::optional<Scaled> size = Scale(text, scale);
  return size && size->value > 0 ? std::optional(size->value) : std::nullopt;
}

}  // namespace footprint
