// Results that share their operand's storage. Sizes come from shape inference where it knows them,
// so that -1 and symbolic sizes need no second derivation here.
#include <vector>

#include "ir/ops/torch/families.h"
#include "ir/ops/torch/primitives.h"

namespace footprint {
namespace {

// What inference found, else argument `index` with its -1 worked out.
Dims TargetShape(Eager& eager, const CallArguments& a, int index) {
  const TensorType* declared = a.declared();
  if (declared != nullptr && declared->AllDimsKnown()) return declared->dims;
  Dims shape = a.integers(index);
  Dim known = 1;
  int open = -1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i].Is(-1)) {
      open = static_cast<int>(i);
    } else {
      known = eager.dims().Mul(known, shape[i]);
    }
  }
  if (open >= 0) {
    shape[static_cast<size_t>(open)] = eager.dims().FloorDiv(a.tensor(0).element_count(), known);
  }
  return shape;
}

TensorList RunView(Eager& eager, const CallArguments& a) {
  return {ViewAs(eager, a.tensor(0), TargetShape(eager, a, 1))};
}
TensorList RunReshape(Eager& eager, const CallArguments& a) {
  return {Reshape(eager, a.tensor(0), TargetShape(eager, a, 1))};
}

// No view to autograd: the operand does not outlive it.
TensorList RunUnsafeView(Eager& eager, const CallArguments& a) {
  const Dims shape = TargetShape(eager, a, 1);
  const std::optional<Dims> strides = ViewStrides(eager, a.tensor(0), shape);
  if (!strides) return {Reshape(eager, a.tensor(0), shape)};
  Tensor result = eager.Alias(a.tensor(0), shape, *strides);
  eager.Record("UnsafeViewBackward0", {a.tensor(0)}, {result}, {}, ReshapeGradient());
  return {result};
}

TensorList RunFlatten(Eager& eager, const CallArguments& a) {
  const Tensor& self = a.tensor(0);
  if (self.rank() == 0) return {Reshape(eager, self, {Dim(1)})};
  const int first = Axis(a.constant(1, 0), self.rank());
  const int last = Axis(a.constant(2, -1), self.rank());
  if (first >= last) return {self};
  Dims shape(self.shape().begin(), self.shape().begin() + first);
  Dim merged = 1;
  for (int axis = first; axis <= last; ++axis) merged = eager.dims().Mul(merged, self.dim(axis));
  shape.push_back(merged);
  shape.insert(shape.end(), self.shape().begin() + last + 1, self.shape().end());
  return {Reshape(eager, self, shape)};
}

TensorList RunUnflatten(Eager& eager, const CallArguments& a) {
  return {ViewAs(eager, a.tensor(0), TargetShape(eager, a, 2))};
}
TensorList RunViewAs(Eager& eager, const CallArguments& a) {
  return {ViewAs(eager, a.tensor(0), a.tensor(1).shape())};
}
TensorList RunTranspose(Eager& eager, const CallArguments& a) {
  if (a.tensor(0).rank() < 2) return {a.tensor(0)};
  return {Transpose(eager, a.tensor(0), a.constant(1), a.constant(2))};
}
TensorList RunT(Eager& eager, const CallArguments& a) {
  return {TransposeMatrix(eager, a.tensor(0))};
}

TensorList RunPermute(Eager& eager, const CallArguments& a) {
  absl::InlinedVector<int, 6> axes;
  for (const Dim& axis : a.integers(1)) axes.push_back(static_cast<int>(axis.value()));
  if (axes.size() != a.tensor(0).shape().size()) return {};
  return {Permute(eager, a.tensor(0), axes)};
}

// movedim(self, source, destination)
TensorList RunMovedim(Eager& eager, const CallArguments& a) {
  const Tensor& self = a.tensor(0);
  const Dims source = a.integers(1);
  const Dims destination = a.integers(2);
  std::vector<int> axes(static_cast<size_t>(self.rank()), -1);
  std::vector<bool> moved(axes.size(), false);
  for (size_t i = 0; i < source.size() && i < destination.size(); ++i) {
    const int from = Axis(source[i].value(), self.rank());
    axes[static_cast<size_t>(Axis(destination[i].value(), self.rank()))] = from;
    moved[static_cast<size_t>(from)] = true;
  }
  int next = 0;
  for (int& axis : axes) {
    if (axis >= 0) continue;
    while (moved[static_cast<size_t>(next)]) ++next;
    axis = next++;
  }
  return {Permute(eager, self, axes)};
}

TensorList RunExpand(Eager& eager, const CallArguments& a) {
  const Tensor& self = a.tensor(0);
  const TensorType* declared = a.declared();
  Dims shape = declared != nullptr && declared->AllDimsKnown() ? declared->dims : a.integers(1);
  if (shape.size() < self.shape().size()) return {};
  const size_t lead = shape.size() - self.shape().size();
  for (size_t i = lead; i < shape.size(); ++i) {
    if (shape[i].Is(-1)) shape[i] = self.shape()[i - lead];
  }
  return {Expand(eager, self, shape)};
}
TensorList RunExpandAs(Eager& eager, const CallArguments& a) {
  if (a.tensor(1).rank() < a.tensor(0).rank()) return {};
  return {Expand(eager, a.tensor(0), a.tensor(1).shape())};
}

