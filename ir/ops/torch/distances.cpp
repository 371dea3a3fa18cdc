// Distances and similarities that are calls of their own, made of other operators.
#include <vector>

#include "ir/ops/torch/families.h"
#include "ir/ops/torch/primitives.h"

namespace footprint {
namespace {

using AxisList = absl::InlinedVector<int, 6>;

// x1, x2: all pairs of points of the last axis. The numbers go through one product of matrices that
// no node records; one node keeps points and distances.
TensorList RunEuclideanDistance(Eager& eager, const CallArguments& a) {
  const Tensor& x1 = a.tensor(0);
  const Tensor& x2 = a.tensor(1);
  if (x1.rank() < 2 || x1.rank() != x2.rank()) return {};
  Dims shape = x1.shape();
  shape.back() = x2.dim(x2.rank() - 2);
  const Tensor result = eager.New(shape, x1.element());
  eager.Record("EuclideanDistBackward0", {x1, x2}, {result}, {x1, x2, result}, [](Backward& b) {
    // x1 * ratio.sum() - ratio @ x2, and the other way round; what was made on the way lives until
    // both are there.
    const Tensor& result = b.saved(2);
    const Tensor ratio = b.eager.New(result.shape(), result.element(), "temporary");
    { const Tensor zero = b.eager.New(result.shape(), ElementType::kBool, "temporary"); }
    std::vector<Tensor> made;
    for (int input : {0, 1}) {
      if (!b.Needs(input)) continue;
      Dims row = b.shape(input);
      row.back() = Dim(1);
      const Dims& shape = b.shape(input);
      for (const Dims& like : {shape, row, shape}) {
        made.push_back(b.eager.New(like, b.element(input), "temporary"));
      }
      b.Give(input, b.eager.New(shape, b.element(input)));
    }
  });
  return {result};
}

// x1, x2, dim: each over a copy of its length, clamped in place; then the sum of the products.
TensorList RunCosineSimilarity(Eager& eager, const CallArguments& a) {
  const Tensor& x1 = a.tensor(0);
  const Tensor& x2 = a.tensor(1);
  const Dims dim = a.integers(2);
  if (dim.size() != 1 || !dim[0].is_constant()) return {};
  const AxisList axes = {static_cast<int>(dim[0].value())};
  const Tensor length1 = Clone(eager, VectorNorm(eager, x1, axes, true, x1.element()));
  const Tensor length2 = Clone(eager, VectorNorm(eager, x2, axes, true, x2.element()));
  const Tensor unit2 = Div(eager, x2, length2);  // operands of * from right to left
  const Tensor unit1 = Div(eager, x1, length1);
  return {Sum(eager, Mul(eager, unit1, unit2), axes, false, x1.element())};
}

}  // namespace

absl::Span<const TorchOp> DistanceTorchOps() {
  static const std::vector<TorchOp> rows = {
      {.name = "aten::_euclidean_dist", .arguments = "x1, x2", .operands = 2,
       .autocast = Autocast::kFloat32, .run = RunEuclideanDistance},
      {.name = "aten::cosine_similarity", .arguments = "x1, x2, dim", .operands = 2,
       .autocast = Autocast::kFloat32, .run = RunCosineSimilarity},
  };
  return rows;
}

}  // namespace footprint
