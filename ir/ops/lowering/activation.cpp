// Activation functions, whole and in the pieces that exporters write.
#include "ir/ops/lowering/lower_context.h"

namespace footprint {
namespace {

bool LowerWithAlpha(LowerContext& ctx, double default_alpha) {
  ctx.Result(ctx.row().torch,
             {ctx.Tensor(0), TorchArgument::Float(ctx.node().Float("alpha", default_alpha))});
  return true;
}

bool LowerLeakyRelu(LowerContext& ctx) { return LowerWithAlpha(ctx, 0.01); }
bool LowerElu(LowerContext& ctx) { return LowerWithAlpha(ctx, 1.0); }

// Operators: bounds are attributes below opset 11.
TorchArgument Bound(LowerContext& ctx, int operand, const char* attribute) {
  if (ctx.Has(operand)) return ctx.Argument(operand);
  if (!ctx.node().Has(attribute)) return TorchArgument();
  return TorchArgument::Float(ctx.node().Float(attribute, 0));
}

// ReLU6 and Hardtanh as they come; other bounds are those of a clamp.
bool IsHardtanh(const LowerContext& ctx) {
  const auto bound = [&ctx](int operand, const char* attribute) {
    return ctx.Has(operand) ? ctx.Number(operand) : ctx.node().Float(attribute, 0);
  };
  const std::optional<double> low = bound(1, "min");
  const std::optional<double> high = bound(2, "max");
  return (low == 0.0 && high == 6.0) || (low == -1.0 && high == 1.0);
}

bool LowerClip(LowerContext& ctx) {
  const TorchArgument low = Bound(ctx, 1, "min");
  const TorchArgument high = Bound(ctx, 2, "max");
  const auto is_tensor = [](const TorchArgument& argument) {
    return argument.kind == TorchArgument::Kind::kTensor;
  };
  const auto is_none = [](const TorchArgument& argument) {
    return argument.kind == TorchArgument::Kind::kNone;
  };
  if (is_none(low) && is_none(high)) return LowerNothing(ctx);
  if (is_tensor(low) || is_tensor(high)) {
    ctx.Result("aten::clamp.Tensor", {ctx.Tensor(0), low, high});
  } else if (IsHardtanh(ctx) && IsFloatingPoint(ctx.Type(0).element)) {
    ctx.Result("aten::hardtanh", {ctx.Tensor(0), low, high});
  } else {
    ctx.Result("aten::clamp", {ctx.Tensor(0), low, high});
  }
  return true;
}

bool LowerGelu(LowerContext& ctx) {
  ctx.Result("aten::gelu", {ctx.Tensor(0), TorchArgument::String(std::string(
                                               ctx.node().String("approximate", "none")))});
  return true;
}

bool LowerTanhGelu(LowerContext& ctx) {
  ctx.Result("aten::gelu", {ctx.Tensor(0), TorchArgument::String("tanh")});
  return true;
}

// PyTorch's own exporter halves last; who halves first wrote the formula by hand.
bool IsFromElsewhere(const LowerContext& ctx) { return !ctx.FromPyTorch(); }

// Bloom's has a backward of its own; others write the same formula and leave it to autograd. The
// name of the module tells.
bool IsOwnFunction(const LowerContext& ctx) {
  const ScopeId scope = ctx.node().scope;
  return scope.valid() && ctx.graph().scopes[scope].name == "gelu_impl";
}

bool LowerGlu(LowerContext& ctx) {
  ctx.Result("aten::glu", {ctx.Tensor(0), TorchArgument::Int(ctx.Producer(1)->Int("axis", 0))});
  return true;
}

// Operands: x, the first part.
bool IsHalved(const LowerContext& ctx) { return ctx.Producer(1)->outputs.size() == 2; }

constexpr Lowering kRows[] = {
    {.onnx = "Mul(Mul(x, Add(Erf(Div|Mul(x, #)), #)), #)",
     .operands = "x",
     .torch = "aten::gelu",
     .lower = LowerSame,
     .note = "GELU written out with Erf"},
    {.onnx = "Mul(x, Mul(Add(Erf(Div|Mul(x, #)), #), #))",
     .operands = "x",
     .torch = "aten::gelu",
     .lower = LowerSame,
     .note = "GELU written out with Erf"},
    {.onnx = "Mul(Mul(x, #), Add(Erf(Div|Mul(x, #)), #))",
     .operands = "x",
     .torch = "aten::gelu",
     .lower = LowerSame,
     .when = IsFromElsewhere,
     .note = "GELU written out with Erf"},
    {.onnx = "Mul(Mul(x, Add(Tanh(Mul(Add(x, Mul(Mul(x, Mul(x, x)), #)), #)), #)), #)",
     .operands = "x",
     .torch = "aten::gelu",
     .lower = LowerTanhGelu,
     .note = "GELU written out with Tanh"},
    {.onnx = "Mul(Mul(x, #), Add(Tanh(Mul(Mul(x, #), Add(Mul(Mul(x, #), x), #))), #))",
     .operands = "x",
     .torch = "footprint::bloom_gelu",
     .lower = LowerSame,
     .when = IsOwnFunction,
     .note = "a GELU with its own backward, which saves its input alone"},
    {.onnx = "Mul(Split:first(x), Sigmoid(Split.1(x)))",
     .operands = "x first",
     .torch = "aten::glu",
     .lower = LowerGlu,
     .when = IsHalved},
    {.onnx = "Log(Sigmoid(x))", .operands = "x", .torch = "aten::log_sigmoid", .lower = LowerSame},
    {.onnx = "Div(Softplus(Mul(x, #)), #)",
     .operands = "x",
     .torch = "aten::softplus",
     .lower = LowerSame},
    {.onnx = "Mul(x, Sigmoid(x))", .operands = "x", .torch = "aten::silu", .lower = LowerSame},
    {.onnx = "Mul(x, Tanh(Softplus(x)))",
     .operands = "x",
     .torch = "aten::mish",
     .lower = LowerSame},
    {.onnx = "Mul(x, HardSigmoid(x))",
     .operands = "x",
     .torch = "aten::hardswish",
     .lower = LowerSame},
    {.onnx = "Div(Mul(x, Clip(Add(x, #))), #)",
     .operands = "x",
     .torch = "aten::hardswish",
     .lower = LowerSame},
    {.onnx = "Div(Clip(Add(x, #)), #)",
     .operands = "x",
     .torch = "aten::hardsigmoid",
     .lower = LowerSame},
    {.onnx = "Add(Where(Greater(x, #), Sub(x, #), #), Where(Less(x, #), Add(x, #), #))",
     .operands = "x",
     .torch = "aten::softshrink",
     .lower = LowerSame},
    {.onnx = "Where(Or(Cast?(Greater(x, #)), Cast?(Less(x, #))), x, #)",
     .operands = "x",
     .torch = "aten::hardshrink",
     .lower = LowerSame},
    {.onnx = "Relu", .torch = "aten::relu", .lower = LowerSame},
    {.onnx = "Sigmoid", .torch = "aten::sigmoid", .lower = LowerSame},
    {.onnx = "Tanh", .torch = "aten::tanh", .lower = LowerSame},
    {.onnx = "HardSigmoid", .torch = "aten::hardsigmoid", .lower = LowerSame},
    {.onnx = "HardSwish", .torch = "aten::hardswish", .lower = LowerSame},
    {.onnx = "Softplus", .torch = "aten::softplus", .lower = LowerSame},
    {.onnx = "Mish", .torch = "aten::mish", .lower = LowerSame},
    {.onnx = "Swish", .torch = "aten::silu", .lower = LowerSame},
    {.onnx = "LeakyRelu", .torch = "aten::leaky_relu", .lower = LowerLeakyRelu},
    {.onnx = "Elu", .torch = "aten::elu", .lower = LowerElu},
    {.onnx = "Selu", .torch = "aten::selu", .lower = LowerSame},
    {.onnx = "Celu", .torch = "aten::celu", .lower = LowerElu},
    {.onnx = "ThresholdedRelu", .torch = "aten::threshold", .lower = LowerElu},
    {.onnx = "PRelu", .torch = "aten::prelu", .lower = LowerBinary},
    {.onnx = "Clip", .lower = LowerClip},
    {.onnx = "Gelu", .torch = "aten::gelu", .lower = LowerGelu},
    {.onnx = "com.microsoft::Gelu", .torch = "aten::gelu", .lower = LowerSame},
    {.onnx = "com.microsoft::QuickGelu", .torch = "aten::silu", .lower = LowerSame},
};

}  // namespace

absl::Span<const Lowering> ActivationLowerings() { return kRows; }

}  // namespace footprint
