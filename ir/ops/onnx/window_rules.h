// Sliding windows: how kernel, stride, dilation and padding turn the size of an axis into another.
#ifndef FOOTPRINT_IR_OPS_ONNX_WINDOW_RULES_H_
#define FOOTPRINT_IR_OPS_ONNX_WINDOW_RULES_H_

#include <cstdint>

#include "absl/types/span.h"
#include "ir/infer_context.h"
#include "ir/ops/onnx/rules.h"

namespace footprint {

enum class AutoPad : uint8_t { kExplicit, kSame, kValid };

// The attributes that convolutions and poolings share, one element per spatial axis.
struct Window {
  Dims kernel;  // may be unknown or symbolic where a weight's shape gives it
  Sizes strides;
  Sizes dilations;
  Sizes begin_pads;
  Sizes end_pads;
  AutoPad auto_pad = AutoPad::kExplicit;
  bool ceil_mode = false;
};

// Reads and checks them; false after an error. Without a kernel_shape the kernel is `kernel`.
bool ReadWindow(InferContext& c, size_t spatial_rank, absl::Span<const Dim> kernel, Window* window);

// The sizes after sliding the window over `spatial`, and after its transpose.
Dims Slide(InferContext& c, absl::Span<const Dim> spatial, const Window& window);
Dims SlideTransposed(InferContext& c, absl::Span<const Dim> spatial, const Window& window);

// Where the channels are.
enum class Layout : uint8_t { kChannelsFirst, kChannelsLast };

// The window of a convolution is as large as its weights, input w, of which `kernel` are the
// spatial sizes.
void RequireKernelOf(InferContext& c, int w, absl::Span<const Dim> kernel, const Window& window);

// Output 0 = convolution of input `x` with weights input `w` ([M, C/group, k...] for both layouts).
void SetConvolution(InferContext& c, int x, int w, ElementType element,
                    Layout layout = Layout::kChannelsFirst);
// Output 0 = pooling of input `x`; kernel_shape is required.
void SetPooling(InferContext& c, int x, ElementType element,
                Layout layout = Layout::kChannelsFirst);
// Output 0 = pooling of all spatial axes to 1.
void SetGlobalPooling(InferContext& c, int x, ElementType element,
                      Layout layout = Layout::kChannelsFirst);

}  // namespace footprint

#endif  // FOOTPRINT_IR_OPS_ONNX_WINDOW_RULES_H_
