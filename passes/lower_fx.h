// Lowering by the exporter's own texts (dynamo files).
#ifndef FOOTPRINT_PASSES_LOWER_FX_H_
#define FOOTPRINT_PASSES_LOWER_FX_H_

#include <functional>
#include <string>

#include "ir/diagnostic.h"
#include "ir/provenance.h"
#include "passes/lower_builder.h"
#include "passes/lower_facts.h"

namespace footprint {

// Appends the calls of the whole graph. `is_frozen` answers for parameters by their own names.
// `sink` lists the classes of modules whose names were relied on.
void LowerTexts(const LowerFacts& facts, const Provenance& provenance,
                const std::function<bool(const std::string&)>& is_frozen, ProgramBuilder& builder,
                DiagnosticSink& sink);

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_LOWER_FX_H_
