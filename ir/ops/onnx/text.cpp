// Strings.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/ops/onnx/families.h"
#include "ir/ops/onnx/rules.h"

namespace footprint {
namespace {

void StringConcatTypes(InferContext& c) { SetBroadcast(c, ElementType::kString, 0, 2); }

// Stop words leave; at least one (empty) string remains.
void StringNormalizerTypes(InferContext& c) {
  const TensorType* data = c.RankedInput(0);
  if (data == nullptr) return SetUnranked(c, 0, ElementType::kString);
  if (data->rank() == 0 || data->rank() > 2) {
    return c.Error(absl::StrCat("X has shape ", ShapeToString(*data, c.dims()),
                                " where [C] or [1, C] is needed"));
  }
  Dims dims = data->dims;
  const Attribute* stop_words = c.node().Find("stopwords");
  const bool drops =
      stop_words != nullptr && (!stop_words->strings.empty() || stop_words->dropped_elements > 0);
  if (drops || !c.dims().IsPositive(dims.back())) {
    dims.back() = c.Fresh(1, c.dims().Max(dims.back(), 1));
  }
  SetRanked(c, 0, ElementType::kString, dims);
}

// One more axis: the parts of each string, as many as the longest has.
void StringSplitTypes(InferContext& c) {
  const TensorType* data = c.RankedInput(0);
  if (c.HasOutput(1)) CopyShape(c, 0, 1, ElementType::kInt64);
  if (data == nullptr) return SetUnranked(c, 0, ElementType::kString);
  const Attribute* limit = c.node().Find("maxsplit");
  Dims dims = data->dims;
  const bool none = ElementCount(*data, c.dims()).Is(0);
  dims.push_back(none ? Dim(0) : c.Fresh(0, limit == nullptr ? Dim() : Dim(limit->int_value + 1)));
  SetRanked(c, 0, ElementType::kString, dims);
}

// [C] or [N, C]: one count per n-gram of the pool instead of C.
void TfIdfTypes(InferContext& c) {
  const TensorType* data = c.RankedInput(0);
  if (data == nullptr) return SetUnranked(c, 0, ElementType::kFloat);
  if (data->rank() == 0 || data->rank() > 2) {
    return c.Error(absl::StrCat("X has shape ", ShapeToString(*data, c.dims()),
                                " where [C] or [N, C] is needed"));
  }
  Dims dims = data->dims;
  const absl::Span<const int64_t> indexes = c.node().Ints("ngram_indexes");
  dims.back() = indexes.empty() ? c.Fresh(0, Dim())
                                : Dim(*std::max_element(indexes.begin(), indexes.end()) + 1);
  SetRanked(c, 0, ElementType::kFloat, dims);
}

constexpr OnnxOp kRows[] = {
    {.name = "RegexFullMatch", .since = 20, .types = BoolLikeInput0},
    {.name = "StringConcat", .since = 20, .signature = "2->1", .types = StringConcatTypes},
    {.name = "StringNormalizer", .since = 10, .types = StringNormalizerTypes},
    {.name = "StringSplit", .since = 20, .signature = "1->2", .types = StringSplitTypes},
    {.name = "TfIdfVectorizer",
     .since = 9,
     .signature =
         "1->1 max_gram_length max_skip_count min_gram_length mode ngram_counts ngram_indexes",
     .types = TfIdfTypes},
};

}  // namespace

OnnxFamily TextOps() { return kRows; }

}  // namespace footprint
