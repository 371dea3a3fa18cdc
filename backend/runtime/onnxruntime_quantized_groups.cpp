// An operator between dequantization and quantization works on the integers themselves:
//
//   DQ, DQ -> Add -> Q      becomes      QLinearAdd
//
// What only rearranges elements keeps its name and reads and makes integers.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backend/runtime/onnxruntime_quantized.h"
#include "backend/runtime/onnxruntime_rewrites.h"

namespace footprint {
namespace {

constexpr absl::string_view kKept[] = {
    "Resize",  "MaxPool", "ReduceMax", "ReduceMin", "Expand",    "Flatten",   "Gather",
    "Reshape", "Slice",   "Squeeze",   "Tile",      "Transpose", "Unsqueeze", "GatherElements"};
constexpr absl::string_view kUnary[] = {"AveragePool", "LeakyRelu", "GlobalAveragePool", "Sigmoid",
                                        "Softmax"};

template <size_t kCount>
bool IsOneOf(absl::string_view op, const absl::string_view (&list)[kCount]) {
  return std::find(std::begin(list), std::end(list), op) != std::end(list);
}

// A node with what dequantizes its operands and what quantizes its only result.
struct Group {
  int32_t node = -1;
  int32_t activation = -1;      // between it and the quantization, which makes it redundant
  std::vector<int32_t> before;  // by operand; -1: not dequantized
  int32_t after = -1;           // -1: none
};

class Grouper {
 public:
  explicit Grouper(Rewriter& rewriter) : rewriter_(rewriter), graph_(rewriter.graph()) {}

  void Run() {
    for (const int32_t node : rewriter_.Order()) {
      if (!graph_.node(node).removed && graph_.node(node).domain.empty()) Convert(node);
    }
  }

 private:
  void Convert(int32_t node) {
    const absl::string_view op = graph_.node(node).op_type;
    if (op == "Split") return ConvertSplit(node);
    const bool is_known = IsOneOf(op, kKept) || IsOneOf(op, kUnary) || op == "Add" || op == "Mul" ||
                          op == "Concat" || op == "Conv" || op == "MatMul" || op == "Gemm" ||
                          op == "Where" || op == "ArgMax";
    if (!is_known) return;
    const std::optional<Group> group = Find(node);
    if (!group) return;
    if (op == "ArgMax") return ConvertReader(*group);
    if (op == "MatMul") return ConvertMatMul(*group);
    if (op == "Gemm") return ConvertGemm(*group);
    if (group->after < 0) return;
    if (IsOneOf(op, kKept)) return ConvertKept(*group);
    if (!SameTypes(*group, op == "Conv" ? 1 : group->before.size())) return;
    if (op == "Conv") return ConvertConv(*group);
    if (op == "Where") return ConvertWhere(*group);
    ConvertElementwise(*group, op);
  }

  ElementType ElementOf(int32_t value) const { return graph_.value(value).type.element; }
  int32_t Quantized(int32_t dequantization) const { return graph_.node(dequantization).inputs[0]; }
  int32_t Result(const Group& group) const { return graph_.node(group.after).outputs[0]; }

  std::optional<Group> Find(int32_t node) const {
    Group group;
    group.node = node;
    const RuntimeNode& row = graph_.node(node);
    for (const int32_t input : row.inputs) {
      const int32_t before = DequantizedBy(rewriter_, input);
      if (before >= 0 && !rewriter_.IsUsedOnce(input)) return std::nullopt;
      group.before.push_back(before);
    }
    if (row.outputs.size() != 1) return std::nullopt;
    int32_t value = row.outputs[0];
    if (!rewriter_.IsUsedOnce(value)) return group;
    int32_t reader = rewriter_.uses().OnlyReader(value);
    if (rewriter_.Is(reader, "Relu") || rewriter_.Is(reader, "Clip")) {
      const int32_t next = graph_.node(reader).outputs[0];
      if (rewriter_.IsUsedOnce(next)) {
        const int32_t after = rewriter_.uses().OnlyReader(next);
        if (!IsQuantization(rewriter_, after) || !IsRedundant(rewriter_, reader, after)) {
          return std::nullopt;
        }
        group.activation = reader;
        reader = after;
      }
    }
    if (IsQuantization(rewriter_, reader)) group.after = reader;
    return group;
  }

