// How PyTorch lays results out. Everything here asks Eager whether two dimensions are equal:
// handles decide where they can, the bindings of the run elsewhere, and then the answer is
// guarded.
//
// A view of a strided tensor exists if the tensor's dimensions can be grouped into runs that are
// contiguous among themselves, and each run can be cut into dimensions of the new shape:
//
//   shape [8, 12, 64], strides [768, 64, 1]     one run of 6144: any shape
//   shape [8, 64, 12], strides [768, 1, 64]     runs 8 | 64 | 12: [8, 64, 3, 4] is a view,
//                                               [8, 768] is not
#include "ir/ops/torch/strides.h"

#include <algorithm>
#include <numeric>

namespace footprint {
namespace {

using Answer = TensorData::Answer;

bool IsOne(Eager& eager, Dim dim) { return eager.Equal(dim, Dim(1)); }

// Walks the dimensions in `order` (innermost first) and checks that each stride is the product of
// the sizes so far.
template <typename Order>
bool PacksInOrder(Eager& eager, const Tensor& tensor, const Order& order) {
  Dim expected = 1;
  for (int axis : order) {
    const Dim size = tensor.dim(axis);
    if (IsOne(eager, size)) continue;
    if (!eager.Equal(tensor.strides()[static_cast<size_t>(axis)], expected)) return false;
    expected = eager.dims().Mul(expected, size);
  }
  return true;
}

using AxisList = absl::InlinedVector<int, 6>;

AxisList Descending(int rank) {
  AxisList order(static_cast<size_t>(rank));
  for (int i = 0; i < rank; ++i) order[static_cast<size_t>(i)] = rank - 1 - i;
  return order;
}

// Axis 1 innermost, then the last ones up to axis 2, then axis 0.
AxisList ChannelsLastOrder(int rank) {
  AxisList order = {1};
  for (int axis = rank - 1; axis >= 2; --axis) order.push_back(axis);
  order.push_back(0);
  return order;
}

Dims StridesInOrder(DimTable& dims, const Dims& shape, const AxisList& order) {
  Dims strides(shape.size());
  Dim stride = 1;
  for (int axis : order) {
    const size_t i = static_cast<size_t>(axis);
    strides[i] = stride;
    if (!shape[i].Is(0)) stride = dims.Mul(stride, shape[i]);
  }
  return strides;
}

bool IsFloat(ElementType element) { return IsFloatingPoint(element); }

// Wider wins; of two 16-bit floats neither does.
int Width(ElementType element) {
  switch (element) {
    case ElementType::kBool: return 0;
    case ElementType::kUint8: case ElementType::kInt8: return 1;
    case ElementType::kInt16: return 2;
    case ElementType::kInt32: return 3;
    case ElementType::kInt64: return 4;
    case ElementType::kFloat16: case ElementType::kBfloat16: return 5;
    case ElementType::kFloat: return 6;
    case ElementType::kDouble: return 7;
    case ElementType::kComplex64: return 8;
    case ElementType::kComplex128: return 9;
    default: return 1;
  }
}

ElementType Wider(ElementType a, ElementType b) {
  if (a == ElementType::kUndefined) return b;
  if (a == b || b == ElementType::kUndefined) return a;
  if (Width(a) == 5 && Width(b) == 5) return ElementType::kFloat;
  return Width(a) >= Width(b) ? a : b;
}

}  // namespace

Dims ContiguousStrides(DimTable& dims, const Dims& shape) {
  Dims strides(shape.size());
  Dim stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    if (i > 0 && !shape[i].Is(0)) stride = dims.Mul(stride, shape[i]);
  }
  return strides;
}

Dims ChannelsLastStrides(DimTable& dims, const Dims& shape) {
  return StridesInOrder(dims, shape, ChannelsLastOrder(static_cast<int>(shape.size())));
}

bool IsContiguous(Eager& eager, const Tensor& tensor) {
  Answer& answer = tensor.data()->contiguous;
  if (answer == Answer::kUnasked) {
    const bool packs = PacksInOrder(eager, tensor, Descending(tensor.rank()));
    answer = packs ? Answer::kYes : Answer::kNo;
  }
  return answer == Answer::kYes;
}

bool IsChannelsLast(Eager& eager, const Tensor& tensor) {
  if (tensor.rank() != 4 && tensor.rank() != 5) return false;
  if (IsContiguous(eager, tensor)) return false;
  return PacksInOrder(eager, tensor, ChannelsLastOrder(tensor.rank()));
}

bool IsDense(Eager& eager, const Tensor& tensor) {
  if (IsContiguous(eager, tensor)) return true;
  AxisList order;
  for (int axis = 0; axis < tensor.rank(); ++axis) {
    if (!IsOne(eager, tensor.dim(axis))) order.push_back(axis);
  }
  const Dims& strides = tensor.strides();
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return eager.Less(strides[static_cast<size_t>(a)], strides[static_cast<size_t>(b)]);
  });
  return PacksInOrder(eager, tensor, order);
}

bool SameShape(Eager& eager, const Dims& a, const Dims& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!eager.Equal(a[i], b[i])) return false;
  }
  return true;
}

