// Normalizations: the output is like the data, statistics may come beside it.
#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/ops/onnx/families.h"
#include "ir/ops/onnx/norm_rules.h"
#include "ir/ops/onnx/rules.h"

namespace footprint {

// The data's leading sizes up to `axis`, then ones: the shape of statistics taken from `axis` on.
void SetStatistics(InferContext& c, int output, int axis, ElementType element) {
  const TensorType* data = c.RankedInput(0);
  if (!c.HasOutput(output)) return;
  if (data == nullptr) return SetUnranked(c, output, element);
  Dims dims = data->dims;
  for (size_t i = static_cast<size_t>(axis); i < dims.size(); ++i) dims[i] = 1;
  SetRanked(c, output, element, dims);
}

void LayerNormalizationTypes(InferContext& c) {
  CopyType(c, 0, 0);
  const TensorType* data = c.RankedInput(0);
  const std::optional<int> axis = data == nullptr
                                      ? std::optional<int>(0)
                                      : NormalAxis(c, c.node().Int("axis", -1), data->rank());
  if (!axis) return;
  const ElementType element = ElementAttribute(c, "stash_type", ElementType::kFloat);
  SetStatistics(c, 1, *axis, element);
  SetStatistics(c, 2, *axis, element);
}

namespace {

// Softmax and its like: along an axis that must exist.
void AlongAxisTypes(InferContext& c) {
  CopyType(c, 0, 0);
  const TensorType* data = c.RankedInput(0);
  const int64_t otherwise = c.version() < 13 ? 1 : -1;
  const int64_t axis = c.node().Int("axis", otherwise);
  // A scalar has no axis and is its own softmax; before version 13 the axis only said where to
  // flatten, and could be the rank.
  if (data == nullptr || !c.node().Has("axis") || (c.version() < 13 && axis == data->rank())) {
    return;
  }
  NormalAxis(c, axis, data->rank());
}

void PerChannel(InferContext& c, const TensorType& data, int first, int last) {
  for (int i = first; i <= last; ++i) {
    const TensorType* operand = c.RankedInput(i);
    if (operand == nullptr || operand->rank() != 1 || data.rank() < 2) continue;
    if (SameSize(operand->dims[0], data.dims[1])) continue;
    c.RequireEqual(data.dims[1], operand->dims[0], "channels of X and of its parameters differ");
  }
}

// Training mode was told by the number of outputs (saved_mean and saved_var among them) before 14.
void BatchNormalizationTypes(InferContext& c) {
  const TensorType* data = RequireRankAtLeast(c, 0, 1, "X");
  CopyType(c, 0, 0);
  if (data != nullptr) PerChannel(c, *data, 1, 4);
  for (int i = 1; i < c.num_outputs(); ++i) {
    if (c.HasOutput(i)) CopyType(c, i <= 2 ? i + 2 : i, i);
  }
}

void PerChannelTypes(InferContext& c) {
  const TensorType* data = RequireRankAtLeast(c, 0, 2, "input");
  CopyType(c, 0, 0);
  if (data != nullptr) PerChannel(c, *data, 1, 2);
}

// Version 18 had one scale per group.
void GroupNormalizationTypes(InferContext& c) {
  CopyType(c, 0, 0);
  const TensorType* data = RequireRankAtLeast(c, 0, 2, "X");
  if (data != nullptr && c.version() >= 21) PerChannel(c, *data, 1, 2);
}

constexpr OnnxOp kRows[] = {
    {.name = "BatchNormalization",
     .signature = "5->1-5; 14: 5->1-3",
     .types = BatchNormalizationTypes,
     .inplace = 1,
     .weights = 0b110,
     .statistics = 0b11000,
     .has_filler_weights = true,
     .textbook = TextbookKind::kNormalization},
    {.name = "GroupNormalization",
     .since = 18,
     .signature = "3->1 num_groups",
     .types = GroupNormalizationTypes,
     .weights = 0b110,
     .textbook = TextbookKind::kNormalization},
    {.name = "Hardmax", .types = AlongAxisTypes},
    {.name = "InstanceNormalization",
     .signature = "3->1",
     .types = PerChannelTypes,
     .weights = 0b110,
     .has_filler_weights = true,
     .textbook = TextbookKind::kNormalization},
    {.name = "LRN", .signature = "1->1 size", .types = SameAsInput0},
    {.name = "LayerNormalization",
     .since = 17,
     .signature = "2-3->1-3",
     .types = LayerNormalizationTypes,
     .weights = 0b110,
     .has_filler_weights = true,
     .textbook = TextbookKind::kNormalization},
    {.name = "LogSoftmax",
     .types = AlongAxisTypes,
     .inplace = 1,
     .textbook = TextbookKind::kSoftmax},
    {.name = "LpNormalization", .types = AlongAxisTypes},
    {.name = "MeanVarianceNormalization", .since = 9, .types = SameAsInput0},
    {.name = "RMSNormalization",
     .since = 23,
     .signature = "2->1",
     .types = LayerNormalizationTypes,
     .weights = 0b10,
     .textbook = TextbookKind::kNormalization},
    {.name = "Softmax", .types = AlongAxisTypes, .inplace = 1, .textbook = TextbookKind::kSoftmax},
};

}  // namespace

OnnxFamily NormalizationOps() { return kRows; }

}  // namespace footprint
