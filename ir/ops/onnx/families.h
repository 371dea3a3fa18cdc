// The families of operators: each is one file, whose rows share rules.
#ifndef FOOTPRINT_IR_OPS_ONNX_FAMILIES_H_
#define FOOTPRINT_IR_OPS_ONNX_FAMILIES_H_

#include "absl/types/span.h"
#include "ir/onnx_op.h"

namespace footprint {

using OnnxFamily = absl::Span<const OnnxOp>;

OnnxFamily UnaryOps();      // one operand, element by element
OnnxFamily BinaryOps();     // operands that broadcast
OnnxFamily CastOps();       // element type changes, shape does not
OnnxFamily ShapeOps();      // sizes as values, values as sizes
OnnxFamily ReshapeOps();    // the same elements in another shape
OnnxFamily RearrangeOps();  // elements copied to other places: Transpose, Concat, Pad ...
OnnxFamily SliceOps();
OnnxFamily GatherOps();   // output elements picked by indices
OnnxFamily ScatterOps();  // output like the data, elements replaced
OnnxFamily ReductionOps();
OnnxFamily MatMulOps();
OnnxFamily EinsumOps();
OnnxFamily ConvolutionOps();
OnnxFamily PoolingOps();
OnnxFamily NormalizationOps();
OnnxFamily ResizeOps();
OnnxFamily ImageOps();  // regions of interest, sampling grids, patches
OnnxFamily RecurrentOps();
OnnxFamily AttentionOps();
OnnxFamily QuantizationOps();
OnnxFamily RandomOps();
OnnxFamily LossOps();
OnnxFamily SelectionOps();  // sizes that run-time values decide
OnnxFamily SignalOps();
OnnxFamily TextOps();
OnnxFamily SequenceOps();  // sequences and optionals
OnnxFamily ControlOps();
OnnxFamily ClassicalOps();  // ai.onnx.ml
OnnxFamily TrainingOps();   // ai.onnx.preview.training

// com.microsoft, by what is inside.
OnnxFamily MicrosoftFusedOps();   // element-wise operators, norms and their fusions
OnnxFamily MicrosoftLinearOps();  // matrix products, convolutions, experts
OnnxFamily MicrosoftAttentionOps();
OnnxFamily MicrosoftStateOps();  // recurrence over states and caches
OnnxFamily MicrosoftQuantizedOps();
OnnxFamily MicrosoftOtherOps();

}  // namespace footprint

#endif  // FOOTPRINT_IR_OPS_ONNX_FAMILIES_H_
