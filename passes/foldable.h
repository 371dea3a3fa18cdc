// Foldable: which computed values depend on stored constants alone. A tool that folds constants
// would store them instead; a runtime computes them in each run, or once when it loads the model.
#ifndef FOOTPRINT_PASSES_FOLDABLE_H_
#define FOOTPRINT_PASSES_FOLDABLE_H_

#include "ir/graph.h"

namespace footprint {

// False for inputs and constants themselves, and for what random numbers went into.
IdVector<ValueId, bool> FindFoldable(const Graph& graph);

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_FOLDABLE_H_
