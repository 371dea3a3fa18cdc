#include "ir/ops/lowering/habits.h"

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

bool CountsSteps(const TorchOp& op) { return op.name == "aten::batch_norm"; }

}  // namespace footprint
