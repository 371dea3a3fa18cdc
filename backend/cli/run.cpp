#include "backend/cli/run.h"

#include <unistd.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <optional>
#include <system_error>
#include <utility>
#include <variant>

#include "backend/analyze.h"
#include "backend/bytes.h"
#include "backend/cli/command_line.h"
#include "backend/cli/ops_table.h"
#include "backend/cli/output.h"
#include "backend/explain.h"
#include "backend/report_json.h"
#include "backend/report_text.h"
#include "backend/terminal.h"

namespace footprint {
namespace {

constexpr int kModelIsWrong = 2;
constexpr int kCommandIsWrong = 3;

// Writes the document of one format, for a terminal of the given shape.
using Document = std::function<std::string(Format, const Terminal&)>;

Failure OneError(int exit_code, std::string kind, std::string place, std::string message) {
  return {exit_code, {{"error", std::move(kind), std::move(place), std::move(message)}}};
}

std::string FileName(const std::string& stem, Format format) {
  return stem + (format == Format::kJson ? ".json" : ".txt");
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
    const std::string path = folder ? (output / FileName(stem, format)).string() : output.string();
    files.push_back({path, document(format, Terminal{})});
  }
  if (std::optional<WriteFailure> failure = WriteFiles(files)) {
    return OneError(kCommandIsWrong, "file-access", failure->place, failure->message);
  }
  return std::nullopt;
}

std::optional<Failure> Deliver(const Destination& destination, const std::string& stem,
                               const Document& document) {
  if (!destination.output.empty()) return WriteToFiles(destination, stem, document);
  const std::string text = document(destination.formats.front(), DescribeTerminal(STDOUT_FILENO));
  if (std::optional<WriteFailure> failure = WriteStandardOutput(text)) {
    return OneError(kCommandIsWrong, "file-access", failure->place, failure->message);
  }
  return std::nullopt;
}

// "models/resnet50.onnx" -> "resnet50"
std::string StemOf(const std::string& model_path) {
  if (model_path == "-") return "stdin";
  return std::filesystem::path(model_path).stem().string();
}

std::optional<Failure> Execute(const AnalyzeCommand& command) {
  std::error_code error;
  const std::string& output = command.destination.output;
  if (!output.empty() &&
      std::filesystem::equivalent(output, command.options.model_path, error)) {
    return OneError(kCommandIsWrong, "file-access", "--output " + output,
                    "is the model itself, which would be overwritten");
  }
  std::variant<Report, Failure> result = Analyze(command.options);
  if (Failure* failure = std::get_if<Failure>(&result)) return std::move(*failure);
  const Report& report = std::get<Report>(result);
  return Deliver(command.destination, StemOf(command.options.model_path),
                 [&](Format format, const Terminal& terminal) {
                   const bool json = format == Format::kJson;
                   if (report.explanation) {
                     return json ? ExplainJson(*report.explanation)
                                 : ExplainText(*report.explanation, terminal);
                   }
                   if (json) return ReportJson(report);
                   if (!command.options.dump.empty()) return report.dump;
                   return ReportText(report, {terminal, command.depth});
                 });
}

std::optional<Failure> Execute(const BytesCommand& command) {
  const std::optional<BytesReport> report =
      ComputeBytes(command.parameter_count, command.optimizer);
  if (!report) {
    return OneError(kCommandIsWrong, "bad-value", "--params", "the bytes do not fit 64 bits");
  }
  return Deliver(command.destination, "bytes", [&](Format format, const Terminal& terminal) {
    return format == Format::kJson ? BytesJson(*report) : BytesText(*report, terminal);
  });
}

std::optional<Failure> Execute(const OpsCommand& command) {
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

std::optional<Failure> Execute(const PrintCommand& command) {
  return Deliver({}, "", [&](Format, const Terminal&) { return command.text; });
}

std::string ModelOf(const Command& command) {
  if (const auto* ops = std::get_if<OpsCommand>(&command)) return ops->model;
  const AnalyzeCommand* analyze = std::get_if<AnalyzeCommand>(&command);
  return analyze == nullptr ? "" : analyze->options.model_path;
}

int Fail(const Failure& failure, const std::string& model, bool json) {
  const std::string text = FailureText(failure, model == "-" ? "standard input" : model);
  std::fputs(text.c_str(), stderr);
  // A second document behind a part of the first would help no one.
  const bool lost = failure.diagnostics.front().place == kStandardOutput;
  if (json && !lost) (void)WriteStandardOutput(FailureJson(failure, model));
  return failure.exit_code;
}

}  // namespace

int Run(const std::vector<std::string>& arguments) {
  const bool json = AsksForJson(arguments);
  std::string model;
  try {
    const std::variant<Command, Failure> parsed = ParseCommandLine(arguments);
    if (const Failure* failure = std::get_if<Failure>(&parsed)) return Fail(*failure, "", json);
    const Command& command = std::get<Command>(parsed);
    model = ModelOf(command);
    const std::optional<Failure> failure =
        std::visit([](const auto& chosen) { return Execute(chosen); }, command);
    return failure ? Fail(*failure, model, json) : 0;
  } catch (const std::exception& error) {  // out of memory, above all
    return Fail(OneError(kModelIsWrong, "internal", "", error.what()), model, json);
  }
}

}  // namespace footprint
