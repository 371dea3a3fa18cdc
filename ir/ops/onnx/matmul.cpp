// Matrix products.
#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/ops/onnx/families.h"
#include "ir/ops/onnx/matmul_rules.h"
#include "ir/ops/onnx/rules.h"

namespace footprint {

void SetMatMul(InferContext& c, int a_input, int b_input, ElementType element,
               MatMulTransposes transposes) {
  const TensorType* a = RequireRankAtLeast(c, a_input, 1, "the first operand");
  const TensorType* b = RequireRankAtLeast(c, b_input, 1, "the second operand");
  if (a == nullptr || b == nullptr) return SetUnranked(c, 0, element);
  Dims left = a->dims;
  Dims right = b->dims;
  // Vectors are matrices for the time being: a row on the left, a column on the right.
  const bool row = left.size() == 1;
  const bool column = right.size() == 1;
  if (row) left.insert(left.begin(), 1);
  if (column) right.push_back(1);
  if (transposes.a && !row) std::swap(left[left.size() - 2], left[left.size() - 1]);
  if (transposes.b && !column) std::swap(right[right.size() - 2], right[right.size() - 1]);
  const Dim rows = left[left.size() - 2];
  const Dim columns = right.back();
  if (!SameSize(left.back(), right[right.size() - 2])) {
    c.RequireEqual(left.back(), right[right.size() - 2], "inner dimensions differ");
  }
  Dims dims = BroadcastDims(c, absl::Span<const Dim>(left).subspan(0, left.size() - 2),
                            absl::Span<const Dim>(right).subspan(0, right.size() - 2));
  if (!row) dims.push_back(rows);
  if (!column) dims.push_back(columns);
  SetRanked(c, 0, element, dims);
}

void SetGemm(InferContext& c, int bias_input, ElementType element) {
  const TensorType* a = RequireRank(c, 0, 2, "A");
  const TensorType* b = RequireRank(c, 1, 2, "B");
  const bool a_transposed = c.node().Int("transA", 0) != 0;
  const bool b_transposed = c.node().Int("transB", 0) != 0;
  const Dim rows = DimOf(a, a_transposed ? 1 : 0);
  const Dim columns = DimOf(b, b_transposed ? 0 : 1);
  const Dim left = DimOf(a, a_transposed ? 0 : 1);
  const Dim right = DimOf(b, b_transposed ? 1 : 0);
  if (!left.is_unknown() && !right.is_unknown() && left != right) {
    c.RequireEqual(left, right, "inner dimensions differ");
  }
  const TensorType* bias = bias_input < 0 ? nullptr : c.RankedInput(bias_input);
  const Dims result = {rows, columns};
  if (bias != nullptr && bias->rank() > 2) {
    return c.Error(absl::StrCat("C has rank ", bias->rank(), " where at most 2 is possible"));
  }
  for (size_t i = 0; bias != nullptr && i < bias->dims.size(); ++i) {
    const Dim size = bias->dims[bias->dims.size() - 1 - i];
    const Dim target = result[1 - i];
    if (!size.Is(1) && !SameSize(size, target)) {
      c.RequireBroadcast(size, target, "C does not broadcast to the result");
    }
  }
  SetRanked(c, 0, element, result);
}

namespace {

void MatMulTypes(InferContext& c) { SetMatMul(c, 0, 1, c.InputElement(0)); }
void MatMulIntegerTypes(InferContext& c) { SetMatMul(c, 0, 1, ElementType::kInt32); }
void QLinearMatMulTypes(InferContext& c) { SetMatMul(c, 0, 3, c.InputElement(7)); }
void GemmTypes(InferContext& c) { SetGemm(c, 2, c.InputElement(0)); }

constexpr OnnxOp kRows[] = {
    {.name = "Gemm",
     .signature = "3->1; 11: 2-3->1",
     .types = GemmTypes,
     .same_element = 0b111,
     .weights = 0b110,
     .textbook = TextbookKind::kLinear},
    {.name = "MatMul",
     .signature = "2->1",
     .types = MatMulTypes,
     .same_element = 0b11,
     .weights = 0b11,
     .textbook = TextbookKind::kLinear},
    {.name = "MatMulInteger",
     .since = 10,
     .signature = "2-4->1",
     .types = MatMulIntegerTypes,
     .weights = 0b11,
     .quantization = 0b1100,
     .textbook = TextbookKind::kLinear},
    {.name = "QLinearMatMul",
     .since = 10,
     .signature = "8->1",
     .types = QLinearMatMulTypes,
     .weights = 0b1001,
     .quantization = 0b11110110,
     .textbook = TextbookKind::kLinear},
};

}  // namespace

OnnxFamily MatMulOps() { return kRows; }

}  // namespace footprint
