// Element by element: arithmetic, comparisons, logic, choice.
#include <cmath>
#include <optional>

#include "ir/ops/lowering/lower_context.h"

namespace footprint {
namespace {

bool LowerSub(LowerContext& ctx) {
  if (!ctx.IsNumber(0) || ctx.IsNumber(1)) return LowerBinary(ctx);
  ctx.Result("aten::rsub", {ctx.Tensor(1), ctx.Argument(0)});
  return true;
}

// number / x is x.reciprocal() * number in Python.
bool LowerDiv(LowerContext& ctx) {
  if (!ctx.IsNumber(0) || ctx.IsNumber(1)) return LowerBinary(ctx);
  if (ctx.Number(0) == 1.0) {
    ctx.Result("aten::reciprocal", {ctx.Tensor(1)});
    return true;
  }
  const TorchValueId inverse = ctx.Call("aten::reciprocal", {ctx.Tensor(1)}, ctx.ResultType());
  ctx.Result("aten::mul", {TorchArgument::Tensor(inverse), ctx.Argument(0)});
  return true;
}

// TorchScript files lose the product of 1 / x, which is more common than reciprocal(x) as such.
bool LowerReciprocal(LowerContext& ctx) {
  if (!ctx.FromPyTorch()) return LowerSame(ctx);
  const TorchValueId inverse = ctx.Call("aten::reciprocal", {ctx.Tensor(0)}, ctx.ResultType());
  ctx.Result("aten::mul", {TorchArgument::Tensor(inverse), TorchArgument::Int(1)});
  return true;
}

// log1p(x) leaves the number first, log(x + 1) last.
bool AddsToOne(const LowerContext& ctx) {
  const ValueId sum = ctx.Resolve(ctx.node().input(0));
  const Node& add = ctx.graph().nodes[ctx.graph().values[sum].producer];
  return ctx.FromPyTorch() && ctx.Number(1) == 1.0 && ctx.Resolve(add.input(0)) == ctx.operand(1);
}

bool IsLogarithmOf(const LowerContext& ctx, double base) {
  const std::optional<double> divisor = ctx.Number(1);
  return divisor.has_value() && std::abs(*divisor - std::log(base)) < 1e-6;
}
bool IsLog2(const LowerContext& ctx) { return IsLogarithmOf(ctx, 2); }
bool IsLog10(const LowerContext& ctx) { return IsLogarithmOf(ctx, 10); }

// Overloads whose operands differ in kind have names of their own.
bool LowerPow(LowerContext& ctx) {
  const bool number_base = ctx.IsNumber(0);
  const bool number_exponent = ctx.IsNumber(1);
  if (number_base && !number_exponent) {
    ctx.Result("aten::pow.Scalar", {ctx.Argument(0), ctx.Tensor(1)});
  } else if (number_exponent) {
    ctx.Result("aten::pow.Tensor_Scalar", {ctx.Tensor(0), ctx.Argument(1)});
  } else {
    ctx.Result("aten::pow.Tensor_Tensor", {ctx.Tensor(0), ctx.Tensor(1)});
  }
  return true;
}

// torch.square() leaves a product with itself: that of a rectified value, as nobody writes it out.
bool LowerSquare(LowerContext& ctx) {
  ctx.Result("aten::pow.Tensor_Scalar", {ctx.Tensor(0), TorchArgument::Int(2)});
  return true;
}

bool LowerMeanOfTensors(LowerContext& ctx) {
  TorchArgument sum = ctx.Tensor(0);
  for (int i = 1; i < ctx.num_operands(); ++i) {
    sum = TorchArgument::Tensor(ctx.Call("aten::add", {sum, ctx.Tensor(i)}, ctx.ResultType()));
  }
  ctx.Result("aten::div", {sum, TorchArgument::Float(ctx.num_operands())});
  return true;
}

// A number where the condition holds is masked_fill; elsewhere where() has overloads for numbers.
bool LowerWhere(LowerContext& ctx) {
  if (ctx.IsNumber(1) && !ctx.IsNumber(2)) {
    ctx.Result("aten::masked_fill.Scalar", {ctx.Tensor(2), ctx.Tensor(0), ctx.Argument(1)});
  } else if (ctx.IsNumber(1)) {
    ctx.Result("aten::where.Scalar", {ctx.Tensor(0), ctx.Argument(1), ctx.Argument(2)});
  } else if (ctx.IsNumber(2)) {
    ctx.Result("aten::where.ScalarOther", {ctx.Tensor(0), ctx.Tensor(1), ctx.Argument(2)});
  } else {
    ctx.Result("aten::where.self", {ctx.Tensor(0), ctx.Tensor(1), ctx.Tensor(2)});
  }
  return true;
}

bool LowerBitShift(LowerContext& ctx) {
  const bool left = ctx.node().String("direction", "LEFT") == "LEFT";
  ctx.Result(left ? "aten::bitwise_left_shift" : "aten::bitwise_right_shift",
             {ctx.Tensor(0), ctx.Argument(1)});
  return true;
}

bool LowerMod(LowerContext& ctx) {
  ctx.Result(ctx.node().Int("fmod", 0) != 0 ? "aten::fmod" : "aten::remainder",
             {ctx.Tensor(0), ctx.Argument(1)});
  return true;
}

// self + 1 * (a * b): nobody multiplies with one by hand.
bool IsAddcmul(const LowerContext& ctx) { return ctx.FromPyTorch() && ctx.Number(3) == 1; }

bool LowerAddcmul(LowerContext& ctx) {
  ctx.Result("aten::addcmul",
             {ctx.Tensor(0), ctx.Tensor(1), ctx.Tensor(2), TorchArgument::Float(1)});
  return true;
}

constexpr Lowering kRows[] = {
    {.onnx = "Div(#one, Sqrt(x))", .operands = "x", .torch = "aten::rsqrt", .lower = LowerSame},
    {.onnx = "Log(Add(x, #one))",
     .operands = "x one",
     .torch = "aten::log1p",
     .lower = LowerSame,
     .when = AddsToOne},
    {.onnx = "Div(Log(x), #base)",
     .operands = "x base",
     .torch = "aten::log2",
     .lower = LowerSame,
     .when = IsLog2},
    {.onnx = "Div(Log(x), #base)",
     .operands = "x base",
     .torch = "aten::log10",
     .lower = LowerSame,
     .when = IsLog10},
    {.onnx = "Add(self, Mul(Mul(a, b), #one))",
     .operands = "self a b one",
     .lower = LowerAddcmul,
     .when = IsAddcmul},
    {.onnx = "Reciprocal(Sqrt(x))", .operands = "x", .torch = "aten::rsqrt", .lower = LowerSame},
    {.onnx = "Mul(&Relu:y(x), y)",
     .operands = "y",
     .lower = LowerSquare,
     .note = "torch.square() of a rectified value"},
    {.onnx = "Add", .torch = "aten::add", .lower = LowerBinary},
    {.onnx = "Sub", .torch = "aten::sub", .lower = LowerSub},
    {.onnx = "Mul", .torch = "aten::mul", .lower = LowerBinary},
    {.onnx = "Div", .torch = "aten::div", .lower = LowerDiv},
    {.onnx = "Pow", .lower = LowerPow},
    {.onnx = "Mod", .lower = LowerMod},
    {.onnx = "BitShift", .lower = LowerBitShift},
    {.onnx = "Max", .torch = "aten::maximum", .lower = LowerVariadic},
    {.onnx = "Min", .torch = "aten::minimum", .lower = LowerVariadic},
    {.onnx = "Sum", .torch = "aten::add", .lower = LowerVariadic},
    {.onnx = "Mean", .lower = LowerMeanOfTensors},
    {.onnx = "Where", .lower = LowerWhere, .made_operands = 0b110},
    {.onnx = "Equal", .torch = "aten::eq", .lower = LowerBinary},
    {.onnx = "Greater", .torch = "aten::gt", .lower = LowerBinary},
    {.onnx = "GreaterOrEqual", .torch = "aten::ge", .lower = LowerBinary},
    {.onnx = "Less", .torch = "aten::lt", .lower = LowerBinary},
    {.onnx = "LessOrEqual", .torch = "aten::le", .lower = LowerBinary},
    {.onnx = "And", .torch = "aten::logical_and", .lower = LowerBinary},
    {.onnx = "Or", .torch = "aten::logical_or", .lower = LowerBinary},
    {.onnx = "Xor", .torch = "aten::logical_xor", .lower = LowerBinary},
    {.onnx = "Not", .torch = "aten::logical_not", .lower = LowerSame},
    {.onnx = "BitwiseAnd", .torch = "aten::bitwise_and", .lower = LowerBinary},
    {.onnx = "BitwiseOr", .torch = "aten::bitwise_or", .lower = LowerBinary},
    {.onnx = "BitwiseXor", .torch = "aten::bitwise_xor", .lower = LowerBinary},
    {.onnx = "BitwiseNot", .torch = "aten::bitwise_not", .lower = LowerSame},
    {.onnx = "IsNaN", .torch = "aten::isnan", .lower = LowerSame},
    {.onnx = "IsInf", .torch = "aten::isinf", .lower = LowerSame},
    {.onnx = "Sign", .torch = "aten::sign", .lower = LowerSame},
    {.onnx = "Ceil", .torch = "aten::ceil", .lower = LowerSame},
    {.onnx = "Floor", .torch = "aten::floor", .lower = LowerSame},
    {.onnx = "Round", .torch = "aten::round", .lower = LowerSame},
    {.onnx = "Neg", .torch = "aten::neg", .lower = LowerSame},
    {.onnx = "Abs", .torch = "aten::abs", .lower = LowerSame},
    {.onnx = "Exp", .torch = "aten::exp", .lower = LowerSame},
    {.onnx = "Log", .torch = "aten::log", .lower = LowerSame},
    {.onnx = "Sqrt", .torch = "aten::sqrt", .lower = LowerSame},
    {.onnx = "Reciprocal", .torch = "aten::reciprocal", .lower = LowerReciprocal},
    {.onnx = "Erf", .torch = "aten::erf", .lower = LowerSame},
    {.onnx = "Cos", .torch = "aten::cos", .lower = LowerSame},
    {.onnx = "Sin", .torch = "aten::sin", .lower = LowerSame},
    {.onnx = "Tan", .torch = "aten::tan", .lower = LowerSame},
    {.onnx = "Cosh", .torch = "aten::cosh", .lower = LowerSame},
    {.onnx = "Sinh", .torch = "aten::sinh", .lower = LowerSame},
    {.onnx = "Acos", .torch = "aten::acos", .lower = LowerSame},
    {.onnx = "Asin", .torch = "aten::asin", .lower = LowerSame},
    {.onnx = "Atan", .torch = "aten::atan", .lower = LowerSame},
    {.onnx = "Acosh", .torch = "aten::acosh", .lower = LowerSame},
    {.onnx = "Asinh", .torch = "aten::asinh", .lower = LowerSame},
    {.onnx = "Atanh", .torch = "aten::atanh", .lower = LowerSame},
};

}  // namespace

absl::Span<const Lowering> PointwiseLowerings() { return kRows; }

}  // namespace footprint
