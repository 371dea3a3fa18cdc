// The operators that others are made of, as functions. Each records its node like the row it
// serves; inside a gradient function nothing requires a gradient, so nothing is recorded.
#ifndef FOOTPRINT_IR_OPS_TORCH_PRIMITIVES_H_
#define FOOTPRINT_IR_OPS_TORCH_PRIMITIVES_H_

#include <vector>

#include "absl/types/span.h"
#include "ir/eager.h"
#include "ir/ops/torch/strides.h"

namespace footprint {

// The gradient functions of views: the incoming gradient seen with the input's shape, and a new
// contiguous tensor of the input's shape.
BackwardFunction ReshapeGradient();
BackwardFunction FullGradient();

// Views.
Tensor ViewAs(Eager& eager, const Tensor& self, const Dims& shape,
              absl::string_view node = "ViewBackward0");  // strides must allow it; else as Reshape
Tensor Reshape(Eager& eager, const Tensor& self, const Dims& shape);
Tensor Transpose(Eager& eager, const Tensor& self, int64_t axis0, int64_t axis1);
Tensor TransposeMatrix(Eager& eager, const Tensor& self);  // t()
Tensor Permute(Eager& eager, const Tensor& self, absl::Span<const int> axes);
Tensor Expand(Eager& eager, const Tensor& self, const Dims& shape);
// The gradient of Expand: summed over what was stretched. The same tensor if nothing was.
Tensor SumTo(Eager& eager, const Tensor& self, const Dims& shape);
Tensor Unsqueeze(Eager& eager, const Tensor& self, int64_t axis);
Tensor Squeeze(Eager& eager, const Tensor& self, absl::Span<const int> axes);
Tensor Select(Eager& eager, const Tensor& self, int64_t axis);
// `size` elements along `axis`, every `step`th.
Tensor Slice(Eager& eager, const Tensor& self, int64_t axis, Dim size, Dim step = 1);
std::vector<Tensor> Split(Eager& eager, const Tensor& self, const Dims& sizes, int64_t axis,
                          absl::string_view node = "SplitBackward0");
std::vector<Tensor> Unbind(Eager& eager, const Tensor& self, int64_t axis, int64_t count);

// Copies.
Tensor Clone(Eager& eager, const Tensor& self, bool contiguous = true);
// These two return the same tensor if it already is what is asked for.
Tensor Contiguous(Eager& eager, const Tensor& self);
Tensor To(Eager& eager, const Tensor& self, ElementType element);
Tensor Cat(Eager& eager, absl::Span<const Tensor> tensors, int64_t axis);

// Arithmetic. Scale: by a number; the gradient is scaled too. Shift: a number is added.
Tensor Scale(Eager& eager, const Tensor& self, absl::string_view node = "MulBackward0");
Tensor Shift(Eager& eager, const Tensor& self);
Tensor Add(Eager& eager, const Tensor& self, const Tensor& other);
Tensor Mul(Eager& eager, const Tensor& self, const Tensor& other);
Tensor Div(Eager& eager, const Tensor& self, const Tensor& other);
Tensor PowNumber(Eager& eager, const Tensor& self, double exponent);
// A new tensor as TensorIterator lays it out.
Tensor NewPointwise(Eager& eager, absl::Span<const Tensor> operands, ElementType element,
                    absl::string_view what = {});

// Reductions and what follows scores.
Dims ReducedShape(const Tensor& self, absl::Span<const int> axes, bool keep);
Tensor Mean(Eager& eager, const Tensor& self, absl::Span<const int> axes, bool keep);
Tensor Sum(Eager& eager, const Tensor& self, absl::Span<const int> axes, bool keep,
           ElementType element);
Tensor VectorNorm(Eager& eager, const Tensor& self, absl::Span<const int> axes, bool keep,
                  ElementType element, double order = 2);
// `element` undefined: that of `self`.
Tensor Softmax(Eager& eager, const Tensor& self, ElementType element, bool log = false);
Tensor Dropout(Eager& eager, const Tensor& self);

// What is declared for the results of a call, and gradients of their own size for `inputs`.
TensorList DeclaredResults(Eager& eager, const CallArguments& arguments,
                           absl::Span<const Tensor> inputs, absl::Span<const SavedTensor> saved);

// Norms. Statistics of rows are float32 tensors with the normalized axes kept as 1.
Tensor BatchNorm(Eager& eager, const Tensor& input, const Tensor& weight, const Tensor& bias,
                 const Tensor& running_mean, const Tensor& running_var, bool training);

// Matrix products. An empty bias is none.
Tensor Mm(Eager& eager, const Tensor& self, const Tensor& mat2);
Tensor Addmm(Eager& eager, const Tensor& bias, const Tensor& mat1, const Tensor& mat2);
Tensor Bmm(Eager& eager, const Tensor& self, const Tensor& mat2);
Tensor Matmul(Eager& eager, const Tensor& self, const Tensor& other);
Tensor Linear(Eager& eager, const Tensor& input, const Tensor& weight, const Tensor& bias);

}  // namespace footprint

#endif  // FOOTPRINT_IR_OPS_TORCH_PRIMITIVES_H_