TensorList RunUnsqueeze(Eager& eager, const CallArguments& a) {
  return {Unsqueeze(eager, a.tensor(0), a.constant(1))};
}

TensorList RunSqueeze(Eager& eager, const CallArguments& a) {
  std::vector<int> axes;
  for (const Dim& axis : a.integers(1)) axes.push_back(static_cast<int>(axis.value()));
  if (!a.Has(1)) {
    for (int axis = 0; axis < a.tensor(0).rank(); ++axis) axes.push_back(axis);
  }
  return {Squeeze(eager, a.tensor(0), axes)};
}

// From `start` up to `end`, both counted from the end where negative, clamped to the dimension.
Dim SliceSize(Eager& eager, const CallArguments& a, int axis) {
  const TensorType* declared = a.declared();
  if (declared != nullptr && declared->rank() > axis) {
    const Dim size = declared->dims[static_cast<size_t>(axis)];
    if (!size.is_unknown()) return size;
  }
  DimTable& dims = eager.dims();
  const Dim size = a.tensor(0).dim(axis);
  const auto place = [&](Dim at) {
    if (at.is_constant() && at.value() < 0) at = dims.Max(dims.Add(at, size), 0);
    return dims.Min(at, size);
  };
  const Dim start = a.Has(2) ? place(a.integer(2)) : Dim(0);
  const Dim end = a.Has(3) ? place(a.integer(3)) : size;
  return dims.CeilDiv(dims.Max(dims.Sub(end, start), 0), a.integer(4, 1));
}

TensorList RunSlice(Eager& eager, const CallArguments& a) {
  if (a.tensor(0).rank() == 0) return {};
  const int axis = Axis(a.constant(1), a.tensor(0).rank());
  return {Slice(eager, a.tensor(0), axis, SliceSize(eager, a, axis), a.integer(4, 1))};
}
TensorList RunNarrow(Eager& eager, const CallArguments& a) {
  if (a.tensor(0).rank() == 0) return {};
  return {Slice(eager, a.tensor(0), a.constant(1), a.integer(3))};
}
TensorList RunSelect(Eager& eager, const CallArguments& a) {
  if (a.tensor(0).rank() == 0) return {};
  return {Select(eager, a.tensor(0), a.constant(1))};
}

TensorList AsList(std::vector<Tensor> parts) { return {parts.begin(), parts.end()}; }

// Parts of `size` along the axis, the last one what is left.
TensorList EqualParts(Eager& eager, const CallArguments& a, int axis, Dim size) {
  DimTable& dims = eager.dims();
  Dims sizes;
  Dim left = a.tensor(0).dim(axis);
  for (int i = 0; i < a.result_count(); ++i) {
    const TensorType* declared = a.declared(i);
    Dim part = declared != nullptr && declared->rank() > axis
                   ? declared->dims[static_cast<size_t>(axis)]
                   : Dim();
    if (part.is_unknown()) part = i + 1 < a.result_count() ? size : left;
    sizes.push_back(part);
    left = dims.Sub(left, part);
  }
  return AsList(Split(eager, a.tensor(0), sizes, axis));
}

TensorList RunSplit(Eager& eager, const CallArguments& a) {
  if (a.tensor(0).rank() == 0) return {};
  return EqualParts(eager, a, Axis(a.constant(2), a.tensor(0).rank()), a.integer(1));
}
TensorList RunChunk(Eager& eager, const CallArguments& a) {
  if (a.tensor(0).rank() == 0) return {};
  const int axis = Axis(a.constant(2), a.tensor(0).rank());
  return EqualParts(eager, a, axis, eager.dims().CeilDiv(a.tensor(0).dim(axis), a.integer(1)));
}
TensorList RunSplitWithSizes(Eager& eager, const CallArguments& a) {
  if (a.tensor(0).rank() == 0) return {};
  return AsList(Split(eager, a.tensor(0), a.integers(1), a.constant(2),
                      "SplitWithSizesBackward0"));
}
TensorList RunUnbind(Eager& eager, const CallArguments& a) {
  if (a.tensor(0).rank() == 0) return {};
  return AsList(Unbind(eager, a.tensor(0), a.constant(1), a.result_count()));
}

// Views with strides of their own; their gradient is a full tensor of zeros and what was seen.
Tensor Strided(Eager& eager, const Tensor& self, const Dims& shape, const Dims& strides,
               absl::string_view node) {
  Tensor result = eager.View(self, shape, strides);
  eager.Record(node, {self}, {result}, {}, FullGradient());
  return result;
}

