#include "backend/cli/formats.h"

#include <algorithm>
#include <array>

namespace footprint {
namespace {

constexpr std::array<FormatInfo, 14> kFormats = {{
    {Format::kText, "text", ".txt", FormatsOf::kTable},
    {Format::kJson, "json", ".json", FormatsOf::kTable},
    {Format::kCsv, "csv", ".csv"},
    {Format::kCsvTensors, "csv:tensors", ".tensors.csv"},
    {Format::kCsvStorages, "csv:storages", ".storages.csv"},
    {Format::kCsvLayers, "csv:layers", ".layers.csv"},
    {Format::kCsvTimeline, "csv:timeline", ".timeline.csv"},
    {Format::kCsvSweep, "csv:sweep", ".sweep.csv"},
    {Format::kMarkdown, "markdown", ".md", FormatsOf::kDiff},
    {Format::kHtml, "html", ".html"},
    {Format::kNetron, "netron", ".netron.json"},
    {Format::kTrace, "perfetto", ".trace.json"},
    {Format::kSarif, "sarif", ".sarif"},
    {Format::kJunit, "junit", ".junit.xml"},
}};

}  // namespace

std::span<const FormatInfo> AllFormats() { return kFormats; }

const FormatInfo& InfoOf(Format format) {
  return *std::find_if(kFormats.begin(), kFormats.end(),
                       [&](const FormatInfo& info) { return info.format == format; });
}

bool NeedsTimeline(Format format) {
  return format == Format::kCsv || format == Format::kCsvTimeline ||
         format == Format::kTrace || format == Format::kHtml;
}

}  // namespace footprint
