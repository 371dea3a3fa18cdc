// RNN, GRU and LSTM: one call for each layer. Exporters reorder the gates of the module's
// parameters and put them together, which no step does.
#include <string>
#include <vector>

#include "ir/ops/lowering/lower_context.h"

namespace footprint {
namespace {

constexpr int kStates = 5;  // X, W, R, B, sequence lengths, initial states

bool LowerRecurrent(LowerContext& ctx) {
  std::vector<TorchValueId> states;
  for (int i = kStates; i < kFirstPart; ++i) {
    if (ctx.Has(i)) states.push_back(ctx.TensorId(i));
  }
  std::vector<TorchValueId> parameters;
  for (int i = 1; i <= 3; ++i) {
    if (ctx.Has(i)) parameters.push_back(ctx.TensorId(i));
  }
  for (int i = kFirstPart; i < ctx.num_operands(); ++i) parameters.push_back(ctx.TensorId(i));
  int results = 0;
  while (ctx.HasResult(results)) ++results;
  if (results == 0) return false;
  ctx.Result(ctx.row().torch,
             {ctx.Tensor(0), TorchArgument::Tensors(states), TorchArgument::Tensors(parameters)},
             results);
  ctx.SetEvidence(Evidence::kAssumption, "the library's reserve space is left out");
  return true;
}

constexpr uint32_t kWeights = 0b1110;

constexpr Lowering kRows[] = {
    {.onnx = "LSTM",
     .torch = "aten::lstm",
     .lower = LowerRecurrent,
     .composed_operands = kWeights},
    {.onnx = "GRU",
     .torch = "aten::gru",
     .lower = LowerRecurrent,
     .composed_operands = kWeights},
    {.onnx = "RNN",
     .torch = "aten::rnn_tanh",
     .lower = LowerRecurrent,
     .composed_operands = kWeights},
};

}  // namespace

absl::Span<const Lowering> RecurrentLowerings() { return kRows; }

}  // namespace footprint
