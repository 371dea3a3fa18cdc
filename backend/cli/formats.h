// The formats that documents are written in.
#ifndef FOOTPRINT_BACKEND_CLI_FORMATS_H_
#define FOOTPRINT_BACKEND_CLI_FORMATS_H_

#include <span>
#include <string>

namespace footprint {

enum class Format {
  kText,
  kJson,
  kCsv,  // on standard output and in a FILE.csv the tensors, in a folder the four tables
  kCsvTensors,
  kCsvStorages,
  kCsvLayers,
  kCsvTimeline,
  kCsvSweep,
  kMarkdown,
  kHtml,
  kNetron,
  kTrace,
  kSarif,
  kJunit,
};

// What a document speaks of; each has the formats of those before it too.
enum class FormatsOf { kReport, kDiff, kTable };

struct FormatInfo {
  Format format;
  const char* name;
  const char* suffix;  // of a file in a folder
  FormatsOf of = FormatsOf::kReport;  // the last that has it
};

std::span<const FormatInfo> AllFormats();
const FormatInfo& InfoOf(Format format);

// Whether a document of this format needs Options::timeline.
bool NeedsTimeline(Format format);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_CLI_FORMATS_H_