// diagonal(self, offset, dim1, dim2)
TensorList RunDiagonal(Eager& eager, const CallArguments& a) {
  if (a.tensor(0).rank() == 0) return {};
  const Tensor& self = a.tensor(0);
  const int axis1 = Axis(a.constant(2, 0), self.rank());
  const int axis2 = Axis(a.constant(3, 1), self.rank());
  Dims shape;
  Dims strides;
  for (int axis = 0; axis < self.rank(); ++axis) {
    if (axis == axis1 || axis == axis2) continue;
    shape.push_back(self.dim(axis));
    strides.push_back(self.strides()[static_cast<size_t>(axis)]);
  }
  const TensorType* declared = a.declared();
  shape.push_back(declared != nullptr && declared->rank() > 0
                      ? declared->dims.back()
                      : eager.dims().Min(self.dim(axis1), self.dim(axis2)));
  strides.push_back(eager.dims().Add(self.strides()[static_cast<size_t>(axis1)],
                                     self.strides()[static_cast<size_t>(axis2)]));
  return {Strided(eager, self, shape, strides, "DiagonalBackward0")};
}

// unfold(self, dimension, size, step): windows along one axis.
TensorList RunUnfold(Eager& eager, const CallArguments& a) {
  if (a.tensor(0).rank() == 0) return {};
  const Tensor& self = a.tensor(0);
  const size_t axis = static_cast<size_t>(Axis(a.constant(1), self.rank()));
  DimTable& dims = eager.dims();
  Dims shape = self.shape();
  Dims strides = self.strides();
  const Dim windows =
      dims.Add(dims.FloorDiv(dims.Sub(shape[axis], a.integer(2)), a.integer(3)), 1);
  shape.push_back(a.integer(2));
  strides.push_back(strides[axis]);
  shape[axis] = windows;
  strides[axis] = dims.Mul(strides[axis], a.integer(3));
  return {Strided(eager, self, shape, strides, "UnfoldBackward0")};
}

TensorList RunAsStrided(Eager& eager, const CallArguments& a) {
  return {Strided(eager, a.tensor(0), a.integers(1), a.integers(2), "AsStridedBackward0")};
}

TensorList RunAlias(Eager& eager, const CallArguments& a) {
  const Tensor& self = a.tensor(0);
  Tensor result = eager.View(self, self.shape(), self.strides());
  eager.Record("AliasBackward0", {self}, {result}, {},
               [](Backward& b) { b.Give(0, b.gradient()); });
  return {result};
}
TensorList RunDetach(Eager& eager, const CallArguments& a) {
  return {eager.Alias(a.tensor(0), a.tensor(0).shape(), a.tensor(0).strides())};
}

}  // namespace

absl::Span<const TorchOp> ViewTorchOps() {
  static const std::vector<TorchOp> rows = {
      {.name = "aten::view", .arguments = "self, size", .run = RunView},
      {.name = "aten::_unsafe_view", .arguments = "self, size", .run = RunUnsafeView},
      {.name = "aten::reshape", .arguments = "self, shape", .run = RunReshape},
      {.name = "aten::flatten", .arguments = "self, start_dim, end_dim", .run = RunFlatten},
      {.name = "aten::unflatten", .arguments = "self, dim, sizes", .run = RunUnflatten},
      {.name = "aten::view_as", .arguments = "self, other", .operands = 2, .run = RunViewAs},
      {.name = "aten::transpose", .arguments = "self, dim0, dim1", .run = RunTranspose},
      {.name = "aten::t", .arguments = "self", .run = RunT},
      {.name = "aten::permute", .arguments = "self, dims", .run = RunPermute},
      {.name = "aten::movedim", .arguments = "self, source, destination", .run = RunMovedim},
      {.name = "aten::expand", .arguments = "self, size, implicit", .run = RunExpand},
      {.name = "aten::broadcast_to", .arguments = "self, size", .run = RunExpand},
      {.name = "aten::expand_as", .arguments = "self, other", .operands = 2, .run = RunExpandAs},
      {.name = "aten::unsqueeze", .arguments = "self, dim", .run = RunUnsqueeze},
      {.name = "aten::squeeze", .arguments = "self, dim", .run = RunSqueeze},
      {.name = "aten::slice", .arguments = "self, dim, start, end, step", .run = RunSlice},
      {.name = "aten::narrow", .arguments = "self, dim, start, length", .run = RunNarrow},
      {.name = "aten::select", .arguments = "self, dim, index", .run = RunSelect},
      {.name = "aten::split", .arguments = "self, split_size, dim", .run = RunSplit},
      {.name = "aten::chunk", .arguments = "self, chunks, dim", .run = RunChunk},
      {.name = "aten::split_with_sizes", .arguments = "self, split_sizes, dim",
       .run = RunSplitWithSizes},
      {.name = "aten::unbind", .arguments = "self, dim", .run = RunUnbind},
      {.name = "aten::diagonal", .arguments = "self, offset, dim1, dim2", .run = RunDiagonal},
      {.name = "aten::unfold", .arguments = "self, dimension, size, step", .run = RunUnfold},
      {.name = "aten::as_strided", .arguments = "self, size, stride, storage_offset",
       .run = RunAsStrided},
      {.name = "aten::alias", .arguments = "self", .run = RunAlias},
      {.name = "aten::detach", .arguments = "self", .run = RunDetach},
  };
  return rows;
}

}  // namespace footprint
