#include "tests/conformance/mutants.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
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

constexpr unsigned kEndlessSeconds = 60;

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

enum Outcome { kReport, kFailure, kNeither };

// An exception ends the process too.
Outcome AnalyzeMutant(const std::string& path) {
  Options options;
  options.model_path = path;
  const std::variant<Report, Failure> result = Analyze(options);
  const Failure* failure = std::get_if<Failure>(&result);
  if (failure == nullptr) return kReport;
  return failure->diagnostics.empty() ? kNeither : kFailure;
}

// In a process of its own, which may end as it likes.
Outcome AnalyzeApart(const std::string& path) {
  std::cout.flush();
  const pid_t child = fork();
  if (child == 0) {
    alarm(kEndlessSeconds);
    _exit(AnalyzeMutant(path));
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return kNeither;
  const bool orderly = WIFEXITED(status) && WEXITSTATUS(status) <= kNeither;
  return orderly ? static_cast<Outcome>(WEXITSTATUS(status)) : kNeither;
}

}  // namespace

int64_t RunMutants(const std::string& folder, uint32_t count) {
  const std::string stem = (std::filesystem::temp_directory_path() / "footprint_mutant").string();
  const std::string mutant = stem + std::to_string(getpid()) + ".onnx";
  int64_t outcomes[3] = {0, 0, 0};
  for (const std::string& path : ModelsBelow(folder)) {
    for (uint32_t seed = 0; seed < count; ++seed) {
      ModelProto model;
      if (!ReadModel(path, &model)) break;
      Mutate(model, seed);
      std::ofstream(mutant, std::ios::binary) << model.SerializeAsString();
      const Outcome outcome = AnalyzeApart(mutant);
      if (++outcomes[outcome]; outcome != kNeither) continue;
      const std::string kept = stem + "_" + std::to_string(outcomes[kNeither]) + ".onnx";
      std::filesystem::copy_file(mutant, kept, std::filesystem::copy_options::overwrite_existing);
      std::cout << path << ", mutant " << seed << ", kept as " << kept << "\n";
    }
  }
  std::filesystem::remove(mutant);
  std::cout << outcomes[kReport] << " mutants with a report, " << outcomes[kFailure]
            << " with a message, " << outcomes[kNeither] << " with neither\n";
  return outcomes[kNeither];
}

}  // namespace footprint
