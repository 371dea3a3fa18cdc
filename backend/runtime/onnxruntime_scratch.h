// What kernels of ONNX Runtime take while they run, beside operands and results: in bytes, as
// measured on one thread.
#ifndef FOOTPRINT_BACKEND_RUNTIME_ONNXRUNTIME_SCRATCH_H_
#define FOOTPRINT_BACKEND_RUNTIME_ONNXRUNTIME_SCRATCH_H_

#include "backend/runtime/onnxruntime.h"

namespace footprint {

Wide ConvScratch(const SizedNode& sized);
Wide ConvTransposeScratch(const SizedNode& sized);
Wide WhereScratch(const SizedNode& sized);
Wide LrnScratch(const SizedNode& sized);
Wide BatchStatisticsScratch(const SizedNode& sized);
Wide SoftmaxScratch(const SizedNode& sized);
Wide LoopOfNumbersScratch(const SizedNode& sized);
Wide TwoMoreScratch(const SizedNode& sized);
Wide EinsumScratch(const SizedNode& sized);
Wide ResizeScratch(const SizedNode& sized);
Wide LstmScratch(const SizedNode& sized);
Wide GruScratch(const SizedNode& sized);
Wide RnnScratch(const SizedNode& sized);
Wide QuantizedPoolScratch(const SizedNode& sized);
Wide QuantizedWhereScratch(const SizedNode& sized);
Wide QuantizedConvScratch(const SizedNode& sized);
Wide QuantizedConvLastScratch(const SizedNode& sized);
Wide PoolLastScratch(const SizedNode& sized);
Wide IntegerConvScratch(const SizedNode& sized);
Wide DeformConvScratch(const SizedNode& sized);
Wide DftScratch(const SizedNode& sized);
Wide StftScratch(const SizedNode& sized);
Wide SumsScratch(const SizedNode& sized);
Wide QuantizedSumsScratch(const SizedNode& sized);
Wide BlockedOperandScratch(const SizedNode& sized);
Wide WholeMatrixScratch(const SizedNode& sized);
Wide MultinomialScratch(const SizedNode& sized);
Wide QuantizedGemmScratch(const SizedNode& sized);
Wide QuantizedOperandScratch(const SizedNode& sized);
Wide OneMoreScratch(const SizedNode& sized);
Wide WithBiasScratch(const SizedNode& sized);
Wide HalfSkipScratch(const SizedNode& sized);
Wide HalfScalesScratch(const SizedNode& sized);
Wide ManyOperandsScratch(const SizedNode& sized);
Wide AttentionScratch(const SizedNode& sized);
Wide MultiHeadAttentionScratch(const SizedNode& sized);
Wide GroupQueryAttentionScratch(const SizedNode& sized);
Wide PackedAttentionScratch(const SizedNode& sized);
Wide QuantizedAttentionScratch(const SizedNode& sized);
Wide SparseAttentionScratch(const SizedNode& sized);
Wide DecoderMaskedAttentionScratch(const SizedNode& sized);
Wide LinearAttentionScratch(const SizedNode& sized);
Wide MoeScratch(const SizedNode& sized);
Wide QuantizedMoeScratch(const SizedNode& sized);
Wide WordConvolutionScratch(const SizedNode& sized);
Wide AttentionLstmScratch(const SizedNode& sized);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_RUNTIME_ONNXRUNTIME_SCRATCH_H_
