// Activation checkpointing: which runs of calls keep their inputs only and are computed again when
// backward reaches them (torch.utils.checkpoint, use_reentrant=False).
#ifndef FOOTPRINT_PASSES_CHECKPOINT_H_
#define FOOTPRINT_PASSES_CHECKPOINT_H_

#include <string>
#include <vector>

#include "ir/diagnostic.h"
#include "ir/graph.h"
#include "ir/torch_program.h"

namespace footprint {

// One checkpointed run of calls, [begin, end).
struct CheckpointSegment {
  CallId begin;
  CallId end;
  std::string name;  // of its layers: "layer1.0", "layer1.0 to layer1.3"
};

// Whether `spec` has one of the forms below.
bool IsCheckpointSpec(const std::string& spec);

// `spec` is one of
//   glob:PATTERN  each layer whose path matches; of nested ones the outermost. Paths are tried as
//                 the report prints them and as PyTorch names modules ("layer1.0"), with and
//                 without a leading wrapper.
//   every:N       N blocks each; blocks are the outermost layers that a list numbers
//   sqrt          likewise, with as many blocks each as gives the square root of segments
// Segments in call order, disjoint. A spec of another form is a usage error in `sink`, one that
// matches nothing a warning.
std::vector<CheckpointSegment> FindCheckpoints(const std::string& spec, const Graph& graph,
                                               const TorchProgram& program, DiagnosticSink& sink);

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_CHECKPOINT_H_
