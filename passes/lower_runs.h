// Finds the runs of ir/ops/lowering/runs.h in a program and puts the calls they stand for there.
#ifndef FOOTPRINT_PASSES_LOWER_RUNS_H_
#define FOOTPRINT_PASSES_LOWER_RUNS_H_

#include <vector>

#include "ir/torch_program.h"

namespace footprint {

// `outputs`: the model's, which no run takes away.
void JoinRuns(const std::vector<TorchValueId>& outputs, TorchProgram& program);

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_LOWER_RUNS_H_
