// What kernels of ONNX Runtime take while they run, beside operands and results: in bytes, as measured
// on one thread.
#ifndef FOOTPRINT_BACKEND_RUNTIME_ONNXRUNTIME_SCRATCH_H_
#define FOOTPRINT_BACKEND_RUNTIME_ONNXRUNTIME_SCRATCH_H_

#include "backend/runtime/onnxruntime.h"

namespace footprint {

int64_t ConvScratch(const SizedNode& sized);
int64_t ConvTransposeScratch(const SizedNode& sized);
int64_t WhereScratch(const SizedNode& sized);
int64_t LrnScratch(const SizedNode& sized);
int64_t SoftmaxScratch(const SizedNode& sized);
int64_t TwoMoreScratch(const SizedNode& sized);
int64_t EinsumScratch(const SizedNode& sized);
int64_t ResizeScratch(const SizedNode& sized);
int64_t LstmScratch(const SizedNode& sized);
int64_t GruScratch(const SizedNode& sized);
int64_t RnnScratch(const SizedNode& sized);
int64_t QuantizedConvScratch(const SizedNode& sized);
int64_t IntegerConvScratch(const SizedNode& sized);
int64_t DeformConvScratch(const SizedNode& sized);
int64_t SumsScratch(const SizedNode& sized);
int64_t QuantizedOperandScratch(const SizedNode& sized);
int64_t OneMoreScratch(const SizedNode& sized);
int64_t WithBiasScratch(const SizedNode& sized);
int64_t ManyOperandsScratch(const SizedNode& sized);
int64_t AttentionScratch(const SizedNode& sized);
int64_t MultiHeadAttentionScratch(const SizedNode& sized);
int64_t GroupQueryAttentionScratch(const SizedNode& sized);
int64_t PackedAttentionScratch(const SizedNode& sized);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_RUNTIME_ONNXRUNTIME_SCRATCH_H_
