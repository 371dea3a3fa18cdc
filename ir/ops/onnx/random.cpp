// Generators: contents by chance, shape by attributes or by an operand.
#include <utility>

#include "ir/ops/onnx/families.h"
#include "ir/ops/onnx/rules.h"

namespace footprint {
namespace {

void RandomTypes(InferContext& c) {
  const absl::Span<const int64_t> shape = c.node().Ints("shape");
  const ElementType element = ElementAttribute(c, "dtype", ElementType::kFloat);
  SetRanked(c, 0, element, Dims(shape.begin(), shape.end()));
}

void RandomLikeTypes(InferContext& c) {
  CopyShape(c, 0, 0, ElementAttribute(c, "dtype", c.InputElement(0)));
}

void MultinomialTypes(InferContext& c) {
  const TensorType* data = RequireRank(c, 0, 2, "input");
  SetRanked(c, 0, ElementAttribute(c, "dtype", ElementType::kInt32),
            {DimOf(data, 0), c.node().Int("sample_size", 1)});
}

constexpr OnnxOp kRows[] = {
    {.name = "Bernoulli", .since = 15, .types = RandomLikeTypes, .is_random = true},
    {.name = "Multinomial", .since = 7, .types = MultinomialTypes, .is_random = true},
    {.name = "RandomNormal", .signature = "0->1 shape", .types = RandomTypes, .is_random = true},
    {.name = "RandomNormalLike", .types = RandomLikeTypes, .is_random = true},
    {.name = "RandomUniform", .signature = "0->1 shape", .types = RandomTypes, .is_random = true},
    {.name = "RandomUniformLike", .types = RandomLikeTypes, .is_random = true},
};

}  // namespace

OnnxFamily RandomOps() { return kRows; }

}  // namespace footprint
