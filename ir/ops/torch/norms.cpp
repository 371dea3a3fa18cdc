// Normalisation.
#include <vector>

#include "ir/ops/torch/families.h"

namespace footprint {

absl::Span<const TorchOp> NormTorchOps() {
  static const std::vector<TorchOp> rows = {
      {.name = "aten::batch_norm",
       .arguments = "input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled"},
      {.name = "aten::_native_batch_norm_legit_functional",
       .arguments = "input, weight, bias, running_mean, running_var, training, momentum, eps"},
      {.name = "aten::_native_batch_norm_legit_no_training",
       .arguments = "input, weight, bias, running_mean, running_var, momentum, eps"},
      {.name = "aten::instance_norm",
       .arguments = "input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled"},
      {.name = "aten::layer_norm",
       .arguments = "input, normalized_shape, weight, bias, eps, cudnn_enable"},
      {.name = "aten::group_norm",
       .arguments = "input, num_groups, weight, bias, eps, cudnn_enabled"},
      {.name = "aten::rms_norm", .arguments = "input, normalized_shape, weight, eps"},
      {.name = "aten::local_response_norm", .arguments = "input, size, alpha, beta, k"},
      {.name = "aten::weight_norm", .arguments = "v, g, dim"},
  };
  return rows;
}

}  // namespace footprint
