#include "backend/devices.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <optional>
#include <sstream>
#include <utility>

#include "backend/units.h"
#include "frontend/open_file.h"

namespace footprint {

extern const char* const kBuiltInDevices;  // made of runtime/devices.txt

namespace {

constexpr size_t kLongestList = 1 << 20;

// "RTX 5090", "rtx-5090" -> "rtx5090"
std::string Normalized(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c == ' ' || c == '_' || c == '-') continue;
    text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return text;
}

template <typename Row>
auto FindByName(Row& rows, std::string_view name) {
  const std::string wanted = Normalized(name);
  return std::find_if(rows.begin(), rows.end(),
                      [&](const auto& row) { return Normalized(row.name) == wanted; });
}

template <typename Row>
void Put(std::vector<Row>& rows, Row row) {
  const auto found = FindByName(rows, row.name);
  if (found == rows.end()) {
    rows.push_back(std::move(row));
  } else {
    *found = std::move(row);
  }
}

std::optional<int64_t> ParsePercent(const std::string& word) {
  if (word.size() < 2 || word.size() > 5 || word.back() != '%') return std::nullopt;
  int64_t percent = 0;
  for (const char c : word.substr(0, word.size() - 1)) {
    if (c < '0' || c > '9') return std::nullopt;
    percent = percent * 10 + (c - '0');
  }
  return percent;
}

// What is wrong with the words of a line; empty: nothing.
std::string AddArchitecture(const std::vector<std::string>& words, DeviceTable& table) {
  if (words.size() != 5) return "expected architecture NAME MATRIX-WORKSPACE CONTEXT CONVOLUTIONS";
  const std::optional<int64_t> workspace = ParseSize(words[2]);
  if (!workspace) return words[2] + " is no size, as in 32MiB";
  const std::optional<int64_t> context = ParseSize(words[3]);
  if (!context) return words[3] + " is no size, as in 450MiB";
  const std::optional<int64_t> percent = ParsePercent(words[4]);
  if (!percent) return words[4] + " is no percentage, as in 0%";
  Put(table.architectures, Architecture{words[1], *workspace, *context, *percent});
  return "";
}

std::string AddDevice(const std::vector<std::string>& words, DeviceTable& table) {
  if (words.size() != 4) return "expected device NAME MEMORY ARCHITECTURE";
  const std::optional<int64_t> memory = ParseSize(words[2]);
  if (!memory) return words[2] + " is no size, as in 24GiB";
  const auto architecture = FindByName(table.architectures, words[3]);
  if (architecture == table.architectures.end()) {
    return "no line above says what architecture " + words[3] + " is";
  }
  Put(table.devices, Device{words[1], *memory, *architecture});
  return "";
}

std::string AddLine(const std::string& line, DeviceTable& table) {
  std::istringstream stream(line.substr(0, line.find('#')));
  const std::vector<std::string> words{std::istream_iterator<std::string>(stream), {}};
  if (words.empty()) return "";
  if (words[0] == "architecture") return AddArchitecture(words, table);
  if (words[0] == "device") return AddDevice(words, table);
  return "expected a line that begins with architecture or device, not " + words[0];
}

}  // namespace

const Device* DeviceTable::Find(std::string_view name) const {
  const auto found = FindByName(devices, name);
  return found == devices.end() ? nullptr : &*found;
}

std::variant<DeviceTable, DeviceError> ParseDevices(std::string_view text, DeviceTable table) {
  std::istringstream lines{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::string wrong = AddLine(line, table);
    if (!wrong.empty()) return DeviceError{"line " + std::to_string(number) + ": " + wrong};
  }
  return table;
}

std::variant<DeviceTable, DeviceError> LoadDevices(const std::string& path) {
  DeviceTable built_in = std::get<DeviceTable>(ParseDevices(kBuiltInDevices));
  if (path.empty()) return built_in;
  const OpenFile file(path);
  if (!file.problem().empty()) return DeviceError{file.problem(), /*unreadable=*/true};
  std::string text;
  char buffer[4096];
  ssize_t got = 0;
  while ((got = ReadFrom(file.fd(), buffer, sizeof buffer)) > 0) {
    text.append(buffer, static_cast<size_t>(got));
    if (text.size() > kLongestList) return DeviceError{"is too long for a list of devices"};
  }
  if (got < 0) return DeviceError{std::strerror(errno), /*unreadable=*/true};
  return ParseDevices(text, std::move(built_in));
}

const Architecture& UnnamedArchitecture() {
  static const Architecture architecture = {"", 8320 << 10, int64_t{450} << 20, 0};
  return architecture;
}

}  // namespace footprint
