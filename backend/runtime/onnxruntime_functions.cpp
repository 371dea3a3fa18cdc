// Operators that ONNX Runtime has no CPU kernel for: their function bodies, as far as large tensors
// are concerned.
#include <utility>

#include "absl/strings/str_cat.h"
#include "backend/runtime/onnxruntime.h"
#include "backend/runtime/onnxruntime_bodies.h"

namespace footprint {
namespace {

constexpr ElementType kAsBefore = ElementType::kUndefined;

// A body counts from the version of the operator set that it is written in to the one before any of
// its operators changes.
struct Function {
  absl::string_view name;
  std::vector<ExpandedStep> steps = {};
  int32_t since = 0;
  int32_t until = OnnxOp::kLatest;
  absl::string_view attribute = "";  // that the node has ..
  absl::string_view is = "";         // .. with this value; empty: any
  absl::string_view domain = "";
  size_t operands = 0;                   // 0: any number
  bool is_fused_again = false;           // once the graph is rewritten
  bool is_of_any_type = false;           // expanded before half precision is cast
  void (*write)(BodyWriter&) = nullptr;  // instead of steps
};

const std::vector<Function>& Functions() {
  static const auto& functions = *new std::vector<Function>{
      {.name = "CastLike", .steps = {{"Cast", {0}}}, .is_of_any_type = true},
      {"Bernoulli",
       {{"RandomUniformLike", {0}, 0},
        {"Greater", {kStep, 0}, 0, ElementType::kBool},
        {"Cast", {kStep + 1}}}},
      {"HardSwish", {{"HardSigmoid", {0}}, {"Mul", {0, kStep}}}},
      {"Mish", {{"Softplus", {0}}, {"Tanh", {kStep}}, {"Mul", {0, kStep + 1}}}},
      {"Swish", {{"Mul", {0}}, {"Sigmoid", {kStep}}, {"Mul", {0, kStep + 1}}}},
      {.name = "GroupNormalization", .since = 18, .write = WriteGroupNormalization},
      {.name = "NegativeLogLikelihoodLoss", .write = WriteClassificationLoss},
      {.name = "SoftmaxCrossEntropyLoss", .write = WriteCrossEntropyLoss},
      {.name = "CenterCropPad", .write = WriteCenterCropPad},
      {.name = "CausalConvWithState", .write = WriteCausalConvolution},
      {.name = "LinearAttention", .write = WriteLinearAttention},
  };
  return functions;
}

constexpr absl::string_view kMicrosoft = "com.microsoft";

std::vector<ExpandedStep> FastGeluOf(ExpandedStep first) {
  return {std::move(first),
          {"Mul", {kStep, kStep}},
          {"Mul", {kStep + 1, kNumber}},
          {"Add", {kStep + 2, kNumber}},
          {"Mul", {kStep, kStep + 3}},
          {"Tanh", {kStep + 4}},
          {"Add", {kStep + 5, kNumber}},
          {"Mul", {kStep, kStep + 6}},
          {"Mul", {kStep + 7, kNumber}}};
}

// Kernels that half precision has none of, and 32-bit numbers have.
const std::vector<Function>& HalfFunctions() {
  constexpr StepSize kRow = StepSize::kOneAlongAxis;
  constexpr StepSize kOne = StepSize::kOne;
  constexpr ElementType kBool = ElementType::kBool;
  constexpr ElementType kDouble = ElementType::kDouble;
  static const auto& functions = *new std::vector<Function>{
      {"Softmax",
       {{"ReduceMax", {0}, -1, kAsBefore, kRow},
        {"Sub", {0, kStep}},
        {"Exp", {kStep + 1}},
        {"ReduceSum", {kStep + 2}, -1, kAsBefore, kRow},
        {"Div", {kStep + 2, kStep + 3}}},
       13},
      {"LogSoftmax",
       {{"ReduceMax", {0}, -1, kAsBefore, kRow},
        {"Sub", {0, kStep}},
        {"Exp", {kStep + 1}},
        {"ReduceSum", {kStep + 2}, -1, kAsBefore, kRow},
        {"Log", {kStep + 3}, -1, kAsBefore, kRow},
        {"Sub", {kStep + 1, kStep + 4}}},
       13},
      {.name = "Gelu",
       .steps = {{"Pow", {0}},
                 {"Mul", {kStep}},
                 {"Sum", {0, kStep + 1}},
                 {"Mul", {kStep + 2}},
                 {"Tanh", {kStep + 3}},
                 {"Sum", {kStep + 4}},
                 {"Mul", {0}},
                 {"Mul", {kStep + 6, kStep + 5}}},
       .attribute = "approximate",
       .is = "tanh"},
      {"Gelu",
       {{"Sqrt", {kNumber}, -1, ElementType::kFloat, kOne},
        {"Div", {0, kStep}},
        {"Erf", {kStep + 1}},
        {"Sum", {kStep + 2}},
        {"Mul", {0}},
        {"Mul", {kStep + 4, kStep + 3}}}},
      {"Bernoulli",
       {{"RandomUniformLike", {0}, 0, ElementType::kFloat},
        {"Greater", {kStep, 0}, 0, kBool},
        {"Cast", {kStep + 1}}}},
      {"Relu", {{"Cast", {kNumber}, -1, kAsBefore, kOne}, {"Max", {0, kStep}}}, 18, 18},
      {"HardSigmoid",
       {{"Mul", {0}},
        {"Add", {kStep}},
        {"Cast", {kNumber}, -1, kAsBefore, kOne},
        {"Min", {kStep + 1, kStep + 2}},
        {"Cast", {kNumber}, -1, kAsBefore, kOne},
        {"Max", {kStep + 3, kStep + 4}}},
       18,
       18},
      {.name = "Gelu",
       .steps = {{"Mul", {0, kNumber}},
                 {"Erf", {kStep}},
                 {"Add", {kStep + 1, kNumber}},
                 {"Mul", {kStep + 2, kNumber}},
                 {"Mul", {0, kStep + 3}}},
       .domain = kMicrosoft},
      {.name = "FastGelu",
       .steps = FastGeluOf({"Identity", {0}}),
       .domain = kMicrosoft,
       .operands = 1},
      {.name = "FastGelu", .steps = FastGeluOf({"Add", {0, 1}}), .domain = kMicrosoft},
      {.name = "QuickGelu",
       .steps = {{"Mul", {0, kNumber}}, {"Sigmoid", {kStep}}, {"Mul", {0, kStep + 1}}},
       .domain = kMicrosoft,
       .is_fused_again = true},
      {"Range",
       {{"Sub", {1, 0}, -1, kAsBefore, kOne},
        {"Cast", {kStep}, -1, ElementType::kFloat, kOne},
        {"Cast", {2}, -1, ElementType::kFloat, kOne},
        {"Div", {kStep + 1, kStep + 2}, -1, ElementType::kFloat, kOne},
        {"Ceil", {kStep + 3}, -1, ElementType::kFloat, kOne},
        {"Relu", {kStep + 4}, -1, ElementType::kFloat, kOne},
        {"Cast", {kStep + 5}, -1, ElementType::kInt64, kOne},
        {"Cast", {kStep + 5}, -1, kBool, kOne},
        {"LoopOfNumbers", {kStep + 6, kStep + 7, 0}}}},
      {"Softplus", {{"Exp", {0}}, {"Add", {kStep}}, {"Log", {kStep + 1}}}, 18, 18},
      {"Softsign", {{"Abs", {0}}, {"Add", {kStep}}, {"Div", {0, kStep + 1}}}, 18, 18},
      {"Elu",
       {{"Less", {0}, -1, kBool},
        {"Exp", {0}},
        {"Sub", {kStep + 1}},
        {"Mul", {kStep + 2}},
        {"Where", {kStep, kStep + 3, 0}}},
       18,
       18},
      {"Selu",
       {{"Exp", {0}},
        {"Mul", {kStep}},
        {"Sub", {kStep + 1}},
        {"Mul", {kStep + 2}},
        {"Mul", {0}},
        {"Less", {0}, -1, kBool},
        {"Where", {kStep + 5, kStep + 3, kStep + 4}}},
       18,
       18},
      {"ThresholdedRelu", {{"Less", {0}, -1, kBool}, {"Where", {kStep, 0, kNumber}}}, 18, 18},
      {"LeakyRelu",
       {{"Less", {0}, -1, kBool}, {"Mul", {0}}, {"Where", {kStep, kStep + 1, 0}}},
       16,
       18},
      {"PRelu",
       {{"Less", {0}, -1, kBool}, {"Mul", {1, 0}}, {"Where", {kStep, kStep + 1, 0}}},
       16,
       18},
      {"GreaterOrEqual",
       {{"Greater", {0, 1}}, {"Equal", {0, 1}}, {"Or", {kStep, kStep + 1}}},
       16,
       18},
      {"LessOrEqual", {{"Less", {0, 1}}, {"Equal", {0, 1}}, {"Or", {kStep, kStep + 1}}}, 16, 18},
      {"ReduceL1", {{"Abs", {0}, 0}, {"ReduceSum", {kStep, 1}}}, 18},
      {"ReduceLogSum", {{"ReduceSum", {0, 1}}, {"Log", {kStep}}}, 18},
      {"ReduceSumSquare", {{"Mul", {0, 0}, 0}, {"ReduceSum", {kStep, 1}}}, 18},
      {"ReduceL2", {{"Mul", {0, 0}, 0}, {"ReduceSum", {kStep, 1}}, {"Sqrt", {kStep + 1}}}, 18, 18},
      {"ReduceLogSumExp",
       {{"Cast", {0}, 0, kDouble},
        {"Exp", {kStep}, 0, kDouble},
        {"ReduceSum", {kStep + 1, 1}, -1, kDouble},
        {"Log", {kStep + 2}, -1, kDouble},
        {"Cast", {kStep + 3}}},
       18,
       18},
  };
  return functions;
}

bool IsHalf(const RuntimeGraph& graph, const RuntimeNode& node) {
  return !node.inputs.empty() && node.inputs[0] >= 0 &&
         graph.value(node.inputs[0]).type.element == ElementType::kFloat16;
}

bool Applies(const Function& function, const RuntimeGraph& graph, const RuntimeNode& node) {
  if (function.name != node.op_type || function.domain != node.domain) return false;
  if (function.operands != 0 && function.operands != node.inputs.size()) return false;
  const Node* source = node.source.valid() ? &graph.graph->nodes[node.source] : nullptr;
  // A body is written for operands that are known to be there.
  if (function.write != nullptr && (source == nullptr || source->op == nullptr)) return false;
  const int32_t version = source == nullptr ? OnnxOp::kLatest : source->version;
  const bool is_onnx = function.domain.empty();
  return (!is_onnx || (function.since <= version && version <= function.until)) &&
         (function.attribute.empty() ||
          (source != nullptr && source->Has(function.attribute) &&
           (function.is.empty() || source->String(function.attribute, "") == function.is)));
}

const Function* FindFunction(const RuntimeGraph& graph, const RuntimeNode& node) {
  if (IsHalf(graph, node)) {
    for (const Function& function : HalfFunctions()) {
      if (Applies(function, graph, node)) return &function;
    }
  }
  for (const Function& function : Functions()) {
    if (Applies(function, graph, node)) return &function;
  }
  return nullptr;
}

int32_t AddNumber(RuntimeGraph& graph, const RuntimeNode& node) {
  const int32_t number = graph.AddStored(node.outputs[0], node.op_type);
  graph.value(number).type.dims.clear();
  graph.value(number).visible.dims.clear();
  return number;
}

RuntimeNode MakeStep(RuntimeGraph& graph, const RuntimeNode& node, const ExpandedStep& step,
                     const std::vector<int32_t>& results) {
  RuntimeNode made;
  made.op_type = std::string(step.op_type);
  made.source = node.source;
  for (const int read : step.reads) {
    if (read >= kStep) {
      made.inputs.push_back(results[static_cast<size_t>(read - kStep)]);
    } else if (read == kNumber) {  // cast like operands, where it has their type
      made.inputs.push_back(node.domain.empty() ? -1 : AddNumber(graph, node));
    } else if (read < static_cast<int>(node.inputs.size())) {
      made.inputs.push_back(node.inputs[static_cast<size_t>(read)]);
    }
  }
  return made;
}

int32_t AddResult(RuntimeGraph& graph, const RuntimeNode& node, const ExpandedStep& step) {
  const int32_t output = node.outputs[0];
  const int32_t like = step.like < 0 ? output : node.inputs[static_cast<size_t>(step.like)];
  const int32_t made =
      graph.AddLike(like, absl::StrCat(graph.value(output).name, "/", step.op_type));
  for (TensorType* type : {&graph.value(made).type, &graph.value(made).visible}) {
    if (step.element != kAsBefore) type->element = step.element;
    if (step.size == StepSize::kOne) type->dims.clear();
    if (step.size != StepSize::kOneAlongAxis || type->dims.empty()) continue;
    const auto rank = static_cast<int64_t>(type->dims.size());
    const int64_t axis = graph.graph->nodes[node.source].Int("axis", -1);
    type->dims[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = Dim(1);
  }
  return made;
}

void Expand(RuntimeGraph& graph, const RuntimeNode& node, const std::vector<ExpandedStep>& steps) {
  std::vector<int32_t> results;
  for (const ExpandedStep& step : steps) {
    RuntimeNode made = MakeStep(graph, node, step, results);
    if (&step == &steps.back()) {
      made.outputs = node.outputs;
      for (const int32_t input : node.inputs) {
        if (input >= 0 && graph.value(input).constant) made.held_constants.push_back(input);
      }
    } else {
      results.push_back(AddResult(graph, node, step));
      made.outputs = {results.back()};
    }
    graph.nodes.push_back(std::move(made));
  }
}

}  // namespace

void ExpandFunctions(RuntimeGraph& graph, bool optimize, bool half_alone) {
  for (size_t i = 0; i < graph.nodes.size(); ++i) {  // steps may be functions, too
    const RuntimeNode node = graph.nodes[i];
    const Function* function = FindFunction(graph, node);
    if (function == nullptr || node.removed || node.outputs.empty() || node.outputs[0] < 0 ||
        node.inputs.empty() || node.inputs[0] < 0) {
      continue;
    }
    if (half_alone && !IsHalf(graph, node) && !function->is_of_any_type) continue;
    if (optimize && function->is_fused_again) continue;
    graph.nodes[i].removed = true;
    if (function->write != nullptr) {
      BodyWriter body(graph, node, optimize);
      function->write(body);
      continue;
    }
    Expand(graph, node, function->steps);
  }
}

}  // namespace footprint
