// Losses. Cross entropy is log_softmax, which saves the log-probabilities, then nll_loss, whose
// gradient is a second tensor of the logits' size while the first is still there: with a large
// vocabulary that is the peak of the whole step.
#include <vector>

#include "ir/ops/torch/families.h"
#include "ir/ops/torch/primitives.h"

namespace footprint {
namespace {

constexpr ElementType kBool = ElementType::kBool;
constexpr int64_t kNone = 0;
constexpr int64_t kMean = 1;

// self, target, weight, reduction
Tensor NllLoss(Eager& eager, const Tensor& self, const Tensor& target, const Tensor& weight,
               int64_t reduction) {
  Tensor result = eager.New(reduction == kNone ? target.shape() : Dims{}, self.element());
  const Tensor total_weight = eager.New({}, self.element(), "total weight");
  eager.Record(self.rank() > 2 ? "NllLoss2DBackward0" : "NllLossBackward0", {self}, {result},
               {SavedTensor::Unread(self), target, weight, total_weight}, FullGradient());
  return result;
}

// target == ignore_index and the like
Tensor MaskOf(Eager& eager, const Tensor& target) {
  return eager.New(target.shape(), kBool, "mask of ignored targets");
}

int ClassAxis(const Tensor& self) { return self.rank() == 1 ? 0 : 1; }

// (1 - s) * nll + s / classes * smooth, where smooth averages -log p over the classes.
Tensor SmoothedLoss(Eager& eager, const Tensor& log_probabilities, const Tensor& target,
                    const Tensor& weight, int64_t reduction) {
  const Tensor nll = NllLoss(eager, Tensor(eager.Autocasted(log_probabilities, Autocast::kFloat32)),
                             target, weight, reduction);
  const Tensor sum = Sum(eager, log_probabilities, {ClassAxis(log_probabilities)}, false,
                         log_probabilities.element());
  const Tensor ignored = MaskOf(eager, target);
  Tensor smooth = NewLike(eager, sum, sum.element());
  eager.Record("NegBackward0", {sum}, {smooth}, {}, [](Backward& b) {
    b.Give(0, NewPointwise(b.eager, {b.gradient()}, b.gradient().element()));
  });
  const Tensor filled = eager.Alias(smooth, smooth.shape(), smooth.strides());
  eager.Record("MaskedFillBackward0", {smooth}, {filled}, {ignored}, [](Backward& b) {
    b.Give(0, NewPointwise(b.eager, {b.gradient()}, b.gradient().element()));
  });
  smooth = filled;
  if (reduction != kNone) smooth = Sum(eager, smooth, {}, false, smooth.element());
  if (reduction == kMean) {
    const Tensor counted = MaskOf(eager, target);
    smooth = Div(eager, smooth, eager.New({}, ElementType::kInt64, "number of targets"));
  }
  return Add(eager, Scale(eager, nll), Scale(eager, smooth));
}

// Class probabilities as targets: -sum(log p * target) / rows
Tensor ProbabilityLoss(Eager& eager, const Tensor& log_probabilities, const Tensor& target,
                       int64_t reduction) {
  const Tensor product = Mul(eager, log_probabilities, target);
  if (reduction == kNone) {
    const Tensor sum = Sum(eager, product, {ClassAxis(product)}, false, product.element());
    return Scale(eager, sum, "NegBackward0");
  }
  const Tensor negative =
      Scale(eager, Sum(eager, product, {}, false, product.element()), "NegBackward0");
  return reduction == kMean ? Scale(eager, negative, "DivBackward0") : negative;
}

// self, target, weight, reduction, ignore_index, label_smoothing
TensorList RunCrossEntropy(Eager& eager, const CallArguments& a) {
  const Tensor& target = a.tensor(1);
  if (a.tensor(0).rank() == 0) return {};
  const int64_t reduction = a.constant(3, kMean);
  const Tensor log_probabilities =
      Softmax(eager, a.tensor(0), ElementType::kUndefined, /*log=*/true);
  if (IsFloatingPoint(target.element())) {
    return {ProbabilityLoss(eager, log_probabilities, target, reduction)};
  }
  if (a.number(5) > 0) {
    return {SmoothedLoss(eager, log_probabilities, target, a.tensor(2), reduction)};
  }
  const Tensor cast = eager.Autocasted(log_probabilities, Autocast::kFloat32);
  return {NllLoss(eager, cast, target, a.tensor(2), reduction)};
}

TensorList RunNllLoss(Eager& eager, const CallArguments& a) {
  return {NllLoss(eager, a.tensor(0), a.tensor(1), a.tensor(2), a.constant(3, kMean))};
}

// A loss of self and target, both saved, with `temporaries` like self in the gradient.
TensorList Pairwise(Eager& eager, const CallArguments& a, absl::string_view node, int reduction_at,
                    int temporaries) {
  const Tensor& self = a.tensor(0);
  const bool reduces = a.constant(reduction_at, kMean) != kNone;
  Tensor result = reduces ? eager.New({}, self.element())
                          : NewPointwise(eager, {self, a.tensor(1)}, self.element());
  eager.Record(node, {self, a.tensor(1)}, {result}, {self, a.tensor(1)},
               [temporaries](Backward& b) {
                 std::vector<Tensor> steps;
                 for (int i = 0; i < temporaries; ++i) {
                   steps.push_back(NewLike(b.eager, b.saved(0), b.saved(0).element(), "temporary"));
                 }
                 for (int input : {0, 1}) {
                   if (b.Needs(input)) b.Give(input, NewLike(b.eager, b.saved(input),
                                                             b.element(input)));
                 }
               });
  return {result};
}

TensorList RunMse(Eager& e, const CallArguments& a) {
  return Pairwise(e, a, "MseLossBackward0", 2, 0);
}
TensorList RunSmoothL1(Eager& e, const CallArguments& a) {
  return Pairwise(e, a, "SmoothL1LossBackward0", 2, 0);
}
TensorList RunHuber(Eager& e, const CallArguments& a) {
  return Pairwise(e, a, "HuberLossBackward0", 2, 0);
}
TensorList RunBce(Eager& e, const CallArguments& a) {
  return Pairwise(e, a, "BinaryCrossEntropyBackward0", 3, 0);
}
TensorList RunBceWithLogits(Eager& e, const CallArguments& a) {
  return Pairwise(e, a, "BinaryCrossEntropyWithLogitsBackward0", 4, 1);
}

Tensor Reduced(Eager& eager, const Tensor& losses, int64_t reduction) {
  if (reduction == kNone) return losses;
  if (reduction == kMean) return Mean(eager, losses, {}, false);
  return Sum(eager, losses, {}, false, losses.element());
}

// |self - target|
TensorList RunL1(Eager& eager, const CallArguments& a) {
  const Tensor& self = a.tensor(0);
  Tensor difference = NewPointwise(eager, {self, a.tensor(1)}, self.element());
  eager.Record("SubBackward0", {self, a.tensor(1)}, {difference}, {}, [](Backward& b) {
    if (b.Needs(0)) b.Give(0, b.gradient());
    if (b.Needs(1)) b.Give(1, NewPointwise(b.eager, {b.gradient()}, b.gradient().element()));
  });
  const Tensor losses = eager.Apply(*FindTorchOp("aten::abs"), {difference});
  difference = Tensor();
  return {Reduced(eager, losses, a.constant(2, kMean))};
}

// xlogy(target, target) - target * self
TensorList RunKlDiv(Eager& eager, const CallArguments& a) {
  const Tensor& target = a.tensor(1);
  Tensor entropy = NewLike(eager, target, target.element(), "temporary");
  Tensor product = Mul(eager, target, a.tensor(0));
  const Tensor losses = NewPointwise(eager, {entropy, product}, product.element());
  eager.Record("SubBackward0", {entropy, product}, {losses}, {}, [](Backward& b) {
    b.Give(1, NewPointwise(b.eager, {b.gradient()}, b.gradient().element()));
  });
  entropy = product = Tensor();
  return {Reduced(eager, losses, a.constant(2, kMean))};
}

}  // namespace

absl::Span<const TorchOp> LossTorchOps() {
  constexpr Autocast kFloat32 = Autocast::kFloat32;
  static const std::vector<TorchOp> rows = {
      {.name = "aten::cross_entropy_loss",
       .arguments = "self, target, weight, reduction, ignore_index, label_smoothing", .operands = 2,
       .run = RunCrossEntropy},
      {.name = "aten::nll_loss", .arguments = "self, target, weight, reduction, ignore_index",
       .operands = 2, .autocast = kFloat32, .run = RunNllLoss},
      {.name = "aten::mse_loss", .arguments = "self, target, reduction", .operands = 2,
       .autocast = kFloat32, .run = RunMse},
      {.name = "aten::l1_loss", .arguments = "self, target, reduction", .operands = 2,
       .autocast = kFloat32, .run = RunL1},
      {.name = "aten::smooth_l1_loss", .arguments = "self, target, reduction, beta", .operands = 2,
       .autocast = kFloat32, .run = RunSmoothL1},
      {.name = "aten::huber_loss", .arguments = "self, target, reduction, delta", .operands = 2,
       .autocast = kFloat32, .run = RunHuber},
      {.name = "aten::binary_cross_entropy", .arguments = "self, target, weight, reduction",
       .operands = 2, .run = RunBce},
      {.name = "aten::binary_cross_entropy_with_logits",
       .arguments = "self, target, weight, pos_weight, reduction", .operands = 2,
       .autocast = kFloat32, .run = RunBceWithLogits},
      {.name = "aten::kl_div", .arguments = "self, target, reduction, log_target", .operands = 2,
       .autocast = kFloat32, .run = RunKlDiv},
  };
  return rows;
}

}  // namespace footprint
