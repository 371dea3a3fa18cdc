#include "backend/cli/convert.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

#include "backend/bytes.h"
#include "backend/cli/many.h"
#include "backend/cli/values.h"
#include "backend/devices.h"
#include "backend/gate.h"
#include "backend/names.h"
#include "backend/units.h"
#include "ir/suggest.h"
#include "passes/checkpoint.h"

namespace footprint {
namespace {

constexpr std::array<Choice<bool>, 2> kAllocators = {{{"native", false}, {"expandable", true}}};
constexpr std::array<Choice<bool>, 2> kStepInputs = {{{"kept", false}, {"dropped", true}}};
constexpr std::array<Choice<std::optional<bool>>, 3> kColors = {
    {{"auto", std::nullopt}, {"always", true}, {"never", false}}};

// The steps of the analysis that have a printed form.
constexpr std::array<Choice<bool>, 5> kDumps = {{{"import", true},
                                                 {"infer", true},
                                                 {"lower", true},
                                                 {"replay", true},
                                                 {"liveness", true, false}}};

constexpr int64_t kMostSweepValues = 100000;
constexpr const char* kNotAvailable = "not available yet in this version";

template <typename T>
T Choose(const char* option, const std::string& given, std::span<const Choice<T>> choices,
         UsageErrors& errors) {
  std::string available;
  std::vector<std::string> names;
  for (const Choice<T>& choice : choices) {
    if (choice.available) available += (available.empty() ? "" : ", ") + std::string(choice.name);
    names.emplace_back(choice.name);
  }
  const std::string place = std::string(option) + " " + given;
  for (const Choice<T>& choice : choices) {
    if (choice.name != given) continue;
    if (!choice.available) {
      errors.Add("not-available", place, std::string(kNotAvailable) + "; there is: " + available);
    }
    return choice.value;
  }
  errors.Add("bad-value", place, "expected one of " + available + DidYouMean(given, names));
  return choices.front().value;
}

template <typename T, size_t n>
T Choose(const char* option, const std::string& given, const std::array<Choice<T>, n>& choices,
         UsageErrors& errors) {
  return Choose(option, given, std::span<const Choice<T>>(choices), errors);
}

// Parses each text; keeps the good ones and refuses a name that is given twice.
template <typename T, typename Parse, typename Name>
std::vector<T> ConvertEach(const char* option, const std::vector<std::string>& texts, Parse parse,
                           Name name_of, UsageErrors& errors) {
  std::vector<T> values;
  std::set<std::string> names;
  for (const std::string& text : texts) {
    const std::string place = std::string(option) + " " + text;
    Parsed<T> parsed = parse(text);
    if (const Problem* problem = std::get_if<Problem>(&parsed)) {
      errors.Add(problem->kind, place, problem->message);
      continue;
    }
    T& value = std::get<T>(parsed);
    if (!names.insert(name_of(value)).second) {
      errors.Add("bad-value", place, name_of(value) + " is given more than once");
      continue;
    }
    values.push_back(std::move(value));
  }
  return values;
}

std::optional<int64_t> ConvertCount(const std::string& text, UsageErrors& errors) {
  if (text.empty()) return std::nullopt;
  const std::optional<int64_t> count = ParseCount(text);
  if (!count || *count < 1) {
    errors.Add("bad-value", "--params " + text,
               "expected a whole number of parameters, as in 1234567, 350M, 1.5B or 2T");
    return std::nullopt;
  }
  return count;
}

// `by_count`: its state must follow from the number of parameters alone.
void CheckOptimizer(const std::string& name, bool by_count, UsageErrors& errors) {
  if (name.empty() || StateValuesPerParameter(name)) return;
  const std::string place = "--optimizer " + name;
  const std::vector<std::string> names = OptimizerNames();
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    errors.Add("bad-value", place, "expected one of " + Joined(names) + DidYouMean(name, names));
  } else if (by_count) {
    errors.Add("bad-value", place,
               "its state depends on the shapes of the parameters, not on their count alone");
  }
}

// A CSV that goes to a folder is all of its tables.
void AddFormat(Format format, const std::string& output, std::vector<Format>& formats) {
  const bool one = output.empty() || output.ends_with(".csv");
  if (format == Format::kCsv && !one) {
    for (const Format table : {Format::kCsvTensors, Format::kCsvStorages, Format::kCsvLayers,
                               Format::kCsvTimeline}) {
      AddFormat(table, output, formats);
    }
  } else if (std::find(formats.begin(), formats.end(), format) == formats.end()) {
    formats.push_back(format);
  }
}

Destination ConvertDestination(const Flags& flags, FormatsOf what, UsageErrors& errors) {
  std::vector<Choice<Format>> choices;
  for (const FormatInfo& info : AllFormats()) {
    if (info.of >= what) choices.push_back({info.name, info.format});
  }
  Destination destination;
  destination.output = flags.output == "-" ? "" : flags.output;  // standard output
  destination.quiet = flags.quiet;
  destination.styled = Choose("--color", flags.color, kColors, errors);
  if (!flags.formats.empty()) destination.formats.clear();
  for (const std::string& given : flags.formats) {
    const Format format =
        Choose("--format", given, std::span<const Choice<Format>>(choices), errors);
    AddFormat(format, destination.output, destination.formats);
  }
  if (destination.formats.size() > 1 && destination.output.empty()) {
    errors.Add("bad-value", "--format", "several formats need --output DIR: one file each");
  }
  return destination;
}

// "peak=24GiB"
std::vector<Budget> ConvertBudgets(const std::vector<std::string>& texts, UsageErrors& errors) {
  std::vector<Budget> budgets;
  for (const std::string& text : texts) {
    const size_t equals = text.rfind('=');
    const std::string subject = text.substr(0, equals);
    if (equals == std::string::npos || !IsBudgetSubject(subject)) {
      errors.Add("bad-value", "--budget " + text,
                 "expected SUBJECT=SIZE, as in peak=24GiB; subjects are " +
                     Joined(BudgetSubjects()) +
                     (IsBudgetSubject(subject) ? "" : DidYouMean(subject, BudgetSubjects())));
      continue;
    }
    const std::string size = text.substr(equals + 1);
    const std::optional<int64_t> limit = size == "0" ? 0 : ParseSize(size);
    if (!limit) {
      errors.Add("bad-value", "--budget " + text,
                 "expected a size behind =, as in 24GiB, 500MB or a number of bytes");
      continue;
    }
    budgets.push_back({subject, *limit});
  }
  return budgets;
}

void ConvertDevice(const Flags& flags, Options& options, UsageErrors& errors) {
  options.device = flags.device;
  options.device_file = flags.device_file;
  const std::variant<DeviceTable, DeviceError> loaded = LoadDevices(flags.device_file);
  if (const auto* error = std::get_if<DeviceError>(&loaded)) {
    errors.Add(error->unreadable ? "file-access" : "bad-value",
               "--device-file " + flags.device_file, error->message);
  } else if (!flags.device.empty()) {
    const DeviceTable& table = std::get<DeviceTable>(loaded);
    std::vector<std::string> names;
    for (const Device& device : table.devices) names.push_back(device.name);
    if (table.Find(flags.device) == nullptr) {
      errors.Add("bad-value", "--device " + flags.device,
                 "expected one of " + Joined(names) + DidYouMean(flags.device, names));
    }
  }
  if (!flags.device_memory.empty()) {
    options.device_memory = ParseSize(flags.device_memory);
    if (!options.device_memory) {
      errors.Add("bad-value", "--device-memory " + flags.device_memory,
                 "expected a size, as in 24GiB, 80GB or a number of bytes");
    }
  }
  if (options.mode != Mode::kInference) return;
  // A project's device is for its training steps.
  for (const char* option : {"--device", "--device-memory"}) {
    const bool is_name = option == std::string_view("--device");
    if ((is_name ? flags.device : flags.device_memory).empty()) continue;
    if (!errors.IsFromFile(option)) {
      errors.Add("bad-value", option, "speaks of a training step, which is not analyzed");
    } else if (is_name) {
      options.device.clear();
    } else {
      options.device_memory.reset();
    }
  }
}

// What says how to train says nothing to inference, but for the closed forms of articles.
std::vector<std::string> IdleOptions(const Flags& flags, const Options& options) {
  std::vector<std::string> idle;
  constexpr std::array<std::string_view, 4> kTextbook = {"--accounting", "--params", "--optimizer",
                                                         "--precision"};
  const bool textbook = options.accounting == Accounting::kTextbook;
  for (const std::string& name : flags.training_options) {
    const bool asked = std::find(kTextbook.begin(), kTextbook.end(), name) != kTextbook.end();
    if (options.mode == Mode::kInference && !(textbook && asked)) idle.push_back(name);
  }
  return idle;
}

GradScaler ConvertGradScaler(const Flags& flags, Precision precision, UsageErrors& errors) {
  const GradScaler scaler = Choose("--grad-scaler", flags.grad_scaler, kGradScalers, errors);
  if (scaler == GradScaler::kOn && precision == Precision::kFp16) {
    errors.Add("bad-value", "--grad-scaler on",
               "GradScaler refuses the float16 gradients of --precision fp16; amp-fp16 keeps "
               "parameters and gradients in float32");
  }
  return scaler;
}

int64_t ConvertAccumulate(const std::string& text, UsageErrors& errors) {
  const std::optional<int64_t> count = ParseInteger(text);
  if (count && *count >= 1) return *count;
  errors.Add("bad-value", "--accumulate " + text, "expected a positive integer");
  return 1;
}

std::optional<int> ConvertDepth(const std::string& text, UsageErrors& errors) {
  if (text.empty()) return std::nullopt;
  const std::optional<int64_t> depth = ParseInteger(text);
  if (!depth || *depth > std::numeric_limits<int>::max()) {
    errors.Add("bad-value", "--depth " + text, "expected 0 (no table) or a positive integer");
    return std::nullopt;
  }
  return static_cast<int>(*depth);
}

// "1..256", "8..64:8" or "1,2,4"; empty: it has another form.
std::vector<int64_t> SweepValues(const std::string& text) {
  std::vector<int64_t> values;
  const size_t dots = text.find("..");
  if (dots == std::string::npos) {
    for (size_t begin = 0; begin <= text.size();) {
      const size_t end = std::min(text.find(',', begin), text.size());
      const std::optional<int64_t> value = ParseInteger(text.substr(begin, end - begin));
      if (!value) return {};
      values.push_back(*value);
      begin = end + 1;
    }
    return values;
  }
  const size_t colon = std::min(text.find(':', dots), text.size());
  const std::optional<int64_t> first = ParseInteger(text.substr(0, dots));
  const std::optional<int64_t> last = ParseInteger(text.substr(dots + 2, colon - dots - 2));
  const std::optional<int64_t> step =
      colon == text.size() ? std::optional<int64_t>(1) : ParseInteger(text.substr(colon + 1));
  if (!first || !last || !step || *step < 1 || *last < *first) return {};
  if ((*last - *first) / *step >= kMostSweepValues) return {};
  for (int64_t value = *first; value <= *last; value += *step) values.push_back(value);
  return values;
}

// Takes the dimension that has several values out of the bindings, and binds its first.
std::vector<std::string> TakeSweep(std::vector<std::string> dims, Options& options,
                                   UsageErrors& errors) {
  for (std::string& dim : dims) {
    const size_t equals = dim.find('=');
    if (equals == std::string::npos || dim.find_first_of(",.", equals) == std::string::npos) {
      continue;
    }
    const std::string place = "--dim " + dim;
    Sweep sweep{dim.substr(0, equals), SweepValues(dim.substr(equals + 1))};
    if (sweep.values.empty()) {
      errors.Add("bad-value", place,
                 "expected NAME=FIRST..LAST, NAME=FIRST..LAST:STEP or NAME=A,B,C, at most " +
                     std::to_string(kMostSweepValues) + " values");
      sweep.values = {1};
    } else if (options.sweep) {
      errors.Add("bad-value", place, "one dimension at a time has several values");
    }
    dim = sweep.name + "=" + std::to_string(sweep.values.front());
    options.sweep = std::move(sweep);
  }
  return dims;
}

void ConvertInputs(const Flags& flags, Options& options, UsageErrors& errors) {
  options.dims = ConvertEach<std::pair<std::string, int64_t>>(
      "--dim", TakeSweep(flags.dims, options, errors), ParseDim,
      [](const auto& dim) { return dim.first; }, errors);
  options.default_dims = ConvertEach<std::pair<std::string, int64_t>>(
      "footprint.toml: dim", flags.default_dims, ParseDim,
      [](const auto& dim) { return dim.first; }, errors);
  options.input_shapes = ConvertEach<InputShape>(
      "--input", flags.inputs, ParseInputShape, [](const auto& input) { return input.name; },
      errors);
  options.input_values = ConvertEach<InputValue>(
      "--input-value", flags.input_values, ParseInputValue,
      [](const auto& input) { return input.name; }, errors);
}

AnalyzeCommand ConvertAnalysis(const Flags& flags, FormatsOf what, UsageErrors& errors) {
  AnalyzeCommand command;
  Options& options = command.options;
  options.model_path = flags.model;
  if (flags.model.empty()) {
    errors.Add("missing-argument", "MODEL",
               "name the model to analyze: a file, or - for standard "
               "input");
  }
  options.mode = Choose("--mode", flags.mode, kModes, errors);
  ConvertInputs(flags, options, errors);
  if (!flags.optimizer.empty()) options.optimizer = flags.optimizer;
  options.precision = Choose("--precision", flags.precision, kPrecisions, errors);
  options.loss = Choose("--loss", flags.loss, kLosses, errors);
  options.freeze = flags.freeze;
  options.attention = Choose("--attention", flags.attention, kAttentionKernels, errors);
  options.modules = Choose("--modules", flags.modules, kModules, errors);
  options.grad_scaler = ConvertGradScaler(flags, options.precision, errors);
  options.runtime = Choose("--runtime", flags.runtime, kRuntimes, errors);
  options.graph_optimization =
      Choose("--graph-optimization", flags.graph_optimization, kGraphOptimizations, errors);
  options.accounting = Choose("--accounting", flags.accounting, kAccountings, errors);
  CheckOptimizer(options.optimizer, options.accounting == Accounting::kTextbook, errors);
  options.checkpoint = flags.checkpoint;
  if (!flags.checkpoint.empty() && !IsCheckpointSpec(flags.checkpoint)) {
    errors.Add("bad-value", "--checkpoint " + flags.checkpoint,
               "expected glob:PATTERN, every:N or sqrt");
  }
  options.accumulate = ConvertAccumulate(flags.accumulate, errors);
  options.drop_step_inputs = Choose("--step-inputs", flags.step_inputs, kStepInputs, errors);
  options.expandable_segments = Choose("--allocator", flags.allocator, kAllocators, errors);
  ConvertDevice(flags, options, errors);
  options.parameter_count = ConvertCount(flags.params, errors);
  if (!flags.params.empty() && options.accounting != Accounting::kTextbook) {
    errors.Add("bad-value", "--params " + flags.params,
               "replaces the parameter count of --accounting textbook, which is not asked for");
  }
  options.idle = IdleOptions(flags, options);
  options.strict = flags.strict;
  options.dump = flags.dump;
  if (!flags.dump.empty()) Choose("--dump", flags.dump, kDumps, errors);
  const bool of_training = flags.dump == "lower" || flags.dump == "replay";
  if (of_training && options.mode == Mode::kInference) {
    errors.Add("bad-value", "--dump " + flags.dump, "is a step of training, which is not analyzed");
  }
  if (options.sweep && what != FormatsOf::kReport) {
    errors.Add("bad-value", "--dim " + options.sweep->name, "expected one value here");
  }
  options.budgets = ConvertBudgets(flags.budgets, errors);
  command.destination = ConvertDestination(flags, what, errors);
  for (const Format format : command.destination.formats) {
    options.timeline |= NeedsTimeline(format);
    if (format == Format::kCsvSweep && !options.sweep) {
      errors.Add("bad-value", "--format csv:sweep",
                 "needs several values of a dimension, as in --dim batch=1..64");
    }
  }
  command.depth = ConvertDepth(flags.depth, errors);
  return command;
}

}  // namespace

