// Casts, clones, concatenation, padding and rearrangement.
#include <vector>

#include "ir/ops/torch/families.h"

namespace footprint {

absl::Span<const TorchOp> CopyTorchOps() {
  static const std::vector<TorchOp> rows = {
      {.name = "aten::to", .arguments = "self, dtype"},
      {.name = "aten::_to_copy", .arguments = "self, dtype"},
      {.name = "aten::type_as", .arguments = "self, other"},
      {.name = "aten::clone", .arguments = "self, memory_format"},
      {.name = "aten::contiguous", .arguments = "self, memory_format"},
      {.name = "aten::cat", .arguments = "tensors, dim"},
      {.name = "aten::stack", .arguments = "tensors, dim"},
      {.name = "aten::repeat", .arguments = "self, repeats"},
      {.name = "aten::tile", .arguments = "self, dims"},
      {.name = "aten::repeat_interleave", .arguments = "self, repeats, dim"},
      {.name = "aten::roll", .arguments = "self, shifts, dims"},
      {.name = "aten::flip", .arguments = "self, dims"},
      {.name = "aten::tril", .arguments = "self, diagonal"},
      {.name = "aten::triu", .arguments = "self, diagonal"},
      {.name = "aten::constant_pad_nd", .arguments = "self, pad, value"},
      {.name = "aten::pad", .arguments = "self, pad, mode, value"},
      {.name = "aten::reflection_pad1d", .arguments = "self, padding"},
      {.name = "aten::reflection_pad2d", .arguments = "self, padding"},
      {.name = "aten::replication_pad1d", .arguments = "self, padding"},
      {.name = "aten::replication_pad2d", .arguments = "self, padding"},
      {.name = "aten::replication_pad3d", .arguments = "self, padding"},
      {.name = "aten::pixel_shuffle", .arguments = "self, upscale_factor"},
      {.name = "aten::pixel_unshuffle", .arguments = "self, downscale_factor"},
      {.name = "aten::channel_shuffle", .arguments = "self, groups"},
      {.name = "aten::im2col", .arguments = "self, kernel_size, dilation, padding, stride"},
      {.name = "aten::col2im",
       .arguments = "self, output_size, kernel_size, dilation, padding, stride"},
      {.name = "aten::slice_scatter", .arguments = "self, src, dim, start, end, step"},
      {.name = "aten::select_scatter", .arguments = "self, src, dim, index"},
      {.name = "aten::copy", .arguments = "self, src"},
      {.name = "aten::fill", .arguments = "self, value"},
  };
  return rows;
}

}  // namespace footprint
