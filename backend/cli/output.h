// Documents leave the process whole or not at all.
#ifndef FOOTPRINT_BACKEND_CLI_OUTPUT_H_
#define FOOTPRINT_BACKEND_CLI_OUTPUT_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace footprint {

// What could not be written, and why.
struct WriteFailure {
  std::string place;
  std::string message;
};

inline constexpr const char* kStandardOutput = "standard output";

std::optional<WriteFailure> WriteStandardOutput(std::string_view text);

struct OutputFile {
  std::string path;
  std::string text;
};

// Each file is written under another name beside its place and moved there when all are complete; a
// failure or a signal leaves nothing behind. What is not a regular file (a pipe, /dev/null) is
// written to directly.
std::optional<WriteFailure> WriteFiles(const std::vector<OutputFile>& files);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_CLI_OUTPUT_H_
