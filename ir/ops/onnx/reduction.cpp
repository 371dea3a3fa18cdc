// Reductions along axes, and running ones.
#include <functional>
#include <utility>
#include <vector>

#include "ir/ops/onnx/families.h"
#include "ir/ops/onnx/rules.h"
#include "ir/ops/onnx/values.h"

namespace footprint {
namespace {

// Which axes are reduced; kNo if not known. No axes at all means every axis, unless
// noop_with_empty_axes says none.
Known ReducedAxes(InferContext& c, int rank, std::vector<bool>* reduced) {
  Sizes axes;
  const Known known = ReadAxes(c, "axes", 1, rank, &axes);
  if (known == Known::kNo) return known;
  reduced->assign(static_cast<size_t>(rank), axes.empty());
  if (axes.empty() && c.node().Int("noop_with_empty_axes", 0) != 0) {
    reduced->assign(static_cast<size_t>(rank), false);
  }
  for (const int64_t axis : axes) (*reduced)[static_cast<size_t>(axis)] = true;
  return Known::kYes;
}

void ReduceTypes(InferContext& c) {
  const TensorType* data = c.RankedInput(0);
  const ElementType element = c.InputElement(0);
  if (data == nullptr) return SetUnranked(c, 0, element);
  const bool keep = c.node().Int("keepdims", 1) != 0;
  std::vector<bool> reduced;
  if (ReducedAxes(c, data->rank(), &reduced) != Known::kYes) {
    if (keep) return SetRankOnly(c, 0, element, data->rank());
    const std::optional<int> count = RankFromLength(c, 1);
    if (!count || *count == 0) return SetUnranked(c, 0, element);
    return SetRankOnly(c, 0, element, data->rank() - *count);
  }
  Dims dims;
  for (size_t i = 0; i < reduced.size(); ++i) {
    if (!reduced[i]) {
      dims.push_back(data->dims[i]);
    } else if (keep) {
      dims.push_back(1);
    }
  }
  SetRanked(c, 0, element, dims);
}

using Fold = Dim (*)(DimTable&, Dim, Dim);
Dim FoldSum(DimTable& dims, Dim a, Dim b) { return dims.Add(a, b); }
Dim FoldProduct(DimTable& dims, Dim a, Dim b) { return dims.Mul(a, b); }
Dim FoldMin(DimTable& dims, Dim a, Dim b) { return dims.Min(a, b); }
Dim FoldMax(DimTable& dims, Dim a, Dim b) { return dims.Max(a, b); }

// Of whole numbers; of ratios too, if the result has their denominator.
template <Fold kFold, bool kKeepsDenominator = true>
void ReduceValues(InferContext& c) {
  KnownValuePtr value = c.InputValue(0);
  if (value != nullptr && value->is_float) {
    value = kKeepsDenominator ? AsRatios(*value) : nullptr;
  }
  Sizes from;
  std::vector<bool> reduced;
  if (value == nullptr || !SmallSizes(c.InputType(0), &from) || Product(from) == 0 ||
      ReducedAxes(c, static_cast<int>(from.size()), &reduced) != Known::kYes) {
    return;
  }
  Sizes kept = from;
  for (size_t i = 0; i < kept.size(); ++i) {
    if (reduced[i]) kept[i] = 1;
  }
  const Sizes strides = Strides(kept);
  std::vector<Dim> result(static_cast<size_t>(Product(kept)));
  std::vector<bool> started(result.size(), false);
  Odometer at(from);
  for (const Dim& element : value->integers) {
    int64_t position = 0;
    for (size_t i = 0; i < kept.size(); ++i) position += reduced[i] ? 0 : at[i] * strides[i];
    const auto to = static_cast<size_t>(position);
    result[to] = started[to] ? kFold(c.dims(), result[to], element) : element;
    started[to] = true;
    at.Next();
  }
  if (!value->is_float) return SetWrapped(c, std::move(result));
  KnownValue ratios = *value;
  ratios.integers = std::move(result);
  c.SetOutputValue(0, std::make_shared<const KnownValue>(std::move(ratios)));
}

void ArgTypes(InferContext& c) {
  const TensorType* data = c.RankedInput(0);
  const bool keep = c.node().Int("keepdims", 1) != 0;
  if (data == nullptr) return SetUnranked(c, 0, ElementType::kInt64);
  const std::optional<int> axis = NormalAxis(c, c.node().Int("axis", 0), data->rank());
  if (!axis) return;
  Dims dims = data->dims;
  if (keep) {
    dims[static_cast<size_t>(*axis)] = 1;
  } else {
    dims.erase(dims.begin() + *axis);
  }
  SetRanked(c, 0, ElementType::kInt64, dims);
}

// Running sums of a vector.
void CumSumValues(InferContext& c) {
  const KnownValuePtr value = c.InputValue(0);
  Sizes sizes;
  if (value == nullptr || value->is_float || !SmallSizes(c.InputType(0), &sizes) ||
      sizes.size() != 1) {
    return;
  }
  const bool exclusive = c.node().Int("exclusive", 0) != 0;
  const bool reverse = c.node().Int("reverse", 0) != 0;
  std::vector<Dim> result(value->integers.size());
  Dim sum = 0;
  for (size_t i = 0; i < result.size(); ++i) {
    const size_t at = reverse ? result.size() - 1 - i : i;
    const Dim next = c.dims().Add(sum, value->integers[at]);
    result[at] = exclusive ? sum : next;
    sum = next;
  }
  SetWrapped(c, std::move(result));
}

constexpr OnnxOp Reduction(absl::string_view name, InferRule values = nullptr) {
  return {.name = name, .signature = "1->1; 18: 1-2->1", .types = ReduceTypes, .values = values};
}

constexpr OnnxOp kRows[] = {
    {.name = "ArgMax", .types = ArgTypes},
    {.name = "ArgMin", .types = ArgTypes},
    {.name = "CumProd", .since = 26, .signature = "2->1", .types = SameAsInput0},
    {.name = "CumSum",
     .since = 11,
     .signature = "2->1",
     .types = SameAsInput0,
     .values = CumSumValues},
    Reduction("ReduceL1"),
    Reduction("ReduceL2"),
    Reduction("ReduceLogSum"),
    Reduction("ReduceLogSumExp"),
    Reduction("ReduceMax", ReduceValues<FoldMax>),
    Reduction("ReduceMean"),
    Reduction("ReduceMin", ReduceValues<FoldMin>),
    Reduction("ReduceProd", ReduceValues<FoldProduct, false>),
    Reduction("ReduceSum", ReduceValues<FoldSum>).With("1->1; 13: 1-2->1"),
    Reduction("ReduceSumSquare"),
};

}  // namespace

OnnxFamily ReductionOps() { return kRows; }

}  // namespace footprint
