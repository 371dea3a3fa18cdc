// Turns what a replay remembers into a MemoryTrace: names and reasons in the user's words.
#ifndef FOOTPRINT_PASSES_REPLAY_TRACE_H_
#define FOOTPRINT_PASSES_REPLAY_TRACE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ir/torch_program.h"
#include "passes/memory_trace.h"
#include "passes/optimizer.h"
#include "passes/replay_machine.h"

namespace footprint {

// One tensor that the tape kept after forward.
struct TapeSave {
  StorageId storage;
  int32_t step = -1;        // the call that saved it
  absl::string_view node;   // "AddmmBackward0"
  uint32_t needed_by = 0;   // as in SavedTensor
  bool read = true;         // the mathematics of some gradient reads its numbers
  StorageId instead;        // as in SavedTensor
  Dim bytes;                // of the tensor, which may be a part of its storage
  // Kept by a checkpoint, to compute these layers again; empty: saved by a node.
  absl::string_view checkpoint;
};

struct ReplayNotes {
  ReplayNotes(const TorchProgram& program, const Optimizer* optimizer)
      : program(program), optimizer(optimizer) {}

  const TorchProgram& program;
  const Optimizer* optimizer;
  bool assumed_optimizer = false;     // what it keeps and allocates was not measured
  Dim unified_bytes = 0;              // as in MemoryTrace
  std::vector<int32_t> call_of_step;  // by step; -1 or beyond the end: no call
  IdVector<TorchValueId, StorageId> storage_of;
  std::vector<TapeSave> saves;        // in the order of the tape
  int64_t phase_tick[kPhaseCount] = {0, 0, 0};
};

// Everything that is still alive ends with the trace. Leaves the machine without steps.
MemoryTrace WriteTrace(ReplayMachine& machine, const ReplayNotes& notes);

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_REPLAY_TRACE_H_
