// Replay: TorchProgram -> MemoryTrace. One training step of eager PyTorch acted out on abstract
// tensors: forward with autograd's tape, backward, optimizer. It reports the steady state:
// optimizer state exists from the start, gradients appear one by one in backward and go after the
// optimizer.
#ifndef FOOTPRINT_PASSES_REPLAY_H_
#define FOOTPRINT_PASSES_REPLAY_H_

#include <cstdint>
#include <vector>

#include "ir/dim.h"
#include "ir/eager.h"
#include "ir/torch_program.h"
#include "passes/checkpoint.h"
#include "passes/memory_trace.h"
#include "passes/optimizer.h"

namespace footprint {

struct ReplayOptions {
  // Of floating-point parameters, buffers and inputs; the file's float32 becomes this type.
  ElementType module = ElementType::kFloat;
  // Autocast to this type around forward and loss; kUndefined: none.
  ElementType autocast = ElementType::kUndefined;
  AttentionKernel attention = AttentionKernel::kAuto;
  const Optimizer* optimizer = nullptr;  // null: none
  // The optimizer keeps a float32 copy of each parameter, has its state in float32, and casts the
  // gradients for its step; what frameworks have in common, assumed.
  bool master_weights = false;
  // GradScaler multiplies the loss with its scale and the gradients with the inverse.
  bool scales_loss = false;
  // Inputs and loss are dropped before the optimizer runs (the step was a function of its own).
  bool drop_inputs_before_optimizer = false;
  // In call order, disjoint.
  std::vector<CheckpointSegment> checkpoints;
  // The step is the last of several micro-batches: gradients of the ones before are there.
  bool accumulates = false;
};

struct TrainingReplay {
  MemoryTrace trace;
  // Gradients of values with several readers that were added in place.
  int64_t in_place_additions = 0;
  // Calls whose operands did not fit their operator, or whose result came out in another shape than
  // inference found: their bytes are a guess.
  std::vector<CallId> misfits;
  // Calls that were handed operands of two types and take only one: cast, by assumption.
  std::vector<CallId> recast;
};

// `evaluator` decides what the symbols alone do not; each such decision is one of the trace's
// guards.
TrainingReplay Replay(const TorchProgram& program, DimTable& dims, DimEvaluator& evaluator,
                      const ReplayOptions& options);

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_REPLAY_H_
