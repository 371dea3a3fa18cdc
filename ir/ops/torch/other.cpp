// Dropout, recurrent layers, and what PyTorch has no operator for.
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

// ONNX's [step, direction, sequence, unit] on a storage in PyTorch's order, [step, sequence,
// direction, unit].
Tensor NewDirectionsFirst(Eager& eager, const Dims& shape, ElementType element) {
  const Tensor stored = eager.New({shape[0], shape[2], shape[1], shape[3]}, element);
  const Dims& strides = stored.strides();
  return eager.Alias(stored, shape, {strides[0], strides[2], strides[1], strides[3]});
}

// input, hx, params: one cuDNN call for all layers and steps. It saves what it reads and what it
// makes; the reserve space in which it keeps the gates is the library's own.
TensorList Recurrent(Eager& eager, const CallArguments& a, bool has_cell) {
  const Tensor& input = a.tensor(0);
  std::vector<Tensor> inputs = {input};
  for (const Tensor& state : a.tensors(1)) inputs.push_back(state);
  for (const Tensor& weight : a.tensors(2)) inputs.push_back(weight);
  TensorList results;
  for (int i = 0; i < (has_cell ? 3 : 2); ++i) {
    const TensorType* declared = a.declared(i);
    if (declared == nullptr && i > 0) break;
    const Dims& shape = declared != nullptr ? declared->dims : input.shape();
    results.push_back(i == 0 && shape.size() == 4
                          ? NewDirectionsFirst(eager, shape, input.element())
                          : eager.New(shape, input.element(), i == 0 ? "" : "last state"));
  }
  std::vector<SavedTensor> saved(inputs.begin(), inputs.end());
  saved.push_back(results[0]);
  const int count = static_cast<int>(inputs.size());
  eager.Record("CudnnRnnBackward0", inputs, results, saved, [count](Backward& b) {
    for (int i = 0; i < count; ++i) {
      if (b.Needs(i)) b.Give(i, b.eager.New(b.shape(i), b.element(i)));
    }
  });
  return results;
}
TensorList RunLstm(Eager& e, const CallArguments& a) { return Recurrent(e, a, true); }
TensorList RunGru(Eager& e, const CallArguments& a) { return Recurrent(e, a, false); }

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
  constexpr absl::string_view kRecurrent =
      "input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first";
  static const std::vector<TorchOp> rows = {
      {.name = "aten::dropout", .arguments = "input, p, train", .run = RunDropout},
      {.name = "aten::native_dropout", .arguments = "input, p, train", .run = RunDropout},
      {.name = "aten::feature_dropout", .arguments = "input, p, train",
       .run = RunFeatureDropout},
      {.name = "aten::glu", .arguments = "self, dim", .node = "GluBackward0",
       .shape = ResultShape::kDeclared, .strides = ResultStrides::kContiguous, .saves = {Arg(0)},
       .gradients = {{0, GradientForm::kLikeArgument}}},
      {.name = "aten::lstm", .arguments = kRecurrent, .run = RunLstm},
      {.name = "aten::gru", .arguments = kRecurrent, .run = RunGru},
      {.name = "aten::rnn_tanh", .arguments = kRecurrent, .run = RunGru},
      {.name = "aten::rnn_relu", .arguments = kRecurrent, .run = RunGru},
      {.name = "footprint::generic", .arguments = "tensors, saved", .operands = 0,
       .run = RunGeneric},
      {.name = "footprint::bloom_gelu", .arguments = "self", .run = RunBloomGelu},
  };
  return rows;
}

}  // namespace footprint
