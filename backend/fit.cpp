// The value is doubled until it does not fit, then the gap is halved:
//
//   1 fits, 2 fits, 4 fits, 8 does not: 6 fits, 7 does not -> 6
#include "backend/fit.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>
#include <vector>

#include "backend/analyze.h"
#include "backend/names.h"
#include "backend/units.h"

namespace footprint {
namespace {

constexpr int64_t kMost = int64_t{1} << 40;

Failure Refuse(std::string message) {
  return {3, {{"error", "bad-value", "--fit", std::move(message)}}};
}

// Of a training step on a device.
struct Need {
  Bytes bytes;          // nullopt: unknown, or the model cannot run so
  std::string largest;  // part of it; without bytes: why
};

std::string LargestPart(const TrainingReport& training) {
  const std::array<std::pair<const char*, Bytes>, 4> parts = {
      {{"parameters", training.parameter_bytes},
       {"gradients", training.gradient_bytes},
       {"optimizer state", training.optimizer_state_bytes},
       {"saved activations", training.saved_bytes}}};
  const auto largest = std::max_element(
      parts.begin(), parts.end(),
      [](const auto& a, const auto& b) { return a.second.value_or(0) < b.second.value_or(0); });
  return largest->first;
}

Need NeedOf(const Options& options) {
  const std::variant<Report, Failure> result = Analyze(options);
  if (const Failure* failure = std::get_if<Failure>(&result)) {
    for (const ReportDiagnostic& found : failure->diagnostics) {
      if (found.severity == "error") return {std::nullopt, found.place + ": " + found.message};
    }
  }
  const Report* report = std::get_if<Report>(&result);
  if (report == nullptr || !report->device || !report->training) return {};
  if (!report->device->needed_bytes) {
    return {std::nullopt, Counted(report->training->unknown_storages, "storage") +
                              " of unknown size"};
  }
  return {report->device->needed_bytes, LargestPart(*report->training)};
}

Options Without(Options options) {
  options.budgets.clear();
  options.sweep.reset();
  options.timeline = false;
  options.dump.clear();
  options.explain.clear();
  return options;
}

Options WithDim(Options options, const std::string& name, int64_t value) {
  std::erase_if(options.dims, [&](const auto& dim) { return dim.first == name; });
  options.dims.emplace_back(name, value);
  return options;
}

struct Search {
  std::optional<int64_t> largest;
  Need need;  // at `largest`, or at 1
  Need next;  // at the value above
};

Search FindLargest(const std::function<Need(int64_t)>& need_of, int64_t memory) {
  Search search;
  int64_t fits = 0;
  int64_t too_large = kMost;
  const auto probe = [&](int64_t value) {
    Need need = need_of(value);
    const bool does_fit = need.bytes && *need.bytes <= memory;
    (does_fit ? fits : too_large) = value;
    (does_fit ? search.need : search.next) = std::move(need);
    return does_fit;
  };
  for (int64_t value = 1; value < kMost && probe(value);) value *= 2;
  while (too_large - fits > 1) probe(fits + (too_large - fits) / 2);
  if (fits > 0) {
    search.largest = fits;
  } else {
    search.need = std::exchange(search.next, {});
  }
  return search;
}

struct Change {
  std::string name;
  std::function<bool(Options&)> apply;  // false: it is so already, or has no effect
};

std::vector<Change> Changes(const std::string& dimension, int64_t asked) {
  const auto precision = [](Precision to) {
    return [to](Options& options) { return std::exchange(options.precision, to) != to; };
  };
  const auto optimizer = [](const char* to) {
    return [to](Options& options) { return std::exchange(options.optimizer, to) != to; };
  };
  return {
      {"--precision amp-bf16", precision(Precision::kAmpBf16)},
      {"--precision bf16", precision(Precision::kBf16)},
      {"--checkpoint every:1",
       [](Options& options) { return std::exchange(options.checkpoint, "every:1").empty(); }},
      {"--checkpoint sqrt",
       [](Options& options) { return std::exchange(options.checkpoint, "sqrt").empty(); }},
      {"--attention efficient",
       [](Options& options) {
         const Attention before = std::exchange(options.attention, Attention::kEfficient);
         return before == Attention::kAuto || before == Attention::kMath;
       }},
      {"--optimizer adamw8bit", optimizer("adamw8bit")},
      {"--optimizer sgd", optimizer("sgd")},
      {"--freeze '*embed*'",
       [](Options& options) {
         options.freeze.emplace_back("*embed*");
         return true;
       }},
      {"--accumulate 2 at half of " + dimension,
       [dimension, asked](Options& options) {
         if (asked % 2 != 0) return false;
         options = WithDim(std::move(options), dimension, asked / 2);
         options.accumulate *= 2;
         return true;
       }},
  };
}

std::vector<FitChange> TryChanges(const Options& options, const std::string& dimension,
                                  int64_t asked, const DeviceReport& device) {
  const int64_t memory = device.memory_bytes;
  std::vector<FitChange> tried;
  for (const Change& change : Changes(dimension, asked)) {
    Options changed = options;
    if (!change.apply(changed)) continue;
    const Bytes needed = NeedOf(changed).bytes;
    if (!needed || needed == device.needed_bytes) continue;
    tried.push_back({change.name, needed, *needed <= memory});
  }
  return tried;
}

}  // namespace

std::variant<FitReport, Failure> Fit(const Options& options, const std::string& dimension,
                                     const Report& report) {
  if (!report.device || !report.training) {
    return Refuse("needs --device NAME or --device-memory SIZE, and a training step");
  }
  const auto binding = std::find_if(report.bindings.begin(), report.bindings.end(),
                                    [&](const Binding& b) { return b.name == dimension; });
  if (binding == report.bindings.end()) {
    return Refuse("the model has no dimension " + dimension);
  }
  const int64_t memory = report.device->memory_bytes;
  const Options plain = Without(options);
  const Search search = FindLargest(
      [&](int64_t value) { return NeedOf(WithDim(plain, dimension, value)); }, memory);
  if (!search.largest && !search.need.bytes) {
    return Refuse("cannot be told: what a step needs with " + dimension + " = 1 is unknown" +
                  (search.need.largest.empty() ? "" : ": " + search.need.largest));
  }
  FitReport fit;
  fit.name = dimension;
  fit.largest = search.largest;
  fit.needed_bytes = search.need.bytes;
  fit.margin_bytes = search.need.bytes ? memory - *search.need.bytes : 0;
  fit.next_needed_bytes = search.next.bytes;
  fit.binds = search.largest ? search.next.largest : search.need.largest;
  fit.asked = binding->value;
  if (!report.device->fits.value_or(false)) {
    fit.changes = TryChanges(WithDim(plain, dimension, fit.asked), dimension, fit.asked,
                             *report.device);
  }
  return fit;
}

}  // namespace footprint
