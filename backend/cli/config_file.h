// footprint.toml: what a project always wants. Its keys are the names of analyze's options; a table
// gives several NAME=VALUE to an option, an array several values:
//
//   optimizer = "sgd-momentum"
//   freeze = ["encoder.*", "embeddings.*"]
//   [dim]
//   batch = 32                      # only of models that have the name
//   [budget]
//   peak = "24GiB"
//   "layer:encoder.*" = "2GiB"
//
// What the command line gives goes before; of options with names, name by name.
#ifndef FOOTPRINT_BACKEND_CLI_CONFIG_FILE_H_
#define FOOTPRINT_BACKEND_CLI_CONFIG_FILE_H_

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "backend/cli/convert.h"

namespace footprint {

struct ConfigEntry {
  std::string option;               // "dim"
  std::vector<std::string> values;  // "batch=32"
};

// footprint.toml in `folder` or the nearest folder above it.
std::optional<std::filesystem::path> FindConfig(const std::filesystem::path& folder);

// The entries of the file in its order. What is wrong with it is added to `errors`.
std::vector<ConfigEntry> ReadConfig(const std::filesystem::path& path, UsageErrors& errors);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_CLI_CONFIG_FILE_H_
