// Lower: Graph + inferred types + roles + provenance -> TorchProgram, the eager PyTorch calls that
// one training step makes, in call order, each with the evidence it rests on.
#ifndef FOOTPRINT_PASSES_LOWER_H_
#define FOOTPRINT_PASSES_LOWER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ir/diagnostic.h"
#include "ir/graph.h"
#include "ir/provenance.h"
#include "ir/torch_program.h"
#include "passes/infer_shapes.h"
#include "passes/roles.h"

namespace footprint {

enum class LossKind : uint8_t {
  kAuto,          // the graph's own scalar loss; else cross entropy (a sum below rank 2), assumed
  kNone,          // backward starts from a gradient of the output's size: a sum of the first output
  kCrossEntropy,  // against an int64 target, one more step input
  kMse,           // against a target like the output, one more step input
  kSum,
};

struct LowerOptions {
  LossKind loss = LossKind::kAuto;
  // Put modules back that exporters fold or spell out (a norm folded into its convolution, GELU in
  // pieces ...). False: one call per node as the file has it.
  bool recompose_modules = true;
  // Softmax attention that the module computes by hand becomes one scaled_dot_product_attention, as
  // if the module had been written that way. Attention the file names is always one call.
  bool fuse_attention = false;
};

// The program of a graph without any floating-point output has no loss (TorchProgram::loss
// invalid); `sink` says so. Never fails: what has no counterpart is lowered generically and listed.
TorchProgram Lower(const Graph& graph, const InferredTypes& types, const Roles& roles,
                   const Provenance& provenance, const LowerOptions& options, DiagnosticSink& sink);

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_LOWER_H_
