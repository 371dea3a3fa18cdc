#include "tests/support/case_runner.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace footprint {
namespace {

constexpr absl::string_view kRun = "# RUN:";
constexpr absl::string_view kExpect = "# EXPECT:";

struct Case {
  std::vector<std::string> model;  // all lines that are no expectation
  std::string step;                // empty: no RUN line
  std::vector<std::string> arguments;
  std::string expected;
};

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Case ReadCase(const std::string& path) {
  Case result;
  const std::string text = ReadFile(path);
  for (absl::string_view line : absl::StrSplit(absl::StripSuffix(text, "\n"), '\n')) {
    if (absl::ConsumePrefix(&line, kExpect)) {
      absl::StrAppend(&result.expected, absl::StripPrefix(line, " "), "\n");
      continue;
    }
    result.model.emplace_back(line);
    if (!absl::ConsumePrefix(&line, kRun)) continue;
    result.arguments = absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (result.arguments.empty()) continue;
    result.step = result.arguments.front();
    result.arguments.erase(result.arguments.begin());
  }
  return result;
}

std::string WithoutLastNewlines(std::string text) {
  while (absl::EndsWith(text, "\n")) text.pop_back();
  return text;
}

bool WriteExpectations(const std::string& path, const Case& old, const std::string& printed) {
  std::vector<std::string> lines = old.model;
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  for (absl::string_view line : absl::StrSplit(printed, '\n')) {
    lines.push_back(absl::StrCat(kExpect, line.empty() ? "" : " ", line));
  }
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  for (const std::string& line : lines) file << line << '\n';
  return file.good();
}

std::string FirstDifference(const std::string& expected, const std::string& printed) {
  const std::vector<std::string> left = absl::StrSplit(expected, '\n');
  const std::vector<std::string> right = absl::StrSplit(printed, '\n');
  size_t line = 0;
  while (line < left.size() && line < right.size() && left[line] == right[line]) ++line;
  return absl::StrCat("first difference in line ", line + 1,
                      "\n  expected: ", line < left.size() ? left[line] : "(end)",
                      "\n  printed:  ", line < right.size() ? right[line] : "(end)");
}

}  // namespace

std::vector<std::string> CasesOf(const std::string& source_folder, const std::string& step) {
  std::vector<std::string> paths;
  const std::filesystem::path folder = std::filesystem::path(source_folder) / "tests" / "cases";
  std::error_code none;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, none)) {
    const std::string ending = entry.path().extension().string();
    if (ending != ".onnxtxt" && ending != ".textproto" && ending != ".torch") continue;
    const std::string found = ReadCase(entry.path().string()).step;
    if (found.empty() || found == step) paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

testing::AssertionResult RunCase(const std::string& path, const CaseStep& step) {
  const Case read = ReadCase(path);
  if (read.step.empty()) return testing::AssertionFailure() << path << " has no '# RUN: step' line";
  const std::string printed = WithoutLastNewlines(step(path, read.arguments));
  const std::string expected = WithoutLastNewlines(read.expected);
  if (printed == expected) return testing::AssertionSuccess();
  if (std::getenv("UPDATE_EXPECT") != nullptr) {
    if (WriteExpectations(path, read, printed)) return testing::AssertionSuccess();
    return testing::AssertionFailure() << path << " cannot be written";
  }
  return testing::AssertionFailure()
         << path << ": " << FirstDifference(expected, printed) << "\nall that was printed:\n"
         << printed;
}

std::string CaseName(const testing::TestParamInfo<std::string>& info) {
  const std::filesystem::path path(info.param);
  std::string name =
      absl::StrCat(path.parent_path().filename().string(), "_", path.stem().string());
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

std::string PrintDiagnostics(const std::vector<Diagnostic>& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) {
    absl::StrAppend(&text, diagnostic.kind, ": ", ToString(diagnostic), "\n");
  }
  return text;
}

}  // namespace footprint
