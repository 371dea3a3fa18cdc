// Norms, whole and in the pieces that exporters write.
#include <algorithm>
#include <utility>
#include <vector>

#include "ir/ops/lowering/casts.h"
#include "ir/ops/lowering/lower_context.h"

namespace footprint {
namespace {

// None where the module has no weight or bias.
TorchArgument Affine(LowerContext& ctx, int i) {
  return ctx.IsLiteral(i) || ctx.IsNumber(i) ? TorchArgument() : ctx.Tensor(i);
}

// None where the norm keeps no running statistics: exporters then compute those of the batch.
TorchArgument RunningStatistics(LowerContext& ctx, int i) {
  return ctx.IsFree(i) ? TorchArgument() : ctx.Tensor(i);
}

// Outputs beyond the first are running statistics, updated in place by the same call.
bool LowerBatchNorm(LowerContext& ctx) {
  const Node& node = ctx.node();
  const bool says_training = node.version >= 14 ? node.Int("training_mode", 0) != 0
                                                : node.outputs.size() > 1;
  const bool training = says_training || !(ctx.InTrainingMode() || ctx.DropsSomewhere());
  ctx.Result("aten::batch_norm",
             {ctx.Tensor(0), Affine(ctx, 1), Affine(ctx, 2), RunningStatistics(ctx, 3),
              RunningStatistics(ctx, 4),
              TorchArgument::Bool(training), TorchArgument::Float(1 - node.Float("momentum", 0.9)),
              TorchArgument::Float(node.Float("epsilon", 1e-5)), TorchArgument::Bool(true)});
  if (training && !says_training) {
    ctx.SetEvidence(Evidence::kAssumption, "exported for inference; trains on batch statistics");
  }
  for (int i = 1; i < 3; ++i) {
    if (ctx.HasResult(i) && !ctx.IsFree(i + 2)) ctx.Alias(i, ctx.TensorId(i + 2));
  }
  return true;
}

std::vector<Dim> LastDims(const LowerContext& ctx, int64_t axis) {
  const Dims& dims = ctx.Type(0).dims;
  return {dims.begin() + std::min<int64_t>(axis, static_cast<int64_t>(dims.size())), dims.end()};
}

bool LowerLayerNorm(LowerContext& ctx) {
  if (ctx.Rank(0) < 1 || ctx.HasResult(1)) return false;
  ctx.Result("aten::layer_norm",
             {ctx.Tensor(0), IntList(LastDims(ctx, Axis(ctx, 0, -1))), Affine(ctx, 1),
              Affine(ctx, 2), TorchArgument::Float(ctx.node().Float("epsilon", 1e-5)),
              TorchArgument::Bool(true)});
  return true;
}

bool LowerRmsNorm(LowerContext& ctx) {
  if (ctx.Rank(0) < 1) return false;
  ctx.Result("aten::rms_norm",
             {ctx.Tensor(0), IntList(LastDims(ctx, Axis(ctx, 0, -1))), ctx.Tensor(1),
              TorchArgument::Float(ctx.node().Float("epsilon", 1e-5))});
  return true;
}

// x, weight, bias: the axes are those that the weight has.
bool LowerLayerNormPieces(LowerContext& ctx) {
  const int64_t axis = ctx.Rank(0) - std::max(ctx.Has(1) ? ctx.Rank(1) : 1, 1);
  ctx.Result("aten::layer_norm", {ctx.Tensor(0), IntList(LastDims(ctx, axis)), ctx.Tensor(1),
                                  ctx.Tensor(2), TorchArgument::Float(1e-5),
                                  TorchArgument::Bool(true)});
  return true;
}

// From opset 17 on PyTorch's exporter has an operator for it: pieces are the module's own.
bool IsLayerNorm(const LowerContext& ctx) {
  if (ctx.FromPyTorch() && ctx.node().version >= 17) return false;
  if (ctx.Rank(0) < 1 || (ctx.Has(1) && !ctx.IsParameter(1))) return false;
  if (ctx.Has(1) && ctx.Rank(1) > ctx.Rank(0)) return false;
  return !ctx.Has(2) || (ctx.IsParameter(2) && ctx.Rank(1) == ctx.Rank(2));
}

// (x - u) / sqrt((x - u).pow(2).mean() + eps), as norms over channels are written by hand: the file
// has one difference for both. Operands: x, its mean, the squares, their mean, epsilon.
bool LowerCenteredTwice(LowerContext& ctx) {
  const auto axes = [&ctx](int i) {
    const Node& mean = *ctx.Producer(i);
    std::vector<int64_t> found(mean.Ints("axes").begin(), mean.Ints("axes").end());
    const KnownValuePtr known = found.empty() && mean.input(1).valid() ? ctx.KnownOf(mean.input(1))
                                                                       : KnownValuePtr();
    if (known != nullptr) {
      for (const Dim& axis : known->integers) found.push_back(axis.value());
    }
    return IntList(found);
  };
  const auto tensor = [](TorchValueId id) { return TorchArgument::Tensor(id); };
  const TensorType& type = ctx.Type(0);
  const TensorType& small = ctx.Type(1);
  const TorchArgument x = ctx.Tensor(0);
  const TorchArgument keep = TorchArgument::Bool(true);
  const TorchArgument mean = tensor(ctx.Call("aten::mean.dim", {x, axes(1), keep}, small));
  const TorchArgument first = tensor(ctx.Call("aten::sub", {x, mean}, type));
  const TorchArgument squares =
      tensor(ctx.Call("aten::pow.Tensor_Scalar", {first, TorchArgument::Int(2)}, type));
  const TorchArgument variance =
      tensor(ctx.Call("aten::mean.dim", {squares, axes(3), keep}, small));
  const TorchArgument second = tensor(ctx.Call("aten::sub", {x, mean}, type));
  const TorchArgument sum = tensor(ctx.Call("aten::add", {variance, ctx.Argument(4)}, small));
  ctx.Result("aten::div", {second, tensor(ctx.Call("aten::sqrt", {sum}, small))});
  return true;
}

bool IsCenteredTwice(const LowerContext& ctx) {
  return ctx.FromPyTorch() && ctx.node().version >= 17 && ctx.Producer(1) != nullptr &&
         ctx.Producer(3) != nullptr && ctx.Type(1).has_rank && ctx.Type(1).rank() == ctx.Rank(0);
}

// nn.GroupNorm is an instance norm of [N, groups, rest] between two reshapes, then weight and bias.
// Operands: x, the grouped tensor, weight, bias.
bool LowerGroupNormPieces(LowerContext& ctx) {
  ctx.Result("aten::group_norm", {ctx.Tensor(0), TorchArgument::Int(ctx.Type(1).dims[1]),
                                  Affine(ctx, 2), Affine(ctx, 3), TorchArgument::Float(1e-5),
                                  TorchArgument::Bool(true)});
  return true;
}

bool IsGrouped(const LowerContext& ctx) {
  return ctx.Rank(1) == 3 && ctx.Type(1).dims[1].is_constant() &&
         (ctx.IsParameter(2) || ctx.IsNumber(2)) && (ctx.IsParameter(3) || ctx.IsNumber(3));
}

bool LowerGroupNorm(LowerContext& ctx) {
  ctx.Result("aten::group_norm",
             {ctx.Tensor(0), TorchArgument::Int(ctx.node().Int("num_groups", 1)), ctx.Tensor(1),
              ctx.Tensor(2), TorchArgument::Float(ctx.node().Float("epsilon", 1e-5)),
              TorchArgument::Bool(true)});
  return true;
}

bool LowerInstanceNorm(LowerContext& ctx) {
  const TorchArgument none;
  ctx.Result("aten::instance_norm",
             {ctx.Tensor(0), Affine(ctx, 1), Affine(ctx, 2), none, none,
              TorchArgument::Bool(true), TorchArgument::Float(0.1),
              TorchArgument::Float(ctx.node().Float("epsilon", 1e-5)), TorchArgument::Bool(true)});
  return true;
}

bool LowerLocalResponseNorm(LowerContext& ctx) {
  const Node& node = ctx.node();
  ctx.Result("aten::local_response_norm",
             {ctx.Tensor(0), TorchArgument::Int(node.Int("size", 1)),
              TorchArgument::Float(node.Float("alpha", 1e-4)),
              TorchArgument::Float(node.Float("beta", 0.75)),
              TorchArgument::Float(node.Float("bias", 1.0))});
  return true;
}

// Below opset 13 the operator flattens from its axis on; PyTorch's exporter only used the last.
bool LowerSoftmax(LowerContext& ctx) {
  const int64_t axis = Axis(ctx, 0, ctx.node().version >= 13 ? -1 : 1);
  std::vector<TorchArgument> arguments = {ctx.Tensor(0), TorchArgument::Int(axis)};
  if (IsFloat32Softmax(ctx)) arguments.push_back(TorchArgument::Element(ElementType::kFloat));
  ctx.Result(ctx.row().torch, std::move(arguments));
  return true;
}

bool IsWeightNorm(const LowerContext& ctx) { return ctx.IsParameter(0) && ctx.IsParameter(1); }

constexpr Lowering kRows[] = {
    {.onnx = "Add(Mul(Div(Sub:centered(x, ReduceMean(x)),"
             " Sqrt(Add(ReduceMean(Pow|Mul(Cast?(centered))), #))), weight), bias)",
     .operands = "x weight bias",
     .lower = LowerLayerNormPieces,
     .when = IsLayerNorm,
     .note = "LayerNorm written out"},
    {.onnx = "Mul(Div(Sub:centered(x, ReduceMean(x)),"
             " Sqrt(Add(ReduceMean(Pow|Mul(Cast?(centered))), #))), weight)",
     .operands = "x weight bias",
     .lower = LowerLayerNormPieces,
     .when = IsLayerNorm,
     .note = "LayerNorm without bias, written out"},
    {.onnx = "Div(Sub:centered(x, ReduceMean(x)),"
             " Sqrt(Add(ReduceMean(Pow|Mul(Cast?(centered))), #)))",
     .operands = "x weight bias",
     .lower = LowerLayerNormPieces,
     .when = IsLayerNorm,
     .note = "LayerNorm without weight, written out"},
    {.onnx = "Div(Sub:centered(x, ReduceMean:u(x)),"
             " Sqrt(Add(ReduceMean:v(Pow:s(centered, #)), #epsilon)))",
     .operands = "x u s v epsilon",
     .lower = LowerCenteredTwice,
     .when = IsCenteredTwice,
     .note = "a norm by hand, whose two equal differences the file has as one"},
    {.onnx = "Add(Mul(Reshape(InstanceNormalization(Reshape:grouped(x))), Unsqueeze?(weight)),"
             " Unsqueeze?(bias))",
     .operands = "x grouped weight bias",
     .torch = "aten::group_norm",
     .lower = LowerGroupNormPieces,
     .when = IsGrouped,
     .note = "GroupNorm written as InstanceNormalization between reshapes"},
    {.onnx = "Mul(Div(direction, ReduceL2(direction)), length)",
     .operands = "direction length",
     .torch = "aten::weight_norm",
     .lower = LowerBinary,
     .when = IsWeightNorm,
     .note = "a weight as direction and length"},
    {.onnx = "BatchNormalization",
     .torch = "aten::batch_norm",
     .lower = LowerBatchNorm,
     .stored_operands = 1u << 3 | 1u << 4},
    {.onnx = "LayerNormalization", .lower = LowerLayerNorm},
    {.onnx = "RMSNormalization", .lower = LowerRmsNorm},
    {.onnx = "GroupNormalization", .torch = "aten::group_norm", .lower = LowerGroupNorm},
    {.onnx = "InstanceNormalization", .lower = LowerInstanceNorm},
    {.onnx = "LRN", .lower = LowerLocalResponseNorm},
    {.onnx = "Softmax", .torch = "aten::softmax", .lower = LowerSoftmax},
    {.onnx = "LogSoftmax", .torch = "aten::log_softmax", .lower = LowerSoftmax},
    {.onnx = "com.microsoft::SimplifiedLayerNormalization", .lower = LowerRmsNorm},
};

}  // namespace

absl::Span<const Lowering> NormLowerings() { return kRows; }

}  // namespace footprint
