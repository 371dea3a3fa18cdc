// Results that share their operand's storage.
#include <vector>

#include "ir/ops/torch/families.h"

namespace footprint {

absl::Span<const TorchOp> ViewTorchOps() {
  static const std::vector<TorchOp> rows = {
      {.name = "aten::view", .arguments = "self, size"},
      {.name = "aten::_unsafe_view", .arguments = "self, size"},
      {.name = "aten::reshape", .arguments = "self, shape"},
      {.name = "aten::flatten", .arguments = "self, start_dim, end_dim"},
      {.name = "aten::unflatten", .arguments = "self, dim, sizes"},
      {.name = "aten::transpose", .arguments = "self, dim0, dim1"},
      {.name = "aten::t", .arguments = "self"},
      {.name = "aten::permute", .arguments = "self, dims"},
      {.name = "aten::movedim", .arguments = "self, source, destination"},
      {.name = "aten::expand", .arguments = "self, size, implicit"},
      {.name = "aten::broadcast_to", .arguments = "self, size"},
      {.name = "aten::unsqueeze", .arguments = "self, dim"},
      {.name = "aten::squeeze", .arguments = "self, dim"},
      {.name = "aten::slice", .arguments = "self, dim, start, end, step"},
      {.name = "aten::select", .arguments = "self, dim, index"},
      {.name = "aten::narrow", .arguments = "self, dim, start, length"},
      {.name = "aten::split", .arguments = "self, split_size, dim"},
      {.name = "aten::split_with_sizes", .arguments = "self, split_sizes, dim"},
      {.name = "aten::chunk", .arguments = "self, chunks, dim"},
      {.name = "aten::unbind", .arguments = "self, dim"},
      {.name = "aten::diagonal", .arguments = "self, offset, dim1, dim2"},
      {.name = "aten::unfold", .arguments = "self, dimension, size, step"},
      {.name = "aten::as_strided", .arguments = "self, size, stride, storage_offset"},
      {.name = "aten::alias", .arguments = "self"},
      {.name = "aten::detach", .arguments = "self"},
      {.name = "aten::view_as", .arguments = "self, other"},
      {.name = "aten::real", .arguments = "self"},
  };
  return rows;
}

}  // namespace footprint
