// onnx_footprint._core: Options, Analyze and Report for Python. Options arrive in the words of the
// command line and take its way, so that both understand, refuse and report the same.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "backend/cli/command_line.h"
#include "backend/cli/perform.h"
#include "backend/python/bindings.h"
#include "backend/python/text.h"
#include "backend/report.h"

namespace footprint {
namespace {

namespace nb = nanobind;

// Ends the analysis where Ctrl-C, or another signal that Python makes an exception of, came. Python
// is asked twenty times a second at most: other threads may hold the interpreter.
class Interruption {
 public:
  void operator()() {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + std::chrono::milliseconds(50);
    const nb::gil_scoped_acquire acquired;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }

 private:
  std::chrono::steady_clock::time_point next_;
};

std::variant<Report, Failure> AnalyzeArguments(const std::vector<std::string>& arguments,
                                               std::optional<std::string_view> contents) {
  std::variant<Command, Failure> parsed = ParseCommandLine(arguments);
  if (Failure* failure = std::get_if<Failure>(&parsed)) return std::move(*failure);
  AnalyzeCommand& command = std::get<AnalyzeCommand>(std::get<Command>(parsed));
  command.options.model_bytes = contents;
  command.options.timeline = true;  // the report may be asked for any table
  command.options.poll = Interruption();
  return Perform(command);
}

// `contents`: the model itself, instead of the file that the arguments name. `unstored`: a name for
// external data that are in no file, as the caller knows; nothing is said of them.
std::variant<Report, Failure> AnalyzeModel(const std::vector<std::string>& arguments,
                                           const std::optional<nb::bytes>& contents,
                                           const std::string& unstored) {
  std::optional<std::string_view> bytes;
  if (contents) bytes = std::string_view(contents->c_str(), contents->size());
  const nb::gil_scoped_release released;
  try {
    std::variant<Report, Failure> result = AnalyzeArguments(arguments, bytes);
    if (Report* report = std::get_if<Report>(&result); report != nullptr && !unstored.empty()) {
      std::erase_if(report->diagnostics, [&](const ReportDiagnostic& found) {
        return found.kind == "external-data-missing" && found.place == "external data " + unstored;
      });
    }
    return result;
  } catch (const std::bad_alloc&) {
    throw;  // MemoryError
  } catch (const nb::python_error&) {
    throw;  // KeyboardInterrupt
  } catch (const std::exception& error) {
    return Failure{2, {{"error", "internal", "", error.what()}}};
  }
}

// What is wrong with the arguments, whatever the model.
std::optional<Failure> CheckArguments(const std::vector<std::string>& arguments) {
  std::variant<Command, Failure> parsed = ParseCommandLine(arguments);
  if (Failure* failure = std::get_if<Failure>(&parsed)) return std::move(*failure);
  return std::nullopt;
}

}  // namespace
}  // namespace footprint

NB_MODULE(_core, module) {
  namespace nb = nanobind;
  // A report that still lives when the interpreter ends is no leak.
  nb::set_leak_warnings(false);
  footprint::BindTables(module);
  footprint::BindFigures(module);
  footprint::BindReport(module);
  module.def("analyze", &footprint::AnalyzeModel, nb::arg("arguments"),
             nb::arg("contents") = nb::none(), nb::arg("unstored") = "");
  module.def("check", &footprint::CheckArguments, nb::arg("arguments"));
}
