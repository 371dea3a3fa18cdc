// The command line: arguments in, a command or what is wrong with it out. Nothing is read, printed
// or analyzed here, files named by --input-value excepted.
#ifndef FOOTPRINT_BACKEND_CLI_COMMAND_LINE_H_
#define FOOTPRINT_BACKEND_CLI_COMMAND_LINE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "backend/cli/formats.h"
#include "backend/diff.h"
#include "backend/options.h"
#include "backend/report.h"

namespace footprint {

// Where documents go.
struct Destination {
  std::vector<Format> formats = {Format::kText};
  std::string output;  // file or folder; empty: standard output
  std::optional<bool> styled;  // nullopt: as the terminal wants it
  bool quiet = false;          // nothing on standard error but errors
};

struct AnalyzeCommand {
  Options options;
  std::string fit;                  // a dimension; empty: none
  std::vector<std::string> models;  // as given; of one, options has it too
  Destination destination;
  std::optional<int> depth;
};

struct DiffCommand {
  Options options;  // of the sides that are models; the path is theirs
  std::string before;
  std::string after;
  std::vector<DiffLimit> limits;
  Destination destination;
};

struct BytesCommand {
  int64_t parameter_count = 0;
  std::string optimizer;  // empty: none
  Destination destination;
};

struct OpsCommand {
  enum class Table { kOnnx, kTorch, kMissing };
  Table table = Table::kOnnx;
  std::string model;  // kMissing
  Destination destination;
};

// --help and --version.
struct PrintCommand {
  std::string text;
};

using Command = std::variant<AnalyzeCommand, DiffCommand, BytesCommand, OpsCommand, PrintCommand>;

// Everything that is wrong with the command line, in one failure with exit code 3.
std::variant<Command, Failure> ParseCommandLine(const std::vector<std::string>& arguments);

// The format that a failure is to be told in, said by arguments that may be wrong otherwise: the
// first that is asked for and knows failures, else text.
Format FormatOfFailure(const std::vector<std::string>& arguments);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_CLI_COMMAND_LINE_H_