  size_t Count(const Group& group) const {
    return group.before.size() -
           static_cast<size_t>(std::count(group.before.begin(), group.before.end(), -1));
  }

  static bool IsByte(ElementType element) {
    return element == ElementType::kUint8 || element == ElementType::kInt8;
  }

  // The first operands have the type of the result.
  bool SameTypes(const Group& group, size_t count) const {
    const ElementType element = ElementOf(Result(group));
    for (size_t i = 0; i < count; ++i) {
      if (group.before[i] >= 0 && ElementOf(Quantized(group.before[i])) != element) return false;
    }
    return IsByte(element);
  }

  std::vector<int32_t> Nodes(const Group& group) const {
    std::vector<int32_t> nodes = {group.node};
    for (const int32_t before : group.before) {
      if (before >= 0) nodes.push_back(before);
    }
    if (group.activation >= 0) nodes.push_back(group.activation);
    if (group.after >= 0) nodes.push_back(group.after);
    return nodes;
  }

  void AddOperand(RuntimeNode& made, int32_t dequantization) const {
    std::vector<int32_t> inputs = graph_.node(dequantization).inputs;
    inputs.resize(3, -1);
    made.inputs.insert(made.inputs.end(), inputs.begin(), inputs.end());
  }

  void AddNumbersOf(RuntimeNode& made, int32_t quantization) const {
    std::vector<int32_t> inputs = graph_.node(quantization).inputs;
    inputs.resize(3, -1);
    made.inputs.insert(made.inputs.end(), inputs.begin() + 1, inputs.end());
  }

  RuntimeNode Begin(const Group& group, absl::string_view op, absl::string_view domain) const {
    RuntimeNode made = graph_.node(group.node);
    made.op_type = std::string(op);
    made.domain = std::string(domain);
    made.inputs.clear();
    if (group.after >= 0) made.outputs = {Result(group)};
    return made;
  }

  void Finish(const Group& group, RuntimeNode made) {
    const std::string what = absl::StrCat("quantized ", graph_.node(group.node).op_type);
    rewriter_.Replace(Nodes(group), std::move(made), what);
  }

  // The node itself, with the integers around it; its number stays.
  void KeepNode(const std::vector<int32_t>& others, int32_t node, RuntimeNode changed) {
    for (const int32_t other : others) rewriter_.Remove(other);
    rewriter_.Count(absl::StrCat("quantized ", changed.op_type));
    rewriter_.Change(node, std::move(changed));
  }

  void ConvertKept(const Group& group) {
    if (group.activation >= 0 || Count(group) != 1 || group.before[0] < 0) return;
    if (!IsInverse(rewriter_, group.before[0], group.after)) return;
    if (graph_.node(group.node).op_type == "MaxPool" && rewriter_.VersionOf(group.node) < 12)
      return;
    RuntimeNode made = graph_.node(group.node);
    made.inputs[0] = Quantized(group.before[0]);
    made.outputs = {Result(group)};
    KeepNode({group.before[0], group.after}, group.node, std::move(made));
  }

  void ConvertReader(const Group& group) {
    if (Count(group) != 1 || group.before[0] < 0) return;
    RuntimeNode made = graph_.node(group.node);
    made.inputs[0] = Quantized(group.before[0]);
    KeepNode({group.before[0]}, group.node, std::move(made));
  }

