// Losses.
#include <vector>

#include "ir/ops/torch/families.h"

namespace footprint {

absl::Span<const TorchOp> LossTorchOps() {
  static const std::vector<TorchOp> rows = {
      {.name = "aten::cross_entropy_loss",
       .arguments = "self, target, weight, reduction, ignore_index, label_smoothing"},
      {.name = "aten::nll_loss", .arguments = "self, target, weight, reduction, ignore_index"},
      {.name = "aten::mse_loss", .arguments = "self, target, reduction"},
      {.name = "aten::l1_loss", .arguments = "self, target, reduction"},
      {.name = "aten::smooth_l1_loss", .arguments = "self, target, reduction, beta"},
      {.name = "aten::huber_loss", .arguments = "self, target, reduction, delta"},
      {.name = "aten::binary_cross_entropy", .arguments = "self, target, weight, reduction"},
      {.name = "aten::binary_cross_entropy_with_logits",
       .arguments = "self, target, weight, pos_weight, reduction"},
      {.name = "aten::kl_div", .arguments = "self, target, reduction, log_target"},
  };
  return rows;
}

}  // namespace footprint
