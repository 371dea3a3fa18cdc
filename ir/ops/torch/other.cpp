// Dropout, and what PyTorch has no operator for.
#include <vector>

#include "ir/ops/torch/families.h"
#include "ir/ops/torch/primitives.h"

namespace footprint {
namespace {

// input, p, train. Without effect it is the input itself. In place it multiplies with a noise of
// full precision, which is kept instead of mask and result.
TensorList RunDropout(Eager& eager, const CallArguments& a) {
  const Tensor& input = a.tensor(0);
  if (a.number(1, 0.5) == 0 || !a.boolean(2, true)) return {input};
  if (a.WritesInPlace(eager, input.element())) {
    const Tensor noise = NewLike(eager, input, input.element(), "noise");
    Tensor result = eager.Alias(input, input.shape(), input.strides());
    eager.Record("MulBackward0", {input}, {result}, {noise}, [](Backward& b) {
      b.Give(0, NewPointwise(b.eager, {b.gradient()}, b.gradient().element()));
    });
    return {result};
  }
  return {Dropout(eager, input)};
}

// Whole channels: noise of [N, C, 1, ...].
TensorList RunFeatureDropout(Eager& eager, const CallArguments& a) {
  const Tensor& input = a.tensor(0);
  if (a.number(1, 0.5) == 0 || !a.boolean(2, true)) return {input};
  Dims shape = input.shape();
  for (size_t i = 2; i < shape.size(); ++i) shape[i] = 1;
  return {Mul(eager, input, eager.New(shape, input.element(), "noise"))};
}

// tensors, saved: an operator of which nothing is known but its operands and results. Gradients
// flow to every operand that takes one.
TensorList RunGeneric(Eager& eager, const CallArguments& a) {
  const std::vector<SavedTensor> saved(a.tensors(1).begin(), a.tensors(1).end());
  return DeclaredResults(eager, a, a.tensors(0), saved);
}

// tanh(0.79788456 * x * (1 + 0.044715 * x * x)), step by step; the steps die on the way.
Tensor TanhOfCubic(Eager& eager, const Tensor& x) {
  const auto step = [&] { return NewLike(eager, x, x.element(), "temporary"); };
  Tensor argument;
  {
    const Tensor scaled = step();
    Tensor cubic;
    {
      Tensor square = step();
      square = step();
      cubic = step();
    }
    argument = step();
  }
  return step();
}

// 0.5 * x * ((1 - tanh^2) * (0.79788456 + 0.1070322243 * x * x)) + 0.5 * (1 + tanh), times grad
void BloomGeluGradient(Backward& b) {
  const Tensor& x = b.saved(0);
  const auto step = [&] { return NewLike(b.eager, x, x.element(), "temporary"); };
  const Tensor tanh = TanhOfCubic(b.eager, x);
  Tensor factor;
  {
    Tensor first;
    {
      const Tensor half = step();
      Tensor outer;
      {
        Tensor squared = step();
        const Tensor complement = step();
        squared = Tensor();
        Tensor inner = step();
        inner = step();
        inner = step();
        outer = step();
      }
      first = step();
    }
    Tensor second = step();
    second = step();
    factor = step();
  }
  b.Give(0, step());
}

// GELU by its tanh formula, x * 0.5 * (1 + tanh(...)), as a function of its own that saves its
// input alone and computes both ways in steps.
TensorList RunBloomGelu(Eager& eager, const CallArguments& a) {
  const Tensor& x = a.tensor(0);
  const auto step = [&] { return NewLike(eager, x, x.element()); };
  Tensor result;
  {
    const Tensor half = step();
    Tensor one_plus_tanh;
    {
      const Tensor tanh = TanhOfCubic(eager, x);
      one_plus_tanh = step();
    }
    result = step();
  }
  eager.Record("GeLUFunctionBackward", {x}, {result}, {x}, BloomGeluGradient);
  return {result};
}

}  // namespace

TensorList DeclaredResults(Eager& eager, const CallArguments& arguments,
                           absl::Span<const Tensor> inputs, absl::Span<const SavedTensor> saved) {
  // The file's float32 is what the operands have here, else what the module has.
  const ElementType promoted = PromotedElement(inputs);
  const ElementType floating = IsFloatingPoint(promoted) ? promoted : eager.mode().module;
  TensorList results;
  for (int i = 0; i < arguments.result_count(); ++i) {
    const TensorType* declared = arguments.declared(i);
    ElementType element = declared == nullptr ? ElementType::kFloat : declared->element;
    if (element == ElementType::kFloat) element = floating;
    results.push_back(eager.New(declared == nullptr ? Dims{Dim()} : declared->dims, element));
  }
  const int count = static_cast<int>(inputs.size());
  eager.Record("GenericBackward", inputs, results, saved, [count](Backward& b) {
    for (int i = 0; i < count; ++i) {
      if (b.Needs(i)) b.Give(i, b.eager.New(b.shape(i), b.element(i)));
    }
  });
  return results;
}

absl::Span<const TorchOp> OtherTorchOps() {
  static const std::vector<TorchOp> rows = {
      {.name = "aten::dropout", .arguments = "input, p, train", .run = RunDropout},
      {.name = "aten::native_dropout", .arguments = "input, p, train", .run = RunDropout},
      {.name = "aten::feature_dropout", .arguments = "input, p, train",
       .run = RunFeatureDropout},
      {.name = "aten::glu", .arguments = "self, dim", .node = "GluBackward0",
       .shape = ResultShape::kDeclared, .strides = ResultStrides::kContiguous, .saves = {Arg(0)},
       .gradients = {{0, GradientForm::kLikeArgument}}},
      {.name = "footprint::generic", .arguments = "tensors, saved", .operands = 0,
       .run = RunGeneric},
      {.name = "footprint::bloom_gelu", .arguments = "self", .run = RunBloomGelu},
  };
  return rows;
}

}  // namespace footprint
