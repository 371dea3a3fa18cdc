#include "backend/cli/many.h"

#include <glob.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <set>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>

#include "backend/analyze.h"
#include "backend/figures.h"
#include "backend/report_gates.h"

namespace footprint {
namespace {

namespace fs = std::filesystem;

bool IsPattern(const std::string& text) {
  std::error_code error;
  return text.find_first_of("*?[") != std::string::npos && !fs::exists(text, error);
}

bool IsModelFile(const fs::path& path) {
  return path.extension() == ".onnx" || path.extension() == ".onnxtxt";
}

// Links that lead nowhere are listed: to open them fails, and is told.
std::vector<std::string> InFolder(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code error;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied,
                                      error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    std::error_code ignored;
    if (!at->is_directory(ignored) && !at->is_fifo(ignored) && IsModelFile(at->path())) {
      found.push_back(at->path().string());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<std::string> Matching(const std::string& pattern) {
  glob_t matches = {};
  std::vector<std::string> found;
  if (glob(pattern.c_str(), 0, nullptr, &matches) == 0) {
    found.assign(matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
  }
  globfree(&matches);
  return found;
}

void Fail(const Failure& failure, ModelSummary& summary) {
  summary.exit_code = failure.exit_code;
  for (const ReportDiagnostic& diagnostic : failure.diagnostics) {
    if (diagnostic.severity != "error") continue;
    summary.error = (diagnostic.place.empty() ? "" : diagnostic.place + ": ") + diagnostic.message;
    return;
  }
}

void AnalyzeOne(const ManyRun& run, ModelSummary& summary) {
  Options options = run.options;
  options.model_path = summary.model;
  const std::variant<Report, Failure> result = Analyze(options);
  const std::optional<Failure> unwritten = run.write(summary.model, result);
  if (const Failure* failure = std::get_if<Failure>(&result)) {
    return Fail(*failure, summary);
  }
  if (unwritten) Fail(*unwritten, summary);
  const Report& report = std::get<Report>(result);
  summary.parameter_count = report.parameter_count;
  summary.parameter_bytes = report.parameter_bytes;
  summary.training_peak_bytes = KnownFigure(report, *FindFigure("peak"));
  summary.inference_peak_bytes = KnownFigure(report, *FindFigure("inference-peak"));
  summary.broken_budgets = std::count_if(report.gates.begin(), report.gates.end(),
                                         [](const GateReport& gate) { return !gate.passed; });
  if (summary.broken_budgets > 0) summary.exit_code = std::max(summary.exit_code, 1);
  constexpr size_t kKept = 10;  // of a hundred thousand models all would not fit
  for (GateReport gate : report.gates) {
    for (std::string& message : GateMessages(gate)) summary.messages.push_back(std::move(message));
    gate.violations.resize(std::min(gate.violations.size(), kKept));
    summary.gates.push_back(std::move(gate));
  }
}

// One line that each call writes over.
void ShowProgress(size_t done, size_t all) {
  constexpr size_t kWidth = 40;
  const size_t filled = kWidth * done / all;
  const std::string bar = std::string(filled, '#') + std::string(kWidth - filled, '.');
  std::fprintf(stderr, "\r[%s] %zu of %zu models%s", bar.c_str(), done, all,
               done == all ? "\n" : "");
}

}  // namespace

bool AreMany(const std::vector<std::string>& given) {
  std::error_code error;
  return given.size() > 1 || (given.size() == 1 && (fs::is_directory(given.front(), error) ||
                                                    IsPattern(given.front())));
}

std::vector<std::string> FindModels(const std::vector<std::string>& given,
                                    std::vector<std::string>& missing) {
  std::vector<std::string> models;
  std::set<std::string> seen;
  for (const std::string& argument : given) {
    std::error_code error;
    std::vector<std::string> found = {argument};
    if (fs::is_directory(argument, error)) {
      found = InFolder(argument);
    } else if (IsPattern(argument)) {
      found = Matching(argument);
    }
    if (found.empty()) missing.push_back(argument);
    for (std::string& model : found) {
      if (seen.insert(model).second) models.push_back(std::move(model));
    }
  }
  return models;
}

std::vector<ModelSummary> AnalyzeMany(const std::vector<std::string>& models, const ManyRun& run) {
  std::vector<ModelSummary> summaries(models.size());
  std::atomic<size_t> next = 0;
  std::atomic<size_t> done = 0;
  const auto work = [&] {
    for (size_t i = next++; i < models.size(); i = next++) {
      summaries[i].model = models[i];
      try {
        AnalyzeOne(run, summaries[i]);
      } catch (const std::bad_alloc&) {
        Fail({3, {{"error", "out-of-memory", "", "not enough memory"}}}, summaries[i]);
      } catch (const std::exception& error) {
        Fail({2, {{"error", "internal", "", error.what()}}}, summaries[i]);
      }
      ++done;
      if (run.progress) ShowProgress(done, models.size());
    }
  };
  const size_t hands = std::clamp<size_t>(std::thread::hardware_concurrency(), 1, models.size());
  std::vector<std::thread> threads;
  for (size_t i = 1; i < hands; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  return summaries;
}

int ExitCodeOf(const std::vector<ModelSummary>& summaries) {
  int code = 0;
  for (const ModelSummary& summary : summaries) {
    if (summary.exit_code == 2) return 2;
    code = std::max(code, summary.exit_code);
  }
  return code;
}

}  // namespace footprint
