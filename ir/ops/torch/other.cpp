// Dropout, recurrent layers, and what PyTorch has no operator for.
#include <vector>

#include "ir/ops/torch/families.h"

namespace footprint {

absl::Span<const TorchOp> OtherTorchOps() {
  static const std::vector<TorchOp> rows = {
      {.name = "aten::dropout", .arguments = "input, p, train"},
      {.name = "aten::native_dropout", .arguments = "input, p, train"},
      {.name = "aten::feature_dropout", .arguments = "input, p, train"},
      {.name = "aten::lstm",
       .arguments = "input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first"},
      {.name = "aten::gru",
       .arguments = "input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first"},
      {.name = "aten::rnn_tanh",
       .arguments = "input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first"},
      {.name = "aten::glu", .arguments = "self, dim"},
      {.name = "footprint::generic", .arguments = "tensors, saved"},
      {.name = "footprint::to_module_type", .arguments = "self"},
  };
  return rows;
}

}  // namespace footprint
