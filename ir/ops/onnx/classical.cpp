// ai.onnx.ml: classical machine learning. Parameters sit in attributes.
#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/ops/onnx/families.h"
#include "ir/ops/onnx/rules.h"

namespace footprint {
namespace {

constexpr absl::string_view kDomain = "ai.onnx.ml";

// Elements a list attribute has in the file; 0 if absent.
int64_t ListLength(const InferContext& c, absl::string_view name) {
  const Attribute* list = c.node().Find(name);
  if (list == nullptr) return 0;
  return static_cast<int64_t>(list->ints.size() + list->floats.size() + list->strings.size()) +
         list->dropped_elements;
}

// N of an input [N, F], or 1 of [F].
Dim Rows(InferContext& c) {
  const TensorType* data = c.RankedInput(0);
  if (data == nullptr) return Dim();
  return data->rank() < 2 ? Dim(1) : data->dims[0];
}

void FloatLikeInput0(InferContext& c) { CopyShape(c, 0, 0, ElementType::kFloat); }

// Labels are strings or integers; `ints` is what this operator calls the latter.
void SetClassifier(InferContext& c, absl::string_view ints, Dim scores) {
  const int64_t strings = ListLength(c, "classlabels_strings");
  const int64_t classes = strings > 0 ? strings : ListLength(c, ints);
  SetRanked(c, 0, strings > 0 ? ElementType::kString : ElementType::kInt64, {Rows(c)});
  if (!c.HasOutput(1)) return;
  SetRanked(c, 1, ElementType::kFloat, {Rows(c), scores.is_unknown() ? Dim(classes) : scores});
}

void LinearClassifierTypes(InferContext& c) { SetClassifier(c, "classlabels_ints", Dim()); }
void TreeClassifierTypes(InferContext& c) { SetClassifier(c, "classlabels_int64s", Dim()); }

// Without probabilities there is a score per pair of classes, or per class: runtimes differ.
void SvmClassifierTypes(InferContext& c) {
  const bool probabilities = ListLength(c, "prob_a") > 0;
  SetClassifier(c, "classlabels_ints", probabilities ? Dim() : c.Fresh(1, Dim()));
}

void SetRegressor(InferContext& c, ElementType element, Dim targets) {
  SetRanked(c, 0, element, {Rows(c), targets});
}
void LinearRegressorTypes(InferContext& c) {
  SetRegressor(c, ElementType::kFloat, c.node().Int("targets", 1));
}
void SvmRegressorTypes(InferContext& c) { SetRegressor(c, ElementType::kFloat, 1); }
void TreeRegressorTypes(InferContext& c) {
  SetRegressor(c, ElementType::kFloat, c.node().Int("n_targets", 1));
}
void TreeEnsembleTypes(InferContext& c) {
  SetRegressor(c, c.InputElement(0), c.node().Int("n_targets", 1));
}

// Along the last axis; a vector gives a matrix of one row.
void ArrayFeatureTypes(InferContext& c) {
  const TensorType* data = RequireRankAtLeast(c, 0, 1, "X");
  const TensorType* indices = c.RankedInput(1);
  const ElementType element = c.InputElement(0);
  if (data == nullptr) return SetUnranked(c, 0, element);
  Dims dims = data->dims;
  if (dims.size() == 1) dims.insert(dims.begin(), 1);
  dims.back() = indices == nullptr ? Dim() : ElementCount(*indices, c.dims());
  SetRanked(c, 0, element, dims);
}

void CategoryMapperTypes(InferContext& c) {
  const bool strings = c.InputElement(0) == ElementType::kString;
  CopyShape(c, 0, 0, strings ? ElementType::kInt64 : ElementType::kString);
}

void LabelEncoderTypes(InferContext& c) {
  ElementType element = ElementType::kUndefined;
  if (const Attribute* values = c.node().Find("values_tensor");
      values != nullptr && values->constant.valid()) {
    element = c.constant(values->constant).type.element;
  } else if (c.node().Has("values_strings")) {
    element = ElementType::kString;
  } else if (c.node().Has("values_int64s")) {
    element = ElementType::kInt64;
  } else if (c.node().Has("values_floats")) {
    element = ElementType::kFloat;
  } else if (c.version() < 2) {
    element =
        c.InputElement(0) == ElementType::kString ? ElementType::kInt64 : ElementType::kString;
  }
  CopyShape(c, 0, 0, element);
}

void CastMapTypes(InferContext& c) {
  const absl::string_view to = c.node().String("cast_to", "TO_FLOAT");
  SetUnranked(c, 0,
              to == "TO_STRING"  ? ElementType::kString
              : to == "TO_INT64" ? ElementType::kInt64
                                 : ElementType::kFloat);
}

// The vocabulary is of the keys, the output of the values.
void DictVectorizerTypes(InferContext& c) {
  const int64_t size = ListLength(c, "string_vocabulary") + ListLength(c, "int64_vocabulary");
  const std::string& spelling = c.InputType(0).spelling;
  const size_t comma = spelling.find(", ");
  const size_t open = spelling.find('[');
  ElementType element = ElementType::kUndefined;
  if (comma != std::string::npos && open != std::string::npos && open > comma + 2) {
    element = ElementTypeFromName(spelling.substr(comma + 2, open - comma - 2))
                  .value_or(ElementType::kUndefined);
  }
  SetRanked(c, 0, element, {size});
}

void FeatureVectorizerTypes(InferContext& c) {
  Dim total = 0;
  for (int i = 0; i < c.num_inputs(); ++i) {
    const TensorType* part = c.RankedInput(i);
    total = c.dims().Add(total, DimOf(part, -1));
  }
  SetRanked(c, 0, ElementType::kFloat, {Rows(c), total});
}

void OneHotEncoderTypes(InferContext& c) {
  const TensorType* data = c.RankedInput(0);
  if (data == nullptr) return SetUnranked(c, 0, ElementType::kFloat);
  Dims dims = data->dims;
  dims.push_back(ListLength(c, "cats_strings") + ListLength(c, "cats_int64s"));
  SetRanked(c, 0, ElementType::kFloat, dims);
}

void ZipMapTypes(InferContext& c) {
  const bool strings = ListLength(c, "classlabels_strings") > 0;
  ValueType type;
  type.kind = TypeKind::kSequence;
  type.spelling = absl::StrCat("sequence(map(", strings ? "string" : "int64", ", float32[...]))");
  c.SetOutputType(0, std::move(type));
}

constexpr OnnxOp Row(absl::string_view name, Signature signature, InferRule types) {
  return {.name = name, .domain = kDomain, .signature = signature, .types = types};
}

constexpr OnnxOp kRows[] = {
    Row("ArrayFeatureExtractor", "2->1", ArrayFeatureTypes),
    Row("Binarizer", "1->1", SameAsInput0),
    Row("CastMap", "1->1", CastMapTypes),
    Row("CategoryMapper", "1->1", CategoryMapperTypes),
    Row("DictVectorizer", "1->1", DictVectorizerTypes),
    Row("FeatureVectorizer", "1-*->1", FeatureVectorizerTypes),
    Row("Imputer", "1->1", SameAsInput0),
    Row("LabelEncoder", "1->1", LabelEncoderTypes),
    Row("LinearClassifier", "1->2 coefficients", LinearClassifierTypes),
    Row("LinearRegressor", "1->1", LinearRegressorTypes),
    Row("Normalizer", "1->1", FloatLikeInput0),
    Row("OneHotEncoder", "1->1", OneHotEncoderTypes),
    Row("SVMClassifier", "1->2", SvmClassifierTypes),
    Row("SVMRegressor", "1->1", SvmRegressorTypes),
    Row("Scaler", "1->1", FloatLikeInput0),
    {.name = "TreeEnsemble",
     .domain = kDomain,
     .since = 5,
     .signature = "1->1 leaf_targetids leaf_weights nodes_falseleafs nodes_falsenodeids "
                  "nodes_featureids nodes_modes nodes_splits nodes_trueleafs "
                  "nodes_truenodeids tree_roots",
     .types = TreeEnsembleTypes},
    Row("TreeEnsembleClassifier", "1->2", TreeClassifierTypes),
    Row("TreeEnsembleRegressor", "1->1", TreeRegressorTypes),
    Row("ZipMap", "1->1", ZipMapTypes),
};

}  // namespace

OnnxFamily ClassicalOps() { return kRows; }

}  // namespace footprint
