// Arithmetic, comparison and selection.
#include <vector>

#include "ir/ops/torch/families.h"

namespace footprint {

absl::Span<const TorchOp> BinaryTorchOps() {
  static const std::vector<TorchOp> rows = {
      {.name = "aten::add", .arguments = "self, other, alpha"},
      {.name = "aten::sub", .arguments = "self, other, alpha"},
      {.name = "aten::rsub", .arguments = "self, other, alpha"},
      {.name = "aten::mul", .arguments = "self, other"},
      {.name = "aten::div", .arguments = "self, other, rounding_mode"},
      {.name = "aten::true_divide", .arguments = "self, other"},
      {.name = "aten::floor_divide", .arguments = "self, other"},
      {.name = "aten::remainder", .arguments = "self, other"},
      {.name = "aten::fmod", .arguments = "self, other"},
      {.name = "aten::pow", .arguments = "self, exponent"},
      {.name = "aten::atan2", .arguments = "self, other"},
      {.name = "aten::maximum", .arguments = "self, other"},
      {.name = "aten::minimum", .arguments = "self, other"},
      {.name = "aten::where", .arguments = "condition, self, other"},
      {.name = "aten::masked_fill", .arguments = "self, mask, value"},
      {.name = "aten::lerp", .arguments = "self, end, weight"},
      {.name = "aten::addcmul", .arguments = "self, tensor1, tensor2, value"},
      {.name = "aten::addcdiv", .arguments = "self, tensor1, tensor2, value"},
      {.name = "aten::prelu", .arguments = "self, weight"},
      {.name = "aten::clamp", .arguments = "self, min, max"},
      {.name = "aten::clamp_min", .arguments = "self, min"},
      {.name = "aten::clamp_max", .arguments = "self, max"},
      {.name = "aten::eq", .arguments = "self, other"},
      {.name = "aten::ne", .arguments = "self, other"},
      {.name = "aten::lt", .arguments = "self, other"},
      {.name = "aten::le", .arguments = "self, other"},
      {.name = "aten::gt", .arguments = "self, other"},
      {.name = "aten::ge", .arguments = "self, other"},
      {.name = "aten::logical_and", .arguments = "self, other"},
      {.name = "aten::logical_or", .arguments = "self, other"},
      {.name = "aten::logical_xor", .arguments = "self, other"},
      {.name = "aten::bitwise_and", .arguments = "self, other"},
      {.name = "aten::bitwise_or", .arguments = "self, other"},
      {.name = "aten::bitwise_xor", .arguments = "self, other"},
      {.name = "aten::bitwise_left_shift", .arguments = "self, other"},
      {.name = "aten::bitwise_right_shift", .arguments = "self, other"},
  };
  return rows;
}

}  // namespace footprint
