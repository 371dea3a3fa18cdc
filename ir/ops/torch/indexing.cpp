// Elements picked and placed by index tensors. Indices are saved whenever the picked-from tensor
// takes a gradient; that gradient is dense: zeros of its full size, and a second tensor with the
// sum.
#include <vector>

#include "ir/ops/torch/families.h"
#include "ir/ops/torch/primitives.h"

namespace footprint {
namespace {

// index(self, indices): a list with an index for each leading axis; None keeps the axis.
Dims IndexedShape(Eager& eager, const CallArguments& a) {
  const TensorType* declared = a.declared();
  if (declared != nullptr) return declared->dims;
  Dims picked;
  Dims kept;
  const absl::Span<const Tensor> indices = a.tensors(1);
  const Tensor& self = a.tensor(0);
  for (int axis = 0; axis < self.rank(); ++axis) {
    const size_t i = static_cast<size_t>(axis);
    if (i < indices.size() && indices[i]) {
      BroadcastInto(eager, picked, indices[i].shape());
    } else {
      kept.push_back(self.dim(axis));
    }
  }
  picked.insert(picked.end(), kept.begin(), kept.end());
  return picked;
}

// zeros, then the same with the gradient put in
void ScatteredGradient(Backward& b) {
  const Tensor zeros = b.eager.New(b.shape(0), b.gradient().element(), "temporary");
  b.Give(0, b.eager.New(b.shape(0), b.gradient().element()));
}

TensorList RunIndex(Eager& eager, const CallArguments& a) {
  const Tensor& self = a.tensor(0);
  Tensor result = eager.New(IndexedShape(eager, a), self.element());
  std::vector<SavedTensor> saved;
  for (const Tensor& index : a.tensors(1)) {
    if (index) saved.push_back(index);
  }
  eager.Record("IndexBackward0", {self}, {result}, saved, ScatteredGradient);
  return {result};
}

// index_put(self, indices, values, accumulate): a copy of self with the values in it.
TensorList RunIndexPut(Eager& eager, const CallArguments& a) {
  const Tensor& self = a.tensor(0);
  Tensor result = NewLike(eager, self, self.element());
  std::vector<SavedTensor> saved;
  for (const Tensor& index : a.tensors(1)) {
    if (index) saved.push_back(index);
  }
  const bool accumulates = a.boolean(3);
  eager.Record("IndexPutBackward0", {self, a.tensor(2)}, {result}, saved,
               [accumulates](Backward& b) {
                 const Tensor& g = b.gradient();
                 if (b.Needs(0)) {
                   b.Give(0, accumulates ? g : b.eager.New(b.shape(0), g.element()));
                 }
                 if (b.Needs(1)) b.Give(1, b.eager.New(b.shape(1), g.element()));
               });
  return {result};
}

// weight, indices, offsets, scale_grad_by_freq, mode (0 sum, 1 mean, 2 max): the rows of each bag
// become one. Keeps which bag an index is in, and how many are in a bag.
TensorList RunEmbeddingBag(Eager& eager, const CallArguments& a) {
  constexpr int64_t kMax = 2;
  const Tensor& weight = a.tensor(0);
  const Tensor& indices = a.tensor(1);
  const Tensor& offsets = a.tensor(2);
  const TensorType* declared = a.declared();
  if (declared == nullptr || declared->dims.size() != 2) return {};
  const Dims bags = {declared->dims[0]};
  const bool keeps_rows = a.constant(4) == kMax;
  const Tensor result = eager.New(declared->dims, weight.element());
  const Tensor bag = eager.New(indices.shape(), ElementType::kInt64, "bag of each index");
  const Tensor size = eager.New(bags, ElementType::kInt64, "size of each bag");
  const Tensor rows =
      keeps_rows ? eager.New(declared->dims, ElementType::kInt64, "rows") : Tensor();
  eager.Record("EmbeddingBagBackward0", {weight}, {result}, {indices, offsets, bag, size, rows},
               [](Backward& b) { b.Give(0, b.eager.New(b.shape(0), b.element(0))); });
  return {result};
}

TorchOp Picking(absl::string_view name, absl::string_view arguments, absl::string_view node,
                std::vector<SavedOperand> saves) {
  return {.name = name, .arguments = arguments, .node = node, .shape = ResultShape::kDeclared,
          .strides = ResultStrides::kContiguous, .element = ResultElement::kLikeFirst,
          .saves = std::move(saves),
          .gradients = {{0, GradientForm::kLikeArgument, /*temporaries=*/1}}};
}

// self, dim, index, src
TorchOp Placing(absl::string_view name, absl::string_view arguments, absl::string_view node,
                GradientForm self_gradient, std::vector<SavedOperand> saves = {Arg(2)}) {
  return {.name = name, .arguments = arguments, .node = node, .shape = ResultShape::kLikeFirst,
          .element = ResultElement::kLikeFirst, .saves = std::move(saves),
          .gradients = {{0, self_gradient}, {3, GradientForm::kLikeArgument}}};
}

}  // namespace

absl::Span<const TorchOp> IndexTorchOps() {
  constexpr ResultShape kDeclared = ResultShape::kDeclared;
  static const std::vector<TorchOp> rows = {
      // The gradient of a table is dense: as large as the table.
      {.name = "aten::embedding",
       .arguments = "weight, indices, padding_idx, scale_grad_by_freq, sparse", .operands = 2,
       .node = "EmbeddingBackward0", .shape = kDeclared, .strides = ResultStrides::kContiguous,
       .element = ResultElement::kLikeFirst, .saves = {Arg(1)},
       .gradients = {{0, GradientForm::kLikeArgument}}},
      {.name = "aten::embedding_bag",
       .arguments = "weight, indices, offsets, scale_grad_by_freq, mode", .operands = 2,
       .run = RunEmbeddingBag},
      {.name = "aten::index", .arguments = "self, indices", .run = RunIndex},
      {.name = "aten::index_put", .arguments = "self, indices, values, accumulate",
       .run = RunIndexPut},
      Picking("aten::index_select", "self, dim, index", "IndexSelectBackward0", {Arg(2)}),
      Picking("aten::gather", "self, dim, index", "GatherBackward0",
              {Arg(0).Unread(), Arg(2)}),
      Picking("aten::take_along_dim", "self, indices, dim", "GatherBackward0",
              {Arg(0).Unread(), Arg(1)}),
      Picking("aten::masked_select", "self, mask", "MaskedSelectBackward0",
              {Arg(0).Unread(), Arg(1)}),
      Placing("aten::scatter", "self, dim, index, src", "ScatterBackward0",
              GradientForm::kLikeGradient),
      Placing("aten::scatter_add", "self, dim, index, src", "ScatterAddBackward0",
              GradientForm::kSame),
      Placing("aten::scatter_reduce", "self, dim, index, src, reduce", "ScatterReduceBackward0",
              GradientForm::kLikeGradient,
              {Arg(0).Unread(), Arg(2), Arg(3).Unread(), Result()}),
      Placing("aten::index_add", "self, dim, index, source", "IndexAddBackward0",
              GradientForm::kSame),
      {.name = "aten::masked_scatter", .arguments = "self, mask, source",
       .node = "MaskedScatterBackward0", .shape = ResultShape::kLikeFirst,
       .element = ResultElement::kLikeFirst, .saves = {Arg(1)},
       .gradients = {{0}, {2, GradientForm::kLikeArgument}}},
      {.name = "aten::one_hot", .arguments = "self, num_classes", .shape = kDeclared,
       .strides = ResultStrides::kContiguous, .element = ResultElement::kInt64},
      {.name = "aten::nonzero", .arguments = "self", .shape = kDeclared,
       .strides = ResultStrides::kContiguous, .element = ResultElement::kInt64},
      {.name = "aten::bucketize", .arguments = "self, boundaries",
       .shape = ResultShape::kLikeFirst, .element = ResultElement::kInt64},
  };
  return rows;
}

}  // namespace footprint
