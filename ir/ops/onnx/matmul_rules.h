// The rules of matrix products, shared with their fused and quantized forms.
#ifndef FOOTPRINT_IR_OPS_ONNX_MATMUL_RULES_H_
#define FOOTPRINT_IR_OPS_ONNX_MATMUL_RULES_H_

#include "ir/infer_context.h"

namespace footprint {

struct MatMulTransposes {
  bool a = false;
  bool b = false;
};

// Output 0 is the product of two inputs as NumPy's matmul has it, each with its last two axes
// exchanged first where asked.
void SetMatMul(InferContext& c, int a_input, int b_input, ElementType element,
               MatMulTransposes transposes = {});

// Output 0 is A' * B' + C, matrices all (inputs 0, 1 and `bias_input`; -1: none).
void SetGemm(InferContext& c, int bias_input, ElementType element);

}  // namespace footprint

#endif  // FOOTPRINT_IR_OPS_ONNX_MATMUL_RULES_H_
