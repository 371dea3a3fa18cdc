// Matrix products. What PyTorch's convenience functions do before they reach a kernel decides what
// is copied and what is saved: linear and matmul fold leading dimensions into rows, matmul merges
// batch dimensions, and a fold that no view can express is a copy, which is then what autograd
// keeps.
#include <array>
#include <utility>

#include "ir/ops/torch/primitives.h"

namespace footprint {
namespace {

// A matrix stored column after column: the transpose of a contiguous one.
bool IsColumnMajor(Eager& eager, const Tensor& matrix) {
  return eager.Equal(matrix.strides()[0], 1) && eager.Equal(matrix.strides()[1], matrix.dim(0));
}

// The gradient of a matrix takes the layout of the matrix: computed transposed if that is column
// major.
Tensor NewMatrixGradient(Eager& eager, const Dims& shape, bool column_major, ElementType element) {
  if (!column_major) return eager.New(shape, element);
  const Tensor transposed = eager.New({shape[1], shape[0]}, element);
  return TransposeMatrix(eager, transposed);
}

Tensor IfNeeded(bool needed, const Tensor& tensor) { return needed ? tensor : Tensor(); }

Dims LeadingDims(const Tensor& tensor, int trailing) {
  return Dims(tensor.shape().begin(), tensor.shape().end() - trailing);
}

Dims Append(Dims list, std::initializer_list<Dim> more) {
  list.insert(list.end(), more.begin(), more.end());
  return list;
}

// A matrix-shaped operand of rank >= 3 times a vector or matrix is one product of its rows, unless
// that needs a copy and no gradient of the small operand would profit.
bool ShouldFold(Eager& eager, const Tensor& large, const Tensor& small, bool large_first) {
  if (large.rank() < 3 || small.rank() > 2) return false;
  if (small.requires_grad()) return true;
  if (!large_first && small.rank() == 2) return false;
  for (int axis = 0; axis + 2 < large.rank(); ++axis) {
    const size_t i = static_cast<size_t>(axis);
    const Dim merged = eager.dims().Mul(large.strides()[i + 1], large.dim(axis + 1));
    if (!eager.Equal(large.strides()[i], merged)) return false;
  }
  return true;
}

Tensor FoldedMatmul(Eager& eager, const Tensor& large, const Tensor& small) {
  const Dims rows = LeadingDims(large, 1);
  const Tensor matrix =
      Reshape(eager, large, {eager.dims().Product(rows), large.shape().back()});
  const bool vector = small.rank() == 1;
  const Tensor product = Mm(eager, matrix, vector ? Unsqueeze(eager, small, 1) : small);
  const Dims shape = vector ? rows : Append(rows, {small.dim(1)});
  Tensor result = eager.Alias(product, shape, ContiguousStrides(eager.dims(), shape));
  eager.Record("UnsafeViewBackward0", {product}, {result}, {}, ReshapeGradient());
  return result;
}

Tensor BatchedMatmul(Eager& eager, const Tensor& self, const Tensor& other) {
  Dims batch = LeadingDims(self, 2);
  BroadcastInto(eager, batch, LeadingDims(other, 2));
  const Dim count = eager.dims().Product(batch);
  const auto merged = [&](const Tensor& operand) {
    const Dim rows = operand.dim(operand.rank() - 2);
    const Dim columns = operand.shape().back();
    const Tensor expanded = Expand(eager, operand, Append(batch, {rows, columns}));
    return Reshape(eager, expanded, {count, rows, columns});
  };
  const Tensor a = merged(self);
  const Tensor b = merged(other);
  const Tensor product = Bmm(eager, a, b);
  const Dims shape = Append(batch, {self.dim(self.rank() - 2), other.shape().back()});
  Tensor result = eager.Alias(product, shape, ContiguousStrides(eager.dims(), shape));
  eager.Record("UnsafeViewBackward0", {product}, {result}, {}, ReshapeGradient());
  return result;
}

}  // namespace

Tensor Mm(Eager& eager, const Tensor& self, const Tensor& mat2) {
  Tensor result = eager.New({self.dim(0), mat2.dim(1)}, self.element());
  const bool self_columns = IsColumnMajor(eager, self);
  const bool mat2_columns = IsColumnMajor(eager, mat2);
  eager.Record("MmBackward0", {self, mat2}, {result},
               {{IfNeeded(eager.Needs(mat2), self), 1u << 1},
                {IfNeeded(eager.Needs(self), mat2), 1u << 0}},
               [self_columns, mat2_columns](Backward& b) {
                 const ElementType element = b.gradient().element();
                 for (int input : {1, 0}) {
                   if (!b.Needs(input)) continue;
                   b.Give(input, NewMatrixGradient(b.eager, b.shape(input),
                                                   input == 1 ? mat2_columns : self_columns,
                                                   element));
                 }
               });
  return result;
}

Tensor Addmm(Eager& eager, const Tensor& bias, const Tensor& mat1, const Tensor& mat2) {
  Tensor result = eager.New({mat1.dim(0), mat2.dim(1)}, mat1.element());
  const bool mat1_columns = IsColumnMajor(eager, mat1);
  const bool mat2_columns = IsColumnMajor(eager, mat2);
  eager.Record("AddmmBackward0", {bias, mat1, mat2}, {result},
               {{IfNeeded(eager.Needs(mat2), mat1), 1u << 2},
                {IfNeeded(eager.Needs(mat1), mat2), 1u << 1}},
               [mat1_columns, mat2_columns](Backward& b) {
                 const ElementType element = b.gradient().element();
                 for (int input : {1, 2}) {
                   if (!b.Needs(input)) continue;
                   b.Give(input, NewMatrixGradient(b.eager, b.shape(input),
                                                   input == 2 ? mat2_columns : mat1_columns,
                                                   element));
                 }
                 b.Give(0, b.gradient());
               });
  return result;
}

Tensor Bmm(Eager& eager, const Tensor& self, const Tensor& mat2) {
  Tensor result = eager.New({self.dim(0), self.dim(1), mat2.dim(2)}, self.element());
  eager.Record("BmmBackward0", {self, mat2}, {result},
               {{IfNeeded(eager.Needs(mat2), self), 1u << 1},
                {IfNeeded(eager.Needs(self), mat2), 1u << 0}},
               [](Backward& b) {
                 for (int input : {1, 0}) {
                   if (!b.Needs(input)) continue;
                   b.Give(input, b.eager.New(b.shape(input), b.gradient().element()));
                 }
               });
  return result;
}

Tensor Matmul(Eager& eager, const Tensor& self, const Tensor& other) {
  if (self.rank() == 2 && other.rank() == 2) return Mm(eager, self, other);
  if (self.rank() == 1 && other.rank() == 1) {
    const Tensor product = Mm(eager, Unsqueeze(eager, self, 0), Unsqueeze(eager, other, 1));
    return Squeeze(eager, product, {0, 1});
  }
  if (self.rank() == 1 && other.rank() == 2) {
    return Squeeze(eager, Mm(eager, Unsqueeze(eager, self, 0), other), {0});
  }
  if (self.rank() == 2 && other.rank() == 1) {
    return Squeeze(eager, Mm(eager, self, Unsqueeze(eager, other, 1)), {1});
  }
  if (self.rank() >= other.rank()) {
    if (ShouldFold(eager, self, other, true)) return FoldedMatmul(eager, self, other);
  } else {
    const Tensor large = Transpose(eager, other, -1, -2);
    const Tensor small = TransposeMatrix(eager, self);
    if (ShouldFold(eager, large, small, false)) {
      Tensor product = FoldedMatmul(eager, large, small);
      if (self.rank() == 1) return product;
      return Contiguous(eager, Transpose(eager, product, -1, -2));
    }
  }
  if (other.rank() == 1) {
    return Squeeze(eager, BatchedMatmul(eager, self, Unsqueeze(eager, other, 1)), {-1});
  }
  if (self.rank() == 1) {
    return Squeeze(eager, BatchedMatmul(eager, Unsqueeze(eager, self, 0), other), {-2});
  }
  return BatchedMatmul(eager, self, other);
}

Tensor Linear(Eager& eager, const Tensor& input, const Tensor& weight, const Tensor& bias) {
  if (bias && input.rank() == 2) return Addmm(eager, bias, input, TransposeMatrix(eager, weight));
  if (bias && input.rank() >= 3 && IsContiguous(eager, input)) {
    const Dims rows = LeadingDims(input, 1);
    const Tensor matrix =
        Reshape(eager, input, {eager.dims().Product(rows), input.shape().back()});
    const Tensor product = Addmm(eager, bias, matrix, TransposeMatrix(eager, weight));
    return ViewAs(eager, product, Append(rows, {weight.dim(0)}));
  }
  const Tensor product = Matmul(eager, input, TransposeMatrix(eager, weight));
  return bias ? Add(eager, product, bias) : product;
}

}  // namespace footprint
