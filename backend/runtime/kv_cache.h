// The cache of keys and values of a decoder: what goes in as past and comes out as present.
#ifndef FOOTPRINT_BACKEND_RUNTIME_KV_CACHE_H_
#define FOOTPRINT_BACKEND_RUNTIME_KV_CACHE_H_

#include <vector>

#include "ir/graph.h"
#include "passes/infer_shapes.h"

namespace footprint {

struct CacheTensor {
  ValueId past;
  ValueId present;      // invalid: it does not come out
  int axis = -1;        // the one that grows with every token; -1: not known
  bool named = false;   // found by its name alone
  bool shared = false;  // past and present may be one buffer
};

// By the operators that read and write it, and by the names that exporters and ONNX Runtime GenAI
// give: past_key_values.0.key and present.0.key, past_0 and present_0 ...
std::vector<CacheTensor> FindKvCache(const Graph& graph, const InferredTypes& inferred);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_RUNTIME_KV_CACHE_H_
