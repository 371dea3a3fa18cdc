// Convolution and pooling. ONNX pads each side on its own; PyTorch pads both sides alike and does
// the rest in a padding of its own, whose copy the convolution then saves.
#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/ops/lowering/habits.h"
#include "ir/ops/lowering/lower_context.h"

namespace footprint {
namespace {

int SpatialRank(const LowerContext& ctx) { return ctx.Rank(0) - 2; }

std::vector<int64_t> SpatialInts(const LowerContext& ctx, absl::string_view attribute,
                                 int64_t default_value) {
  const absl::Span<const int64_t> ints = ctx.node().Ints(attribute);
  if (!ints.empty()) return {ints.begin(), ints.end()};
  return std::vector<int64_t>(std::max(SpatialRank(ctx), 0), default_value);
}

std::vector<int64_t> KernelShape(const LowerContext& ctx) {
  const absl::Span<const int64_t> ints = ctx.node().Ints("kernel_shape");
  if (!ints.empty() || !ctx.Has(1)) return {ints.begin(), ints.end()};
  std::vector<int64_t> kernel;
  for (size_t i = 2; i < ctx.Type(1).dims.size(); ++i) {
    const Dim dim = ctx.Type(1).dims[i];
    kernel.push_back(dim.is_constant() ? dim.value() : 1);
  }
  return kernel;
}

// Begin and end of each spatial axis, all begins first, as ONNX writes them.
std::vector<int64_t> Pads(const LowerContext& ctx) {
  const size_t n = static_cast<size_t>(std::max(SpatialRank(ctx), 0));
  std::vector<int64_t> pads = {ctx.node().Ints("pads").begin(), ctx.node().Ints("pads").end()};
  pads.resize(2 * n, 0);
  const absl::string_view mode = ctx.node().String("auto_pad", "NOTSET");
  if (mode != "SAME_UPPER" && mode != "SAME_LOWER") return pads;
  // Enough to keep the size at stride 1, which is what padding="same" allows.
  const std::vector<int64_t> kernel = KernelShape(ctx);
  const std::vector<int64_t> dilations = SpatialInts(ctx, "dilations", 1);
  for (size_t i = 0; i < n && i < kernel.size() && i < dilations.size(); ++i) {
    const int64_t total = std::max<int64_t>(dilations[i] * (kernel[i] - 1), 0);
    pads[i] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
    pads[n + i] = total - pads[i];
  }
  return pads;
}

struct PaddedInput {
  TorchArgument tensor;
  TorchArgument padding;  // what is left for the operator itself
};

// PyTorch's own padding lists the last axis first: (left, right, top, bottom ...).
PaddedInput PadInput(LowerContext& ctx, const std::vector<int64_t>& pads) {
  const size_t n = pads.size() / 2;
  if (ctx.padding() == Padding::kDone) {
    return {ctx.Tensor(0), IntList(std::vector<int64_t>(n, 0))};
  }
  if (ctx.padding() == Padding::kNodes &&
      std::equal(pads.begin(), pads.begin() + static_cast<int64_t>(n),
                 pads.begin() + static_cast<int64_t>(n))) {
    return {ctx.Tensor(0), IntList(absl::MakeConstSpan(pads).first(n))};
  }
  std::vector<int64_t> torch_pads;
  Dims dims = ctx.Type(0).dims;
  for (size_t i = n; i-- > 0;) {
    torch_pads.push_back(pads[i]);
    torch_pads.push_back(pads[n + i]);
    dims[i + 2] = ctx.dims().Add(dims[i + 2], Dim(pads[i] + pads[n + i]));
  }
  const TorchValueId padded = ctx.Call(
      "aten::constant_pad_nd", {ctx.Tensor(0), IntList(torch_pads), TorchArgument::Float(0)},
      WithDims(ctx.Type(0), dims));
  return {TorchArgument::Tensor(padded), IntList(std::vector<int64_t>(n, 0))};
}

std::vector<TorchArgument> ConvArguments(LowerContext& ctx, bool has_bias) {
  const PaddedInput input = PadInput(ctx, Pads(ctx));
  return {input.tensor,
          ctx.Tensor(1),
          has_bias ? ctx.Tensor(2) : TorchArgument(),
          IntList(SpatialInts(ctx, "strides", 1)),
          input.padding,
          IntList(SpatialInts(ctx, "dilations", 1)),
          TorchArgument::Int(ctx.node().Int("group", 1))};
}

bool LowerConv(LowerContext& ctx) {
  const int n = SpatialRank(ctx);
  if (n < 1 || n > 3) return false;
  ctx.Result(absl::StrCat("aten::conv", n, "d"), ConvArguments(ctx, /*has_bias=*/true));
  return true;
}

// Exports for inference fold a norm into the convolution before it; the folded weight and bias lose
// the module's names, which all others keep.
bool HasFoldedNorm(const LowerContext& ctx) {
  return ctx.FromPyTorch() && !ctx.InTrainingMode() && ctx.IsParameter(1) && ctx.IsParameter(2) &&
         ctx.HasMadeUpName(1) && ctx.HasMadeUpName(2) && SpatialRank(ctx) >= 1 &&
         SpatialRank(ctx) <= 3;
}

// The bias is the norm's, of the same size; convolutions before a norm have none.
bool LowerFoldedNorm(LowerContext& ctx) {
  const TorchValueId convolved = ctx.Call(absl::StrCat("aten::conv", SpatialRank(ctx), "d"),
                                          ConvArguments(ctx, /*has_bias=*/false), ctx.ResultType());
  const TorchArgument bias = ctx.Tensor(2);
  const auto channels = [&](TorchValueKind kind, absl::string_view name) {
    return TorchArgument::Tensor(ctx.ModuleTensor(kind, name, ctx.Type(2), /*beside=*/2));
  };
  ctx.Result("aten::batch_norm",
             {TorchArgument::Tensor(convolved), channels(TorchValueKind::kParameter, "weight"),
              bias, channels(TorchValueKind::kBuffer, kRunningMeanName),
              channels(TorchValueKind::kBuffer, "running_var"), TorchArgument::Bool(true),
              TorchArgument::Float(0.1), TorchArgument::Float(1e-5), TorchArgument::Bool(true)});
  ctx.SetEvidence(Evidence::kName,
                  "a norm folded into the convolution, whose weight and bias lost their names");
  return true;
}

bool LowerConvTranspose(LowerContext& ctx) {
  const int n = SpatialRank(ctx);
  if (n < 1 || n > 3) return false;
  const std::vector<int64_t> pads = Pads(ctx);
  ctx.Result(
      absl::StrCat("aten::conv_transpose", n, "d"),
      {ctx.Tensor(0), ctx.Tensor(1), ctx.Tensor(2), IntList(SpatialInts(ctx, "strides", 1)),
       IntList(absl::MakeConstSpan(pads).first(static_cast<size_t>(n))),
       IntList(SpatialInts(ctx, "output_padding", 0)),
       TorchArgument::Int(ctx.node().Int("group", 1)), IntList(SpatialInts(ctx, "dilations", 1))});
  return true;
}

bool LowerMaxPool(LowerContext& ctx) {
  const int n = SpatialRank(ctx);
  if (n < 1 || n > 3 || ctx.HasResult(1)) return false;
  const PaddedInput input = PadInput(ctx, Pads(ctx));
  ctx.Result(absl::StrCat("aten::max_pool", n, "d"),
             {input.tensor, IntList(KernelShape(ctx)), IntList(SpatialInts(ctx, "strides", 1)),
              input.padding, IntList(SpatialInts(ctx, "dilations", 1)),
              TorchArgument::Bool(ctx.node().Int("ceil_mode", 0) != 0)});
  return true;
}

bool LowerAveragePool(LowerContext& ctx) {
  const int n = SpatialRank(ctx);
  if (n < 1 || n > 3) return false;
  const PaddedInput input = PadInput(ctx, Pads(ctx));
  ctx.Result(absl::StrCat("aten::avg_pool", n, "d"),
             {input.tensor, IntList(KernelShape(ctx)), IntList(SpatialInts(ctx, "strides", 1)),
              input.padding, TorchArgument::Bool(ctx.node().Int("ceil_mode", 0) != 0),
              TorchArgument::Bool(ctx.node().Int("count_include_pad", 0) != 0)});
  return true;
}

// AdaptiveAvgPool to one element is a mean over the spatial axes.
bool LowerGlobalAveragePool(LowerContext& ctx) {
  std::vector<int64_t> axes;
  for (int i = SpatialRank(ctx); i >= 1; --i) axes.push_back(-i);
  if (axes.empty()) return false;
  ctx.Result("aten::mean.dim", {ctx.Tensor(0), IntList(axes), TorchArgument::Bool(true)});
  return true;
}

bool LowerGlobalMaxPool(LowerContext& ctx) {
  const int n = SpatialRank(ctx);
  if (n < 1 || n > 3) return false;
  ctx.Result(absl::StrCat("aten::adaptive_max_pool", n, "d"),
             {ctx.Tensor(0), IntList(std::vector<int64_t>(static_cast<size_t>(n), 1))});
  return true;
}

// Sizes come from shape inference; modes that PyTorch names differently.
bool LowerResize(LowerContext& ctx) {
  const int n = SpatialRank(ctx);
  if (n < 1 || n > 3 || !ctx.ResultType().has_rank) return false;
  const absl::string_view mode = ctx.node().String("mode", "nearest");
  static constexpr absl::string_view kLinear[] = {"linear1d", "bilinear2d", "trilinear3d"};
  std::string name = absl::StrCat("aten::upsample_nearest", n, "d");
  if (mode == "linear" || mode == "bilinear") {
    name = absl::StrCat("aten::upsample_", kLinear[n - 1]);
  } else if (mode == "cubic") {
    name = "aten::upsample_bicubic2d";
  }
  const absl::Span<const Dim> dims = ctx.ResultType().dims;
  ctx.Result(name, {ctx.Tensor(0), IntList(dims.subspan(2))});
  return true;
}

constexpr Lowering kRows[] = {
    {.onnx = "Conv(x, w, b)", .operands = "x w b", .lower = LowerFoldedNorm,
     .when = HasFoldedNorm},
    {.onnx = "Conv", .lower = LowerConv},
    {.onnx = "ConvTranspose", .lower = LowerConvTranspose},
    {.onnx = "MaxPool", .lower = LowerMaxPool},
    {.onnx = "AveragePool", .lower = LowerAveragePool},
    {.onnx = "GlobalAveragePool", .lower = LowerGlobalAveragePool},
    {.onnx = "GlobalMaxPool", .lower = LowerGlobalMaxPool},
    {.onnx = "Resize", .lower = LowerResize, .number_operands = 0b1110},
    {.onnx = "Upsample", .lower = LowerResize, .number_operands = 0b10},
};

}  // namespace

absl::Span<const Lowering> ConvolutionLowerings() { return kRows; }

}  // namespace footprint
