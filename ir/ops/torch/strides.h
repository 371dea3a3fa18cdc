// Shapes, strides and element types of results: PyTorch's rules for broadcasting, promotion,
// TensorIterator's output, views of strided tensors.
#ifndef FOOTPRINT_IR_OPS_TORCH_STRIDES_H_
#define FOOTPRINT_IR_OPS_TORCH_STRIDES_H_

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "ir/eager.h"

namespace footprint {

// The strides of a contiguous tensor.
Dims ContiguousStrides(DimTable& dims, const Dims& shape);
// Of a contiguous channels-last tensor: axis 1 innermost. Rank 4 and 5.
Dims ChannelsLastStrides(DimTable& dims, const Dims& shape);

bool IsContiguous(Eager& eager, const Tensor& tensor);
bool IsChannelsLast(Eager& eager, const Tensor& tensor);
// Every element at a place of its own, and no place left out.
bool IsDense(Eager& eager, const Tensor& tensor);
bool SameShape(Eager& eager, const Dims& a, const Dims& b);

// The shape that all operands broadcast to. Empty tensors are skipped.
Dims BroadcastShape(Eager& eager, absl::Span<const Tensor> operands);
void BroadcastInto(Eager& eager, Dims& shape, const Dims& other);
// Tensors of rank 0 give way to others of the same kind (integer, floating point).
ElementType PromotedElement(absl::Span<const Tensor> operands);

// The strides TensorIterator gives a new result: dimensions in the order in which the operands, the
// first one first, have them.
Dims OperandStrides(Eager& eager, absl::Span<const Tensor> operands, const Dims& shape);

// Strides with which `tensor` can be seen as `shape`; nullopt: only a copy can.
std::optional<Dims> ViewStrides(Eager& eager, const Tensor& tensor, const Dims& shape);

// A new tensor with the shape and strides of `tensor` (torch.empty_like).
Tensor NewLike(Eager& eager, const Tensor& tensor, ElementType element,
               absl::string_view what = {});

// `axis` counted from the front; negative ones count from the end of `rank` dimensions. Clamped, so
// that a wrong axis costs bytes but nothing else.
inline int Axis(int64_t axis, int rank) {
  if (axis < 0) axis += rank;
  return static_cast<int>(std::clamp<int64_t>(axis, 0, std::max(rank - 1, 0)));
}

}  // namespace footprint

#endif  // FOOTPRINT_IR_OPS_TORCH_STRIDES_H_
