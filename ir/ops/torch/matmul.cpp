// The rows of matrix products; matmul_primitives.cpp has the work. einsum permutes and merges the
// dimensions of two operands until one batched product is left.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "ir/ops/torch/families.h"
#include "ir/ops/torch/primitives.h"

namespace footprint {
namespace {

// The ranks of the leading arguments; an absent one has none.
bool HaveRanks(const CallArguments& a, std::initializer_list<int> ranks) {
  int index = 0;
  for (int rank : ranks) {
    const Tensor& tensor = a.tensor(index++);
    if (tensor && tensor.rank() != rank) return false;
  }
  return true;
}

TensorList RunMm(Eager& eager, const CallArguments& a) {
  if (!HaveRanks(a, {2, 2})) return {};
  return {Mm(eager, a.tensor(0), a.tensor(1))};
}
TensorList RunBmm(Eager& eager, const CallArguments& a) {
  if (!HaveRanks(a, {3, 3})) return {};
  return {Bmm(eager, a.tensor(0), a.tensor(1))};
}
TensorList RunAddmm(Eager& eager, const CallArguments& a) {
  if (a.tensor(1).rank() != 2 || a.tensor(2).rank() != 2) return {};
  return {Addmm(eager, a.tensor(0), a.tensor(1), a.tensor(2))};
}
TensorList RunMatmul(Eager& eager, const CallArguments& a) {
  if (a.tensor(0).rank() == 0 || a.tensor(1).rank() == 0) return {};
  return {Matmul(eager, a.tensor(0), a.tensor(1))};
}
TensorList RunLinear(Eager& eager, const CallArguments& a) {
  if (a.tensor(0).rank() == 0 || a.tensor(1).rank() != 2) return {};
  return {Linear(eager, a.tensor(0), a.tensor(1), a.tensor(2))};
}

// self, batch1, batch2, beta, alpha
TensorList RunBaddbmm(Eager& eager, const CallArguments& a) {
  const Tensor& batch1 = a.tensor(1);
  const Tensor& batch2 = a.tensor(2);
  if (batch1.rank() != 3 || batch2.rank() != 3) return {};
  Tensor result = eager.New({batch1.dim(0), batch1.dim(1), batch2.dim(2)}, batch1.element());
  const bool scales_self = a.number(3, 1) != 1;
  const bool scales_product = a.number(4, 1) != 1;
  eager.Record("BaddbmmBackward0", {a.tensor(0), batch1, batch2}, {result},
               {{eager.Needs(batch2) ? batch1 : Tensor(), 1u << 2},
                {eager.Needs(batch1) ? batch2 : Tensor(), 1u << 1}},
               [scales_self, scales_product](Backward& b) {
                 const Tensor& g = b.gradient();
                 for (int input : {1, 2}) {
                   if (!b.Needs(input)) continue;
                   Tensor gradient = b.eager.New(b.shape(input), g.element());
                   if (scales_product) gradient = b.eager.New(b.shape(input), g.element());
                   b.Give(input, std::move(gradient));
                 }
                 if (b.Needs(0)) {
                   b.Give(0, scales_self ? NewPointwise(b.eager, {g}, g.element()) : Tensor(g));
                 }
               });
  return {result};
}

// An operand of einsum: one letter for each dimension.
struct Labelled {
  Tensor tensor;
  std::string labels;
  bool Has(char label) const { return labels.find(label) != std::string::npos; }
  int At(char label) const { return static_cast<int>(labels.find(label)); }
};

// Labels of one operand in the given order, each group merged into one dimension.
Tensor Merged(Eager& eager, const Labelled& operand, const std::vector<std::string>& groups) {
  std::vector<int> axes;
  Dims shape;
  for (const std::string& group : groups) {
    Dim size = 1;
    for (char label : group) {
      axes.push_back(operand.At(label));
      size = eager.dims().Mul(size, operand.tensor.dim(axes.back()));
    }
    shape.push_back(size);
  }
  return Reshape(eager, Permute(eager, operand.tensor, axes), shape);
}

// `keep`: the labels that are read later, in the order of the result.
Labelled Contract(Eager& eager, const Labelled& left, const Labelled& right,
                  const std::string& keep) {
  std::string both, only_left, only_right, summed;
  for (char label : keep) {
    if (left.Has(label) && right.Has(label)) both += label;
    if (left.Has(label) && !right.Has(label)) only_left += label;
    if (!left.Has(label) && right.Has(label)) only_right += label;
  }
  for (char label : left.labels) {
    if (right.Has(label) && keep.find(label) == std::string::npos) summed += label;
  }
  const Tensor product = Bmm(eager, Merged(eager, left, {both, only_left, summed}),
                             Merged(eager, right, {both, summed, only_right}));
  Labelled result;
  result.labels = both + only_left + only_right;
  Dims shape;
  for (char label : result.labels) {
    const Labelled& from = left.Has(label) ? left : right;
    shape.push_back(from.tensor.dim(from.At(label)));
  }
  result.tensor = ViewAs(eager, product, shape);
  std::string ordered;
  std::vector<int> axes;
  for (char label : keep) {
    if (!result.Has(label)) continue;
    ordered += label;
    axes.push_back(result.At(label));
  }
  result.tensor = Permute(eager, result.tensor, axes);
  result.labels = ordered;
  return result;
}

// Sums what is not kept and brings the rest into order.
Tensor Reduced(Eager& eager, Labelled operand, const std::string& keep) {
  std::vector<int> summed;
  std::string left;
  for (char label : operand.labels) {
    if (keep.find(label) == std::string::npos) {
      summed.push_back(operand.At(label));
    } else {
      left += label;
    }
  }
  if (!summed.empty()) {
    operand.tensor = Sum(eager, operand.tensor, summed, false, operand.tensor.element());
    operand.labels = left;
  }
  std::vector<int> axes;
  for (char label : keep) axes.push_back(operand.At(label));
  return Permute(eager, operand.tensor, axes);
}

// "..." stands for the leading dimensions: one capital letter each, counted from the last.
std::string ExpandEllipsis(absl::string_view labels, int rank) {
  const size_t at = labels.find("...");
  if (at == absl::string_view::npos) return std::string(labels);
  const int count = rank - static_cast<int>(labels.size() - 3);
  std::string dots;
  for (int i = count; i > 0; --i) dots += static_cast<char>('A' + i - 1);
  return absl::StrReplaceAll(labels, {{"...", dots}});
}

TensorList RunEinsum(Eager& eager, const CallArguments& a) {
  const std::string equation = absl::StrReplaceAll(a.text(0), {{" ", ""}});
  const std::vector<std::string> sides = absl::StrSplit(equation, "->");
  const std::vector<std::string> terms = absl::StrSplit(sides[0], ',');
  const absl::Span<const Tensor> tensors = a.tensors(1);
  std::vector<Labelled> operands;
  for (size_t i = 0; i < tensors.size() && i < terms.size(); ++i) {
    if (!tensors[i]) return {};
    operands.push_back({tensors[i], ExpandEllipsis(terms[i], tensors[i].rank())});
    if (operands.back().labels.size() != tensors[i].shape().size()) return {};
  }
  if (operands.empty()) return {};
  const TensorType* declared = a.declared();
  std::string output;
  if (sides.size() > 1) {
    output = ExpandEllipsis(sides[1], declared != nullptr ? declared->rank() : 0);
  } else {  // every label that occurs once, in alphabetical order
    std::string all;
    for (const Labelled& operand : operands) all += operand.labels;
    std::sort(all.begin(), all.end());
    for (char label : all) {
      if (std::count(all.begin(), all.end(), label) == 1) output += label;
    }
  }
  for (char label : output) {
    const bool known = std::any_of(operands.begin(), operands.end(),
                                   [label](const Labelled& operand) { return operand.Has(label); });
    if (!known) return {};
  }
  Labelled result = operands[0];
  for (size_t i = 1; i < operands.size(); ++i) {
    std::string keep = output;
    for (size_t j = i + 1; j < operands.size(); ++j) {
      for (char label : operands[j].labels) {
        if (keep.find(label) == std::string::npos) keep += label;
      }
    }
    result = Contract(eager, result, operands[i], keep);
  }
  return {Reduced(eager, std::move(result), output)};
}

}  // namespace

absl::Span<const TorchOp> MatmulTorchOps() {
  constexpr Autocast kLow = Autocast::kLow;
  static const std::vector<TorchOp> rows = {
      {.name = "aten::mm", .arguments = "self, mat2", .operands = 2, .autocast = kLow,
       .run = RunMm},
      {.name = "aten::bmm", .arguments = "self, mat2", .operands = 2, .autocast = kLow,
       .run = RunBmm},
      {.name = "aten::mv", .arguments = "self, vec", .operands = 2, .autocast = kLow,
       .run = RunMatmul},
      {.name = "aten::dot", .arguments = "self, tensor", .operands = 2, .autocast = kLow,
       .run = RunMatmul},
      {.name = "aten::addmm", .arguments = "self, mat1, mat2, beta, alpha", .operands = 3,
       .autocast = kLow, .run = RunAddmm},
      {.name = "aten::baddbmm", .arguments = "self, batch1, batch2, beta, alpha", .operands = 3,
       .autocast = kLow, .run = RunBaddbmm},
      {.name = "aten::matmul", .arguments = "self, other", .operands = 2, .autocast = kLow,
       .run = RunMatmul},
      {.name = "aten::linear", .arguments = "input, weight, bias", .operands = 2, .autocast = kLow,
       .run = RunLinear},
      {.name = "aten::einsum", .arguments = "equation, tensors", .operands = 0, .autocast = kLow,
       .run = RunEinsum},
  };
  return rows;
}

}  // namespace footprint
