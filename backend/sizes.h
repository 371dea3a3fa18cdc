// Sizes that do not fit 64 bits are no figures.
#ifndef FOOTPRINT_BACKEND_SIZES_H_
#define FOOTPRINT_BACKEND_SIZES_H_

#include "backend/analysis.h"
#include "ir/diagnostic.h"

namespace footprint {

// Those of the storages of `trace`, and their sum, are errors in `sink`: the bindings are at fault,
// if there are any. Sizes that are unknown, or that data decides, are not.
void CheckSizes(const Analysis& analysis, const MemoryTrace& trace, const Timeline& timeline,
                DiagnosticSink& sink);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_SIZES_H_