  void ConvertSplit(int32_t node) {
    const RuntimeNode row = graph_.node(node);
    const int32_t before = DequantizedBy(rewriter_, row.inputs[0]);
    if (before < 0 || !rewriter_.IsUsedOnce(row.inputs[0])) return;
    RuntimeNode made = row;
    std::vector<int32_t> nodes = {before};
    made.inputs[0] = Quantized(before);
    for (int32_t& output : made.outputs) {
      if (!rewriter_.IsUsedOnce(output)) return;
      const int32_t after = rewriter_.uses().OnlyReader(output);
      if (!IsQuantization(rewriter_, after) || !IsInverse(rewriter_, before, after)) return;
      nodes.push_back(after);
      output = graph_.node(after).outputs[0];
    }
    KeepNode(nodes, node, std::move(made));
  }

  void ConvertElementwise(const Group& group, absl::string_view op) {
    if (Count(group) != group.before.size()) return;
    const size_t operands = IsOneOf(op, kUnary) ? 1 : 2;
    if (op != "Concat" && group.before.size() != operands) return;
    RuntimeNode made = Begin(group, absl::StrCat("QLinear", op), kMicrosoftDomain);
    if (op == "Concat") AddNumbersOf(made, group.after);
    for (const int32_t before : group.before) AddOperand(made, before);
    if (op != "Concat") AddNumbersOf(made, group.after);
    Finish(group, std::move(made));
  }

  void ConvertWhere(const Group& group) {
    if (group.before.size() != 3 || group.before[0] >= 0 || Count(group) != 2) return;
    RuntimeNode made = Begin(group, "QLinearWhere", kMicrosoftDomain);
    made.inputs.push_back(graph_.node(group.node).inputs[0]);
    for (size_t i = 1; i < 3; ++i) AddOperand(made, group.before[i]);
    AddNumbersOf(made, group.after);
    Finish(group, std::move(made));
  }

  std::vector<double> ScalesOf(int32_t dequantization) const {
    const KnownValuePtr& scale = graph_.value(graph_.node(dequantization).inputs[1]).contents;
    return scale == nullptr ? std::vector<double>() : scale->floats;
  }

  // Its scale is the product of the others; what is not known is taken to be.
  bool FitsBias(const Group& group) const {
    if (ElementOf(Quantized(group.before[2])) != ElementType::kInt32) return false;
    const std::vector<double> image = ScalesOf(group.before[0]);
    const std::vector<double> weight = ScalesOf(group.before[1]);
    const std::vector<double> bias = ScalesOf(group.before[2]);
    if (image.size() != 1 || weight.empty() || bias.empty()) return true;
    if (weight.size() != bias.size()) return false;
    constexpr double kTolerance = 1e-4;
    for (size_t i = 0; i < bias.size(); ++i) {
      const double product = image[0] * weight[i];
      if (std::abs(product - bias[i]) > kTolerance * std::abs(product)) return false;
    }
    return true;
  }

  // Weights and biases that are stored as floats are quantized beforehand.
  bool AreQuantizedOrStored(const Group& group) const {
    if (group.before.size() < 2 || group.before[0] < 0) return false;
    const std::vector<int32_t>& inputs = graph_.node(group.node).inputs;
    for (size_t i = 1; i < group.before.size(); ++i) {
      if (group.before[i] < 0 && !rewriter_.IsConstant(inputs[i])) return false;
    }
    return true;
  }

  // On this processor images of signed numbers are not multiplied.
  void ConvertConv(const Group& group) {
    if (!AreQuantizedOrStored(group)) return;
    if (ElementOf(Result(group)) == ElementType::kInt8) return;
    if (group.before[1] >= 0 && !IsByte(ElementOf(Quantized(group.before[1])))) return;
    const bool has_bias = group.before.size() > 2;
    if (has_bias && group.before[2] >= 0 && !FitsBias(group)) return;
    RuntimeNode made = Begin(group, "QLinearConv", "");
    const std::vector<int32_t> inputs = graph_.node(group.node).inputs;
    AddOperand(made, group.before[0]);
    if (group.before[1] >= 0) {
      AddOperand(made, group.before[1]);
    } else {
      made.inputs.insert(made.inputs.end(), {inputs[1], inputs[1], -1});
    }
    AddNumbersOf(made, group.after);
    if (has_bias) {
      made.inputs.push_back(group.before[2] >= 0 ? Quantized(group.before[2]) : inputs[2]);
    }
    Finish(group, std::move(made));
  }

