// Reductions, scans and sorting.
#include <vector>

#include "ir/ops/torch/families.h"

namespace footprint {

absl::Span<const TorchOp> ReductionTorchOps() {
  static const std::vector<TorchOp> rows = {
      {.name = "aten::sum", .arguments = "self, dtype"},
      {.name = "aten::sum.dim_IntList", .arguments = "self, dim, keepdim, dtype"},
      {.name = "aten::mean", .arguments = "self, dtype"},
      {.name = "aten::mean.dim", .arguments = "self, dim, keepdim, dtype"},
      {.name = "aten::prod", .arguments = "self, dtype"},
      {.name = "aten::prod.dim_int", .arguments = "self, dim, keepdim, dtype"},
      {.name = "aten::amax", .arguments = "self, dim, keepdim"},
      {.name = "aten::amin", .arguments = "self, dim, keepdim"},
      {.name = "aten::max", .arguments = "self"},
      {.name = "aten::min", .arguments = "self"},
      {.name = "aten::max.dim", .arguments = "self, dim, keepdim"},
      {.name = "aten::min.dim", .arguments = "self, dim, keepdim"},
      {.name = "aten::var", .arguments = "self, dim, correction, keepdim"},
      {.name = "aten::std", .arguments = "self, dim, correction, keepdim"},
      {.name = "aten::var_mean", .arguments = "self, dim, correction, keepdim"},
      {.name = "aten::logsumexp", .arguments = "self, dim, keepdim"},
      {.name = "aten::linalg_vector_norm", .arguments = "self, ord, dim, keepdim, dtype"},
      {.name = "aten::norm", .arguments = "self, p, dim, keepdim"},
      {.name = "aten::cumsum", .arguments = "self, dim, dtype"},
      {.name = "aten::cumprod", .arguments = "self, dim, dtype"},
      {.name = "aten::argmax", .arguments = "self, dim, keepdim"},
      {.name = "aten::argmin", .arguments = "self, dim, keepdim"},
      {.name = "aten::topk", .arguments = "self, k, dim, largest, sorted"},
      {.name = "aten::sort", .arguments = "self, dim, descending"},
      {.name = "aten::argsort", .arguments = "self, dim, descending"},
      {.name = "aten::any", .arguments = "self, dim, keepdim"},
      {.name = "aten::all", .arguments = "self, dim, keepdim"},
      {.name = "aten::softmax", .arguments = "self, dim, dtype"},
      {.name = "aten::log_softmax", .arguments = "self, dim, dtype"},
      {.name = "aten::unique", .arguments = "self, sorted, return_inverse"},
  };
  return rows;
}

}  // namespace footprint
