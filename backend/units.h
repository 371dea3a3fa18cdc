// Counts and bytes as people read and write them. Integers in, integers out: no byte count passes
// through a floating-point number.
#ifndef FOOTPRINT_BACKEND_UNITS_H_
#define FOOTPRINT_BACKEND_UNITS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace footprint {

// "1,234,567"
std::string WithThousands(int64_t value);

// Powers of 1024 by their own names: "512 B", "97.49 MiB", "2.54 GiB". Two decimals, rounded.
std::string BinaryUnits(int64_t bytes);

// Powers of 1000: "512 B", "90.61 GB".
std::string DecimalUnits(int64_t bytes);

// As DecimalUnits, but in the unit that suits `reference` and without trailing zeros, so that a row
// of figures shares one unit: 4 GB, 2 GB, 1 GB, 0.5 GB.
std::string DecimalUnitsLike(int64_t bytes, int64_t reference);

// "1 node", "2,345 nodes"
std::string Counted(int64_t count, const std::string& noun);

// "a, b, c"; empty texts are left out.
std::string Joined(const std::vector<std::string>& texts);

// "1.5B" -> 1,500,000,000. Suffixes K, M, B or G, and T are powers of 1000, in either case. The
// result is exact, or there is none: negative, fractional, malformed and too large are refused.
std::optional<int64_t> ParseCount(std::string_view text);

// "24GiB", "23.5 GiB", "80GB", "1073741824": bytes, rounded down. Nullopt: no positive size.
std::optional<int64_t> ParseSize(std::string_view text);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_UNITS_H_
