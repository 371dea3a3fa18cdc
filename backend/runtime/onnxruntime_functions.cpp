// Operators that ONNX Runtime has no CPU kernel for: their function bodies, as far as large tensors
// are concerned.
#include <utility>

#include "absl/strings/str_cat.h"
#include "backend/runtime/onnxruntime.h"

namespace footprint {
namespace {

struct Function {
  absl::string_view name;
  absl::string_view domain;
  std::vector<ExpandedStep> steps;
  std::vector<ExpandedStep> optimized = {};  // once the graph was rewritten, where that differs
};

const std::vector<Function>& Functions() {
  static const auto& functions = *new std::vector<Function>{
      {"HardSwish", "", {{"HardSigmoid", {0}}, {"Mul", {0, kStep}}}},
      {"Mish", "", {{"Softplus", {0}}, {"Tanh", {kStep}}, {"Mul", {0, kStep + 1}}}},
      {"Swish", "", {{"Sigmoid", {0}}, {"Mul", {0, kStep}}}},
      {"SoftmaxCrossEntropyLoss",
       "",
       {{"Transpose", {0}, 0},
        {"LogSoftmax", {kStep}, 0},
        {"Transpose", {kStep + 1}, 0},
        {"NegativeLogLikelihoodLoss", {kStep + 2, 1, 2}}},
       {{"LogSoftmaxOfChannels", {0}, 0}, {"NegativeLogLikelihoodLoss", {kStep, 1, 2}}}},
      {"GroupNormalization",
       "",
       {{"Mul", {0, 0}},
        {"Sub", {0}},
        {"Div", {kStep + 1, kStep}},
        {"Mul", {kStep + 2}},
        {"Add", {kStep + 3}}}},
  };
  return functions;
}

// Kernels that half precision has none of, and 32-bit numbers have.
const std::vector<Function>& HalfFunctions() {
  static const auto& functions = *new std::vector<Function>{
      {"Softmax", "", {{"Sub", {0}}, {"Exp", {kStep}}, {"Div", {kStep + 1}}}},
      {"LogSoftmax", "", {{"Sub", {0}}, {"Exp", {kStep}}, {"Sub", {kStep, kStep + 1}}}},
      {"Gelu",
       "",
       {{"Mul", {0}},
        {"Div", {0}},
        {"Erf", {kStep + 1}},
        {"Sum", {kStep + 2}},
        {"Mul", {kStep, kStep + 3}}}},
  };
  return functions;
}

bool IsHalf(const RuntimeGraph& graph, const RuntimeNode& node) {
  return !node.inputs.empty() && node.inputs[0] >= 0 &&
         graph.value(node.inputs[0]).type.element == ElementType::kFloat16;
}

const Function* FindFunction(const RuntimeGraph& graph, const RuntimeNode& node) {
  const bool is_half = IsHalf(graph, node);
  for (const Function& function : HalfFunctions()) {
    if (is_half && function.name == node.op_type && function.domain == node.domain) {
      return &function;
    }
  }
  for (const Function& function : Functions()) {
    if (function.name == node.op_type && function.domain == node.domain) return &function;
  }
  return nullptr;
}

RuntimeNode MakeStep(const RuntimeNode& node, const ExpandedStep& step,
                     const std::vector<int32_t>& results) {
  RuntimeNode made;
  made.op_type = std::string(step.op_type);
  made.source = node.source;
  for (const int read : step.reads) {
    if (read >= kStep) {
      made.inputs.push_back(results[static_cast<size_t>(read - kStep)]);
    } else if (read < static_cast<int>(node.inputs.size())) {
      made.inputs.push_back(node.inputs[static_cast<size_t>(read)]);
    }
  }
  return made;
}

void Expand(RuntimeGraph& graph, const RuntimeNode& node, const std::vector<ExpandedStep>& steps) {
  std::vector<int32_t> results;
  for (const ExpandedStep& step : steps) {
    RuntimeNode made = MakeStep(node, step, results);
    if (&step == &steps.back()) {
      made.outputs = node.outputs;
      for (const int32_t input : node.inputs) {
        if (input >= 0 && graph.value(input).constant) made.held_constants.push_back(input);
      }
    } else {
      const int32_t output = node.outputs[0];
      const int32_t like = step.like < 0 ? output : node.inputs[static_cast<size_t>(step.like)];
      results.push_back(
          graph.AddLike(like, absl::StrCat(graph.value(output).name, "/", made.op_type)));
      made.outputs = {results.back()};
    }
    graph.nodes.push_back(std::move(made));
  }
}

}  // namespace

void ExpandFunctions(RuntimeGraph& graph, bool optimize, bool half_alone) {
  const size_t count = graph.nodes.size();
  for (size_t i = 0; i < count; ++i) {
    const RuntimeNode node = graph.nodes[i];
    const Function* function = FindFunction(graph, node);
    if (function == nullptr || node.removed || node.outputs.empty() || node.outputs[0] < 0 ||
        node.inputs.empty() || node.inputs[0] < 0) {
      continue;
    }
    if (half_alone && !IsHalf(graph, node)) continue;
    graph.nodes[i].removed = true;
    const bool differs = optimize && !function->optimized.empty();
    Expand(graph, node, differs ? function->optimized : function->steps);
  }
}

}  // namespace footprint
