// The report for a person at a terminal: the answer first, then the layers it is made of, then who
// is alive at the peak and why, then what is doubtful.
#ifndef FOOTPRINT_BACKEND_REPORT_TEXT_H_
#define FOOTPRINT_BACKEND_REPORT_TEXT_H_

#include <optional>
#include <string>
#include <string_view>

#include "backend/report.h"
#include "backend/terminal.h"

namespace footprint {

struct TextOptions {
  Terminal terminal;
  // Layers deeper than this are folded into the layer above. Nullopt: as deep as stays readable.
  std::optional<int> depth;
};

std::string ReportText(const Report& report, const TextOptions& options);

// One line per diagnostic: "footprint: model.onnx: error: MatMul -> h: inner dimensions differ".
std::string FailureText(const Failure& failure, std::string_view model);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_REPORT_TEXT_H_
