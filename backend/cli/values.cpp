#include "backend/cli/values.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "frontend/open_file.h"
#include "frontend/tensor_file.h"

namespace footprint {
namespace {

constexpr size_t kLargestValueFile = 64 << 20;

Problem BadValue(std::string message) { return {"bad-value", std::move(message)}; }

std::string_view Trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// What dimensions are called: a letter or '_' first; no expression, no number.
bool IsDimName(std::string_view text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
  };
  const auto fits = [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == ':' || c == '/';
  };
  return !text.empty() && is_letter(text.front()) && std::all_of(text.begin(), text.end(), fits);
}

Parsed<std::string> ReadWhole(const std::string& path) {
  const OpenFile file(path);
  if (!file.problem().empty()) return Problem{"file-access", path + ": " + file.problem()};
  std::string text;
  std::vector<char> block(1 << 16);
  while (true) {
    const ssize_t got = ReadFrom(file.fd(), block.data(), block.size());
    if (got < 0) return Problem{"file-access", "cannot read " + path + ": " + std::strerror(errno)};
    if (got == 0) break;
    text.append(block.data(), static_cast<size_t>(got));
    if (text.size() > kLargestValueFile) return BadValue("the file is larger than 64 MiB");
  }
  if (text.empty() && file.is_named_pipe()) {
    return Problem{"file-access", path + ": " + OpenFile::kNoWriter};
  }
  return text;
}

// Adds a number to the values; to the integers too, as long as all so far are whole.
bool AddNumber(const nlohmann::json& number, InputValue& input) {
  const bool whole = number.is_number_integer() || number.is_boolean();
  if (!whole && !number.is_number_float()) return false;
  if (number.is_number_unsigned() &&
      number.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return false;
  }
  if (whole && input.integers.size() == input.values.size()) {
    input.integers.push_back(number.is_boolean() ? (number.get<bool>() ? 1 : 0)
                                                 : number.get<int64_t>());
  }
  input.values.push_back(number.is_boolean() ? (number.get<bool>() ? 1 : 0)
                                             : number.get<double>());
  return true;
}

// Row-major: nested arrays are opened from the back, so that the first element is next.
std::optional<Problem> Flatten(const nlohmann::json& root, InputValue& input) {
  std::vector<size_t> shape;  // along the first elements
  for (const nlohmann::json* first = &root; first->is_array(); first = &first->front()) {
    shape.push_back(first->size());
    if (first->empty()) break;
  }
  std::vector<std::pair<const nlohmann::json*, size_t>> open = {{&root, 0}};  // at which depth
  while (!open.empty()) {
    const auto [next, depth] = open.back();
    open.pop_back();
    if (next->is_array() ? depth >= shape.size() || next->size() != shape[depth]
                         : depth != shape.size()) {
      return BadValue("expected arrays of equal lengths");
    }
    if (next->is_array()) {
      for (auto it = next->rbegin(); it != next->rend(); ++it) open.emplace_back(&*it, depth + 1);
    } else if (!AddNumber(*next, input)) {
      return BadValue("expected numbers or booleans, integers of at most 64 bits");
    }
  }
  if (input.integers.size() == input.values.size()) {
    input.values.clear();
  } else {
    input.integers.clear();
  }
  return std::nullopt;
}

std::optional<Problem> TakeTensor(const std::string& bytes, InputValue& input) {
  std::variant<TensorContents, std::string> tensor = ParseTensorFile(bytes);
  if (std::string* problem = std::get_if<std::string>(&tensor)) return BadValue(*problem);
  TensorContents& contents = std::get<TensorContents>(tensor);
  input.shape = std::move(contents.shape);
  input.integers = std::move(contents.integers);
  input.values = std::move(contents.floats);
  return std::nullopt;
}

}  // namespace

std::optional<int64_t> ParseInteger(std::string_view text) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  if (text.empty() || text.front() == '-') return std::nullopt;
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return value;
}

Parsed<std::pair<std::string, int64_t>> ParseDim(std::string_view text) {
  const size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0) {
    return BadValue("expected NAME=INT, as in --dim batch=32");
  }
  const std::string_view number = text.substr(equals + 1);
  if (number.find("..") != std::string_view::npos || number.find(',') != std::string_view::npos) {
    return BadValue("expected one value here; several are for --dim on the command line");
  }
  const std::optional<int64_t> value = ParseInteger(number);
  if (!value || *value < 1) return BadValue("expected a positive integer, as in --dim batch=32");
  return std::pair(std::string(text.substr(0, equals)), *value);
}

Parsed<InputShape> ParseInputShape(std::string_view text) {
  Problem problem = BadValue("expected NAME=[D0,D1,...], as in --input x=[32,3,224,224]");
  const size_t equals = text.find("=[");
  if (equals == std::string_view::npos || equals == 0 || text.back() != ']') return problem;
  InputShape shape;
  shape.name = text.substr(0, equals);
  std::string_view dims = text.substr(equals + 2);
  dims.remove_suffix(1);
  if (Trim(dims).empty()) return shape;  // a scalar
  while (true) {
    const size_t comma = dims.find(',');
    const std::string_view dim = Trim(dims.substr(0, comma));
    if (dim.empty()) return problem;
    if (!ParseInteger(dim) && !IsDimName(dim)) {
      return BadValue("expected a non-negative integer of 64 bits or a name for each dimension; "
                      "got " +
                      std::string(dim));
    }
    shape.dims.emplace_back(dim);
    if (comma == std::string_view::npos) return shape;
    dims.remove_prefix(comma + 1);
  }
}

Parsed<InputValue> ParseInputValue(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size()) {
    return BadValue("expected NAME=[...] or NAME=@FILE, as in --input-value shape=[1,-1]");
  }
  InputValue input;
  input.name = text.substr(0, equals);
  std::string json(text.substr(equals + 1));
  std::optional<Problem> problem;
  if (json.front() == '@') {
    Parsed<std::string> file = ReadWhole(json.substr(1));
    if (Problem* unread = std::get_if<Problem>(&file)) return *unread;
    const bool is_tensor = json.ends_with(".pb");
    json = std::move(std::get<std::string>(file));
    if (is_tensor || IsNpy(json)) {
      problem = TakeTensor(json, input);
      if (problem) return *problem;
      return input;
    }
  }
  const nlohmann::json value = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) return BadValue("expected a JSON array of numbers");
  problem = Flatten(value, input);
  if (problem) return *problem;
  return input;
}

}  // namespace footprint
