// Reads the rows of TorchOp that are data: makes the result, what is kept beside it, and the node.
#ifndef FOOTPRINT_PASSES_REPLAY_ROWS_H_
#define FOOTPRINT_PASSES_REPLAY_ROWS_H_

#include "absl/types/span.h"
#include "ir/eager.h"

namespace footprint {

// `operands`: the tensors among the arguments, by argument; empty where an argument is none. `call`
// is null for an operator inside another one. The results are the row's result, then what it keeps.
TensorList ApplyRow(Eager& eager, const TorchOp& op, absl::Span<const Tensor> operands,
                    const CallArguments* call);

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_REPLAY_ROWS_H_
