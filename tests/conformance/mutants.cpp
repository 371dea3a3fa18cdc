#include "tests/conformance/mutants.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <variant>
#include <vector>

#include "backend/analyze.h"
#include "frontend/model_file.h"
#include "tests/conformance/mutate.h"

namespace footprint {
namespace {

using ONNX_NAMESPACE::ModelProto;

constexpr std::chrono::seconds kEndless{20};

std::vector<std::string> ModelsBelow(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string ending = entry.path().extension().string();
    if (ending == ".onnx" || ending == ".onnxtxt") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

bool ReadModel(const std::string& path, ModelProto* model) {
  if (path.ends_with(".onnx")) {
    std::ifstream file(path, std::ios::binary);
    return model->ParseFromIstream(&file);
  }
  DiagnosticSink sink;
  const std::optional<ModelFile> file = ReadModelFile(path, sink);
  if (file) *model = file->model;
  return file.has_value();
}

enum class Outcome { kReport, kFailure, kNeither };

Outcome AnalyzeMutant(const std::string& path, std::string* why) {
  Options options;
  options.model_path = path;
  const auto start = std::chrono::steady_clock::now();
  try {
    const std::variant<Report, Failure> result = Analyze(options);
    if (std::chrono::steady_clock::now() - start > kEndless) {
      *why = "took too long";
      return Outcome::kNeither;
    }
    const Failure* failure = std::get_if<Failure>(&result);
    if (failure == nullptr) return Outcome::kReport;
    if (!failure->diagnostics.empty()) return Outcome::kFailure;
    *why = "failed without a message";
  } catch (const std::exception& error) {
    *why = error.what();
  }
  return Outcome::kNeither;
}

}  // namespace

int64_t RunMutants(const std::string& folder, uint32_t count, bool verbose) {
  const std::string mutant = (std::filesystem::temp_directory_path() /
                              ("footprint_mutant_" + std::to_string(getpid()) + ".onnx"))
                                 .string();
  int64_t outcomes[3] = {0, 0, 0};
  for (const std::string& path : ModelsBelow(folder)) {
    for (uint32_t seed = 0; seed < count; ++seed) {
      ModelProto model;
      if (!ReadModel(path, &model)) break;
      Mutate(model, seed);
      std::ofstream(mutant, std::ios::binary) << model.SerializeAsString();
      if (verbose) std::cout << path << " " << seed << " in " << mutant << std::endl;
      std::string why;
      const Outcome outcome = AnalyzeMutant(mutant, &why);
      ++outcomes[static_cast<int>(outcome)];
      if (outcome == Outcome::kNeither) {
        std::cout << path << ", mutant " << seed << ": " << why << "\n";
      }
    }
  }
  std::error_code none;
  std::filesystem::remove(mutant, none);
  std::cout << outcomes[0] << " mutants with a report, " << outcomes[1] << " with a message, "
            << outcomes[2] << " with neither\n";
  return outcomes[2];
}

}  // namespace footprint
