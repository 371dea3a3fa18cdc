#include "backend/cli/run.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <new>
#include <optional>
#include <set>
#include <system_error>
#include <utility>
#include <variant>

#include "backend/analyze.h"
#include "backend/bytes.h"
#include "backend/cli/command_line.h"
#include "backend/cli/documents.h"
#include "backend/cli/many.h"
#include "backend/cli/ops_table.h"
#include "backend/cli/output.h"
#include "backend/cli/perform.h"
#include "backend/diff_writers.h"
#include "backend/explain.h"
#include "backend/report_gates.h"
#include "backend/report_json.h"
#include "backend/terminal.h"

namespace footprint {
namespace {

constexpr int kGateIsBroken = 1;
constexpr int kModelIsWrong = 2;
constexpr int kCommandIsWrong = 3;

// What a command ends with: an exit code, or a failure that is still to be told.
using Outcome = std::variant<int, Failure>;

// Writes the document of one format, for a terminal of the given shape.
using Document = std::function<std::string(Format, const Terminal&)>;

Failure OneError(int exit_code, std::string kind, std::string place, std::string message) {
  return {exit_code, {{"error", std::move(kind), std::move(place), std::move(message)}}};
}

// One file per format in the folder `output`, or the file `output` itself.
std::optional<Failure> WriteToFiles(const Destination& destination, const std::string& stem,
                                    const Document& document) {
  const std::filesystem::path output = destination.output;
  std::error_code error;
  const bool folder = destination.formats.size() > 1 || !output.has_filename() ||
                      std::filesystem::is_directory(output, error);
  if (folder) std::filesystem::create_directories(output, error);
  if (folder && !std::filesystem::is_directory(output, error)) {
    return OneError(kCommandIsWrong, "file-access", "--output " + destination.output,
                    "cannot create this folder");
  }
  std::vector<OutputFile> files;
  for (const Format format : destination.formats) {
    const std::filesystem::path path = folder ? output / (stem + InfoOf(format).suffix) : output;
    files.push_back({path.string(), document(format, Terminal{})});
  }
  if (std::optional<WriteFailure> failure = WriteFiles(files)) {
    return OneError(kCommandIsWrong, "file-access", failure->place, failure->message);
  }
  return std::nullopt;
}

// What would be overwritten: one of the files that the command reads.
std::optional<Failure> RefuseToOverwrite(const std::string& output,
                                         const std::vector<std::string>& read) {
  for (const std::string& path : read) {
    std::error_code error;
    if (output.empty() || !std::filesystem::equivalent(output, path, error)) continue;
    return OneError(kCommandIsWrong, "file-access", "--output " + output,
                    "is the model itself, which would be overwritten");
  }
  return std::nullopt;
}

Outcome Deliver(const Destination& destination, const std::string& stem,
                const Document& document) {
  if (!destination.output.empty()) {
    std::optional<Failure> failure = WriteToFiles(destination, stem, document);
    return failure ? Outcome(std::move(*failure)) : Outcome(0);
  }
  Terminal terminal = DescribeTerminal(STDOUT_FILENO);
  terminal.styled = destination.styled.value_or(terminal.styled);
  const std::string text = document(destination.formats.front(), terminal);
  if (std::optional<WriteFailure> failure = WriteStandardOutput(text)) {
    return OneError(kCommandIsWrong, "file-access", failure->place, failure->message);
  }
  return 0;
}

// "models/resnet50.onnx" -> "resnet50"
std::string StemOf(const std::string& model_path) {
  if (model_path == "-") return "stdin";
  return std::filesystem::path(model_path).stem().string();
}

void TellBroken(const std::vector<std::string>& messages, const std::string& model) {
  for (const std::string& message : messages) {
    const std::string line =
        "footprint: " + Printable(model) + ": budget broken: " + Printable(message) + "\n";
    std::fputs(line.c_str(), stderr);
  }
}

// Tells each broken budget; kGateIsBroken if there is one.
int JudgeGates(const std::vector<GateReport>& gates, const std::string& model, bool quiet) {
  int exit_code = 0;
  for (const GateReport& gate : gates) {
    if (!gate.passed) exit_code = kGateIsBroken;
    if (!quiet) TellBroken(GateMessages(gate), model);
  }
  return exit_code;
}

// Where the reports of a model go, without the suffix of a format: the model's own path, below
// `folder`.
std::filesystem::path PlaceOf(const std::string& model, const std::filesystem::path& folder) {
  std::filesystem::path place = folder;
  for (const std::filesystem::path& part :
       std::filesystem::path(model).lexically_normal().relative_path()) {
    if (part != "..") place /= part;
  }
  return place;
}

// What tells of a failure in the words of a format; empty if the format has none.
std::string FailureDocument(const Failure& failure, const std::string& model, Format format) {
  if (format == Format::kJson) return FailureJson(failure, model);
  if (format == Format::kJunit) return FailureJunit(failure, model);
  if (format == Format::kSarif) return FailureSarif(failure, model, FOOTPRINT_VERSION);
  return "";
}

// Reports of one model, or what tells of its failure.
std::optional<Failure> WriteReports(const std::string& model,
                                    const std::variant<Report, Failure>& result,
                                    const AnalyzeCommand& command) {
  const std::filesystem::path place = PlaceOf(model, command.destination.output);
  std::error_code error;
  std::filesystem::create_directories(place.parent_path(), error);
  const auto* report = std::get_if<Report>(&result);
  std::vector<OutputFile> files;
  for (const Format format : command.destination.formats) {
    std::string document =
        report != nullptr ? ReportDocument(*report, format, {Terminal{}, command.depth})
                          : FailureDocument(std::get<Failure>(result), model, format);
    if (document.empty()) continue;
    files.push_back({place.string() + InfoOf(format).suffix, std::move(document)});
  }
  const std::optional<WriteFailure> failure = WriteFiles(files);
  if (!failure) return std::nullopt;
  return OneError(kCommandIsWrong, "file-access", failure->place, failure->message);
}

std::string SummaryDocument(const std::vector<ModelSummary>& summaries, Format format,
                            const Terminal& terminal) {
  switch (format) {
    case Format::kJson:
      return SummaryJson(summaries);
    case Format::kCsv:
      return SummaryCsv(summaries);
    case Format::kMarkdown:
      return SummaryMarkdown(summaries);
    default:
      return SummaryText(summaries, terminal);
  }
}

// Reports go to the folder of --output; the table of all goes to standard output.
Outcome ExecuteMany(const AnalyzeCommand& command) {
  const Destination& given = command.destination;
  const Format format = given.formats.front();
  const bool is_summary = format == Format::kText || format == Format::kJson ||
                          format == Format::kCsv || format == Format::kMarkdown;
  if (given.output.empty() && !is_summary) {
    return OneError(kCommandIsWrong, "bad-value", "--format",
                    "reports of several models need --output DIR");
  }
  if (!command.fit.empty()) {
    return OneError(kCommandIsWrong, "bad-value", "--fit " + command.fit, "is for one model");
  }
  std::vector<std::string> missing;
  const std::vector<std::string> models = FindModels(command.models, missing);
  if (!missing.empty()) {
    const bool opens = access(missing.front().c_str(), R_OK | X_OK) == 0 || errno != EACCES;
    return OneError(kCommandIsWrong, "file-access", missing.front(),
                    opens ? "holds no model" : "cannot be opened: Permission denied");
  }
  std::set<std::filesystem::path> places;
  for (const std::string& model : models) {
    if (given.output.empty() || places.insert(PlaceOf(model, given.output)).second) continue;
    return OneError(kCommandIsWrong, "bad-value", "--output " + given.output,
                    "two models would write one file there, of which one is " + model);
  }
  ManyRun run;
  run.options = command.options;
  run.progress = !given.quiet && isatty(STDERR_FILENO) != 0;
  run.write = [&](const std::string& model, const std::variant<Report, Failure>& result) {
    return given.output.empty() ? std::nullopt : WriteReports(model, result, command);
  };
  const std::vector<ModelSummary> summaries = AnalyzeMany(models, run);
  for (const ModelSummary& summary : summaries) {
    if (!given.quiet) TellBroken(summary.messages, summary.model);
    if (summary.error.empty()) continue;
    const std::string line = "footprint: " + Printable(summary.model) +
                             ": error: " + Printable(summary.error) + "\n";
    std::fputs(line.c_str(), stderr);
  }
  Destination table = given;
  table.output.clear();
  if (!given.output.empty()) table.formats = {Format::kText};
  Outcome delivered = Deliver(table, "", [&](Format asked, const Terminal& terminal) {
    return SummaryDocument(summaries, asked, terminal);
  });
  if (std::holds_alternative<Failure>(delivered)) return delivered;
  return ExitCodeOf(summaries);
}

Outcome Execute(const AnalyzeCommand& command) {
  if (AreMany(command.models)) return ExecuteMany(command);
  if (auto refused =
          RefuseToOverwrite(command.destination.output, {command.options.model_path})) {
    return std::move(*refused);
  }
  // Never freed: the process ends when it is delivered.
  static std::variant<Report, Failure>& result =
      *new std::variant<Report, Failure>(Perform(command));
  if (Failure* failure = std::get_if<Failure>(&result)) return std::move(*failure);
  const Report& report = std::get<Report>(result);
  const Document document = [&](Format format, const Terminal& terminal) {
    if (!report.explanation) return ReportDocument(report, format, {terminal, command.depth});
    return format == Format::kJson ? ExplainJson(*report.explanation)
                                   : ExplainText(*report.explanation, terminal);
  };
  Outcome delivered =
      Deliver(command.destination, StemOf(command.options.model_path), document);
  if (std::holds_alternative<Failure>(delivered)) return delivered;
  return JudgeGates(report.gates, report.model_path, command.destination.quiet);
}

std::variant<DiffSide, Failure> AnalyzeSide(const std::string& path, Options options) {
  if (path.ends_with(".json")) {
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (!file) return OneError(kCommandIsWrong, "file-access", path, "cannot be read");
    return SideOfJson(path, text);
  }
  options.model_path = path;
  std::variant<Report, Failure> result = Analyze(options);
  if (Failure* failure = std::get_if<Failure>(&result)) {
    for (ReportDiagnostic& diagnostic : failure->diagnostics) {
      if (diagnostic.place.find(path) == std::string::npos) {
        diagnostic.place = path + (diagnostic.place.empty() ? "" : ": ") + diagnostic.place;
      }
    }
    return std::move(*failure);
  }
  return SideOf(std::get<Report>(result));
}

Outcome Execute(const DiffCommand& command) {
  if (auto refused =
          RefuseToOverwrite(command.destination.output, {command.before, command.after})) {
    return std::move(*refused);
  }
  std::variant<DiffSide, Failure> before = AnalyzeSide(command.before, command.options);
  if (Failure* failure = std::get_if<Failure>(&before)) return std::move(*failure);
  std::variant<DiffSide, Failure> after = AnalyzeSide(command.after, command.options);
  if (Failure* failure = std::get_if<Failure>(&after)) return std::move(*failure);
  std::variant<Diff, Failure> result =
      Compare(std::get<DiffSide>(before), std::get<DiffSide>(after), command.limits);
  if (Failure* failure = std::get_if<Failure>(&result)) return std::move(*failure);
  const Diff& diff = std::get<Diff>(result);
  Outcome delivered =
      Deliver(command.destination, "diff", [&](Format format, const Terminal& terminal) {
        if (format == Format::kJson) return DiffJson(diff);
        return format == Format::kMarkdown ? DiffMarkdown(diff) : DiffText(diff, terminal);
      });
  if (std::holds_alternative<Failure>(delivered)) return delivered;
  return JudgeGates(diff.gates, command.after, command.destination.quiet);
}

Outcome Execute(const BytesCommand& command) {
  const std::optional<BytesReport> report =
      ComputeBytes(command.parameter_count, command.optimizer);
  if (!report) {
    return OneError(kCommandIsWrong, "bad-value", "--params", "the bytes do not fit 64 bits");
  }
  return Deliver(command.destination, "bytes", [&](Format format, const Terminal& terminal) {
    return format == Format::kJson ? BytesJson(*report) : BytesText(*report, terminal);
  });
}

Outcome Execute(const OpsCommand& command) {
  if (auto refused = RefuseToOverwrite(command.destination.output, {command.model})) {
    return std::move(*refused);
  }
  std::vector<MissingOp> missing;
  if (command.table == OpsCommand::Table::kMissing) {
    std::variant<std::vector<MissingOp>, Failure> found = FindMissingOps(command.model);
    if (Failure* failure = std::get_if<Failure>(&found)) return std::move(*failure);
    missing = std::get<std::vector<MissingOp>>(std::move(found));
  }
  return Deliver(command.destination, "ops", [&](Format format, const Terminal& terminal) {
    const bool json = format == Format::kJson;
    switch (command.table) {
      case OpsCommand::Table::kTorch:
        return json ? TorchOpsJson() : TorchOpsText(terminal);
      case OpsCommand::Table::kMissing:
        return json ? MissingOpsJson(missing) : MissingOpsText(missing, terminal);
      case OpsCommand::Table::kOnnx:
        break;
    }
    return json ? OnnxOpsJson() : OnnxOpsText(terminal);
  });
}

Outcome Execute(const PrintCommand& command) {
  return Deliver({}, "", [&](Format, const Terminal&) { return command.text; });
}

std::string ModelOf(const Command& command) {
  if (const auto* ops = std::get_if<OpsCommand>(&command)) return ops->model;
  const AnalyzeCommand* analyze = std::get_if<AnalyzeCommand>(&command);
  return analyze == nullptr ? "" : analyze->options.model_path;
}

int Fail(const Failure& failure, const std::string& model, Format format) {
  const std::string text = FailureText(failure, model == "-" ? "standard input" : model);
  std::fputs(text.c_str(), stderr);
  // A second document behind a part of the first would help no one.
  if (failure.diagnostics.front().place == kStandardOutput) return failure.exit_code;
  const std::string document = FailureDocument(failure, model, format);
  if (!document.empty()) (void)WriteStandardOutput(document);
  return failure.exit_code;
}

}  // namespace

int Run(const std::vector<std::string>& arguments) {
  const Format format = FormatOfFailure(arguments);
  std::string model;
  try {
    const std::variant<Command, Failure> parsed = ParseCommandLine(arguments);
    if (const Failure* failure = std::get_if<Failure>(&parsed)) return Fail(*failure, "", format);
    const Command& command = std::get<Command>(parsed);
    model = ModelOf(command);
    const Outcome outcome =
        std::visit([](const auto& chosen) -> Outcome { return Execute(chosen); }, command);
    if (const Failure* failure = std::get_if<Failure>(&outcome)) {
      return Fail(*failure, model, format);
    }
    return std::get<int>(outcome);
  } catch (const std::bad_alloc&) {
    return Fail(OneError(kCommandIsWrong, "out-of-memory", "", "not enough memory"), model, format);
  } catch (const std::exception& error) {
    return Fail(OneError(kModelIsWrong, "internal", "", error.what()), model, format);
  }
}

}  // namespace footprint
