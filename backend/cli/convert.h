// From the user's words to a command. Problems are collected: all of them are told at once.
#ifndef FOOTPRINT_BACKEND_CLI_CONVERT_H_
#define FOOTPRINT_BACKEND_CLI_CONVERT_H_

#include <string>
#include <vector>

#include "backend/cli/command_line.h"
#include "backend/cli/flags.h"
#include "backend/report.h"

namespace footprint {

class UsageErrors {
 public:
  void Add(std::string kind, std::string place, std::string message);
  // Mistakes in the values of these options ("--dim") are told as the file's.
  void ComeFrom(std::string file, std::vector<std::string> options);
  bool IsFromFile(const std::string& option) const;
  bool empty() const { return failure_.diagnostics.empty(); }
  Failure Take() { return std::move(failure_); }

 private:
  Failure failure_{.exit_code = 3, .diagnostics = {}};
  std::string file_;
  std::vector<std::string> of_file_;
};

AnalyzeCommand ConvertAnalyze(const Flags& flags, UsageErrors& errors);
BytesCommand ConvertBytes(const Flags& flags, UsageErrors& errors);
AnalyzeCommand ConvertExplain(const Flags& flags, UsageErrors& errors);
DiffCommand ConvertDiff(const Flags& flags, UsageErrors& errors);
OpsCommand ConvertOps(const Flags& flags, UsageErrors& errors);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_CLI_CONVERT_H_
