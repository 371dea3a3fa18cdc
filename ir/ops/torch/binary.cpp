// Arithmetic, comparison and selection. Either operand of arithmetic may be a number, which is
// never saved and takes no gradient. A product saves each operand for the gradient of the other
// one.
#include <array>
#include <vector>

#include "ir/ops/torch/families.h"
#include "ir/ops/torch/primitives.h"

namespace footprint {
namespace {

constexpr Autocast kFloat32 = Autocast::kFloat32;

Tensor Same(const Tensor& tensor) { return tensor; }

// A new result of arithmetic on arguments 0 and 1; a number leaves the other one's type alone,
// unless it is a fraction and the tensor an integer.
Tensor NewResult(Eager& eager, const CallArguments& a, bool always_float = false) {
  const std::array<Tensor, 2> operands = {a.tensor(0), a.tensor(1)};
  ElementType element = PromotedElement(operands);
  const bool fraction = always_float || a.IsFraction(0) || a.IsFraction(1);
  if (fraction && !IsFloatingPoint(element)) element = ElementType::kFloat;
  if (a.WritesInPlace(eager, element)) {
    return eager.Alias(operands[0], operands[0].shape(), operands[0].strides());
  }
  return NewPointwise(eager, operands, element);
}

// self + alpha * other, and other + alpha * self.
TensorList Sum(Eager& eager, const CallArguments& a, absl::string_view node, int scaled,
               bool negative) {
  Tensor result = NewResult(eager, a);
  const bool copies = negative || a.number(2, 1) != 1;
  eager.Record(node, {a.tensor(0), a.tensor(1)}, {result}, {}, [scaled, copies](Backward& b) {
    for (int input : {0, 1}) {
      if (!b.Needs(input)) continue;
      const Tensor& gradient = b.gradient();
      b.Give(input, input == scaled && copies
                        ? NewPointwise(b.eager, {gradient}, gradient.element())
                        : Same(gradient));
    }
  });
  return {result};
}

TensorList RunAdd(Eager& e, const CallArguments& a) { return Sum(e, a, "AddBackward0", 1, false); }
TensorList RunSub(Eager& e, const CallArguments& a) { return Sum(e, a, "SubBackward0", 1, true); }
TensorList RunRsub(Eager& e, const CallArguments& a) {
  return Sum(e, a, "RsubBackward1", 0, true);
}

// self + value * tensor1 * tensor2; the other factor is scaled for the gradient of either.
TensorList RunAddcmul(Eager& eager, const CallArguments& a) {
  const Tensor& self = a.tensor(0);
  const Tensor& first = a.tensor(1);
  const Tensor& second = a.tensor(2);
  Tensor result = NewPointwise(eager, {self, first, second}, self.element());
  eager.Record("AddcmulBackward0", {self, first, second}, {result},
               {SavedTensor(first, 1u << 2), SavedTensor(second, 1u << 1)}, [](Backward& b) {
                 if (b.Needs(0)) b.Give(0, b.gradient());
                 for (int factor : {1, 2}) {
                   if (!b.Needs(factor)) continue;
                   const Tensor& other = b.saved(2 - factor);
                   const Tensor scaled = NewLike(b.eager, other, other.element(), "temporary");
                   b.Give(factor, NewPointwise(b.eager, {b.gradient(), scaled},
                                               b.gradient().element()));
                 }
               });
  return {result};
}

TensorList RunDiv(Eager& eager, const CallArguments& a) {
  if (!a.IsTensor(0)) {  // number / tensor is its reciprocal, scaled
    return {Scale(eager, eager.Apply(*FindTorchOp("aten::reciprocal"), {a.tensor(1)}))};
  }
  const Tensor& self = a.tensor(0);
  const bool rounds = !a.text(2).empty();
  if (a.IsTensor(1) && !rounds) return {Div(eager, self, a.tensor(1))};
  Tensor result = NewResult(eager, a, /*always_float=*/!rounds);
  if (rounds) return {result};  // no gradient worth a byte
  eager.Record("DivBackward0", {self}, {result}, {}, [](Backward& b) {
    b.Give(0, NewPointwise(b.eager, {b.gradient()}, b.gradient().element()));
  });
  return {result};
}

Tensor Temporary(Backward& b, const Tensor& like) {
  return NewPointwise(b.eager, {like}, like.element(), "temporary");
}
Tensor TemporaryMask(Backward& b, const Tensor& like) {
  return NewPointwise(b.eager, {like}, ElementType::kBool, "temporary");
}

TensorList RunPow(Eager& eager, const CallArguments& a) {
  const Tensor& self = a.tensor(0);
  const Tensor& exponent = a.tensor(1);
  if (!exponent) return {PowNumber(eager, self, a.number(1))};
  Tensor result = NewResult(eager, a);
  if (!self) {  // grad * (result * log(base)), nothing where 0 has an exponent above 0
    const bool masks = a.number(0) == 0;
    eager.Record("PowBackward2", {exponent}, {result}, {exponent, result}, [masks](Backward& b) {
      const Tensor& g = b.gradient();
      const Tensor mask = masks ? TemporaryMask(b, g) : Tensor();
      const Tensor chosen = masks ? Temporary(b, g) : Tensor();
      const Tensor scaled = Temporary(b, g);
      b.Give(0, Temporary(b, g));
    });
    return {result};
  }
  eager.Record("PowBackward1", {self, exponent}, {result},
               {{self, 0}, {exponent, 0}, {result, 1u << 1}}, [](Backward& b) {
                 const Tensor& g = b.gradient();
                 // grad * where(self == 0 and exponent >= 0, 0, result * log(self))
                 if (b.Needs(1)) {
                   const Tensor masks[] = {TemporaryMask(b, g), TemporaryMask(b, g),
                                           TemporaryMask(b, g)};
                   const Tensor steps[] = {Temporary(b, g), Temporary(b, g), Temporary(b, g)};
                   b.Give(1, Temporary(b, g));
                 }
                 // where(exponent == 0, 0, grad * exponent * self.pow(exponent - 1))
                 if (b.Needs(0)) {
                   const Tensor mask = TemporaryMask(b, g);
                   const Tensor steps[] = {Temporary(b, g), Temporary(b, g), Temporary(b, g),
                                           Temporary(b, g)};
                   b.Give(0, Temporary(b, g));
                 }
               });
  return {result};
}

// Of equal elements both take half: where(self == other, grad / 2, grad).masked_fill(self < other,
// 0)
TensorList Extremum(Eager& eager, const CallArguments& a, absl::string_view node) {
  const std::array<Tensor, 2> operands = {a.tensor(0), a.tensor(1)};
  Tensor result = NewPointwise(eager, operands, PromotedElement(operands));
  eager.Record(node, operands, {result}, {operands[0], operands[1]}, [](Backward& b) {
    const Tensor& g = b.gradient();
    for (int input : {1, 0}) {
      if (!b.Needs(input)) continue;
      const Tensor equal = NewPointwise(b.eager, {g}, ElementType::kBool, "temporary");
      const Tensor half = NewPointwise(b.eager, {g}, g.element(), "temporary");
      const Tensor chosen = NewPointwise(b.eager, {g}, g.element(), "temporary");
      const Tensor less = NewPointwise(b.eager, {g}, ElementType::kBool, "temporary");
      b.Give(input, NewPointwise(b.eager, {g}, g.element()));
    }
  });
  return {result};
}

TensorList RunMaximum(Eager& e, const CallArguments& a) {
  return Extremum(e, a, "MaximumBackward0");
}
TensorList RunMinimum(Eager& e, const CallArguments& a) {
  return Extremum(e, a, "MinimumBackward0");
}

// where((self >= min) and (self <= max), grad, 0); tensor bounds are saved as well.
TensorList RunClamp(Eager& eager, const CallArguments& a) {
  const Tensor& self = a.tensor(0);
  const int bounds = (a.Has(1) ? 1 : 0) + (a.Has(2) ? 1 : 0);
  const std::array<Tensor, 3> operands = {self, a.tensor(1), a.tensor(2)};
  Tensor result = NewPointwise(eager, operands, PromotedElement(operands));
  eager.Record(operands[1] || operands[2] ? "ClampBackward0" : "ClampBackward1", operands, {result},
               {operands[0], operands[1], operands[2]}, [bounds](Backward& b) {
                 const Tensor& g = b.gradient();
                 const Tensor zero = b.eager.New({}, g.element(), "number as a tensor");
                 const Tensor above = NewPointwise(b.eager, {g}, ElementType::kBool, "temporary");
                 const Tensor below =
                     bounds < 2 ? Tensor()
                                : NewPointwise(b.eager, {g}, ElementType::kBool, "temporary");
                 for (int input : {0, 1, 2}) {
                   if (b.Needs(input)) b.Give(input, NewPointwise(b.eager, {g}, g.element()));
                 }
               });
  return {result};
}

TensorList RunWhere(Eager& eager, const CallArguments& a) {
  const Tensor& condition = a.tensor(0);
  const std::array<Tensor, 2> values = {a.tensor(1), a.tensor(2)};
  ElementType element = PromotedElement(values);
  if (element == ElementType::kUndefined) {
    const TensorType* declared = a.declared();
    element = declared != nullptr ? declared->element : ElementType::kFloat;
    if (element == ElementType::kFloat) element = eager.mode().module;
  }
  const std::array<Tensor, 3> operands = {condition, values[0], values[1]};
  // Numbers become tensors of rank 0 first.
  std::vector<Tensor> scalars;
  for (int i : {1, 2}) {
    if (!a.IsTensor(i)) scalars.push_back(eager.New({}, element, "number as a tensor"));
  }
  Tensor result = NewPointwise(eager, operands, element);
  eager.Record("WhereBackward0", values, {result}, {condition}, [](Backward& b) {
    for (int input : {1, 0}) {
      if (!b.Needs(input)) continue;
      const Tensor zero = b.eager.New({}, b.gradient().element(), "number as a tensor");
      b.Give(input, NewPointwise(b.eager, {b.gradient(), b.saved(0)}, b.gradient().element()));
    }
  });
  return {result};
}

TorchOp ToBool(absl::string_view name) {
  return {.name = name, .arguments = "self, other", .operands = 0,
          .element = ResultElement::kBool};
}

TorchOp WithoutGradient(absl::string_view name) {
  return {.name = name, .arguments = "self, other", .operands = 0};
}

}  // namespace

Tensor Div(Eager& eager, const Tensor& self, const Tensor& other) {
  const std::array<Tensor, 2> operands = {self, other};
  ElementType element = PromotedElement(operands);
  if (!IsFloatingPoint(element)) element = ElementType::kFloat;
  Tensor result = NewPointwise(eager, operands, element);
  // other: -grad * ((self / other) / other)
  eager.Record("DivBackward0", operands, {result},
               {{eager.Needs(other) ? self : Tensor(), 1u << 1}, {other, 0}}, [](Backward& b) {
                 const auto like = [&](const Tensor& x, const Tensor& y) {
                   const std::array<Tensor, 2> both = {x, y};
                   return NewPointwise(b.eager, both, PromotedElement(both), "temporary");
                 };
                 if (b.Needs(1)) {
                   const Tensor negative = like(b.gradient(), Tensor());
                   const Tensor quotient = like(b.saved(0), b.saved(1));
                   const Tensor twice = like(quotient, b.saved(1));
                   b.Give(1, like(negative, twice));
                 }
                 if (b.Needs(0)) b.Give(0, like(b.gradient(), b.saved(1)));
               });
  return result;
}

// grad * (exponent * self.pow(exponent - 1))
Tensor PowNumber(Eager& eager, const Tensor& self, double exponent) {
  Tensor result = NewPointwise(eager, {self}, self.element());
  const bool is_constant = exponent == 0;
  eager.Record("PowBackward0", {self}, {result}, {self}, [is_constant](Backward& b) {
    const Tensor& x = b.saved(0);
    const Tensor power = is_constant ? Tensor() : Temporary(b, x);
    const Tensor scaled = is_constant ? Tensor() : Temporary(b, x);
    b.Give(0, NewPointwise(b.eager, {b.gradient()}, b.gradient().element()));
  });
  return result;
}

absl::Span<const TorchOp> BinaryTorchOps() {
  static const std::vector<TorchOp> rows = {
      {.name = "aten::add", .arguments = "self, other, alpha", .operands = 0, .run = RunAdd},
      {.name = "aten::sub", .arguments = "self, other, alpha", .operands = 0, .run = RunSub},
      {.name = "aten::rsub", .arguments = "self, other, alpha", .operands = 0, .run = RunRsub},
      {.name = "aten::mul", .arguments = "self, other", .operands = 0, .node = "MulBackward0",
       .saves = {Arg(0).For(1), Arg(1).For(0)}, .gradients = {{1}, {0}}},
      {.name = "aten::div", .arguments = "self, other, rounding_mode", .operands = 0,
       .run = RunDiv},
      {.name = "aten::true_divide", .arguments = "self, other", .operands = 0, .run = RunDiv},
      {.name = "aten::pow", .arguments = "self, exponent", .operands = 0, .autocast = kFloat32,
       .run = RunPow},
      {.name = "aten::atan2", .arguments = "self, other", .operands = 0, .node = "Atan2Backward0",
       .saves = {Arg(0), Arg(1)},
       .gradients = {{.argument = 1, .temporaries = 4}, {.argument = 0, .temporaries = 5}},
       .autocast = Autocast::kPromote},
      {.name = "aten::maximum", .arguments = "self, other", .operands = 2, .run = RunMaximum},
      {.name = "aten::minimum", .arguments = "self, other", .operands = 2, .run = RunMinimum},
      {.name = "aten::max.other", .arguments = "self, other", .operands = 2, .run = RunMaximum},
      {.name = "aten::min.other", .arguments = "self, other", .operands = 2, .run = RunMinimum},
      {.name = "aten::clamp", .arguments = "self, min, max", .run = RunClamp},
      {.name = "aten::clamp_min", .arguments = "self, min", .run = RunClamp},
      {.name = "aten::clamp_max", .arguments = "self, max", .run = RunClamp},
      {.name = "aten::where", .arguments = "condition, self, other", .run = RunWhere},
      {.name = "aten::masked_fill", .arguments = "self, mask, value", .operands = 2,
       .node = "MaskedFillBackward0", .element = ResultElement::kLikeFirst, .saves = {Arg(1)},
       .gradients = {{0}}},
      {.name = "aten::lerp", .arguments = "self, end, weight", .operands = 0,
       .node = "LerpBackward0", .saves = {Arg(2), Arg(0).For(2), Arg(1).For(2)},
       .gradients = {{.argument = 1}, {.argument = 0, .temporaries = 1},
                     {.argument = 2, .temporaries = 1}}},
      {.name = "aten::lerp.Scalar", .arguments = "self, end, weight", .operands = 2,
       .node = "LerpBackward0", .gradients = {{.argument = 1}, {.argument = 0}}},
      {.name = "aten::addcmul", .arguments = "self, tensor1, tensor2, value", .operands = 3,
       .autocast = Autocast::kPromote, .run = RunAddcmul},
      {.name = "aten::addcdiv", .arguments = "self, tensor1, tensor2, value", .operands = 0,
       .node = "AddcdivBackward0", .saves = {Arg(1).For(2), Arg(2).For(1).For(2)},
       .gradients = {{.argument = 0, .form = GradientForm::kSame},
                     {.argument = 1, .temporaries = 1},
                     {.argument = 2, .temporaries = 4}},
       .autocast = Autocast::kPromote},
      // The slope's gradient is as large as the operand, then summed.
      {.name = "aten::prelu", .arguments = "self, weight", .operands = 2,
       .node = "PreluKernelBackward0", .element = ResultElement::kLikeFirst,
       .saves = {Arg(0), Arg(1)}, .gradients = {{0}, {1}}, .autocast = Autocast::kLow},
      {.name = "aten::remainder", .arguments = "self, other", .operands = 0,
       .node = "RemainderBackward0", .saves = {Arg(0).For(1), Arg(1).For(1)},
       .gradients = {{.argument = 1, .temporaries = 2},
                     {.argument = 0, .form = GradientForm::kSame}}},
      {.name = "aten::fmod", .arguments = "self, other", .operands = 0, .node = "FmodBackward0",
       .saves = {Arg(0).For(1), Arg(1).For(1)},
       .gradients = {{.argument = 1, .temporaries = 2},
                     {.argument = 0, .form = GradientForm::kSame}}},
      WithoutGradient("aten::floor_divide"),
      WithoutGradient("aten::bitwise_and"),
      WithoutGradient("aten::bitwise_or"),
      WithoutGradient("aten::bitwise_xor"),
      WithoutGradient("aten::bitwise_left_shift"),
      WithoutGradient("aten::bitwise_right_shift"),
      ToBool("aten::eq"),
      ToBool("aten::ne"),
      ToBool("aten::lt"),
      ToBool("aten::le"),
      ToBool("aten::gt"),
      ToBool("aten::ge"),
      ToBool("aten::logical_and"),
      ToBool("aten::logical_or"),
      ToBool("aten::logical_xor"),
  };
  return rows;
}

}  // namespace footprint
