// Matrix products with the bias, the scale, the transposition and the activation around them.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backend/runtime/onnxruntime_rewrites.h"

namespace footprint {
namespace {

bool IsFloatOrDouble(const RuntimeGraph& graph, int32_t value) {
  const ElementType element = graph.value(value).type.element;
  return element == ElementType::kFloat || element == ElementType::kDouble;
}

RuntimeNode Make(absl::string_view op, absl::string_view domain, NodeId source,
                 std::vector<int32_t> inputs, std::vector<int32_t> outputs) {
  RuntimeNode node;
  node.op_type = std::string(op);
  node.domain = std::string(domain);
  node.source = source;
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  return node;
}

// Two dimensions on both sides; or another number of them on the left, if all sizes are numbers.
bool FitsGemm(const RuntimeGraph& graph, const RuntimeNode& matmul) {
  const ElementType element = graph.value(matmul.outputs[0]).type.element;
  if (element != ElementType::kFloat && element != ElementType::kFloat16) return false;
  const TensorType& left = graph.value(matmul.inputs[0]).visible;
  const TensorType& right = graph.value(matmul.inputs[1]).visible;
  if (!left.has_rank || !right.has_rank || right.dims.size() != 2) return false;
  if (left.dims.size() == 2) return true;
  return !left.dims.empty() && left.AllDimsConstant() && right.AllDimsConstant();
}

// A number for each column; of matrices also one for each row or element.
bool FitsBias(const RuntimeGraph& graph, const RuntimeNode& matmul, int32_t bias) {
  if (bias < 0 || !graph.value(bias).visible.has_rank) return false;
  const Dims& dims = graph.value(bias).visible.dims;
  const Dims& left = graph.value(matmul.inputs[0]).visible.dims;
  const Dim columns = graph.value(matmul.inputs[1]).visible.dims[1];
  if (dims.size() == 1) return SameSize(dims[0], columns);
  if (dims.size() != 2 || left.size() != 2) return false;
  const bool has_columns = SameSize(dims[1], columns);
  return (dims[0].Is(1) && has_columns) ||
         (SameSize(dims[0], left[0]) && (dims[1].Is(1) || has_columns));
}

// A value of the same elements as two dimensions, of which the last stays.
int32_t Flattened(RuntimeGraph& graph, int32_t value) {
  const int32_t flat = graph.AddLike(value, absl::StrCat(graph.value(value).name, "/flat"));
  for (TensorType* type : {&graph.value(flat).type, &graph.value(flat).visible}) {
    const Dim last = type->dims.back();
    type->dims.pop_back();
    const Dim rows = graph.graph->dims->Product(type->dims);
    type->dims = {rows, last};
  }
  return flat;
}

void ReplaceByGemm(Rewriter& rewriter, int32_t id, int32_t add, int32_t bias) {
  RuntimeGraph& graph = rewriter.graph();
  const RuntimeNode matmul = graph.node(id);
  int32_t left = matmul.inputs[0];
  const int32_t result = graph.node(add).outputs[0];
  const bool flattens = graph.value(left).visible.dims.size() != 2;
  int32_t product = result;
  const char* what = "MatMul + Add -> Gemm";
  if (flattens) {
    left = Flattened(graph, matmul.inputs[0]);
    product = Flattened(graph, result);
    rewriter.Replace({}, Make("Reshape", "", matmul.source, {matmul.inputs[0]}, {left}), "");
  }
  rewriter.Replace(
      {id, add}, Make("Gemm", "", matmul.source, {left, matmul.inputs[1], bias}, {product}), what);
  if (flattens) {
    rewriter.Replace({}, Make("Reshape", "", matmul.source, {product}, {result}), "");
  }
}

}  // namespace

void FuseProductBias(Rewriter& rewriter) {
  RuntimeGraph& graph = rewriter.graph();
  for (const int32_t id : rewriter.Order()) {
    if (!rewriter.Is(id, "MatMul")) continue;
    const RuntimeNode matmul = graph.node(id);
    const int32_t add = rewriter.OnlyReader(matmul.outputs[0], "Add");
    if (add < 0 || !FitsGemm(graph, matmul)) continue;
    const int32_t bias = rewriter.OtherInput(add, matmul.outputs[0]);
    if (FitsBias(graph, matmul, bias)) ReplaceByGemm(rewriter, id, add, bias);
  }
}

void FuseProductActivation(Rewriter& rewriter) {
  RuntimeGraph& graph = rewriter.graph();
  for (const int32_t id : rewriter.Order()) {
    if (!rewriter.Is(id, "Gemm")) continue;
    const RuntimeNode gemm = graph.node(id);
    for (const char* op : {"Relu", "Sigmoid", "Tanh", "LeakyRelu", "Elu", "HardSigmoid", "Selu",
                           "Softplus", "Softsign", "ThresholdedRelu"}) {
      const int32_t activation = rewriter.OnlyReader(gemm.outputs[0], op);
      if (activation < 0) continue;
      rewriter.Replace({id, activation},
                       Make("FusedGemm", kMicrosoftDomain, gemm.source, gemm.inputs,
                            graph.node(activation).outputs),
                       "Gemm + activation -> FusedGemm");
      break;
    }
  }
}

namespace {

// The last two axes are swapped, the others stay.
bool SwapsLastTwo(const Rewriter& rewriter, int32_t transpose) {
  const std::vector<int64_t> perm = rewriter.Permutation(transpose);
  const auto rank = static_cast<int64_t>(perm.size());
  if (rank < 2) return false;
  for (int64_t i = 0; i + 2 < rank; ++i) {
    if (perm[static_cast<size_t>(i)] != i) return false;
  }
  return perm[static_cast<size_t>(rank - 2)] == rank - 1 &&
         perm[static_cast<size_t>(rank - 1)] == rank - 2;
}

bool IsProduct(const Rewriter& rewriter, int32_t node) {
  return rewriter.Is(node, "MatMul") || rewriter.Is(node, "FusedMatMul", kMicrosoftDomain);
}

}  // namespace

void FuseProductTransposes(Rewriter& rewriter) {
  RuntimeGraph& graph = rewriter.graph();
  for (const int32_t id : rewriter.Order()) {
    if (!IsProduct(rewriter, id)) continue;
    RuntimeNode product = graph.node(id);
    if (!IsFloatOrDouble(graph, product.outputs[0])) continue;
    std::vector<int32_t> gone = {id};
    bool found = false;
    for (int32_t& input : product.inputs) {
      const int32_t transpose = rewriter.MadeBy(input, "Transpose");
      if (transpose < 0 || !SwapsLastTwo(rewriter, transpose)) continue;
      if (rewriter.IsUsedOnce(input)) gone.push_back(transpose);
      input = graph.node(transpose).inputs[0];
      found = true;
    }
    if (!found) continue;
    product.op_type = "FusedMatMul";
    product.domain = std::string(kMicrosoftDomain);
    rewriter.Replace(gone, std::move(product), "Transpose + MatMul -> FusedMatMul");
  }
}

namespace {

// What scales an operand or the result by a number.
int32_t ScaledInput(const Rewriter& rewriter, const RuntimeGraph& graph, int32_t scale) {
  if (!rewriter.Is(scale, "Mul") && !rewriter.Is(scale, "Div")) return -1;
  const std::optional<Rewriter::ScalarOperand> scalar = rewriter.WithScalar(scale);
  if (!scalar || scalar->other < 0) return -1;
  const bool divides = rewriter.Is(scale, "Div");
  if (divides && rewriter.IsDouble(scalar->other)) return -1;
  return divides && graph.node(scale).inputs[0] != scalar->other ? -1 : scalar->other;
}

}  // namespace

void FuseProductScales(Rewriter& rewriter) {
  RuntimeGraph& graph = rewriter.graph();
  for (const int32_t id : rewriter.Order()) {
    if (!IsProduct(rewriter, id)) continue;
    RuntimeNode product = graph.node(id);
    if (!IsFloatOrDouble(graph, product.outputs[0])) continue;
    std::vector<int32_t> gone = {id};
    for (int32_t& input : product.inputs) {
      const int32_t maker = input < 0 ? -1 : rewriter.uses().producer[static_cast<size_t>(input)];
      const int32_t scaled = maker < 0 ? -1 : ScaledInput(rewriter, graph, maker);
      if (scaled < 0 || !rewriter.IsUsedOnce(input)) continue;
      gone.push_back(maker);
      input = scaled;
    }
    const bool is_double = rewriter.IsDouble(product.outputs[0]);
    const int32_t reader = !is_double && rewriter.IsUsedOnce(product.outputs[0])
                               ? rewriter.uses().OnlyReader(product.outputs[0])
                               : -1;
    if (reader >= 0 && ScaledInput(rewriter, graph, reader) == product.outputs[0]) {
      gone.push_back(reader);
      product.outputs = graph.node(reader).outputs;
    }
    if (gone.size() == 1) continue;
    product.op_type = "FusedMatMul";
    product.domain = std::string(kMicrosoftDomain);
    rewriter.Replace(gone, std::move(product), "scale + MatMul -> FusedMatMul");
  }
}

}  // namespace footprint
