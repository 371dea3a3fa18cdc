// Copies, arithmetic and reductions.
#include <algorithm>
#include <array>
#include <utility>

#include "ir/ops/torch/primitives.h"

namespace footprint {
namespace {

// The gradient is the incoming one.
BackwardFunction SameGradient() {
  return [](Backward& b) {
    for (int i = 0; i < 2; ++i) b.Give(i, b.gradient());
  };
}

BackwardFunction PassOn() {
  return [](Backward& b) { b.Give(0, b.gradient()); };
}

}  // namespace

Tensor NewPointwise(Eager& eager, absl::Span<const Tensor> operands, ElementType element,
                    absl::string_view what) {
  const Dims shape = BroadcastShape(eager, operands);
  return eager.NewStrided(shape, OperandStrides(eager, operands, shape), element, what);
}

Tensor Clone(Eager& eager, const Tensor& self, bool contiguous) {
  Tensor result = contiguous ? eager.New(self.shape(), self.element(), "contiguous copy")
                             : NewLike(eager, self, self.element(), "copy");
  eager.NoteCopy(result, self);
  eager.Record("CloneBackward0", {self}, {result}, {}, PassOn());
  return result;
}

Tensor Contiguous(Eager& eager, const Tensor& self) {
  return IsContiguous(eager, self) ? self : Clone(eager, self);
}

Tensor To(Eager& eager, const Tensor& self, ElementType element) {
  if (self.element() == element) return self;
  Tensor result = NewLike(eager, self, element, "cast copy");
  const ElementType source = self.element();
  eager.NoteCopy(result, self);
  eager.Record("ToCopyBackward0", {self}, {result}, {}, [source](Backward& b) {
    b.Give(0, To(b.eager, b.gradient(), source));
  });
  return result;
}

Tensor Cat(Eager& eager, absl::Span<const Tensor> tensors, int64_t axis) {
  const Tensor& first = tensors[0];
  const size_t at = static_cast<size_t>(Axis(axis, first.rank()));
  Dims sizes;
  Dims shape = first.shape();
  for (const Tensor& tensor : tensors) sizes.push_back(tensor.shape()[at]);
  shape[at] = eager.dims().Sum(sizes);
  const bool channels_last = std::all_of(tensors.begin(), tensors.end(), [&](const Tensor& t) {
    return IsChannelsLast(eager, t);
  });
  const ElementType element = PromotedElement(tensors);
  Tensor result = channels_last
                      ? eager.NewStrided(shape, ChannelsLastStrides(eager.dims(), shape), element)
                      : eager.New(shape, element);
  eager.Record("CatBackward0", tensors, {result}, {}, [sizes, at](Backward& b) {
    for (size_t i = 0; i < sizes.size(); ++i) {
      const int input = static_cast<int>(i);
      if (!b.Needs(input)) continue;
      b.Give(input, Slice(b.eager, b.gradient(), static_cast<int64_t>(at), sizes[i]));
    }
  });
  return result;
}

Tensor Scale(Eager& eager, const Tensor& self, absl::string_view node) {
  Tensor result = NewPointwise(eager, {self}, self.element());
  eager.Record(node, {self}, {result}, {}, [](Backward& b) {
    b.Give(0, NewPointwise(b.eager, {b.gradient()}, b.gradient().element()));
  });
  return result;
}

Tensor Shift(Eager& eager, const Tensor& self) {
  Tensor result = NewPointwise(eager, {self}, self.element());
  eager.Record("AddBackward0", {self}, {result}, {}, PassOn());
  return result;
}

Tensor Add(Eager& eager, const Tensor& self, const Tensor& other) {
  const std::array<Tensor, 2> operands = {self, other};
  Tensor result = NewPointwise(eager, operands, PromotedElement(operands));
  eager.Record("AddBackward0", operands, {result}, {}, SameGradient());
  return result;
}

Tensor Mul(Eager& eager, const Tensor& self, const Tensor& other) {
  const std::array<Tensor, 2> operands = {self, other};
  Tensor result = NewPointwise(eager, operands, PromotedElement(operands));
  const Tensor none;
  eager.Record("MulBackward0", operands, {result},
               {{eager.Needs(other) ? self : none, 1u << 1},
                {eager.Needs(self) ? other : none, 1u << 0}},
               [](Backward& b) {
                 for (int input : {1, 0}) {
                   if (!b.Needs(input)) continue;
                   const std::array<Tensor, 2> factors = {b.gradient(), b.saved(1 - input)};
                   b.Give(input, NewPointwise(b.eager, factors, PromotedElement(factors)));
                 }
               });
  return result;
}

Dims ReducedShape(const Tensor& self, absl::Span<const int> axes, bool keep) {
  Dims shape;
  for (int axis = 0; axis < self.rank(); ++axis) {
    const bool reduced = axes.empty() || std::any_of(axes.begin(), axes.end(), [&](int a) {
                           return Axis(a, self.rank()) == axis;
                         });
    if (!reduced) shape.push_back(self.dim(axis));
    if (reduced && keep) shape.push_back(1);
  }
  return shape;
}

Tensor Mean(Eager& eager, const Tensor& self, absl::Span<const int> axes, bool keep) {
  Tensor result = eager.New(ReducedShape(self, axes, keep), self.element());
  eager.Record(axes.empty() ? "MeanBackward0" : "MeanBackward1", {self}, {result}, {},
               [](Backward& b) {
                 b.Give(0, b.eager.New(b.shape(0), b.gradient().element()));
               });
  return result;
}

Tensor Sum(Eager& eager, const Tensor& self, absl::Span<const int> axes, bool keep,
           ElementType element) {
  Tensor result = eager.New(ReducedShape(self, axes, keep), element);
  const Dims kept = ReducedShape(self, axes, true);
  eager.Record(axes.empty() ? "SumBackward0" : "SumBackward1", {self}, {result}, {},
               [kept](Backward& b) {
                 b.Give(0, Expand(b.eager, ViewAs(b.eager, b.gradient(), kept), b.shape(0)));
               });
  return result;
}

Tensor Softmax(Eager& eager, const Tensor& self, ElementType element, bool log) {
  if (element == ElementType::kUndefined) element = self.element();
  // Only float16 to float32 is a single kernel.
  const bool one_kernel = self.element() == ElementType::kFloat16 && element == ElementType::kFloat;
  const Tensor converted = one_kernel ? self : To(eager, self, element);
  const ElementType source = converted.element();
  Tensor result = eager.New(self.shape(), element);
  eager.Record(log ? "LogSoftmaxBackward0" : "SoftmaxBackward0", {converted}, {result}, {result},
               [source](Backward& b) { b.Give(0, b.eager.New(b.shape(0), source)); });
  return result;
}

Tensor Dropout(Eager& eager, const Tensor& self) {
  Tensor result = NewLike(eager, self, self.element());
  const Tensor mask = NewLike(eager, self, ElementType::kBool, "mask");
  eager.Record("NativeDropoutBackward0", {self}, {result}, {mask}, [](Backward& b) {
    b.Give(0, NewPointwise(b.eager, {b.gradient()}, b.gradient().element()));
  });
  return result;
}

}  // namespace footprint