void UsageErrors::Add(std::string kind, std::string place, std::string message) {
  if (IsFromFile(place.substr(0, place.find(' ')))) place = file_ + ": " + place;
  failure_.diagnostics.push_back({"error", std::move(kind), std::move(place), std::move(message)});
}

void UsageErrors::ComeFrom(std::string file, std::vector<std::string> options) {
  file_ = std::move(file);
  of_file_ = std::move(options);
}

bool UsageErrors::IsFromFile(const std::string& option) const {
  return std::find(of_file_.begin(), of_file_.end(), option) != of_file_.end();
}

AnalyzeCommand ConvertAnalyze(const Flags& flags, UsageErrors& errors) {
  Flags first = flags;
  if (!flags.models.empty()) first.model = flags.models.front();
  AnalyzeCommand command = ConvertAnalysis(first, FormatsOf::kReport, errors);
  command.models = flags.models;
  const bool is_alone = command.options.mode != Mode::kInference && !AreMany(flags.models);
  if (is_alone || !errors.IsFromFile("--fit")) command.fit = flags.fit;
  return command;
}

BytesCommand ConvertBytes(const Flags& flags, UsageErrors& errors) {
  BytesCommand command;
  if (flags.params.empty()) {
    errors.Add("missing-argument", "--params", "say how many parameters, as in --params 7B");
  }
  command.parameter_count = ConvertCount(flags.params, errors).value_or(0);
  CheckOptimizer(flags.optimizer, /*by_count=*/true, errors);
  command.optimizer = flags.optimizer;
  command.destination = ConvertDestination(flags, FormatsOf::kTable, errors);
  return command;
}

