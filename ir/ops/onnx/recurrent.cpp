// RNN, GRU and LSTM.
#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/ops/onnx/families.h"
#include "ir/ops/onnx/rules.h"

// S steps, B sequences, D directions, H hidden units:
//
//            X          Y             Y_h, Y_c
//   layout 0 [S, B, .]  [S, D, B, H]  [D, B, H]
//   layout 1 [B, S, .]  [B, S, D, H]  [B, D, H]

namespace footprint {
namespace {

void RecurrentTypes(InferContext& c) {
  const TensorType* x = RequireRank(c, 0, 3, "X");
  const TensorType* w = RequireRank(c, 1, 3, "W");
  const TensorType* r = RequireRank(c, 2, 3, "R");
  const ElementType element = c.InputElement(0);
  if (w != nullptr && x != nullptr && !SameSize(x->dims[2], w->dims[2])) {
    c.RequireEqual(x->dims[2], w->dims[2], "input sizes of X and W differ");
  }
  const int64_t directions = c.node().String("direction", "forward") == "bidirectional" ? 2 : 1;
  Dim hidden = c.node().Int("hidden_size", 0);
  if (hidden.value() <= 0) hidden = DimOf(r, 2);
  const bool batch_first = c.node().Int("layout", 0) != 0;
  const Dim steps = DimOf(x, batch_first ? 1 : 0);
  const Dim batch = DimOf(x, batch_first ? 0 : 1);
  if (c.HasOutput(0)) {
    const Dims first = {batch, steps, directions, hidden};
    const Dims second = {steps, directions, batch, hidden};
    SetRanked(c, 0, element, batch_first ? first : second);
  }
  for (int i = 1; i < c.num_outputs(); ++i) {
    if (!c.HasOutput(i)) continue;
    SetRanked(
        c, i, element,
        {batch_first ? batch : Dim(directions), batch_first ? Dim(directions) : batch, hidden});
  }
}

constexpr OnnxOp kRows[] = {
    {.name = "GRU", .signature = "3-6->2; 3: 3-6->0-2", .types = RecurrentTypes, .weights = 0b1110},
    {.name = "LSTM", .signature = "3-8->0-3", .types = RecurrentTypes, .weights = 0b10001110},
    {.name = "RNN", .signature = "3-6->0-2", .types = RecurrentTypes, .weights = 0b1110},
};

}  // namespace

OnnxFamily RecurrentOps() { return kRows; }

}  // namespace footprint