void BroadcastInto(Eager& eager, Dims& shape, const Dims& other) {
  if (shape.size() < other.size()) shape.insert(shape.begin(), other.size() - shape.size(), 1);
  const size_t offset = shape.size() - other.size();
  for (size_t i = 0; i < other.size(); ++i) {
    Dim& dim = shape[offset + i];
    if (dim != other[i] && IsOne(eager, dim)) dim = other[i];
  }
}

Dims BroadcastShape(Eager& eager, absl::Span<const Tensor> operands) {
  Dims shape;
  for (const Tensor& operand : operands) {
    if (operand) BroadcastInto(eager, shape, operand.shape());
  }
  return shape;
}

ElementType PromotedElement(absl::Span<const Tensor> operands) {
  ElementType dimensioned = ElementType::kUndefined;
  ElementType scalar = ElementType::kUndefined;
  for (const Tensor& operand : operands) {
    if (!operand) continue;
    ElementType& slot = operand.rank() > 0 ? dimensioned : scalar;
    slot = Wider(slot, operand.element());
  }
  if (dimensioned == ElementType::kUndefined) return scalar;
  if (IsFloat(scalar) && !IsFloat(dimensioned)) return scalar;
  if (dimensioned == ElementType::kBool) return Wider(dimensioned, scalar);
  return dimensioned;
}

Dims OperandStrides(Eager& eager, absl::Span<const Tensor> operands, const Dims& shape) {
  const int rank = static_cast<int>(shape.size());
  bool all_contiguous = true;
  for (const Tensor& operand : operands) {
    if (operand && operand.rank() > 0) all_contiguous &= IsContiguous(eager, operand);
  }
  if (all_contiguous || rank < 2) return ContiguousStrides(eager.dims(), shape);

  // An operand's stride in bytes; 0 where it is broadcast.
  const auto stride = [&](const Tensor& operand, int axis) -> Dim {
    const int own = axis - (rank - operand.rank());
    if (own < 0) return 0;
    const bool broadcast = IsOne(eager, operand.dim(own)) &&
                           !IsOne(eager, shape[static_cast<size_t>(axis)]);
    return broadcast ? Dim(0) : operand.strides()[static_cast<size_t>(own)];
  };
  // 1: `outer` must come after `inner`, -1: they are in order, 0: no operand can tell.
  const auto out_of_order = [&](int inner, int outer) {
    for (const Tensor& operand : operands) {
      if (!operand || operand.rank() == 0) continue;
      const Dim a = stride(operand, inner);
      const Dim b = stride(operand, outer);
      if (eager.Equal(a, 0) || eager.Equal(b, 0)) continue;
      if (!eager.Equal(a, b)) return eager.Less(a, b) ? -1 : 1;
      const Dim& inner_size = shape[static_cast<size_t>(inner)];
      if (eager.Less(shape[static_cast<size_t>(outer)], inner_size)) return 1;
    }
    return 0;
  };
  AxisList order = Descending(rank);
  for (int i = 1; i < rank; ++i) {
    int moving = i;
    for (int before = i - 1; before >= 0; --before) {
      int& a = order[static_cast<size_t>(before)];
      int& b = order[static_cast<size_t>(moving)];
      const int comparison = out_of_order(a, b);
      if (comparison < 0) break;
      if (comparison == 0) continue;
      std::swap(a, b);
      moving = before;
    }
  }
  return StridesInOrder(eager.dims(), shape, order);
}

std::optional<Dims> ViewStrides(Eager& eager, const Tensor& tensor, const Dims& shape) {
  DimTable& dims = eager.dims();
  if (IsContiguous(eager, tensor)) return ContiguousStrides(dims, shape);
  const Dims& sizes = tensor.shape();
  const Dims& strides = tensor.strides();
  Dims result(shape.size());
  int next = static_cast<int>(shape.size()) - 1;  // of the new dimensions, from the innermost
  Dim stride = strides.back();
  Dim run = 1;   // elements in the current run of old dimensions
  Dim made = 1;  // of these, covered by new dimensions
  for (int axis = tensor.rank() - 1; axis >= 0; --axis) {
    const size_t i = static_cast<size_t>(axis);
    run = dims.Mul(run, sizes[i]);
    const bool ends = axis == 0 || (!IsOne(eager, sizes[i - 1]) &&
                                    !eager.Equal(strides[i - 1], dims.Mul(run, stride)));
    if (!ends) continue;
    while (next >= 0) {
      const Dim size = shape[static_cast<size_t>(next)];
      if (!IsOne(eager, size) && !eager.Less(made, run)) break;
      result[static_cast<size_t>(next)] = dims.Mul(made, stride);
      made = dims.Mul(made, size);
      --next;
    }
    if (!eager.Equal(made, run)) return std::nullopt;
    if (axis > 0) stride = strides[i - 1];
    run = 1;
    made = 1;
  }
  if (next >= 0) return std::nullopt;
  return result;
}

Tensor NewLike(Eager& eager, const Tensor& tensor, ElementType element, absl::string_view what) {
  if (IsDense(eager, tensor)) {
    return eager.NewStrided(tensor.shape(), tensor.strides(), element, what);
  }
  return eager.NewStrided(tensor.shape(), OperandStrides(eager, {&tensor, 1}, tensor.shape()),
                          element, what);
}

}  // namespace footprint
