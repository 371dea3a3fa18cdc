// ai.onnx.preview.training: optimizers as operators, and Gradient.
#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/ops/onnx/families.h"
#include "ir/ops/onnx/rules.h"

namespace footprint {
namespace {

constexpr absl::string_view kDomain = "ai.onnx.preview.training";

// Inputs R, T, then n tensors of each kind: parameters, gradients, states. Outputs: the parameters
// and the states anew.
void SetUpdated(InferContext& c, int states) {
  const int per_parameter = 2 + states;
  const int count = (c.num_inputs() - 2) / per_parameter;
  if (c.num_inputs() != 2 + count * per_parameter || c.num_outputs() != count * (1 + states)) {
    return c.Error(absl::StrCat(c.num_inputs(), " inputs and ", c.num_outputs(),
                                " outputs do not fit: each parameter has ", per_parameter, " and ",
                                1 + states));
  }
  for (int i = 0; i < c.num_outputs(); ++i) {
    const int kind = i / std::max(count, 1);
    CopyType(c, 2 + i + (kind == 0 ? 0 : count), i);
  }
}

void OneStateTypes(InferContext& c) { SetUpdated(c, 1); }
void TwoStatesTypes(InferContext& c) { SetUpdated(c, 2); }

// Gradients of y with respect to xs: like the xs, the first inputs.
void GradientTypes(InferContext& c) { OutputsLikeInputs(c); }

constexpr OnnxOp kRows[] = {
    {.name = "Adagrad", .domain = kDomain, .signature = "3-*->1-*", .types = OneStateTypes},
    {.name = "Adam", .domain = kDomain, .signature = "3-*->1-*", .types = TwoStatesTypes},
    {.name = "Gradient", .domain = kDomain, .signature = "1-*->1-* xs y", .types = GradientTypes},
    {.name = "Momentum",
     .domain = kDomain,
     .signature = "3-*->1-* alpha beta mode norm_coefficient",
     .types = OneStateTypes},
};

}  // namespace

OnnxFamily TrainingOps() { return kRows; }

}  // namespace footprint
