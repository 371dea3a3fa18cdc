// Textbook: the closed-form bookkeeping that articles teach, from the graph.
#ifndef FOOTPRINT_PASSES_TEXTBOOK_H_
#define FOOTPRINT_PASSES_TEXTBOOK_H_

#include <string>
#include <vector>

#include "ir/dim.h"
#include "ir/graph.h"
#include "passes/infer_shapes.h"
#include "passes/roles.h"

namespace footprint {

// A group of operators whose outputs articles count together: one attention, one feed forward ...
struct TextbookGroup {
  std::string name;  // the common module path, or the operator's own name
  std::string kind;  // "token embedding", "position embedding", "attention", "feed forward",
                     // "linear", "convolution"
  std::vector<NodeId> nodes;
  Dim elements;  // of all their outputs together
};

// Operators that own a weight matrix or table (embeddings, linear layers with or without a
// Transpose of the weight, convolutions), grouped, in execution order.
std::vector<TextbookGroup> GroupTextbookLayers(const Graph& graph, const InferredTypes& inferred,
                                               const Roles& roles);

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_TEXTBOOK_H_
