// The sections of the text report, in the order they are printed. An empty section is "". Every
// section ends its last line; ReportText puts a blank line between two.
#ifndef FOOTPRINT_BACKEND_REPORT_TEXT_PARTS_H_
#define FOOTPRINT_BACKEND_REPORT_TEXT_PARTS_H_

#include <string>
#include <string_view>
#include <vector>

#include "backend/figures.h"
#include "backend/report.h"
#include "backend/report_text.h"
#include "backend/terminal.h"

namespace footprint {

std::string HeadText(const Report& report, const Terminal& terminal);
std::string ParametersText(const Report& report, const Terminal& terminal);
std::string TrainingText(const Report& report, const Terminal& terminal);
std::string DeviceText(const Report& report, const Terminal& terminal);
std::string FitText(const Report& report, const Terminal& terminal);
std::string SweepText(const Report& report, const Terminal& terminal);
std::string GatesText(const Report& report, const Terminal& terminal);
std::string InferenceText(const Report& report, const Terminal& terminal);
std::string KvCacheText(const Report& report, const Terminal& terminal);
// The last of the runtimes, if it is ONNX Runtime.
std::string RuntimeText(const Report& report, int rows, const Terminal& terminal);
std::string TextbookText(const Report& report, const Terminal& terminal);
std::string GradientNeedsText(const Report& report, int rows, const Terminal& terminal);
std::string LayersText(const Report& report, const TextOptions& options);
std::string PeakText(const std::string& title, const Peak& peak, int rows,
                     const Terminal& terminal);
std::string NotesText(const Report& report, const Terminal& terminal);

// Sections that other formats for people show word for word: those that options asked for.
std::vector<std::string> AskedForTexts(const Report& report);

// "  label          2.54 GiB    2,730,177,028", a sign such as "<=" before the figure.
std::string FigureLine(std::string_view label, const Bytes& bytes, std::string_view sign = "");

// "saved_activation" -> "saved activation"
std::string CategoryWords(std::string_view category);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_REPORT_TEXT_PARTS_H_
