// Normalisation. All norms save their input and the statistics of the forward pass; the gradients
// of input, weight and bias come from one call.
#include <algorithm>
#include <vector>

#include "ir/ops/torch/families.h"
#include "ir/ops/torch/primitives.h"

namespace footprint {
namespace {

constexpr ElementType kFloat = ElementType::kFloat;
// SavedTensor::read_by: the gradients of input and weight; that of the bias reads nothing.
constexpr uint32_t kOfInput = 1u << 0;
constexpr uint32_t kOfWeight = 1u << 1;
constexpr uint32_t kOfBoth = kOfInput | kOfWeight;

SavedTensor ReadBy(const Tensor& tensor, uint32_t inputs) {
  return SavedTensor::ReadBy(tensor, inputs);
}
SavedTensor Unread(const Tensor& tensor) { return SavedTensor::Unread(tensor); }

bool IsLow(ElementType element) {
  return element == ElementType::kBfloat16 || element == ElementType::kFloat16;
}

// cuDNN takes float32 throughout, or float16 with a float32 weight.
bool UsesCudnn(const Tensor& input, const Tensor& weight) {
  if (!weight) return !IsLow(input.element());
  return weight.element() == kFloat && input.element() != ElementType::kBfloat16;
}

Tensor NewInFormatOf(Eager& eager, const Tensor& like, ElementType element) {
  if (!IsChannelsLast(eager, like)) return eager.New(like.shape(), element);
  return eager.NewStrided(like.shape(), ChannelsLastStrides(eager.dims(), like.shape()), element);
}

Tensor ContiguousInFormatOf(Eager& eager, const Tensor& tensor) {
  return IsChannelsLast(eager, tensor) ? tensor : Contiguous(eager, tensor);
}

// Gradients of input 0 (like the saved input), 1 and 2 (like the weight). cuDNN makes all three.
void NormGradients(Backward& b, bool all) {
  const Tensor& input = b.saved(0);
  if (all || b.Needs(0)) b.Give(0, NewInFormatOf(b.eager, input, input.element()));
  const Tensor& weight = b.saved(1);
  if (!weight) return;
  for (int i : {1, 2}) {
    if (all || b.Needs(i)) b.Give(i, b.eager.New(weight.shape(), weight.element()));
  }
}

// input, weight, bias, running_mean, running_var, training
TensorList RunBatchNorm(Eager& eager, const CallArguments& a) {
  if (a.tensor(0).rank() < 2) return {};
  return {BatchNorm(eager, a.tensor(0), a.tensor(1), a.tensor(2), a.tensor(3), a.tensor(4),
                    a.boolean(5, true))};
}
TensorList RunBatchNormNoTraining(Eager& eager, const CallArguments& a) {
  if (a.tensor(0).rank() < 2) return {};
  return {BatchNorm(eager, a.tensor(0), a.tensor(1), a.tensor(2), a.tensor(3), a.tensor(4), false)};
}

Tensor Repeat(Eager& eager, const Tensor& self, Dim times) {
  if (!self || self.rank() != 1) return self;
  Tensor result = eager.New({eager.dims().Mul(self.dim(0), times)}, self.element());
  eager.NoteCopy(result, self);
  eager.Record("RepeatBackward0", {self}, {result}, {}, FullGradient());
  return result;
}

// A batch norm over [1, N * C, ...] with everything per channel repeated N times.
TensorList RunInstanceNorm(Eager& eager, const CallArguments& a) {
  if (a.tensor(0).rank() < 3) return {};
  const Tensor& input = a.tensor(0);
  const Dim batch = input.dim(0);
  Dims merged = input.shape();
  merged[0] = 1;
  merged[1] = eager.dims().Mul(batch, merged[1]);
  const Tensor weight = Repeat(eager, a.tensor(1), batch);
  const Tensor bias = Repeat(eager, a.tensor(2), batch);
  const Tensor mean = Repeat(eager, a.tensor(3), batch);
  const Tensor variance = Repeat(eager, a.tensor(4), batch);
  const Tensor flat = ViewAs(eager, Contiguous(eager, input), merged);
  const Tensor result =
      BatchNorm(eager, flat, weight, bias, mean, variance, a.boolean(5, true));
  return {ViewAs(eager, result, input.shape())};
}

// One number for each row: leading axes as they are, the normalized ones 1.
Dims RowShape(const Tensor& input, size_t normalized_axes) {
  Dims shape = input.shape();
  for (size_t i = shape.size() - std::min(normalized_axes, shape.size()); i < shape.size(); ++i) {
    shape[i] = 1;
  }
  return shape;
}

// input, normalized_shape, weight, bias
TensorList RunLayerNorm(Eager& eager, const CallArguments& a) {
  const Tensor& input = a.tensor(0);
  const Tensor& weight = a.tensor(2);
  const Tensor& bias = a.tensor(3);
  const Dims rows = RowShape(input, a.integers(1).size());
  Tensor result = eager.New(input.shape(), input.element());
  const Tensor mean = eager.New(rows, kFloat, "mean");
  const Tensor deviation = eager.New(rows, kFloat, "rstd");
  eager.Record("NativeLayerNormBackward0", {input, weight, bias}, {result},
               {ReadBy(input, kOfBoth), ReadBy(weight, kOfInput), Unread(bias),
                ReadBy(mean, kOfBoth), ReadBy(deviation, kOfBoth)},
               [](Backward& b) {
                 const Tensor& x = b.saved(0);
                 if (b.Needs(0)) b.Give(0, b.eager.New(x.shape(), x.element()));
                 for (int i : {1, 2}) {
                   if (b.Needs(i)) b.Give(i, b.eager.New(b.shape(i), b.element(i)));
                 }
               });
  return {result};
}

// input, num_groups, weight, bias
TensorList RunGroupNorm(Eager& eager, const CallArguments& a) {
  if (a.tensor(0).rank() < 2) return {};
  const Tensor input = ContiguousInFormatOf(eager, a.tensor(0));
  const Tensor& weight = a.tensor(2);
  const Tensor& bias = a.tensor(3);
  Tensor result = NewInFormatOf(eager, input, input.element());
  const bool widens = weight && weight.element() == kFloat;
  const ElementType statistics = widens ? kFloat : input.element();
  const Tensor mean = eager.New({input.dim(0), a.integer(1)}, statistics, "mean");
  const Tensor deviation = eager.New({input.dim(0), a.integer(1)}, statistics, "rstd");
  eager.Record("NativeGroupNormBackward0", {input, weight, bias}, {result},
               {ReadBy(input, kOfBoth), ReadBy(weight, kOfInput), ReadBy(mean, kOfBoth),
                ReadBy(deviation, kOfBoth)},
               [](Backward& b) {
                 const Tensor gradient = ContiguousInFormatOf(b.eager, b.gradient());
                 NormGradients(b, false);
               });
  return {result};
}

// input, normalized_shape, weight, eps: one kernel.
TensorList RunRmsNorm(Eager& eager, const CallArguments& a) {
  const Tensor& input = a.tensor(0);
  const Tensor& weight = a.tensor(2);
  Tensor result = eager.New(input.shape(), input.element());
  const Tensor deviation = eager.New(RowShape(input, a.integers(1).size()), kFloat, "rstd");
  eager.Record("FusedRmsNormBackward0", {input, weight}, {result}, {input, weight, deviation},
               [](Backward& b) {
                 const Tensor& x = b.saved(0);
                 if (b.Needs(0)) b.Give(0, b.eager.New(x.shape(), x.element()));
                 if (b.Needs(1)) b.Give(1, b.eager.New(b.shape(1), b.element(1)));
               });
  return {result};
}

// input / (k + alpha * average(input^2 over neighbouring channels))^beta
TensorList RunLocalResponseNorm(Eager& eager, const CallArguments& a) {
  if (a.tensor(0).rank() < 3) return {};
  const Tensor& input = a.tensor(0);
  DimTable& dims = eager.dims();
  Dims wide = {input.dim(0), 1, input.dim(1)};
  for (int axis = 2; axis < input.rank(); ++axis) wide.push_back(input.dim(axis));
  Tensor average;
  {
    const Tensor square = ViewAs(eager, Mul(eager, input, input), wide);
    Dims padded = wide;
    padded[2] = dims.Add(padded[2], dims.Sub(a.integer(1), 1));
    const Tensor copy = eager.New(padded, input.element(), "padded squares");
    eager.Record("ConstantPadNdBackward0", {square}, {copy}, {}, FullGradient());
    const Tensor pooled = eager.New(wide, input.element());
    eager.Record("AvgPool3DBackward0", {copy}, {pooled}, {Unread(copy)}, FullGradient());
    average = ViewAs(eager, pooled, input.shape());
  }
  const Tensor base = Shift(eager, Scale(eager, average));
  return {Div(eager, input, PowNumber(eager, base, 0.75))};
}

// v, g, dim
TensorList RunWeightNorm(Eager& eager, const CallArguments& a) {
  const Tensor& v = a.tensor(0);
  const Tensor& g = a.tensor(1);
  Tensor result = eager.New(v.shape(), v.element());
  const Tensor norms = eager.New(g.shape(), kFloat, "norms");
  eager.Record("WeightNormInterfaceBackward0", {v, g}, {result}, {v, g, norms}, [](Backward& b) {
    for (int i : {0, 1}) {
      if (b.Needs(i)) b.Give(i, b.eager.New(b.shape(i), b.element(i)));
    }
  });
  return {result};
}

// weight, v: one step of the power iteration without a tape, then weight / (u . (matrix @ v)), on
// copies of both vectors.
TensorList RunSpectralNorm(Eager& eager, const CallArguments& a) {
  const Tensor& weight = a.tensor(0);
  const Tensor& v = a.tensor(1);
  if (weight.rank() < 2) return {};
  const Dims rows = {weight.dim(0)};
  const Tensor matrix = Reshape(eager, weight, {weight.dim(0), v.dim(0)});
  for (const Dims& vector : {rows, v.shape()}) {
    const Tensor product = eager.New(vector, weight.element(), "power iteration");
    const Tensor length = eager.New({Dim(1)}, weight.element(), "power iteration");
  }
  const Tensor left = eager.New(rows, weight.element(), "copy of u");
  const Tensor right = Clone(eager, v);
  const Tensor product = eager.New(rows, weight.element());
  eager.Record("MvBackward0", {matrix}, {product}, {right}, [](Backward& b) {
    b.Give(0, b.eager.New(b.shape(0), b.element(0)));
  });
  const Tensor sigma = eager.New({}, weight.element());
  eager.Record("VdotBackward0", {product}, {sigma}, {left}, [](Backward& b) {
    b.Give(0, b.eager.New(b.shape(0), b.element(0)));
  });
  return {Div(eager, weight, sigma)};
}

}  // namespace

Tensor BatchNorm(Eager& eager, const Tensor& input, const Tensor& weight, const Tensor& bias,
                 const Tensor& running_mean, const Tensor& running_var, bool training) {
  const bool cudnn = UsesCudnn(input, weight);
  const Tensor x = cudnn ? ContiguousInFormatOf(eager, input) : input;
  Tensor result = NewInFormatOf(eager, x, x.element());
  const Dims channels = {training ? x.dim(1) : Dim(0)};
  const Tensor mean = eager.New(channels, kFloat, "mean");
  const Tensor deviation = eager.New(channels, kFloat, "invstd");
  const Tensor reserve = cudnn ? eager.New({Dim(0)}, ElementType::kUint8, "reserve") : Tensor();
  eager.Record(cudnn ? "CudnnBatchNormBackward0" : "NativeBatchNormBackward0", {x, weight, bias},
               {result},
               {ReadBy(x, training ? kOfBoth : kOfWeight),
                ReadBy(weight, kOfInput), running_mean, running_var,
                ReadBy(mean, kOfBoth),
                ReadBy(deviation, kOfBoth), reserve},
               [cudnn](Backward& b) {
                 const Tensor gradient = ContiguousInFormatOf(b.eager, b.gradient());
                 NormGradients(b, cudnn);
               });
  return result;
}

absl::Span<const TorchOp> NormTorchOps() {
  constexpr Autocast kFloat32 = Autocast::kFloat32;
  static const std::vector<TorchOp> rows = {
      {.name = "aten::batch_norm",
       .arguments = "input, weight, bias, running_mean, running_var, training, momentum, eps, "
                    "cudnn_enabled",
       .run = RunBatchNorm},
      {.name = "aten::_native_batch_norm_legit_functional",
       .arguments = "input, weight, bias, running_mean, running_var, training, momentum, eps",
       .run = RunBatchNorm},
      {.name = "aten::_native_batch_norm_legit_no_training",
       .arguments = "input, weight, bias, running_mean, running_var, momentum, eps",
       .run = RunBatchNormNoTraining},
      {.name = "aten::instance_norm",
       .arguments = "input, weight, bias, running_mean, running_var, use_input_stats, momentum, "
                    "eps, cudnn_enabled",
       .run = RunInstanceNorm},
      {.name = "aten::layer_norm",
       .arguments = "input, normalized_shape, weight, bias, eps, cudnn_enable",
       .autocast = kFloat32, .run = RunLayerNorm},
      {.name = "aten::group_norm",
       .arguments = "input, num_groups, weight, bias, eps, cudnn_enabled",
       .autocast = kFloat32, .run = RunGroupNorm},
      {.name = "aten::rms_norm", .arguments = "input, normalized_shape, weight, eps",
       .autocast = kFloat32, .run = RunRmsNorm},
      {.name = "aten::local_response_norm", .arguments = "input, size, alpha, beta, k",
       .run = RunLocalResponseNorm},
      {.name = "footprint::spectral_norm", .arguments = "weight, v", .operands = 2,
       .run = RunSpectralNorm},
      {.name = "aten::weight_norm", .arguments = "v, g, dim", .operands = 2, .run = RunWeightNorm},
  };
  return rows;
}

}  // namespace footprint
