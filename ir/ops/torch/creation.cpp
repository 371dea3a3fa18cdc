// Tensors from nothing, and like another: no gradient.
#include <vector>

#include "ir/ops/torch/families.h"

namespace footprint {

absl::Span<const TorchOp> CreationTorchOps() {
  static const std::vector<TorchOp> rows = {
      {.name = "aten::zeros", .arguments = "size"},
      {.name = "aten::ones", .arguments = "size"},
      {.name = "aten::full", .arguments = "size, fill_value"},
      {.name = "aten::empty", .arguments = "size"},
      {.name = "aten::arange", .arguments = "start, end, step"},
      {.name = "aten::linspace", .arguments = "start, end, steps"},
      {.name = "aten::eye", .arguments = "n, m"},
      {.name = "aten::scalar_tensor", .arguments = "s"},
      {.name = "aten::rand", .arguments = "size"},
      {.name = "aten::randn", .arguments = "size"},
      {.name = "aten::randint", .arguments = "low, high, size"},
      {.name = "aten::zeros_like", .arguments = "self"},
      {.name = "aten::ones_like", .arguments = "self"},
      {.name = "aten::full_like", .arguments = "self, fill_value"},
      {.name = "aten::empty_like", .arguments = "self"},
      {.name = "aten::rand_like", .arguments = "self"},
      {.name = "aten::randn_like", .arguments = "self"},
      {.name = "aten::new_zeros", .arguments = "self, size"},
      {.name = "aten::new_ones", .arguments = "self, size"},
      {.name = "aten::new_full", .arguments = "self, size, fill_value"},
      {.name = "aten::new_empty", .arguments = "self, size"},
      {.name = "aten::bernoulli", .arguments = "self, p"},
  };
  return rows;
}

}  // namespace footprint
