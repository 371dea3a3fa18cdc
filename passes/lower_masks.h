// Masks that exporters leave where the program has none.
#ifndef FOOTPRINT_PASSES_LOWER_MASKS_H_
#define FOOTPRINT_PASSES_LOWER_MASKS_H_

#include <vector>

#include "ir/torch_program.h"

namespace footprint {

// Takes out sums with masks that hide nothing, and the calls that made these masks for them alone.
// Libraries of text models skip such a mask (an encoder's, without padding), but not while they are
// traced. The model's outputs stay. Returns the number of sums.
int LeaveOutOpenMasks(const std::vector<TorchValueId>& outputs, TorchProgram& program);

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_LOWER_MASKS_H_
