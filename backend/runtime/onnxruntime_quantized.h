// What the rewrites of quantized graphs share: QuantizeLinear, DequantizeLinear and their numbers.
#ifndef FOOTPRINT_BACKEND_RUNTIME_ONNXRUNTIME_QUANTIZED_H_
#define FOOTPRINT_BACKEND_RUNTIME_ONNXRUNTIME_QUANTIZED_H_

#include <cstdint>
#include <vector>

#include "backend/runtime/rewriter.h"

namespace footprint {

bool IsQuantization(const Rewriter& rewriter, int32_t node);
bool IsDequantization(const Rewriter& rewriter, int32_t node);
// The node that makes the value, if it dequantizes; -1.
int32_t DequantizedBy(const Rewriter& rewriter, int32_t value);
// One stored scale, and one zero point or none.
bool HasOneScale(const Rewriter& rewriter, int32_t node);
// Both of one scale, zero point and type: one undoes the other.
bool IsInverse(const Rewriter& rewriter, int32_t dequantization, int32_t quantization);
// An activation before a quantization that bounds the numbers as much.
bool IsRedundant(const Rewriter& rewriter, int32_t activation, int32_t quantization);

// Adds a node that quantizes, or one that dequantizes, with the numbers of `like`; its result.
int32_t AddQuantization(Rewriter& rewriter, int32_t value, int32_t like);
int32_t AddDequantization(Rewriter& rewriter, int32_t value, int32_t like, int32_t result);

// Takes a quantization out with the dequantization before it that it undoes, where one node alone
// reads either.
void DropInversePair(Rewriter& rewriter, int32_t quantization);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_RUNTIME_ONNXRUNTIME_QUANTIZED_H_
