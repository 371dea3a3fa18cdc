// Recurrent layers, and the cells they are made of. A layer is one call of cuDNN; a cell multiplies
// twice and leaves the gates to one fused kernel, which keeps what it computed in a workspace.
#include <vector>

#include "ir/ops/torch/families.h"
#include "ir/ops/torch/primitives.h"

namespace footprint {
namespace {

// ONNX's [step, direction, sequence, unit] on a storage in PyTorch's order, [step, sequence,
// direction, unit].
Tensor NewDirectionsFirst(Eager& eager, const Dims& shape, ElementType element) {
  const Tensor stored = eager.New({shape[0], shape[2], shape[1], shape[3]}, element);
  const Dims& strides = stored.strides();
  return eager.Alias(stored, shape, {strides[0], strides[2], strides[1], strides[3]});
}

// input, hx, params: one cuDNN call for all layers and steps. It saves what it reads and what it
// makes; the reserve space in which it keeps the gates is the library's own.
TensorList Recurrent(Eager& eager, const CallArguments& a, bool has_cell) {
  const Tensor& input = a.tensor(0);
  std::vector<Tensor> inputs = {input};
  for (const Tensor& state : a.tensors(1)) inputs.push_back(state);
  for (const Tensor& weight : a.tensors(2)) inputs.push_back(weight);
  TensorList results;
  for (int i = 0; i < (has_cell ? 3 : 2); ++i) {
    const TensorType* declared = a.declared(i);
    if (declared == nullptr && i > 0) break;
    const Dims& shape = declared != nullptr ? declared->dims : input.shape();
    results.push_back(i == 0 && shape.size() == 4
                          ? NewDirectionsFirst(eager, shape, input.element())
                          : eager.New(shape, input.element(), i == 0 ? "" : "last state"));
  }
  std::vector<SavedTensor> saved(inputs.begin(), inputs.end());
  saved.push_back(results[0]);
  const int count = static_cast<int>(inputs.size());
  eager.Record("CudnnRnnBackward0", inputs, results, saved, [count](Backward& b) {
    for (int i = 0; i < count; ++i) {
      if (b.Needs(i)) b.Give(i, b.eager.New(b.shape(i), b.element(i)));
    }
  });
  return results;
}
TensorList RunLstm(Eager& e, const CallArguments& a) { return Recurrent(e, a, true); }
TensorList RunGru(Eager& e, const CallArguments& a) { return Recurrent(e, a, false); }

// The operands of a cell: input, its states, then matrices and biases of input and state.
struct Gates {
  Tensor input;  // the input's share
  Tensor state;
};
Gates MultiplyGates(Eager& eager, const Tensor& input, const Tensor& state,
                    const Tensor& input_weight, const Tensor& state_weight) {
  Gates gates;
  gates.input = Matmul(eager, input, TransposeMatrix(eager, input_weight));
  gates.state = Matmul(eager, state, TransposeMatrix(eager, state_weight));
  return gates;
}

// input, hx, cx, w_ih, w_hh, b_ih, b_hh: _thnn_fused_lstm_cell. Both shares get one gradient, and
// so do both biases.
TensorList RunLstmCell(Eager& eager, const CallArguments& a) {
  const Tensor& cell = a.tensor(2);
  const Gates gates = MultiplyGates(eager, a.tensor(0), a.tensor(1), a.tensor(3), a.tensor(4));
  const Tensor hidden = eager.New(cell.shape(), gates.input.element());
  const Tensor next = eager.New(cell.shape(), cell.element());
  const Tensor workspace = eager.New(gates.input.shape(), gates.input.element(), "workspace");
  eager.Record("ThnnFusedLstmCellBackward0",
               {gates.input, gates.state, cell, a.tensor(5), a.tensor(6)}, {hidden, next},
               {SavedTensor::Unread(gates.input), SavedTensor::Unread(gates.state), cell,
                SavedTensor::Unread(a.tensor(5)), SavedTensor::Unread(a.tensor(6)), next,
                workspace},
               [](Backward& b) {
                 const Tensor& kept = b.saved(6);
                 const Tensor shares = b.eager.New(kept.shape(), kept.element());
                 const Tensor states = b.eager.New(b.saved(2).shape(), b.saved(2).element());
                 if (b.Needs(3) || b.Needs(4)) {
                   const Tensor bias = Sum(b.eager, shares, {0}, false, shares.element());
                   b.Give(3, bias);
                   b.Give(4, bias);
                 }
                 b.Give(0, shares);
                 b.Give(1, shares);
                 b.Give(2, states);
               });
  return {hidden, next};
}

// input, hx, w_ih, w_hh, b_ih, b_hh: _thnn_fused_gru_cell.
TensorList RunGruCell(Eager& eager, const CallArguments& a) {
  constexpr int kKept = 5;  // reset, update, new, the state, the state's share of new
  const Tensor& state = a.tensor(1);
  const Gates gates = MultiplyGates(eager, a.tensor(0), state, a.tensor(2), a.tensor(3));
  const Tensor next = eager.New(state.shape(), gates.input.element());
  const Tensor workspace =
      eager.New({state.dim(0), eager.dims().Product({state.shape().back(), Dim(kKept)})},
                gates.input.element(), "workspace");
  eager.Record("ThnnFusedGruCellBackward0",
               {gates.input, gates.state, state, a.tensor(4), a.tensor(5)}, {next},
               {SavedTensor::Unread(gates.input), SavedTensor::Unread(gates.state),
                SavedTensor::Unread(state), SavedTensor::Unread(a.tensor(4)),
                SavedTensor::Unread(a.tensor(5)), workspace},
               [](Backward& b) {
                 const Tensor input = b.eager.New(b.saved(0).shape(), b.saved(0).element());
                 const Tensor share = b.eager.New(b.saved(1).shape(), b.saved(1).element());
                 b.Give(2, b.eager.New(b.saved(2).shape(), b.saved(2).element()));
                 if (b.Needs(3)) b.Give(3, Sum(b.eager, input, {0}, false, input.element()));
                 if (b.Needs(4)) b.Give(4, Sum(b.eager, share, {0}, false, share.element()));
                 b.Give(0, input);
                 b.Give(1, share);
               });
  return {next};
}

// tanh or relu of linear_hh(hx).add_(linear_ih(input)), one expression.
TensorList RunSimpleCell(Eager& eager, const CallArguments& a, absl::string_view activation) {
  const Tensor state = Linear(eager, a.tensor(1), a.tensor(3), a.tensor(5));
  const Tensor input = Linear(eager, a.tensor(0), a.tensor(2), a.tensor(4));
  const Tensor sum = eager.Alias(state, state.shape(), state.strides());
  eager.Record("AddBackward0", {state, input}, {sum}, {}, [](Backward& b) {
    b.Give(0, b.gradient());
    b.Give(1, b.gradient());
  });
  return {eager.Apply(*FindTorchOp(activation), {sum})};
}
TensorList RunTanhCell(Eager& eager, const CallArguments& a) {
  return RunSimpleCell(eager, a, "aten::tanh");
}
TensorList RunReluCell(Eager& eager, const CallArguments& a) {
  return RunSimpleCell(eager, a, "aten::relu");
}

}  // namespace

absl::Span<const TorchOp> RecurrentTorchOps() {
  constexpr absl::string_view kRecurrent =
      "input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first";
  constexpr absl::string_view kCell = "input, hx, w_ih, w_hh, b_ih, b_hh";
  constexpr Autocast kLow = Autocast::kLow;
  static const std::vector<TorchOp> rows = {
      {.name = "aten::lstm", .arguments = kRecurrent, .run = RunLstm},
      {.name = "aten::gru", .arguments = kRecurrent, .run = RunGru},
      {.name = "aten::rnn_tanh", .arguments = kRecurrent, .run = RunGru},
      {.name = "aten::rnn_relu", .arguments = kRecurrent, .run = RunGru},
      {.name = "aten::lstm_cell", .arguments = "input, hx, cx, w_ih, w_hh, b_ih, b_hh",
       .operands = 5, .autocast = kLow, .run = RunLstmCell},
      {.name = "aten::gru_cell", .arguments = kCell, .operands = 4, .autocast = kLow,
       .run = RunGruCell},
      {.name = "aten::rnn_tanh_cell", .arguments = kCell, .operands = 4, .autocast = kLow,
       .run = RunTanhCell},
      {.name = "aten::rnn_relu_cell", .arguments = kCell, .operands = 4, .autocast = kLow,
       .run = RunReluCell},
  };
  return rows;
}

}  // namespace footprint
