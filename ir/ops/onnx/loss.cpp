// Losses: [N, C, d...] against targets [N, d...].
#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/ops/onnx/families.h"
#include "ir/ops/onnx/rules.h"

namespace footprint {
namespace {

// [N, d...] of scores [N, C, d...], checked against the targets; false if unknown.
bool Unreduced(InferContext& c, Dims* dims) {
  const TensorType* scores = RequireRankAtLeast(c, 0, 2, "input");
  const TensorType* target = c.RankedInput(1);
  if (scores == nullptr) return false;
  *dims = scores->dims;
  dims->erase(dims->begin() + 1);
  if (target == nullptr) return true;
  // PyTorch writes probabilities of the classes as targets, which the standard does not have.
  if (IsFloatingPoint(target->element) && target->dims.size() == scores->dims.size()) return true;
  if (target->dims.size() != dims->size()) {
    c.Error(absl::StrCat("scores of shape ", ShapeToString(*scores, c.dims()),
                         " need targets of rank ", dims->size(), ", not ",
                         ShapeToString(*target, c.dims())));
    return false;
  }
  for (size_t i = 0; i < dims->size(); ++i) {
    Dim& size = (*dims)[i];
    if (!SameSize(size, target->dims[i])) {
      size = c.RequireEqual(size, target->dims[i], "sizes of scores and targets differ");
    }
  }
  return true;
}

void SetLoss(InferContext& c) {
  const ElementType element = c.InputElement(0);
  Dims dims;
  const bool known = Unreduced(c, &dims);
  if (c.node().String("reduction", "mean") != "none") return SetRanked(c, 0, element, {});
  if (!known) return CopyShape(c, 1, 0, element);
  SetRanked(c, 0, element, dims);
}

void NegativeLogLikelihoodTypes(InferContext& c) { SetLoss(c); }

void SoftmaxCrossEntropyTypes(InferContext& c) {
  SetLoss(c);
  if (c.HasOutput(1)) CopyType(c, 0, 1);  // log probabilities
}

constexpr uint32_t kClassWeights = 0b100;

constexpr OnnxOp kRows[] = {
    {.name = "NegativeLogLikelihoodLoss",
     .since = 12,
     .signature = "2-3->1",
     .types = NegativeLogLikelihoodTypes,
     .statistics = kClassWeights},
    {.name = "SoftmaxCrossEntropyLoss",
     .since = 12,
     .signature = "2-3->1-2",
     .types = SoftmaxCrossEntropyTypes,
     .statistics = kClassWeights},
};

}  // namespace

OnnxFamily LossOps() { return kRows; }

}  // namespace footprint
