#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>

#include "backend/cli/documents.h"
#include "backend/cli/formats.h"
#include "backend/figures.h"
#include "backend/python/bindings.h"
#include "backend/python/text.h"
#include "backend/report.h"
#include "backend/report_json.h"
#include "backend/terminal.h"

namespace footprint {
namespace {

namespace nb = nanobind;

// What the command prints with --format `name`.
std::string Document(const Report& report, const std::string& name) {
  const auto formats = AllFormats();
  const auto info = std::find_if(formats.begin(), formats.end(),
                                 [&](const FormatInfo& format) { return format.name == name; });
  if (info == formats.end()) throw nb::value_error(("no such format: " + name).c_str());
  if (info->format == Format::kCsvSweep && !report.sweep) {
    throw nb::value_error("no dimension has several values; ask for dim={NAME: range(1, 65)}");
  }
  const nb::gil_scoped_release released;
  return ReportDocument(report, info->format, {Terminal{}, std::nullopt});
}

nb::dict Figures(const Report& report) {
  nb::dict figures;
  for (const NamedFigure& figure : NamedFigures()) {
    figures[figure.name] = nb::cast(KnownFigure(report, figure));
  }
  return figures;
}

nb::object ToPandas(nb::handle report, nb::handle table) {
  return nb::module_::import_("onnx_footprint._tables").attr("to_pandas")(report, table);
}

void BindMethods(nb::class_<Report>& report) {
  report
      .def("document", &Document, nb::arg("format"),
           "What the command prints with --format FORMAT: \"text\", \"json\", \"csv:layers\", "
           "\"markdown\", \"html\", \"netron\", \"perfetto\", \"sarif\", \"junit\" ...")
      .def("to_json", [](const Report& self) { return Document(self, "json"); },
           "The command's JSON document, byte for byte: schema footprint-report/1.")
      .def("to_pandas", &ToPandas, nb::arg("table") = "tensors",
           nb::sig("def to_pandas(self, table: typing.Literal['tensors', 'storages', 'layers', "
                   "'timeline', 'sweep'] = 'tensors') -> pandas.DataFrame"),
           "A table of the report as a pandas.DataFrame, its columns those of --format csv:TABLE. "
           "Bytes are exact integers, <NA> where they are unknown.")
      .def("figures", &Figures, nb::sig("def figures(self) -> dict[str, int | None]"),
           "Bytes by the names that budgets give them: \"peak\", \"parameters\", \"saved\" ...; "
           "None: not known, or not analyzed.")
      .def("__str__", [](const Report& self) { return Document(self, "text"); })
      .def("__repr__", [](const Report& self) {
        return "<Report of " + Printable(self.model_path) + ">";
      });
}

}  // namespace

void BindReport(nb::module_& module) {
  nb::list figures;
  for (const NamedFigure& figure : NamedFigures()) figures.append(figure.name);
  module.attr("FIGURES") = nb::tuple(figures);
  Record<Report> record(module, "Report");
  record.Field("model_path", &Report::model_path)
      .Field("model_name", &Report::model_name)
      .Field("producer", &Report::producer)
      .Dict("opsets", &Report::opsets)
      .Field("node_count", &Report::node_count)
      .Field("bindings", &Report::bindings)
      .Dict("settings", &Report::settings)
      .Field("parameter_count", &Report::parameter_count)
      .Field("parameter_bytes", &Report::parameter_bytes)
      .Field("file_parameter_count", &Report::file_parameter_count)
      .Field("file_parameter_bytes", &Report::file_parameter_bytes)
      .Field("trainable_parameter_count", &Report::trainable_parameter_count)
      .Field("buffer_bytes", &Report::buffer_bytes)
      .Field("constant_bytes", &Report::constant_bytes)
      .Field("stored", &Report::stored)
      .Field("widths", &Report::widths)
      .Field("training", &Report::training)
      .Field("inference", &Report::inference)
      .Field("textbook", &Report::textbook)
      .Field("gradient_needs", &Report::gradient_needs)
      .Field("device", &Report::device)
      .Field("sweep", &Report::sweep)
      .Field("fit", &Report::fit)
      .Field("gates", &Report::gates)
      .Field("timelines", &Report::timelines)
      .Field("tensors", &Report::tensors)
      .Field("storages", &Report::storages)
      .Field("layers", &Report::layers)
      .Field("rounding_bytes", &Report::rounding_bytes)
      .Field("operators", &Report::operators)
      .Field("diagnostics", &Report::diagnostics)
      .Field("unknown", &Report::unknown);
  BindMethods(record.Done(/*shows_members=*/false));
  Record<Failure>(module, "Failure")
      .Field("exit_code", &Failure::exit_code)
      .Field("diagnostics", &Failure::diagnostics)
      .Done()
      .def("to_json", [](const Failure& self, const std::string& model) {
        return FailureJson(self, model);
      });
}

}  // namespace footprint
