// The domain of ONNX Runtime's own operators, and small rules that its families share.
#ifndef FOOTPRINT_IR_OPS_ONNX_MICROSOFT_RULES_H_
#define FOOTPRINT_IR_OPS_ONNX_MICROSOFT_RULES_H_

#include "ir/ops/onnx/rules.h"
#include "ir/ops/onnx/window_rules.h"

namespace footprint {

constexpr absl::string_view kMicrosoft = "com.microsoft";

// Input `input` with its last size replaced.
inline void SetLastDim(InferContext& c, int input, int output, ElementType element, Dim size) {
  const TensorType* data = RequireRankAtLeast(c, input, 1, "the input");
  if (data == nullptr) return SetUnranked(c, output, element);
  Dims dims = data->dims;
  dims.back() = size;
  SetRanked(c, output, element, dims);
}

// An attribute as a size; unknown if absent.
inline Dim SizeAttribute(const InferContext& c, absl::string_view name) {
  const Attribute* attribute = c.node().Find(name);
  return attribute == nullptr ? Dim() : Dim(attribute->int_value);
}

// Counts of packed weights; 0 where hostile sizes do not fit.
inline int64_t TimesOrZero(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? 0 : product;
}
inline int64_t ElementsInBytes(int64_t bytes, int64_t bits) {
  return bits > 0 && bits < 8 ? TimesOrZero(bytes, 8 / bits) : bytes;
}

inline Layout LayoutOf(const InferContext& c) {
  return c.node().Int("channels_last", 0) != 0 ? Layout::kChannelsLast : Layout::kChannelsFirst;
}

}  // namespace footprint

#endif  // FOOTPRINT_IR_OPS_ONNX_MICROSOFT_RULES_H_
