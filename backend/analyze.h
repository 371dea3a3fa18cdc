// Analyze: the whole pipeline as one function. Read this to see what footprint does.
//
//   footprint::Options options;
//   options.model_path = "resnet50.onnx";
//   options.dims = {{"batch", 32}};
//   const auto result = footprint::Analyze(options);
//   if (const auto* report = std::get_if<footprint::Report>(&result)) {
//     report->training->peak.live_bytes;  // of a training step; nullopt is unknown
//     report->layers;                     // and the other tables
//   } else {
//     std::get<footprint::Failure>(result).diagnostics;  // why there is no report
//   }
#ifndef FOOTPRINT_BACKEND_ANALYZE_H_
#define FOOTPRINT_BACKEND_ANALYZE_H_

#include <variant>

#include "backend/options.h"
#include "backend/report.h"

namespace footprint {

// Reads the model and analyzes it. Never throws but std::bad_alloc; never loads weights.
// Thread-safe: analyses share nothing.
[[gnu::visibility("default")]] std::variant<Report, Failure> Analyze(const Options& options);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_ANALYZE_H_
