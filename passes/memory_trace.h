// MemoryTrace: every storage of one execution (a training step or an inference run) with the time
// in which it lives. Written by liveness (inference) and replay (training), read by timeline,
// allocator and report. Sizes are symbolic: one trace serves every binding that keeps its guards.
//
// Time is counted in ticks. The replay starts a tick at each allocation, liveness at each node;
// frees happen between two ticks. A storage lives in the half-open interval [first_tick, end_tick).
#ifndef FOOTPRINT_PASSES_MEMORY_TRACE_H_
#define FOOTPRINT_PASSES_MEMORY_TRACE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ir/dim.h"
#include "ir/id.h"
#include "ir/tensor_type.h"

namespace footprint {

enum class Category : uint8_t {
  kParameter,
  kBuffer,              // of the model: running statistics, masks, integer tables
  kConstant,            // stored, neither trained nor a module's buffer
  kInput,               // what the caller hands over each step, the loss's target included
  kSavedActivation,     // computed in forward and kept for backward
  kTransient,           // computed in forward, not kept
  kGradient,            // of parameters: from backward until zero_grad
  kActivationGradient,  // of activations: inside backward
  kOptimizerState,
  kWorkspace,  // inside one operator or one optimizer call
};
constexpr int kCategoryCount = 10;
const char* CategoryName(Category category);  // "parameter", "saved_activation", ...

enum class Certainty : uint8_t { kExact, kBounded, kAssumed, kUnknown };
const char* CertaintyName(Certainty certainty);

enum class Phase : uint8_t { kForward, kBackward, kOptimizer };
constexpr int kPhaseCount = 3;
const char* PhaseName(Phase phase);

struct Step {
  std::string name;  // "aten::conv2d", "ConvolutionBackward0", "Conv"
  Phase phase = Phase::kForward;
  NodeId node;  // of the graph; may be invalid
  ScopeId scope;
  int64_t first_tick = 0;  // its ticks are [first_tick, first_tick of the next step)
};

struct StorageRecord {
  Dim bytes;  // not rounded; unknown if unknown
  Category category = Category::kTransient;
  Certainty certainty = Certainty::kExact;
  std::string name;  // the value it holds, or what it is: "mask of aten::native_dropout"
  std::string
      reason;  // why it is there, who keeps it: "saved by aten::conv2d for the gradient of weight"
  ElementType element = ElementType::kUndefined;
  ScopeId scope;
  ValueId value;  // the first graph value in it; may be invalid
  int64_t first_tick = 0;
  int64_t end_tick = 0;
  // A parameter's gradient that a later micro-batch adds to the one in this storage; in the first
  // it becomes that one.
  StorageId added_to;
  // Has the numbers of that storage, in another layout, type or shape; invalid: of none.
  StorageId copy_of;
};

// A tensor whose numbers the mathematics of a gradient reads, whatever else PyTorch keeps.
struct GradientRead {
  StorageId storage;
  StorageId instead;  // would do as well; invalid: nothing would
  Dim bytes;          // of the tensor, which may be a part of its storage
};

// A decision that was taken at the given bindings and must come out the same for others.
struct Guard {
  enum class Relation : uint8_t { kEqual, kNotEqual, kLess, kLessEqual };
  Dim left;
  Dim right;
  Relation relation = Relation::kEqual;
};

// When an optimizer makes its state.
enum class StateMade : uint8_t {
  kInStep,      // at the beginning of its first step
  kAfterLists,  // in its first step, after what the step allocates itself
  kBefore,      // when it is constructed
};

struct MemoryTrace {
  std::vector<Step> steps;
  IdVector<StorageId, StorageRecord> storages;
  // The storage a graph value lives in; invalid: none (shape arithmetic, absorbed by a fused call).
  IdVector<ValueId, StorageId> storage_of;
  // For values that autograd saved: the steps that saved them ("aten::conv2d"), by storage.
  IdVector<StorageId, std::vector<int32_t>> saved_by;  // indices into steps
  int64_t end_tick = 0;
  // Training only. First tick of each phase; [phase_tick[p], phase_tick[p+1]) with end_tick last.
  int64_t phase_tick[kPhaseCount] = {0, 0, 0};
  // Storages that are alive after forward because autograd saved them: step inputs included;
  // parameters, buffers and state, which are there anyway, excluded.
  std::vector<StorageId> saved;
  // In the order of the tape.
  std::vector<GradientRead> reads;
  std::vector<Guard> guards;
  StateMade state_made = StateMade::kInStep;
  // Optimizer state in unified memory: in no storage, not on the device alone.
  Dim unified_bytes = 0;
};

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_MEMORY_TRACE_H_
