// Matrix products.
#include <vector>

#include "ir/ops/torch/families.h"

namespace footprint {

absl::Span<const TorchOp> MatmulTorchOps() {
  static const std::vector<TorchOp> rows = {
      {.name = "aten::mm", .arguments = "self, mat2"},
      {.name = "aten::bmm", .arguments = "self, mat2"},
      {.name = "aten::mv", .arguments = "self, vec"},
      {.name = "aten::dot", .arguments = "self, tensor"},
      {.name = "aten::addmm", .arguments = "self, mat1, mat2, beta, alpha"},
      {.name = "aten::baddbmm", .arguments = "self, batch1, batch2, beta, alpha"},
      {.name = "aten::matmul", .arguments = "self, other"},
      {.name = "aten::linear", .arguments = "input, weight, bias"},
      {.name = "aten::einsum", .arguments = "equation, tensors"},
      {.name = "aten::outer", .arguments = "self, vec2"},
  };
  return rows;
}

}  // namespace footprint