  // Weights alone are quantized, in blocks along the first axis or by column.
  void ConvertWeights(const Group& group) {
    const RuntimeNode node = graph_.node(group.node);
    const RuntimeNode& weights = graph_.node(group.before[1]);
    if (group.after >= 0 || group.activation >= 0) return;
    const TensorType& type = graph_.value(weights.inputs[0]).type;
    const int bits = BitsPerElement(type.element);
    if (!rewriter_.IsConstant(weights.inputs[0]) || type.dims.size() != 2 || bits > 8) return;
    const int64_t block = rewriter_.Int(group.before[1], "block_size", 0);
    constexpr int64_t kLeastBlock = 16;
    if (block > 0 && (block < kLeastBlock || rewriter_.Int(group.before[1], "axis", 1) != 0)) {
      return;
    }
    RuntimeNode made = Begin(group, "MatMulNBits", kMicrosoftDomain);
    made.inputs = {node.inputs[0]};
    AddOperand(made, group.before[1]);
    Finish(group, std::move(made));
  }

  void ConvertMatMul(const Group& group) {
    if (group.before.size() == 2 && Count(group) == 1 && group.before[1] >= 0) {
      return ConvertWeights(group);
    }
    if (group.before.size() != 2 || Count(group) != 2) return;
    const ElementType left = ElementOf(Quantized(group.before[0]));
    if (left != ElementType::kUint8 || !IsByte(ElementOf(Quantized(group.before[1])))) return;
    if (group.after >= 0 && ElementOf(Result(group)) != left) return;
    if (group.after < 0 && group.activation >= 0) return;
    const bool is_float = group.after < 0;
    RuntimeNode made = Begin(group, is_float ? "MatMulIntegerToFloat" : "QLinearMatMul",
                             is_float ? kMicrosoftDomain : "");
    AddOperand(made, group.before[0]);
    AddOperand(made, group.before[1]);
    if (is_float) {  // matrices, scales, zero points
      const std::vector<int32_t> in = made.inputs;
      made.inputs = {in[0], in[3], in[1], in[4], in[2], in[5]};
    }
    if (!is_float) AddNumbersOf(made, group.after);
    Finish(group, std::move(made));
  }

  void ConvertGemm(const Group& group) {
    if (!AreQuantizedOrStored(group) || group.before[1] < 0) return;
    const bool has_bias = group.before.size() > 2;
    const bool stores_bias = has_bias && group.before[2] < 0;
    if (stores_bias && group.after < 0) return;
    for (size_t i = 0; i < 2; ++i) {  // zero points are stated
      if (graph_.node(group.before[i]).inputs.size() < 3) return;
    }
    const ElementType left = ElementOf(Quantized(group.before[0]));
    const ElementType right = ElementOf(Quantized(group.before[1]));
    if (!IsByte(left) || !IsByte(right)) return;
    if (left == ElementType::kInt8 && right != left) return;
    if (group.after >= 0 && ElementOf(Result(group)) != left) return;
    if (has_bias && !stores_bias && ElementOf(Quantized(group.before[2])) != ElementType::kInt32) {
      return;
    }
    RuntimeNode made = Begin(group, "QGemm", kMicrosoftDomain);
    AddOperand(made, group.before[0]);
    AddOperand(made, group.before[1]);
    const int32_t bias = has_bias ? graph_.node(group.node).inputs[2] : -1;
    made.inputs.push_back(has_bias && !stores_bias ? Quantized(group.before[2]) : bias);
    if (group.after >= 0) AddNumbersOf(made, group.after);
    Finish(group, std::move(made));
  }

  Rewriter& rewriter_;
  RuntimeGraph& graph_;
};

}  // namespace

void GroupQuantized(Rewriter& rewriter) { Grouper(rewriter).Run(); }

}  // namespace footprint
