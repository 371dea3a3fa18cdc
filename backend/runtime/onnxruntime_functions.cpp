// Operators that ONNX Runtime has no CPU kernel for: their function bodies, as far as tensors of the
// output's size are concerned.
#include <utility>

#include "absl/strings/str_cat.h"
#include "backend/runtime/onnxruntime.h"

namespace footprint {
namespace {

struct Function {
  absl::string_view name;
  absl::string_view domain;
  std::vector<ExpandedStep> steps;
};

const std::vector<Function>& Functions() {
  static const auto& functions = *new std::vector<Function>{
      {"HardSwish", "", {{"HardSigmoid", {0}}, {"Mul", {0, kStep}}}},
      {"Mish", "", {{"Softplus", {0}}, {"Tanh", {kStep}}, {"Mul", {0, kStep + 1}}}},
      {"Swish", "", {{"Sigmoid", {0}}, {"Mul", {0, kStep}}}},
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

const Function* FindFunction(const RuntimeNode& node) {
  for (const Function& function : Functions()) {
    if (function.name == node.op_type && function.domain == node.domain) return &function;
  }
  return nullptr;
}

}  // namespace

void ExpandFunctions(RuntimeGraph& graph) {
  const size_t count = graph.nodes.size();
  for (size_t i = 0; i < count; ++i) {
    const Function* function = FindFunction(graph.nodes[i]);
    if (function == nullptr || graph.nodes[i].removed || graph.nodes[i].outputs.empty() ||
        graph.nodes[i].outputs[0] < 0) {
      continue;
    }
    const RuntimeNode node = graph.nodes[i];
    graph.nodes[i].removed = true;
    std::vector<int32_t> results;
    for (const ExpandedStep& step : function->steps) {
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
      const bool last = &step == &function->steps.back();
      const int32_t output = node.outputs[0];
      const int32_t result =
          last ? output
               : graph.AddLike(output, absl::StrCat(graph.value(output).name, "/",
                                                    std::string(step.op_type)));
      results.push_back(result);
      made.outputs = {result};
      graph.nodes.push_back(std::move(made));
    }
  }
}

}  // namespace footprint
