// What modules do that no file shows: operators in place, counters of norms.
#ifndef FOOTPRINT_PASSES_LOWER_HABITS_H_
#define FOOTPRINT_PASSES_LOWER_HABITS_H_

#include "ir/graph.h"
#include "ir/torch_program.h"

namespace footprint {

// Marks calls that modules write into their first operand; each becomes an assumption.
void AssumeInPlace(const Graph& graph, TorchProgram& program);

// Each module that looks a table of its own up by the same stored indices has a copy of them; a
// file keeps equal ones once.
void AddIndexCopies(TorchProgram& program);

// A step counter for each norm with running statistics: a buffer that no file stores.
void AddStepCounters(TorchProgram& program);

// The second copy of the frequencies of rotary position embeddings, which nothing reads.
void AddFrequencyCopies(TorchProgram& program);

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_LOWER_HABITS_H_
