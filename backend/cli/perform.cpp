#include "backend/cli/perform.h"

#include <utility>

#include "backend/analyze.h"
#include "backend/fit.h"

namespace footprint {

std::variant<Report, Failure> Perform(const AnalyzeCommand& command) {
  std::variant<Report, Failure> result = Analyze(command.options);
  Report* report = std::get_if<Report>(&result);
  if (report == nullptr || command.fit.empty()) return result;
  std::variant<FitReport, Failure> fit = Fit(command.options, command.fit, *report);
  if (Failure* failure = std::get_if<Failure>(&fit)) return std::move(*failure);
  report->fit = std::get<FitReport>(std::move(fit));
  return result;
}

}  // namespace footprint
