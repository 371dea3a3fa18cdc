// The order in which a module registers its parameters and buffers: its optimizer goes through them
// in it, and they are allocated in it.
#ifndef FOOTPRINT_PASSES_LOWER_ORDER_H_
#define FOOTPRINT_PASSES_LOWER_ORDER_H_

#include "ir/graph.h"
#include "ir/provenance.h"
#include "ir/torch_program.h"

namespace footprint {

// Fills in program.stored.
void OrderStored(const Graph& graph, const Provenance& provenance, TorchProgram& program);

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_LOWER_ORDER_H_
