// What a cast to float32 meant in PyTorch, for a file that was exported in float32, where none of
// them does anything:
//
//   x.float()          x goes up, whatever the precision of the module
//   y.to(x.dtype)      y comes down again to what x was before it went up
//   y.to(self.dtype)   y takes the type of the module
//
// The file does not say which. What is done with the result does: who squares, averages,
// exponentiates or compares went up first; who comes out of such a computation goes down.
#ifndef FOOTPRINT_IR_OPS_LOWERING_CASTS_H_
#define FOOTPRINT_IR_OPS_LOWERING_CASTS_H_

#include "ir/graph.h"
#include "ir/ops/lowering/lower_context.h"

namespace footprint {

// A cast that does nothing in a float32 module.
bool IsIdleCast(const Node& node, ElementType source);

// This softmax was asked for a float32 result, which the exporter writes as a cast behind it.
bool IsFloat32Softmax(const LowerContext& ctx);

}  // namespace footprint

#endif  // FOOTPRINT_IR_OPS_LOWERING_CASTS_H_
