// Values of options: the syntax of --dim, --input and --input-value, and numbers.
#ifndef FOOTPRINT_BACKEND_CLI_VALUES_H_
#define FOOTPRINT_BACKEND_CLI_VALUES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "backend/options.h"

namespace footprint {

// What is wrong with a value, in the user's words.
struct Problem {
  std::string kind;  // "bad-value", "file-access"
  std::string message;
};
template <typename T>
using Parsed = std::variant<T, Problem>;

// Digits alone: no sign, no suffix.
std::optional<int64_t> ParseInteger(std::string_view text);

Parsed<std::pair<std::string, int64_t>> ParseDim(std::string_view text);  // batch=32
Parsed<InputShape> ParseInputShape(std::string_view text);                // x=[batch,3,224,224]
Parsed<InputValue> ParseInputValue(std::string_view text);                // x=[1,2] or x=@file

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_CLI_VALUES_H_
