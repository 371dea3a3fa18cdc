#include "backend/cli/config_file.h"

#include <toml++/toml.h>

#include <fstream>
#include <system_error>

namespace footprint {
namespace {

std::string KeyPlace(const std::filesystem::path& path, const toml::source_region& region) {
  return path.string() + ":" + std::to_string(region.begin.line);
}

// A value as the command line would spell it; nullopt: it has no such form.
std::optional<std::string> Spelled(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  if (const auto* truth = node.as_boolean()) return truth->get() ? "true" : "false";
  return std::nullopt;
}

class Reader {
 public:
  Reader(const std::filesystem::path& path, UsageErrors& errors) : path_(path), errors_(errors) {}

  ConfigEntry Entry(const std::string& option, const toml::node& node) {
    ConfigEntry entry{option, {}};
    if (const toml::table* table = node.as_table()) {
      for (const auto& [name, value] : *table) {
        Add(std::string(name.str()) + "=", value, entry);
      }
    } else if (const toml::array* array = node.as_array()) {
      for (const toml::node& value : *array) Add("", value, entry);
    } else {
      Add("", node, entry);
    }
    return entry;
  }

 private:
  void Add(const std::string& prefix, const toml::node& node, ConfigEntry& entry) {
    if (const std::optional<std::string> text = Spelled(node)) {
      entry.values.push_back(prefix + *text);
      return;
    }
    errors_.Add("bad-config", KeyPlace(path_, node.source()),
                entry.option + ": expected a text, a whole number, true or false");
  }

  const std::filesystem::path& path_;
  UsageErrors& errors_;
};

}  // namespace

std::optional<std::filesystem::path> FindConfig(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::path at = std::filesystem::absolute(folder, error).lexically_normal();
  while (!error) {
    std::filesystem::path candidate = at / "footprint.toml";
    if (std::filesystem::is_regular_file(candidate, error)) return candidate;
    error.clear();
    if (!at.has_relative_path()) break;
    at = at.parent_path();
  }
  return std::nullopt;
}

std::vector<ConfigEntry> ReadConfig(const std::filesystem::path& path, UsageErrors& errors) {
  std::error_code status;
  std::ifstream file(path);
  if (!file || std::filesystem::is_directory(path, status)) {
    errors.Add("file-access", "--config " + path.string(), "cannot be read");
    return {};
  }
  std::vector<ConfigEntry> entries;
  try {
    const toml::table table = toml::parse(file, path.string());
    Reader reader(path, errors);
    for (const auto& [name, node] : table) {
      entries.push_back(reader.Entry(std::string(name.str()), node));
    }
  } catch (const toml::parse_error& error) {
    errors.Add("bad-config", KeyPlace(path, error.source()), std::string(error.description()));
  }
  return entries;
}

}  // namespace footprint
