#include "ir/ops/lowering/habits.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/match.h"
#include "ir/ops/lowering/lowering.h"

namespace footprint {
namespace {

constexpr InPlaceHabit kInPlace[] = {
    {.op = "aten::relu", .note = "ReLU(inplace=True)"},
    {.op = "aten::leaky_relu", .in_norm = true, .note = "LeakyReLU(inplace=True)"},
    {.op = "aten::add", .after_branch = true, .note = "added in place into the branch's result"},
};

constexpr NamedModule kNamedModules[] = {
    // hidden_states = hidden_states + dropout(forwarded_states), in layers of T5 and its kin
    {.module = "SelfAttention"},
    {.module = "EncDecAttention"},
    {.module = "DenseReluDense"},
    // layernorm_output, named twice in layers that Megatron's were copied for
    {.module = "self_attention", .next = "post_attention_layernorm"},
};

constexpr absl::string_view kInPlaceLibraries[] = {"torchvision.", "timm."};

}  // namespace

bool HasInPlaceHabits(absl::string_view class_name) {
  for (absl::string_view library : kInPlaceLibraries) {
    if (absl::StartsWith(class_name, library)) return true;
  }
  return false;
}

const InPlaceHabit* FindInPlaceHabit(const TorchOp& op) {
  for (const InPlaceHabit& habit : kInPlace) {
    if (habit.op == op.name) return &habit;
  }
  return nullptr;
}

bool EndsBranch(const TorchOp& op, absl::string_view module) {
  return op.name == "aten::batch_norm" || op.name == "aten::group_norm" ||
         module == "stochastic_depth";
}

bool IsRotation(const TorchOp& op) { return op.name == "aten::cos"; }

bool IsRotation(const Node& node) { return node.domain.empty() && node.op_type == "Cos"; }

bool IsCosineOrSine(const TorchOp& op) { return op.name == "aten::cos" || op.name == "aten::sin"; }

bool MultipliesTensors(const TorchOp& op) {
  return op.name == "aten::matmul" || op.name == "aten::bmm" || op.name == "aten::baddbmm";
}

bool Attends(const TorchOp& op) { return op.name == kAttentionCall; }

bool GivesProbabilities(const TorchOp& op) { return op.name == "aten::softmax"; }

bool PassesProbabilities(const TorchOp& op) { return DropsOut(op) || Casts(op); }

bool Casts(const TorchOp& op) {
  return op.name == "aten::to" || op.name == "aten::type_as" ||
         op.name == "footprint::to_module_type";
}

bool DropsOut(const TorchOp& op) {
  return op.name == "aten::dropout" || op.name == "aten::native_dropout";
}

bool Inverts(const TorchOp& op) { return op.name == "aten::reciprocal"; }

bool Scales(const TorchOp& op) { return op.name == "aten::mul"; }

bool IsSum(const TorchOp& op) { return op.name == "aten::add"; }

bool AddsProductToBias(const TorchOp& op) { return op.name == "aten::baddbmm"; }

bool GivesMeans(const TorchOp& op) { return op.name == "aten::mean.dim"; }

bool TakesRoot(const TorchOp& op) { return op.name == "aten::rsqrt" || op.name == "aten::sqrt"; }

const NamedModule* FindNamedModule(absl::string_view module) {
  for (const NamedModule& row : kNamedModules) {
    if (row.module == module) return &row;
  }
  return nullptr;
}

bool LooksUp(const TorchOp& op) { return op.name == "aten::embedding"; }

bool RearrangesOnly(const TorchOp& op) {
  static constexpr absl::string_view kNames[] = {
      "aten::view",    "aten::reshape",   "aten::transpose", "aten::permute",    "aten::t",
      "aten::expand",  "aten::unsqueeze", "aten::squeeze",   "aten::contiguous", "aten::slice",
      "aten::select",  "aten::split",     "aten::chunk",     "aten::unbind",     "aten::flatten",
      "aten::clone",   "aten::split_with_sizes",
      "aten::_unsafe_view"};
  return std::find(std::begin(kNames), std::end(kNames), op.name) != std::end(kNames);
}

bool CountsUp(const TorchOp& op) { return op.name == "aten::arange"; }

bool IsAtLeast(const TorchOp& op) { return op.name == "aten::ge"; }

bool Chooses(const TorchOp& op) { return op.name == "aten::where"; }

bool FillsWithNumber(const TorchOp& op) { return op.name == "aten::full"; }

int ModeOperand(const Node& node) {
  return node.domain.empty() && node.op_type == "Dropout" && node.version >= 12 ? 2 : -1;
}

bool HasReserveSpace(const TorchOp& op) {
  return op.name == "aten::lstm" || op.name == "aten::gru" ||
         absl::StartsWith(op.name, "aten::rnn_");
}

bool CountsSteps(const TorchOp& op) { return op.name == "aten::batch_norm"; }

bool Compares(const Node& node) {
  static constexpr absl::string_view kOperators[] = {"Equal", "Greater",     "GreaterOrEqual",
                                                     "Less",  "LessOrEqual", "Not"};
  if (node.op_type == "Cast") return node.Int("to", 0) == static_cast<int64_t>(ElementType::kBool);
  return std::find(std::begin(kOperators), std::end(kOperators), node.op_type) !=
         std::end(kOperators);
}

bool Rearranges(const Node& node) {
  static constexpr absl::string_view kOperators[] = {"Slice",   "Reshape", "Unsqueeze", "Squeeze",
                                                     "Expand",  "Gather",  "Transpose"};
  return std::find(std::begin(kOperators), std::end(kOperators), node.op_type) !=
         std::end(kOperators);
}

}  // namespace footprint
