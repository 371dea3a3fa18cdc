#include "backend/sweep_gates.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "backend/gate.h"

namespace footprint {
namespace {

Options AtValue(Options options, int64_t value) {
  for (auto& [name, bound] : options.dims) {
    if (name == options.sweep->name) bound = value;
  }
  options.sweep.reset();
  options.explain.clear();
  options.dump.clear();
  options.timeline = false;
  return options;
}

std::string FirstError(const Failure& failure) {
  for (const ReportDiagnostic& found : failure.diagnostics) {
    if (found.severity != "error") continue;
    return found.place.empty() ? found.message : found.place + ": " + found.message;
  }
  return "";
}

// One for each of the `count` gates.
std::vector<GateReport> GatesOf(const std::variant<Report, Failure>& result, size_t count) {
  if (const Report* report = std::get_if<Report>(&result)) return report->gates;
  GateReport broken;
  broken.actual_bytes = 0;
  broken.violations.push_back({"", std::nullopt, FirstError(std::get<Failure>(result))});
  return std::vector<GateReport>(count, broken);
}

// The violations of one value name it, and join those of the others.
void Merge(const std::string& value, const std::vector<GateReport>& at,
           std::vector<GateReport>& gates) {
  for (size_t i = 0; i < gates.size(); ++i) {
    GateReport& gate = gates[i];
    if (IsLarger(at[i].actual_bytes, gate.actual_bytes)) gate.actual_bytes = at[i].actual_bytes;
    for (const GateViolation& found : at[i].violations) {
      const std::string place = found.place.empty() ? value : value + ", " + found.place;
      gate.violations.push_back({place, found.bytes, found.why});
    }
  }
}

}  // namespace

void HoldOverSweep(const Options& options, const DimBindings& bound, const AnalyzeWith& analyze,
                   std::vector<GateReport>& gates) {
  if (gates.empty()) return;
  const Sweep& sweep = *options.sweep;
  const std::vector<GateReport> known = gates;
  for (GateReport& gate : gates) gate.violations.clear();
  for (const int64_t value : sweep.values) {
    const bool is_known =
        std::find(bound.begin(), bound.end(), std::pair(sweep.name, value)) != bound.end();
    Merge(sweep.name + " = " + std::to_string(value),
          is_known ? known : GatesOf(analyze(AtValue(options, value)), gates.size()), gates);
  }
  for (GateReport& gate : gates) {
    gate.passed = gate.violations.empty();
    std::stable_sort(gate.violations.begin(), gate.violations.end(),
                     [](const auto& a, const auto& b) { return IsLarger(a.bytes, b.bytes); });
  }
}

}  // namespace footprint
