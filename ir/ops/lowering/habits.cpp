#include "ir/ops/lowering/habits.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/match.h"

namespace footprint {
namespace {

constexpr InPlaceHabit kInPlace[] = {
    {.op = "aten::relu", .note = "ReLU(inplace=True)"},
    {.op = "aten::add", .after_norm = true, .note = "added in place into the norm's result"},
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

bool IsChannelNorm(const TorchOp& op) {
  return op.name == "aten::batch_norm" || op.name == "aten::group_norm";
}

bool IsRotation(const TorchOp& op) { return op.name == "aten::cos"; }

bool IsRotation(const Node& node) { return node.domain.empty() && node.op_type == "Cos"; }

bool IsCosineOrSine(const TorchOp& op) { return op.name == "aten::cos" || op.name == "aten::sin"; }

bool MultipliesTensors(const TorchOp& op) {
  return op.name == "aten::matmul" || op.name == "aten::bmm" || op.name == "aten::baddbmm";
}

bool GivesProbabilities(const TorchOp& op) { return op.name == "aten::softmax"; }

bool PassesProbabilities(const TorchOp& op) {
  return op.name == "aten::dropout" || op.name == "aten::native_dropout" ||
         op.name == "aten::to" || op.name == "aten::type_as";
}

bool IsSum(const TorchOp& op) { return op.name == "aten::add"; }

bool LooksUp(const TorchOp& op) { return op.name == "aten::embedding"; }

bool RearrangesOnly(const TorchOp& op) {
  static constexpr absl::string_view kNames[] = {
      "aten::view",    "aten::reshape",   "aten::transpose", "aten::permute",    "aten::t",
      "aten::expand",  "aten::unsqueeze", "aten::squeeze",   "aten::contiguous", "aten::slice",
      "aten::select",  "aten::split",     "aten::chunk",     "aten::unbind",     "aten::flatten",
      "aten::clone",   "aten::split_with_sizes"};
  return std::find(std::begin(kNames), std::end(kNames), op.name) != std::end(kNames);
}

int ModeOperand(const Node& node) {
  return node.domain.empty() && node.op_type == "Dropout" && node.version >= 12 ? 2 : -1;
}

bool HasReserveSpace(const TorchOp& op) {
  return op.name == "aten::lstm" || op.name == "aten::gru" ||
         absl::StartsWith(op.name, "aten::rnn_");
}

bool CountsSteps(const TorchOp& op) { return op.name == "aten::batch_norm"; }

}  // namespace footprint
