// Lowering by what the ONNX nodes say: shapes that exporters give operators first, single nodes
// second.
#ifndef FOOTPRINT_PASSES_LOWER_ONNX_H_
#define FOOTPRINT_PASSES_LOWER_ONNX_H_

#include "passes/lower.h"
#include "passes/lower_builder.h"
#include "passes/lower_facts.h"

namespace footprint {

// Appends the calls of the whole graph.
void LowerNodes(const LowerFacts& facts, const LowerOptions& options, ProgramBuilder& builder);

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_LOWER_ONNX_H_
