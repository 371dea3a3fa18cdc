// From the caller's options to those of the passes.
#ifndef FOOTPRINT_BACKEND_TRANSLATE_H_
#define FOOTPRINT_BACKEND_TRANSLATE_H_

#include <string>

#include "backend/options.h"
#include "ir/diagnostic.h"
#include "ir/torch_program.h"
#include "passes/lower.h"
#include "passes/replay.h"

namespace footprint {

LowerOptions ToLowerOptions(const Options& options);

// An optimizer that is not in the table is a usage error in `sink`.
ReplayOptions ToReplayOptions(const Options& options, DiagnosticSink& sink);

// With GradScaler?
bool ScalesLoss(const Options& options);

// "from the model", "cross-entropy (assumed)": what backward starts from, and on what evidence.
std::string DescribeLoss(const TorchProgram& program, const Options& options);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_TRANSLATE_H_
