// Elements picked and placed by index tensors.
#include <vector>

#include "ir/ops/torch/families.h"

namespace footprint {

absl::Span<const TorchOp> IndexTorchOps() {
  static const std::vector<TorchOp> rows = {
      {.name = "aten::embedding",
       .arguments = "weight, indices, padding_idx, scale_grad_by_freq, sparse"},
      {.name = "aten::embedding_bag", .arguments = "weight, indices, offsets"},
      {.name = "aten::index", .arguments = "self, indices"},
      {.name = "aten::index_select", .arguments = "self, dim, index"},
      {.name = "aten::gather", .arguments = "self, dim, index"},
      {.name = "aten::scatter", .arguments = "self, dim, index, src"},
      {.name = "aten::scatter_add", .arguments = "self, dim, index, src"},
      {.name = "aten::index_put", .arguments = "self, indices, values, accumulate"},
      {.name = "aten::index_add", .arguments = "self, dim, index, source"},
      {.name = "aten::masked_select", .arguments = "self, mask"},
      {.name = "aten::take_along_dim", .arguments = "self, indices, dim"},
      {.name = "aten::masked_scatter", .arguments = "self, mask, source"},
      {.name = "aten::one_hot", .arguments = "self, num_classes"},
      {.name = "aten::nonzero", .arguments = "self"},
      {.name = "aten::bucketize", .arguments = "self, boundaries"},
  };
  return rows;
}

}  // namespace footprint
