#include "ir/ops/lowering/fx.h"

#include <algorithm>
#include <iterator>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"

namespace footprint {
namespace {

constexpr FxLowering kRows[] = {
    {"aten.view", FxForm::kView, "aten::view"},
    {"aten._unsafe_view", FxForm::kView, "aten::_unsafe_view"},
    {"aten.reshape", FxForm::kView, "aten::reshape"},
    {"aten.expand", FxForm::kView, "aten::expand"},
    {"aten.slice", FxForm::kSlice, "aten::slice"},
    {"aten.select", FxForm::kPart},
    {"aten.narrow", FxForm::kPart},
    {"aten.transpose", FxForm::kAxes},
    {"aten.permute", FxForm::kAxes},
    {"aten.unsqueeze", FxForm::kAxes},
    {"aten.squeeze", FxForm::kAxes},
    {"aten.split", FxForm::kParts},
    {"aten.split_with_sizes", FxForm::kParts},
    {"aten.chunk", FxForm::kParts},
    {"aten.unbind", FxForm::kParts},
    {"aten.repeat", FxForm::kPart},
    {"aten.constant_pad_nd", FxForm::kPart},
    {"aten.pad", FxForm::kPart},
    {"aten.as_strided", FxForm::kView},
    {"aten.unflatten", FxForm::kPart},
    {"aten.sym_size", FxForm::kSize},
    {"aten.sym_numel", FxForm::kSize},
    {"aten.sym_stride", FxForm::kSize},
    {"aten._assert_scalar", FxForm::kSize},
    {"aten.index", FxForm::kIndex},
    {"aten.sort", FxForm::kSeveral},
    {"aten.topk", FxForm::kSeveral},
    {"aten.alias", FxForm::kSame},
    {"aten.detach_", FxForm::kSame},
    {"aten.lift_fresh_copy", FxForm::kSame},
    {"aten.conv1d", FxForm::kConvolution},
    {"aten.conv2d", FxForm::kConvolution},
    {"aten.conv3d", FxForm::kConvolution},
    {"aten.convolution", FxForm::kConvolution},
    {"aten._native_batch_norm_legit_functional", FxForm::kBatchNorm},
    {"aten._native_batch_norm_legit_no_training", FxForm::kBatchNorm},
    {"aten._native_batch_norm_legit", FxForm::kBatchNorm},
    {"aten.batch_norm", FxForm::kBatchNorm},
    {"aten.empty", FxForm::kNoise, "aten::empty"},
    {"aten.rand", FxForm::kNoise, "aten::rand"},
    {"aten.bernoulli", FxForm::kCall, "aten::bernoulli", "empty"},
    {"aten.div", FxForm::kCall, "aten::div", "bernoulli"},
    {.target = "aten.softmax", .float_argument = 2},
    {.target = "aten.where", .masks_bias = true},
    {.target = "aten.scaled_dot_product_attention", .skipped_argument = 3, .float_operands = 3,
     .batched_operands = 3},
    {"prims.convert_element_type", FxForm::kCall, "aten::_to_copy"},
    {"prims.broadcast_in_dim", FxForm::kView, "aten::expand"},
    {"aten._unsafe_index", FxForm::kPart, "aten::_upsample_nearest_exact2d"},
    {"prims.var", FxForm::kCall, "aten::var"},
    {"prims.mul", FxForm::kCall, "aten::mul"},
    {"prims.add", FxForm::kCall, "aten::add"},
};

constexpr FxSequence kSequences[] = {
    // With a number added: code that adds its epsilon itself says add.Tensor.
    {.texts = "aten.pow.Tensor_Scalar aten.mean.dim aten.add.Scalar aten.rsqrt.default "
              "aten.mul.Tensor",
     .torch = "aten::rms_norm", .parameter_text = "aten.mul.Tensor"},
    {.texts = "aten.linalg_vector_norm.default aten.div.Tensor aten.mul.Tensor",
     .torch = "aten::weight_norm", .operands = "0.0 1.0", .of_parameters = true},
    {.texts = "aten.abs.default aten.gt.Scalar aten.sign.default aten.mul.Tensor aten.sub.Tensor "
              "aten.mul.Tensor aten.where.self",
     .torch = "aten::softshrink"},
    {.texts = "aten.abs.default aten.le.Scalar aten.where.self", .torch = "aten::hardshrink"},
    {.texts = "aten.le.Scalar aten.where.ScalarSelf", .torch = "aten::threshold"},
    {.texts = "aten.sub.Tensor aten.abs.default aten.lt.Scalar aten.pow.Tensor_Scalar "
              "aten.mul.Tensor aten.div.Tensor? aten.sub.Tensor aten.where.self",
     .torch = "aten::smooth_l1_loss", .operands = "0.0 0.1", .reduction_argument = 2},
    {.texts = "aten.sub.Tensor aten.abs.default aten.lt.Scalar aten.mul.Tensor aten.mul.Tensor "
              "aten.sub.Tensor aten.mul.Tensor? aten.where.self",
     .torch = "aten::huber_loss", .operands = "0.0 0.1", .reduction_argument = 2},
    {.texts = "aten.sub.Tensor aten.neg.default aten.log1p.default aten.maximum.default "
              "aten.mul.Tensor aten.log.default aten.maximum.default aten.mul.Tensor "
              "aten.sub.Tensor",
     .torch = "aten::binary_cross_entropy", .operands = "1.0 0.0", .reduction_argument = 3},
    {.texts = "aten.sub.Tensor aten.mul.Tensor aten.log_sigmoid.default aten.sub.Tensor",
     .torch = "aten::binary_cross_entropy_with_logits", .operands = "1.1 0.1",
     .reduction_argument = 4},
    {.texts = "aten.ne.Scalar aten.where.ScalarOther aten.unsqueeze.default aten.gather.default "
              "aten.squeeze.dim aten.neg.default aten.where.self "
              "prims.convert_element_type.default aten.sum.default aten._to_copy.default? "
              "aten.sum.default aten.div.Tensor",
     .torch = "aten::nll_loss", .operands = "3.0 0.0"},
};

struct RepairRow {
  absl::string_view stem;
  FxRepair repair;
};
constexpr RepairRow kRepairs[] = {
    {"clone", FxRepair::kContiguous}, {"contiguous", FxRepair::kContiguous},
    {"_unsafe_view", FxRepair::kContiguous}, {"cat", FxRepair::kJoin},
    {"copy", FxRepair::kCopy},        {"mul", FxRepair::kNew},
    {"add", FxRepair::kNew},          {"sub", FxRepair::kNew},
    {"div", FxRepair::kNew},
};

// What a parameter is as long as.
enum class Measure : uint8_t {
  kResult,    // the last axis of the result
  kMatrix,    // [last axis of the result, last axis of the operand]
  kTurned,    // the same, the other way round
  kChannels,  // axis 1 of the operand
  kOutputChannels,  // axis 1 of the result
  kListed,    // argument 1 lists it
};
struct ParameterRow {
  absl::string_view target;
  int argument;
  Measure measure;
};
constexpr ParameterRow kParameters[] = {
    {"aten.linear", 1, Measure::kMatrix},
    {"aten.linear", 2, Measure::kResult},
    {"aten.addmm", 0, Measure::kResult},
    {"aten.addmm", 2, Measure::kTurned},
    {"aten.mm", 1, Measure::kTurned},
    {"aten.layer_norm", 2, Measure::kListed},
    {"aten.layer_norm", 3, Measure::kListed},
    {"aten.native_layer_norm", 2, Measure::kListed},
    {"aten.native_layer_norm", 3, Measure::kListed},
    {"aten.rms_norm", 2, Measure::kListed},
    {"aten.group_norm", 2, Measure::kChannels},
    {"aten.group_norm", 3, Measure::kChannels},
    {"aten.instance_norm", 1, Measure::kChannels},
    {"aten.instance_norm", 2, Measure::kChannels},
    {"aten._native_batch_norm_legit_functional", 1, Measure::kChannels},
    {"aten._native_batch_norm_legit_functional", 2, Measure::kChannels},
    {"aten._native_batch_norm_legit_functional", 3, Measure::kChannels},
    {"aten._native_batch_norm_legit_functional", 4, Measure::kChannels},
    {"aten._native_batch_norm_legit_no_training", 1, Measure::kChannels},
    {"aten._native_batch_norm_legit_no_training", 2, Measure::kChannels},
    {"aten._native_batch_norm_legit_no_training", 3, Measure::kChannels},
    {"aten._native_batch_norm_legit_no_training", 4, Measure::kChannels},
    {"aten.conv1d", 2, Measure::kOutputChannels},
    {"aten.conv2d", 2, Measure::kOutputChannels},
    {"aten.conv3d", 2, Measure::kOutputChannels},
    {"aten.convolution", 2, Measure::kOutputChannels},
};

absl::string_view Name(absl::string_view target) {
  absl::ConsumePrefix(&target, "torch.ops.");
  const size_t space = target.find('.');
  if (space == absl::string_view::npos) return target;
  const size_t overload = target.find('.', space + 1);
  return overload == absl::string_view::npos ? target : target.substr(0, overload);
}

bool IsSize(absl::string_view target) {
  return absl::ConsumePrefix(&target, "operator.") || absl::ConsumePrefix(&target, "math.") ||
         absl::ConsumePrefix(&target, "torch.sym_") || target.empty();
}

Dims Of(std::initializer_list<Dim> dims) { return Dims(dims.begin(), dims.end()); }

}  // namespace

FxLowering FindFxLowering(absl::string_view target) {
  static const auto* const rows = [] {
    auto* map = new absl::flat_hash_map<absl::string_view, const FxLowering*>();
    for (const FxLowering& row : kRows) map->emplace(row.target, &row);
    return map;
  }();
  const auto it = rows->find(Name(target));
  if (it != rows->end()) return *it->second;
  return {target, IsSize(target) ? FxForm::kSize : FxForm::kCall};
}

absl::Span<const FxSequence> FxSequences() { return kSequences; }

absl::string_view FxStem(absl::string_view name) {
  const size_t end = name.rfind('_');
  if (end == absl::string_view::npos || end + 1 == name.size()) return name;
  for (char c : name.substr(end + 1)) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) return name;
  }
  return name.substr(0, end);
}

