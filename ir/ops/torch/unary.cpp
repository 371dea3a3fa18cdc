// One operand, one result of the same shape. Autograd saves the operand or the result, whichever
// the formula of the gradient reads; formulas that PyTorch writes in several steps hold their
// intermediate results until the gradient exists.
#include <vector>

#include "ir/ops/torch/families.h"

namespace footprint {
namespace {

// The gradient is one fused kernel that reads the result.
TorchOp FromResult(absl::string_view name, absl::string_view node, int8_t temporaries = 0,
                   Autocast autocast = Autocast::kNone) {
  return {.name = name, .arguments = "self", .node = node, .saves = {Result()},
          .gradients = {{.argument = 0, .temporaries = temporaries}}, .autocast = autocast};
}

// The gradient reads the operand.
TorchOp FromSelf(absl::string_view name, absl::string_view node, int8_t temporaries = 0,
                 Autocast autocast = Autocast::kNone, absl::string_view arguments = "self") {
  return {.name = name, .arguments = arguments, .node = node, .saves = {Arg(0)},
          .gradients = {{.argument = 0, .temporaries = temporaries}}, .autocast = autocast};
}

// The formula can be written with either end; PyTorch takes the one that the row saves.
TorchOp OrOtherEnd(TorchOp row) {
  row.saves[0].or_other_end = true;
  return row;
}

// As FromSelf; written in place it reads the result instead.
TorchOp FromSelfOrInPlaceResult(absl::string_view name, absl::string_view node,
                                absl::string_view arguments) {
  TorchOp row = OrOtherEnd(FromSelf(name, node, 0, Autocast::kNone, arguments));
  row.in_place_saves_result = true;
  return row;
}

// The gradient reads nothing but the incoming gradient.
TorchOp FromNothing(absl::string_view name, absl::string_view node,
                    absl::string_view arguments = "self") {
  return {.name = name, .arguments = arguments, .node = node, .gradients = {{0}}};
}

TorchOp ToBool(absl::string_view name) {
  return {.name = name, .arguments = "self", .element = ResultElement::kBool};
}

}  // namespace

absl::Span<const TorchOp> UnaryTorchOps() {
  constexpr Autocast kFloat32 = Autocast::kFloat32;
  static const std::vector<TorchOp> rows = {
      // Activations.
      OrOtherEnd(FromResult("aten::relu", "ReluBackward0")),
      OrOtherEnd(FromResult("aten::sigmoid", "SigmoidBackward0")),
      OrOtherEnd(FromResult("aten::tanh", "TanhBackward0")),
      OrOtherEnd(FromSelf("aten::hardtanh", "HardtanhBackward0", 0, Autocast::kNone,
                          "self, min_val, max_val")),
      OrOtherEnd(FromSelf("aten::relu6", "HardtanhBackward0")),
      FromSelf("aten::hardswish", "HardswishBackward0"),
      OrOtherEnd(FromSelf("aten::hardsigmoid", "HardsigmoidBackward0")),
      FromSelf("aten::silu", "SiluBackward0"),
      FromSelf("aten::mish", "MishBackward0"),
      FromSelf("aten::gelu", "GeluBackward0", 0, Autocast::kNone, "self, approximate"),
      OrOtherEnd(FromSelf("aten::softplus", "SoftplusBackward0", 0, kFloat32,
                          "self, beta, threshold")),
      FromSelf("aten::hardshrink", "HardshrinkBackward0", 0, Autocast::kNone, "self, lambd"),
      FromSelf("aten::softshrink", "SoftshrinkBackward0", 0, Autocast::kNone, "self, lambd"),
      FromSelf("aten::threshold", "ThresholdBackward0", 0, Autocast::kNone,
               "self, threshold, value"),
      FromSelf("aten::logit", "LogitBackward0", 0, Autocast::kNone, "self, eps"),
      FromSelfOrInPlaceResult("aten::elu", "EluBackward0", "self, alpha, scale, input_scale"),
      FromSelfOrInPlaceResult("aten::selu", "EluBackward0", "self"),
      FromSelfOrInPlaceResult("aten::celu", "CeluBackward0", "self, alpha"),
      FromSelfOrInPlaceResult("aten::leaky_relu", "LeakyReluBackward0", "self, negative_slope"),
      {.name = "aten::log_sigmoid", .arguments = "self", .node = "LogSigmoidBackward0",
       .kept = {{.what = "buffer", .shape = KeptTensor::Shape::kEmpty}},
       .saves = {Arg(0), Kept(0)}, .gradients = {{0}}},

      // Functions. log: grad / self; sqrt: grad / (2 * result); cos: grad * -self.sin(); ...
      OrOtherEnd(FromResult("aten::exp", "ExpBackward0", 0, kFloat32)),
      OrOtherEnd(FromResult("aten::exp2", "Exp2Backward0", 1)),
      OrOtherEnd(FromResult("aten::expm1", "Expm1Backward0", 1, kFloat32)),
      OrOtherEnd(FromResult("aten::sqrt", "SqrtBackward0", 1)),
      OrOtherEnd(FromResult("aten::rsqrt", "RsqrtBackward0", 2, kFloat32)),
      OrOtherEnd(FromResult("aten::reciprocal", "ReciprocalBackward0", 2, kFloat32)),
      OrOtherEnd(FromResult("aten::tan", "TanBackward0", 2, kFloat32)),
      OrOtherEnd(FromSelf("aten::log", "LogBackward0", 0, kFloat32)),
      OrOtherEnd(FromSelf("aten::log1p", "Log1PBackward0", 1, kFloat32)),
      OrOtherEnd(FromSelf("aten::log2", "Log2Backward0", 1, kFloat32)),
      OrOtherEnd(FromSelf("aten::log10", "Log10Backward0", 1, kFloat32)),
      FromSelf("aten::erf", "ErfBackward0", 4),
      FromSelf("aten::erfc", "ErfcBackward0", 4),
      FromSelf("aten::erfinv", "ErfinvBackward0", 4, kFloat32),
      FromSelf("aten::sin", "SinBackward0", 1),
      FromSelf("aten::cos", "CosBackward0", 2),
      FromSelf("aten::sinh", "SinhBackward0", 1, kFloat32),
      FromSelf("aten::cosh", "CoshBackward0", 1, kFloat32),
      FromSelf("aten::asin", "AsinBackward0", 4, kFloat32),
      FromSelf("aten::acos", "AcosBackward0", 5, kFloat32),
      FromSelf("aten::atan", "AtanBackward0", 2),
      FromSelf("aten::asinh", "AsinhBackward0", 3),
      FromSelf("aten::acosh", "AcoshBackward0", 3),
      FromSelf("aten::atanh", "AtanhBackward0", 3),
      FromSelf("aten::abs", "AbsBackward0", 1),
      FromSelf("aten::square", "PowBackward0", 2, kFloat32),
      FromSelf("aten::lgamma", "LgammaBackward0", 1),
      FromSelf("aten::nan_to_num", "NanToNumBackward0", 1, Autocast::kNone,
               "self, nan, posinf, neginf"),
      FromNothing("aten::neg", "NegBackward0"),
      FromNothing("aten::sign", "SignBackward0"),
      FromNothing("aten::floor", "FloorBackward0"),
      FromNothing("aten::ceil", "CeilBackward0"),
      FromNothing("aten::round", "RoundBackward0", "self, decimals"),
      FromNothing("aten::trunc", "TruncBackward0"),
      {.name = "aten::frac", .arguments = "self", .node = "FracBackward0",
       .gradients = {{0, GradientForm::kSame}}},

      // Without a gradient.
      ToBool("aten::logical_not"),
      ToBool("aten::isnan"),
      ToBool("aten::isinf"),
      ToBool("aten::isfinite"),
      {.name = "aten::bitwise_not", .arguments = "self"},
  };
  return rows;
}

}  // namespace footprint
