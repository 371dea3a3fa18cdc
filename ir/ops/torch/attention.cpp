// Attention.
#include <vector>

#include "ir/ops/torch/families.h"

namespace footprint {

absl::Span<const TorchOp> AttentionTorchOps() {
  static const std::vector<TorchOp> rows = {
      {.name = "aten::scaled_dot_product_attention",
       .arguments = "query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa"},
  };
  return rows;
}

}  // namespace footprint