bool FxDrops(const FxNode& node) {
  constexpr size_t kActive = 2;     // dropout(input, p, train)
  constexpr size_t kAttention = 4;  // scaled_dot_product_attention(q, k, v, mask, p)
  const absl::string_view target = Name(node.target);
  const auto exceeds_zero = [&](size_t i) {
    return node.arguments.size() > i && node.arguments[i].kind == FxArgument::Kind::kFloat &&
           node.arguments[i].float_value > 0;
  };
  if (target == kAttentionText) return exceeds_zero(kAttention);
  if (target == "aten.bernoulli") return true;
  if (target != "aten.dropout" && target != "aten.native_dropout") return false;
  return exceeds_zero(1) && node.arguments.size() > kActive &&
         node.arguments[kActive].kind == FxArgument::Kind::kBool &&
         node.arguments[kActive].int_value != 0;
}

bool FxIsComputed(absl::string_view name) {
  const bool is_internal = FxStem(name) == "val" || absl::StartsWith(name, "_val");
  return !is_internal && !absl::StrContains(name, '.') && !name.empty();
}

bool FxIsView(absl::string_view name) {
  static constexpr absl::string_view kViews[] = {
      "view",   "slice",     "expand",  "unsqueeze", "squeeze", "select", "transpose",
      "permute", "t",        "alias",   "reshape",   "narrow",  "unflatten", "flatten",
      "index",  "detach",    "getitem", "broadcast_in_dim"};
  return std::find(std::begin(kViews), std::end(kViews), FxStem(name)) != std::end(kViews);
}

