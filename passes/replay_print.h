// The textual form of a replay, for tests and --dump: what each step allocates and what is then
// alive.
#ifndef FOOTPRINT_PASSES_REPLAY_PRINT_H_
#define FOOTPRINT_PASSES_REPLAY_PRINT_H_

#include <cstdint>
#include <string>

#include "ir/dim.h"
#include "passes/memory_trace.h"
#include "passes/replay.h"

namespace footprint {

// Bytes at the bindings; live bytes with each storage rounded up as the allocator does.
//
//   forward aten::relu
//     +1024 = 4096 %y: saved_activation until loss.backward(), saved by aten::relu ...
//   ...
//   saved 2048: %x float32 1024; mask of aten::native_dropout bool 1024
//   after forward 8192, after backward 6144
//   peaks: forward 8192 backward 9216 optimizer 6144
std::string Print(const MemoryTrace& trace, int64_t in_place_additions, DimEvaluator& evaluator);

// What the mathematics of the gradients needs, in the order of the tape, and what is kept beyond
// it, largest first.
//
//   needed y 512
//   beyond x 2048: not read
std::string PrintNeeds(const MemoryTrace& trace, DimEvaluator& evaluator);

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_REPLAY_PRINT_H_
