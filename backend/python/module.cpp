// onnx_footprint._core: Options, Analyze and Report for Python. Options arrive in the words of the
// command line and take its way, so that both understand, refuse and report the same.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

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

std::variant<Report, Failure> AnalyzeArguments(const std::vector<std::string>& arguments,
                                               std::optional<std::string_view> contents) {
  std::variant<Command, Failure> parsed = ParseCommandLine(arguments);
  if (Failure* failure = std::get_if<Failure>(&parsed)) return std::move(*failure);
  AnalyzeCommand& command = std::get<AnalyzeCommand>(std::get<Command>(parsed));
  command.options.model_bytes = contents;
  command.options.timeline = true;  // the report may be asked for any table
  return Perform(command);
}

// `contents`: the model itself, instead of the file that the arguments name.
std::variant<Report, Failure> AnalyzeModel(const std::vector<std::string>& arguments,
                                           const std::optional<nb::bytes>& contents) {
  std::optional<std::string_view> bytes;
  if (contents) bytes = std::string_view(contents->c_str(), contents->size());
  const nb::gil_scoped_release released;
  try {
    return AnalyzeArguments(arguments, bytes);
  } catch (const std::bad_alloc&) {
    throw;  // MemoryError
  } catch (const std::exception& error) {
    return Failure{2, {{"error", "internal", "", error.what()}}};
  }
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
             nb::arg("contents") = nb::none());
}