bool SwallowsNorm(absl::string_view onnx_op) {
  return onnx_op == "Conv" || onnx_op == "ConvTranspose" || onnx_op == "Gemm";
}

absl::string_view FxElementwise(absl::string_view name) {
  static constexpr absl::string_view kOperators[] = {
      "aten::exp",  "aten::sigmoid", "aten::tanh", "aten::softplus", "aten::neg",
      "aten::sqrt", "aten::log",     "aten::abs",  "aten::square",   "aten::relu"};
  const absl::string_view stem = FxStem(name);
  for (absl::string_view op : kOperators) {
    if (op.substr(op.rfind(':') + 1) == stem) return op;
  }
  return {};
}

FxRepair FindFxRepair(absl::string_view name) {
  const absl::string_view stem = FxStem(name);
  for (const RepairRow& row : kRepairs) {
    if (row.stem == stem) return row.repair;
  }
  return FxRepair::kSame;
}

std::optional<Dims> FxParameterDims(const FxNode& node, int argument, const TensorType& first,
                                    const TensorType& result) {
  const absl::string_view target = Name(node.target);
  for (const ParameterRow& row : kParameters) {
    if (row.target != target || row.argument != argument) continue;
    const bool has_last = first.rank() >= 1 && result.rank() >= 1;
    switch (row.measure) {
      case Measure::kResult:
        if (result.rank() >= 1) return Of({result.dims.back()});
        break;
      case Measure::kMatrix:
        if (has_last) return Of({result.dims.back(), first.dims.back()});
        break;
      case Measure::kTurned:
        if (has_last) return Of({first.dims.back(), result.dims.back()});
        break;
      case Measure::kChannels:
        if (first.rank() >= 2) return Of({first.dims[1]});
        break;
      case Measure::kOutputChannels:
        if (result.rank() >= 2) return Of({result.dims[1]});
        break;
      case Measure::kListed: {
        if (node.arguments.size() < 2) break;
        Dims dims;
        for (const FxArgument& item : node.arguments[1].items) dims.push_back(Dim(item.int_value));
        return dims;
      }
    }
  }
  return std::nullopt;
}

bool FxIsBias(const FxNode& node, int argument) {
  const absl::string_view target = Name(node.target);
  for (const ParameterRow& row : kParameters) {
    const bool adds = row.measure == Measure::kResult || row.measure == Measure::kOutputChannels;
    if (adds && row.target == target && row.argument == argument) return true;
  }
  return false;
}

}  // namespace footprint