AnalyzeCommand ConvertExplain(const Flags& flags, UsageErrors& errors) {
  AnalyzeCommand command = ConvertAnalysis(flags, FormatsOf::kTable, errors);
  if (flags.tensor.empty()) {
    errors.Add("missing-argument", "TENSOR", "name a tensor of the model");
  }
  command.options.explain = flags.tensor;
  return command;
}

DiffCommand ConvertDiff(const Flags& flags, UsageErrors& errors) {
  Flags side = flags;
  side.model = flags.before;
  AnalyzeCommand analysis = ConvertAnalysis(side, FormatsOf::kDiff, errors);
  DiffCommand command;
  command.options = std::move(analysis.options);
  command.destination = std::move(analysis.destination);
  command.before = flags.before;
  command.after = flags.after;
  if (flags.after.empty()) errors.Add("missing-argument", "NEW", "name what to compare with");
  for (const std::string& text : flags.fail_on) {
    const std::optional<DiffLimit> limit = ParseDiffLimit(text);
    const std::vector<std::string> names = DiffTotalNames();
    if (!limit) {
      errors.Add("bad-value", "--fail-on " + text,
                 "expected FIGURE>LIMIT, as in peak>+2%, peak>+100MB or peak>24GiB");
    } else if (std::find(names.begin(), names.end(), limit->total) == names.end()) {
      errors.Add("bad-value", "--fail-on " + text,
                 "expected one of " + Joined(names) + DidYouMean(limit->total, names));
    } else {
      command.limits.push_back(*limit);
    }
  }
  return command;
}

OpsCommand ConvertOps(const Flags& flags, UsageErrors& errors) {
  OpsCommand command;
  if (flags.torch && !flags.model.empty()) {
    errors.Add("bad-value", "--torch", "is another table than --missing; ask for one of them");
  }
  if (flags.torch) command.table = OpsCommand::Table::kTorch;
  if (!flags.model.empty()) command.table = OpsCommand::Table::kMissing;
  command.model = flags.model;
  command.destination = ConvertDestination(flags, FormatsOf::kTable, errors);
  return command;
}

}  // namespace footprint
