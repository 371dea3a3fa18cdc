// OpFallback: what is asked about an ONNX operator that has no row. Implemented by the frontend
// with ONNX's own schemas, so that neither the vocabulary nor the passes know protobuf.
#ifndef FOOTPRINT_IR_FALLBACK_H_
#define FOOTPRINT_IR_FALLBACK_H_

#include <vector>

#include "absl/types/span.h"
#include "ir/graph.h"
#include "ir/tensor_type.h"

namespace footprint {

class OpFallback {
 public:
  virtual ~OpFallback() = default;

  // Output types by the operator's schema; false if there is no schema or it cannot tell. Unknown
  // input types have kind kUnknown.
  virtual bool InferTypes(const Graph& graph, const Node& node,
                          absl::Span<const ValueType> input_types,
                          std::vector<ValueType>* output_types) = 0;
};

}  // namespace footprint

#endif  // FOOTPRINT_IR_FALLBACK_H_
