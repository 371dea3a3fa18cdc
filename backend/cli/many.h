// Many models in one call: found, analyzed side by side, told in one table.
#ifndef FOOTPRINT_BACKEND_CLI_MANY_H_
#define FOOTPRINT_BACKEND_CLI_MANY_H_

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "backend/options.h"
#include "backend/report.h"
#include "backend/terminal.h"

namespace footprint {

// Whether these arguments stand for more than one file: several, a folder, or a pattern.
bool AreMany(const std::vector<std::string>& given);

// The files that the arguments stand for, in order, each once: of a folder every .onnx and .onnxtxt
// file in and below it, of a pattern what it matches. An argument that stands for nothing is added
// to `missing`.
std::vector<std::string> FindModels(const std::vector<std::string>& given,
                                    std::vector<std::string>& missing);

// What a table of many models says of one.
struct ModelSummary {
  std::string model;
  int exit_code = 0;
  std::string error;  // of the first failure
  Bytes parameter_count;
  Bytes parameter_bytes;
  Bytes training_peak_bytes;
  Bytes inference_peak_bytes;
  int64_t broken_budgets = 0;
  std::vector<GateReport> gates;     // kept and broken, the largest ten violations of each
  std::vector<std::string> messages;  // of what is broken, as for one model
};

struct ManyRun {
  Options options;  // of each model
  bool progress = false;  // on stderr
  // Writes what is asked for of one model; called from several threads.
  std::function<std::optional<Failure>(const std::string& model,
                                       const std::variant<Report, Failure>& result)>
      write;
};

// In the order of `models`. Only the summaries stay in memory.
std::vector<ModelSummary> AnalyzeMany(const std::vector<std::string>& models, const ManyRun& run);

// 2 if a model is wrong, else 3 if a file or binding is, else 1 if a budget is broken, else 0.
int ExitCodeOf(const std::vector<ModelSummary>& summaries);

std::string SummaryText(const std::vector<ModelSummary>& summaries, const Terminal& terminal);
std::string SummaryMarkdown(const std::vector<ModelSummary>& summaries);
std::string SummaryCsv(const std::vector<ModelSummary>& summaries);
// "footprint-summary/1"
std::string SummaryJson(const std::vector<ModelSummary>& summaries);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_CLI_MANY_H_
