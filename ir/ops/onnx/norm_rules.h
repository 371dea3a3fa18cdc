// The rules of normalizations, shared with their fused forms.
#ifndef FOOTPRINT_IR_OPS_ONNX_NORM_RULES_H_
#define FOOTPRINT_IR_OPS_ONNX_NORM_RULES_H_

#include "ir/infer_context.h"

namespace footprint {

// Output `output`, if present: the data's leading sizes up to `axis`, then ones.
void SetStatistics(InferContext& c, int output, int axis, ElementType element);
// Output 0 like the data; outputs 1 and 2 are mean and inverse deviation, if present.
void LayerNormalizationTypes(InferContext& c);

}  // namespace footprint

#endif  // FOOTPRINT_IR_OPS_ONNX_NORM_RULES_H_
