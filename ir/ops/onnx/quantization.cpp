// Quantization.
#include <utility>

#include "ir/ops/onnx/families.h"
#include "ir/ops/onnx/rules.h"

namespace footprint {
namespace {

// The zero point's type, else output_dtype, else uint8.
void QuantizeTypes(InferContext& c) {
  ElementType element = c.InputElement(2);
  if (!c.HasInput(2)) element = ElementAttribute(c, "output_dtype", ElementType::kUint8);
  CopyShape(c, 0, 0, element);
}

// output_dtype, else the scale's type.
void DequantizeTypes(InferContext& c) {
  const ElementType scale = c.InputElement(1);
  ElementType element = ElementAttribute(c, "output_dtype", ElementType::kUndefined);
  if (element == ElementType::kUndefined) element = c.version() < 19 ? ElementType::kFloat : scale;
  CopyShape(c, 0, 0, element);
}

void DynamicQuantizeTypes(InferContext& c) {
  CopyShape(c, 0, 0, ElementType::kUint8);
  if (c.HasOutput(1)) SetRanked(c, 1, ElementType::kFloat, {});
  if (c.HasOutput(2)) SetRanked(c, 2, ElementType::kUint8, {});
}

constexpr OnnxOp kRows[] = {
    {.name = "DequantizeLinear",
     .since = 10,
     .signature = "2-3->1",
     .types = DequantizeTypes,
     .weights = 0b1,
     .quantization = 0b110},
    {.name = "DynamicQuantizeLinear",
     .since = 11,
     .signature = "1->3",
     .types = DynamicQuantizeTypes},
    {.name = "QuantizeLinear",
     .since = 10,
     .signature = "2-3->1",
     .types = QuantizeTypes,
     .weights = 0b1,
     .quantization = 0b110},
};

}  // namespace

OnnxFamily QuantizationOps() { return kRows; }

}  // namespace footprint
