// Reductions, scans, sorting, softmax. The gradient of a sum is the incoming gradient expanded: a
// view that costs nothing until something reads it. A mean divides it, which makes a full tensor.
#include <vector>

#include "ir/ops/torch/families.h"
#include "ir/ops/torch/primitives.h"

namespace footprint {
namespace {

using AxisList = absl::InlinedVector<int, 6>;

// The axes in argument `index`; empty means all.
AxisList Axes(const CallArguments& a, int index) {
  AxisList axes;
  for (const Dim& axis : a.integers(index)) {
    if (axis.is_constant()) axes.push_back(static_cast<int>(axis.value()));
  }
  return axes;
}

// The type asked for by the call, else by autocast, else that of the operand (integers are summed
// as int64).
ElementType ResultType(const CallArguments& a, int index, bool accumulates = true) {
  const ElementType asked = a.element(index, a.autocast_result);
  if (asked != ElementType::kUndefined) return asked;
  const ElementType own = a.tensor(0).element();
  return accumulates && !IsFloatingPoint(own) ? ElementType::kInt64 : own;
}

TensorList RunSum(Eager& eager, const CallArguments& a) {
  return {Sum(eager, a.tensor(0), {}, false, ResultType(a, 1))};
}
TensorList RunSumDim(Eager& eager, const CallArguments& a) {
  return {Sum(eager, a.tensor(0), Axes(a, 1), a.boolean(2), ResultType(a, 3))};
}
TensorList RunMean(Eager& eager, const CallArguments& a) {
  return {Mean(eager, To(eager, a.tensor(0), ResultType(a, 1, false)), {}, false)};
}
TensorList RunMeanDim(Eager& eager, const CallArguments& a) {
  return {Mean(eager, To(eager, a.tensor(0), ResultType(a, 3, false)), Axes(a, 1), a.boolean(2))};
}

// What the formula of a gradient makes on the way, each a number of tensors.
struct Temporaries {
  int masks = 0;   // bools like the operand
  int counts = 0;  // int64 like the result
  int flags = 0;   // bools like the result
  int small = 0;   // like the result
  int full = 0;    // like the operand
};

// A reduction that saves its operand, and its result if the gradient's formula reads that.
TensorList Reduce(Eager& eager, const Tensor& self, const Dims& shape, ElementType element,
                  absl::string_view node, bool saves_result, Temporaries temporaries) {
  Tensor result = eager.New(shape, element);
  eager.Record(node, {self}, {result}, {self, saves_result ? result : Tensor()},
               [temporaries](Backward& b) {
                 std::vector<Tensor> made;
                 const auto make = [&](int count, const Dims& like, ElementType type) {
                   for (int i = 0; i < count; ++i) {
                     made.push_back(b.eager.New(like, type, "temporary"));
                   }
                 };
                 make(temporaries.masks, b.shape(0), ElementType::kBool);
                 make(temporaries.counts, b.gradient().shape(), ElementType::kInt64);
                 make(temporaries.flags, b.gradient().shape(), ElementType::kBool);
                 make(temporaries.small, b.gradient().shape(), b.gradient().element());
                 make(temporaries.full, b.shape(0), b.element(0));
                 b.Give(0, b.eager.New(b.shape(0), b.element(0)));
               });
  return {result};
}

// grad / mask.sum() * mask, where mask = (self == result)
constexpr Temporaries kExtremum = {.masks = 1, .counts = 1, .small = 1};
// Of all elements: where both are NaN counts too.
constexpr Temporaries kExtremumOfAll = {.masks = 3, .counts = 1, .small = 2};
// (2 / (n - 1) * grad) * (self - self.mean()); of the root, grad / (2 * result) before that.
constexpr Temporaries kVariance = {.small = 2, .full = 1};
constexpr Temporaries kDeviation = {.small = 3, .full = 1};
// flip(cumsum(flip(grad * result))) / self, where no element is zero
constexpr Temporaries kCumulativeProduct = {.masks = 1, .full = 3};

TensorList RunAmax(Eager& eager, const CallArguments& a) {
  const Tensor& self = a.tensor(0);
  return Reduce(eager, self, ReducedShape(self, Axes(a, 1), a.boolean(2)), self.element(),
                "AmaxBackward0", true, kExtremum);
}
TensorList RunMaxOfAll(Eager& eager, const CallArguments& a) {
  return Reduce(eager, a.tensor(0), {}, a.tensor(0).element(), "MaxBackward1", true,
                kExtremumOfAll);
}

// self, dim, correction, keepdim
TensorList RunVar(Eager& eager, const CallArguments& a) {
  const Tensor& self = a.tensor(0);
  return Reduce(eager, self, ReducedShape(self, Axes(a, 1), a.boolean(3)), self.element(),
                "VarBackward0", false, kVariance);
}
TensorList RunStd(Eager& eager, const CallArguments& a) {
  const Tensor& self = a.tensor(0);
  return Reduce(eager, self, ReducedShape(self, Axes(a, 1), a.boolean(3)), self.element(),
                "StdBackward0", true, kDeviation);
}
TensorList RunVarMean(Eager& eager, const CallArguments& a) {
  const Tensor& self = a.tensor(0);
  const Dims shape = ReducedShape(self, Axes(a, 1), a.boolean(3));
  const std::vector<Tensor> results = {eager.New(shape, self.element()),
                                       eager.New(shape, self.element())};
  eager.Record("VarMeanBackward0", {self}, results, {self}, [shape](Backward& b) {
    const Tensor scaled = b.eager.New(shape, b.element(0), "temporary");
    const Tensor mean = b.eager.New(shape, b.element(0), "temporary");
    const Tensor centered = b.eager.New(b.shape(0), b.element(0), "temporary");
    b.Give(0, b.eager.New(b.shape(0), b.element(0)));
  });
  return {results[0], results[1]};
}
TensorList RunLogsumexp(Eager& eager, const CallArguments& a) {
  const Tensor& self = a.tensor(0);
  return Reduce(eager, self, ReducedShape(self, Axes(a, 1), a.boolean(2)), self.element(),
                "LogsumexpBackward0", true, {.full = 2});
}
// norm(self, p, dim, keepdim) is a vector norm.
TensorList RunVectorNorm(Eager& eager, const CallArguments& a) {
  return {VectorNorm(eager, a.tensor(0), Axes(a, 2), a.boolean(3), ResultType(a, 4, false),
                     a.number(1, 2))};
}
TensorList RunProd(Eager& eager, const CallArguments& a) {
  return Reduce(eager, a.tensor(0), {}, ResultType(a, 1), "ProdBackward0", true, {.full = 1});
}
TensorList RunProdDim(Eager& eager, const CallArguments& a) {
  const Tensor& self = a.tensor(0);
  return Reduce(eager, self, ReducedShape(self, Axes(a, 1), a.boolean(2)), ResultType(a, 3),
                "ProdBackward1", true, {.full = 5});
}

// Values and their places; the gradient scatters into zeros.
TensorList Selected(Eager& eager, const Tensor& self, const Dims& shape, absl::string_view node) {
  const Tensor values = eager.New(shape, self.element());
  const Tensor indices = eager.New(shape, ElementType::kInt64, "indices");
  eager.Record(node, {self}, {values}, {indices}, [](Backward& b) {
    const Tensor zeros = b.eager.New(b.shape(0), b.gradient().element(), "temporary");
    b.Give(0, b.eager.New(b.shape(0), b.gradient().element()));
  });
  return {values, indices};
}

TensorList RunMaxDim(Eager& eager, const CallArguments& a) {
  const Tensor& self = a.tensor(0);
  return Selected(eager, self, ReducedShape(self, Axes(a, 1), a.boolean(2)), "MaxBackward0");
}
TensorList RunTopk(Eager& eager, const CallArguments& a) {
  const Tensor& self = a.tensor(0);
  Dims shape = self.shape();
  if (!shape.empty()) {
    shape[static_cast<size_t>(Axis(a.constant(2, -1), self.rank()))] = a.integer(1);
  }
  return Selected(eager, self, shape, "TopkBackward0");
}
TensorList RunSort(Eager& eager, const CallArguments& a) {
  return Selected(eager, a.tensor(0), a.tensor(0).shape(), "SortBackward0");
}

// flip(cumsum(flip(grad)))
TensorList RunCumsum(Eager& eager, const CallArguments& a) {
  const Tensor& self = a.tensor(0);
  Tensor result = eager.New(self.shape(), ResultType(a, 2));
  eager.Record("CumsumBackward0", {self}, {result}, {}, [](Backward& b) {
    const Tensor g = To(b.eager, b.gradient(), b.element(0));
    const Tensor flipped = b.eager.New(g.shape(), g.element(), "temporary");
    const Tensor summed = b.eager.New(g.shape(), g.element(), "temporary");
    b.Give(0, b.eager.New(g.shape(), g.element()));
  });
  return {result};
}
TensorList RunCumprod(Eager& eager, const CallArguments& a) {
  return Reduce(eager, a.tensor(0), a.tensor(0).shape(), ResultType(a, 2), "CumprodBackward0", true,
                kCumulativeProduct);
}

TensorList RunSoftmax(Eager& eager, const CallArguments& a) {
  return {Softmax(eager, a.tensor(0), a.element(2, a.autocast_result))};
}
TensorList RunLogSoftmax(Eager& eager, const CallArguments& a) {
  return {Softmax(eager, a.tensor(0), a.element(2, a.autocast_result), /*log=*/true)};
}

// self, dim, keepdim -> places or truth; no gradient.
TensorList Index(Eager& eager, const CallArguments& a, ElementType element) {
  const Tensor& self = a.tensor(0);
  return {eager.New(ReducedShape(self, Axes(a, 1), a.boolean(2)), element)};
}
TensorList RunArgmax(Eager& e, const CallArguments& a) { return Index(e, a, ElementType::kInt64); }
TensorList RunAny(Eager& e, const CallArguments& a) { return Index(e, a, ElementType::kBool); }

}  // namespace

Tensor VectorNorm(Eager& eager, const Tensor& self, absl::Span<const int> axes, bool keep,
                  ElementType element, double order) {
  // self.sgn() * grad of the first; else self * (grad / norm).masked_fill_(norm == 0, 0)
  return Reduce(eager, self, ReducedShape(self, axes, keep), element, "LinalgVectorNormBackward0",
                true, {.flags = order == 1 ? 0 : 1, .full = 1})[0];
}

absl::Span<const TorchOp> ReductionTorchOps() {
  constexpr Autocast kFloat32 = Autocast::kFloat32;
  constexpr Autocast kFloat32Result = Autocast::kFloat32Result;
  static const std::vector<TorchOp> rows = {
      {.name = "aten::sum", .arguments = "self, dtype", .autocast = kFloat32Result, .run = RunSum},
      {.name = "aten::sum.dim_IntList", .arguments = "self, dim, keepdim, dtype",
       .autocast = kFloat32Result, .run = RunSumDim},
      {.name = "aten::mean", .arguments = "self, dtype", .run = RunMean},
      {.name = "aten::mean.dim", .arguments = "self, dim, keepdim, dtype", .run = RunMeanDim},
      {.name = "aten::prod", .arguments = "self, dtype", .autocast = kFloat32Result,
       .run = RunProd},
      {.name = "aten::prod.dim_int", .arguments = "self, dim, keepdim, dtype",
       .autocast = kFloat32Result, .run = RunProdDim},
      {.name = "aten::amax", .arguments = "self, dim, keepdim", .run = RunAmax},
      {.name = "aten::amin", .arguments = "self, dim, keepdim", .run = RunAmax},
      {.name = "aten::max", .arguments = "self", .run = RunMaxOfAll},
      {.name = "aten::min", .arguments = "self", .run = RunMaxOfAll},
      {.name = "aten::max.dim", .arguments = "self, dim, keepdim", .run = RunMaxDim},
      {.name = "aten::min.dim", .arguments = "self, dim, keepdim", .run = RunMaxDim},
      {.name = "aten::var", .arguments = "self, dim, correction, keepdim", .run = RunVar},
      {.name = "aten::std", .arguments = "self, dim, correction, keepdim", .run = RunStd},
      {.name = "aten::var_mean", .arguments = "self, dim, correction, keepdim",
       .run = RunVarMean},
      {.name = "aten::logsumexp", .arguments = "self, dim, keepdim", .autocast = kFloat32,
       .run = RunLogsumexp},
      {.name = "aten::linalg_vector_norm", .arguments = "self, ord, dim, keepdim, dtype",
       .autocast = kFloat32Result, .run = RunVectorNorm},
      {.name = "aten::norm", .arguments = "self, p, dim, keepdim, dtype",
       .autocast = kFloat32Result, .run = RunVectorNorm},
      {.name = "aten::cumsum", .arguments = "self, dim, dtype", .autocast = kFloat32Result,
       .run = RunCumsum},
      {.name = "aten::cumprod", .arguments = "self, dim, dtype", .autocast = kFloat32Result,
       .run = RunCumprod},
      {.name = "aten::topk", .arguments = "self, k, dim, largest, sorted", .run = RunTopk},
      {.name = "aten::sort", .arguments = "self, dim, descending", .run = RunSort},
      {.name = "aten::argsort", .arguments = "self, dim, descending",
       .element = ResultElement::kInt64},
      {.name = "aten::argmax", .arguments = "self, dim, keepdim", .run = RunArgmax},
      {.name = "aten::argmin", .arguments = "self, dim, keepdim", .run = RunArgmax},
      {.name = "aten::any", .arguments = "self, dim, keepdim", .run = RunAny},
      {.name = "aten::all", .arguments = "self, dim, keepdim", .run = RunAny},
      {.name = "aten::softmax", .arguments = "self, dim, dtype", .autocast = kFloat32Result,
       .run = RunSoftmax},
      {.name = "aten::log_softmax", .arguments = "self, dim, dtype", .autocast = kFloat32Result,
       .run = RunLogSoftmax},
      {.name = "aten::unique", .arguments = "self, sorted, return_inverse",
       .shape = ResultShape::kDeclared},
  };
  return rows;
}

}  // namespace footprint
