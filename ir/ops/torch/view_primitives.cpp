// Views. The gradient of a view is a view of the gradient where PyTorch has one: transposes, views
// and concatenations cost nothing, while a slice's gradient is a whole tensor of zeros around it.
#include <algorithm>
#include <utility>

#include "ir/ops/torch/primitives.h"

namespace footprint {
namespace {

Dims Without(const Dims& list, int axis) {
  Dims result = list;
  result.erase(result.begin() + axis);
  return result;
}

}  // namespace

BackwardFunction ReshapeGradient() {
  return [](Backward& b) { b.Give(0, Reshape(b.eager, b.gradient(), b.shape(0))); };
}

BackwardFunction FullGradient() {
  return [](Backward& b) { b.Give(0, b.eager.New(b.shape(0), b.gradient().element())); };
}

Tensor ViewAs(Eager& eager, const Tensor& self, const Dims& shape, absl::string_view node) {
  const std::optional<Dims> strides = ViewStrides(eager, self, shape);
  if (!strides) return Reshape(eager, self, shape);
  Tensor result = eager.View(self, shape, *strides);
  eager.Record(node, {self}, {result}, {}, ReshapeGradient());
  return result;
}

Tensor Reshape(Eager& eager, const Tensor& self, const Dims& shape) {
  if (ViewStrides(eager, self, shape)) return ViewAs(eager, self, shape);
  const Tensor copy = Clone(eager, self);
  Tensor result = eager.Alias(copy, shape, ContiguousStrides(eager.dims(), shape));
  eager.Record("UnsafeViewBackward0", {copy}, {result}, {}, ReshapeGradient());
  return result;
}

Tensor Transpose(Eager& eager, const Tensor& self, int64_t axis0, int64_t axis1) {
  const size_t a = static_cast<size_t>(Axis(axis0, self.rank()));
  const size_t b = static_cast<size_t>(Axis(axis1, self.rank()));
  Dims shape = self.shape();
  Dims strides = self.strides();
  std::swap(shape[a], shape[b]);
  std::swap(strides[a], strides[b]);
  Tensor result = eager.View(self, shape, strides);
  eager.Record("TransposeBackward0", {self}, {result}, {}, [a, b](Backward& backward) {
    backward.Give(0, Transpose(backward.eager, backward.gradient(), static_cast<int64_t>(a),
                               static_cast<int64_t>(b)));
  });
  return result;
}

Tensor TransposeMatrix(Eager& eager, const Tensor& self) {
  if (self.rank() < 2) return self;
  Tensor result = eager.View(self, {self.dim(1), self.dim(0)},
                             {self.strides()[1], self.strides()[0]});
  eager.Record("TBackward0", {self}, {result}, {},
               [](Backward& b) { b.Give(0, TransposeMatrix(b.eager, b.gradient())); });
  return result;
}

Tensor Permute(Eager& eager, const Tensor& self, absl::Span<const int> axes) {
  Dims shape;
  Dims strides;
  absl::InlinedVector<int, 6> inverse(axes.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t from = static_cast<size_t>(Axis(axes[i], self.rank()));
    shape.push_back(self.shape()[from]);
    strides.push_back(self.strides()[from]);
    inverse[from] = static_cast<int>(i);
  }
  Tensor result = eager.View(self, shape, strides);
  eager.Record("PermuteBackward0", {self}, {result}, {}, [inverse](Backward& b) {
    b.Give(0, Permute(b.eager, b.gradient(), inverse));
  });
  return result;
}

Tensor Expand(Eager& eager, const Tensor& self, const Dims& shape) {
  const size_t lead = shape.size() - self.shape().size();
  Dims strides(shape.size(), Dim(0));
  for (size_t i = 0; i < self.shape().size(); ++i) {
    const bool stretched = shape[lead + i] != self.shape()[i] && eager.Equal(self.shape()[i], 1) &&
                           !eager.Equal(shape[lead + i], 1);
    if (!stretched) strides[lead + i] = self.strides()[i];
  }
  Tensor result = eager.View(self, shape, strides);
  eager.Record("ExpandBackward0", {self}, {result}, {},
               [](Backward& b) { b.Give(0, SumTo(b.eager, b.gradient(), b.shape(0))); });
  return result;
}

Tensor SumTo(Eager& eager, const Tensor& self, const Dims& shape) {
  if (SameShape(eager, self.shape(), shape)) return self;
  if (self.shape().size() < shape.size()) return eager.New(shape, self.element());
  const size_t lead = self.shape().size() - shape.size();
  Dims kept(lead, Dim(1));
  kept.insert(kept.end(), shape.begin(), shape.end());
  const Tensor sum = eager.New(kept, self.element(), "sum to the operand's shape");
  return lead == 0 ? sum : eager.View(sum, shape, ContiguousStrides(eager.dims(), shape));
}

Tensor Unsqueeze(Eager& eager, const Tensor& self, int64_t axis) {
  const int at = Axis(axis, self.rank() + 1);
  Dims shape = self.shape();
  Dims strides = self.strides();
  const size_t i = static_cast<size_t>(at);
  const Dim stride = i < shape.size() ? eager.dims().Mul(shape[i], strides[i]) : Dim(1);
  shape.insert(shape.begin() + at, 1);
  strides.insert(strides.begin() + at, stride);
  Tensor result = eager.View(self, shape, strides);
  eager.Record("UnsqueezeBackward0", {self}, {result}, {}, [at](Backward& b) {
    const Tensor& gradient = b.gradient();
    b.Give(0, b.eager.View(gradient, Without(gradient.shape(), at),
                           Without(gradient.strides(), at)));
  });
  return result;
}

Tensor Squeeze(Eager& eager, const Tensor& self, absl::Span<const int> axes) {
  Dims shape;
  Dims strides;
  absl::InlinedVector<int, 4> gone;
  for (int axis = 0; axis < self.rank(); ++axis) {
    const bool named = std::any_of(axes.begin(), axes.end(), [&](int a) {
      return Axis(a, self.rank()) == axis;
    });
    const Dim size = self.dim(axis);
    if (named && eager.Equal(size, 1)) {
      gone.push_back(axis);
    } else {
      shape.push_back(size);
      strides.push_back(self.strides()[static_cast<size_t>(axis)]);
    }
  }
  Tensor result = eager.View(self, shape, strides);
  eager.Record("SqueezeBackward1", {self}, {result}, {}, [gone](Backward& b) {
    Tensor gradient = b.gradient();
    for (int axis : gone) gradient = Unsqueeze(b.eager, gradient, axis);
    b.Give(0, std::move(gradient));
  });
  return result;
}

Tensor Select(Eager& eager, const Tensor& self, int64_t axis) {
  const int at = Axis(axis, self.rank());
  Tensor result = eager.View(self, Without(self.shape(), at), Without(self.strides(), at));
  eager.Record("SelectBackward0", {self}, {result}, {}, FullGradient());
  return result;
}

Tensor Slice(Eager& eager, const Tensor& self, int64_t axis, Dim size, Dim step) {
  const size_t at = static_cast<size_t>(Axis(axis, self.rank()));
  Dims shape = self.shape();
  Dims strides = self.strides();
  shape[at] = size;
  if (!step.Is(1)) strides[at] = eager.dims().Mul(strides[at], step);
  Tensor result = eager.View(self, shape, strides);
  eager.Record("SliceBackward0", {self}, {result}, {}, FullGradient());
  return result;
}

std::vector<Tensor> Split(Eager& eager, const Tensor& self, const Dims& sizes, int64_t axis,
                          absl::string_view node) {
  const size_t at = static_cast<size_t>(Axis(axis, self.rank()));
  std::vector<Tensor> parts;
  for (const Dim& size : sizes) {
    Dims shape = self.shape();
    shape[at] = size;
    parts.push_back(eager.View(self, shape, self.strides()));
  }
  // Parts that no gradient reached count as zeros.
  const ElementType element = self.element();
  eager.Record(node, {self}, parts, {}, [sizes, at, element](Backward& b) {
    std::vector<Tensor> zeros;
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (b.gradient(static_cast<int>(i))) continue;
      Dims shape = b.shape(0);
      shape[at] = sizes[i];
      zeros.push_back(b.eager.New(shape, element, "zeros for a part without a gradient"));
    }
    b.Give(0, b.eager.New(b.shape(0), element));
  });
  return parts;
}

std::vector<Tensor> Unbind(Eager& eager, const Tensor& self, int64_t axis, int64_t count) {
  const int at = Axis(axis, self.rank());
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < count; ++i) {
    parts.push_back(eager.View(self, Without(self.shape(), at), Without(self.strides(), at)));
  }
  const ElementType element = self.element();
  eager.Record("UnbindBackward0", {self}, parts, {}, [at, count, element](Backward& b) {
    std::vector<Tensor> zeros;
    for (int i = 0; i < count; ++i) {
      if (b.gradient(i)) continue;
      zeros.push_back(b.eager.New(Without(b.shape(0), at), element,
                                  "zeros for a part without a gradient"));
    }
    b.Give(0, b.eager.New(b.shape(0), element));
  });
  return parts;
}

}  // namespace footprint
