// Convolutions, pooling and resizing.
#include <vector>

#include "ir/ops/torch/families.h"

namespace footprint {

absl::Span<const TorchOp> ConvolutionTorchOps() {
  static const std::vector<TorchOp> rows = {
      {.name = "aten::conv1d",
       .arguments = "input, weight, bias, stride, padding, dilation, groups"},
      {.name = "aten::conv2d",
       .arguments = "input, weight, bias, stride, padding, dilation, groups"},
      {.name = "aten::conv3d",
       .arguments = "input, weight, bias, stride, padding, dilation, groups"},
      {.name = "aten::conv_transpose1d",
       .arguments = "input, weight, bias, stride, padding, output_padding, groups, dilation"},
      {.name = "aten::conv_transpose2d",
       .arguments = "input, weight, bias, stride, padding, output_padding, groups, dilation"},
      {.name = "aten::conv_transpose3d",
       .arguments = "input, weight, bias, stride, padding, output_padding, groups, dilation"},
      {.name = "aten::convolution",
       .arguments = "input, weight, bias, stride, padding, dilation, transposed, output_padding, groups"},
      {.name = "aten::max_pool1d",
       .arguments = "self, kernel_size, stride, padding, dilation, ceil_mode"},
      {.name = "aten::max_pool2d",
       .arguments = "self, kernel_size, stride, padding, dilation, ceil_mode"},
      {.name = "aten::max_pool3d",
       .arguments = "self, kernel_size, stride, padding, dilation, ceil_mode"},
      {.name = "aten::max_pool2d_with_indices",
       .arguments = "self, kernel_size, stride, padding, dilation, ceil_mode"},
      {.name = "aten::avg_pool1d",
       .arguments = "self, kernel_size, stride, padding, ceil_mode, count_include_pad"},
      {.name = "aten::avg_pool2d",
       .arguments = "self, kernel_size, stride, padding, ceil_mode, count_include_pad"},
      {.name = "aten::avg_pool3d",
       .arguments = "self, kernel_size, stride, padding, ceil_mode, count_include_pad"},
      {.name = "aten::adaptive_avg_pool1d", .arguments = "self, output_size"},
      {.name = "aten::adaptive_avg_pool2d", .arguments = "self, output_size"},
      {.name = "aten::adaptive_avg_pool3d", .arguments = "self, output_size"},
      {.name = "aten::adaptive_max_pool1d", .arguments = "self, output_size"},
      {.name = "aten::adaptive_max_pool2d", .arguments = "self, output_size"},
      {.name = "aten::adaptive_max_pool3d", .arguments = "self, output_size"},
      {.name = "aten::upsample_nearest1d", .arguments = "input, output_size, scale_factors"},
      {.name = "aten::upsample_nearest2d", .arguments = "input, output_size, scale_factors"},
      {.name = "aten::upsample_nearest3d", .arguments = "input, output_size, scale_factors"},
      {.name = "aten::upsample_linear1d",
       .arguments = "input, output_size, align_corners, scale_factors"},
      {.name = "aten::upsample_bilinear2d",
       .arguments = "input, output_size, align_corners, scale_factors"},
      {.name = "aten::upsample_trilinear3d",
       .arguments = "input, output_size, align_corners, scale_factors"},
      {.name = "aten::upsample_bicubic2d",
       .arguments = "input, output_size, align_corners, scale_factors"},
      {.name = "aten::grid_sampler",
       .arguments = "input, grid, interpolation_mode, padding_mode, align_corners"},
      {.name = "aten::affine_grid_generator", .arguments = "theta, size, align_corners"},
  };
  return rows;
}

}  // namespace footprint
