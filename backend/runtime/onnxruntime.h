// ONNX Runtime 1.32 as a profile: which kernels write in place, what they take while they run,
// which operators are expanded first, and what its shape inference sees. Sequential execution on
// the CPU.
#ifndef FOOTPRINT_BACKEND_RUNTIME_ONNXRUNTIME_H_
#define FOOTPRINT_BACKEND_RUNTIME_ONNXRUNTIME_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "backend/runtime/onnxruntime_weights.h"
#include "backend/runtime/runtime_graph.h"
#include "ir/dim.h"
#include "ir/wide.h"
#include "passes/infer_shapes.h"
#include "passes/plan.h"

namespace footprint {

// A node whose sizes are known, for what its kernel takes while it runs.
struct SizedNode {
  const RuntimeGraph* graph = nullptr;
  const RuntimeNode* node = nullptr;
  const Node* source = nullptr;              // its attributes; null: none
  std::vector<std::vector<int64_t>> inputs;  // dims; empty where unknown
  std::vector<std::vector<int64_t>> outputs;
  std::vector<int64_t> input_bytes;
  std::vector<int64_t> output_bytes;

  // An attribute of the node it comes from.
  int64_t Int(absl::string_view name, int64_t otherwise) const {
    return source == nullptr ? otherwise : source->Int(name, otherwise);
  }
  bool Makes(size_t result) const {
    return result < node->outputs.size() && node->outputs[result] >= 0;
  }
  // Null: left out.
  const RuntimeValue* Operand(size_t i) const {
    return i < node->inputs.size() && node->inputs[i] >= 0 ? &graph->value(node->inputs[i])
                                                           : nullptr;
  }
  bool Has(size_t operand) const { return Operand(operand) != nullptr; }
  bool IsStored(size_t operand) const { return Has(operand) && Operand(operand)->constant; }
  ElementType Element(size_t operand) const {
    return Has(operand) ? Operand(operand)->type.element : ElementType::kUndefined;
  }
};
using ScratchRule = Wide (*)(const SizedNode&);

// What differs from the ONNX row of an operator.
struct Kernel {
  absl::string_view name;
  absl::string_view domain = "";
  uint32_t inplace = 0;  // operands that output 0 may overwrite: bit i
  ElementType inplace_element = ElementType::kUndefined;  // of these alone, if any is stated
  ScratchRule scratch = nullptr;
  // {operand, output} pairs beyond output 0.
  std::vector<std::pair<int, int>> also_inplace = {};
  std::vector<std::pair<int, int>> also_alias = {};  // the same: always the operand's buffer
  PackRule packs = nullptr;                          // stored operands that it copies once
};
// Null: a kernel that writes every output into a buffer of its own, and takes nothing beside.
const Kernel* FindKernel(const RuntimeNode& node);
absl::Span<const Kernel> OnnxRuntimeKernels();

// One of the steps into which an operator without a kernel is expanded; the last one makes the
// output. Reads operands of the node, or results of earlier steps counted from kStep.
constexpr int kStep = 100;
constexpr int kNumber = -1;  // one that the function states
enum class StepSize : uint8_t { kWhole, kOneAlongAxis, kOne };
struct ExpandedStep {
  absl::string_view op_type;
  std::vector<int> reads;
  int like = -1;  // the operand whose type the result has; -1: the output's
  ElementType element = ElementType::kUndefined;  // of the result, if another one
  StepSize size = StepSize::kWhole;               // of the result
};
// Replaces nodes that have no kernel by the steps of their function.
void ExpandFunctions(RuntimeGraph& graph, bool optimize, bool half_alone = false);

// Half precision, of which most kernels have none.
bool HasHalf(const RuntimeGraph& graph);
// It reads or makes half precision, and has no kernel for it.
bool LacksHalfKernel(const RuntimeGraph& graph, const RuntimeNode& node);
void CastHalf(RuntimeGraph& graph, DimEvaluator& evaluator, bool optimize);

// Every reader of a dequantized tensor gets a node of its own that makes it; whether any was added.
bool DuplicateDequantization(RuntimeGraph& graph);
// Results of dequantizing what is stored.
std::vector<int32_t> DequantizedWeights(const RuntimeGraph& graph);

const InferenceLimits& OnnxRuntimeLimits(bool optimize);
// Whether constant folding takes the node, once all that it needs is stored.
bool IsFoldable(const Node& node);
bool NeedsSizesAlone(const Node& node);

// Allocations are multiples of this.
constexpr int64_t kRuntimeAlignment = 64;
inline Wide Aligned(Wide bytes) {
  return (bytes + kRuntimeAlignment - 1) / kRuntimeAlignment * kRuntimeAlignment;
}

// A graph as ONNX Runtime plans it, and what the plan takes at the bindings.
struct RuntimePlan {
  RuntimeGraph graph;
  std::vector<int32_t> order;  // of nodes: step i runs graph.nodes[order[i]]
  PlanProblem problem;         // tensors are the graph's values
  Plan plan;
  PlanBytes bytes;
  std::vector<std::optional<int64_t>> tensor_bytes;
  std::vector<std::string> rewrites;  // "MatMul + Add -> Gemm: 24"
  WeightBytes weights;                // those of bodies too
};
RuntimePlan PlanOnnxRuntime(const Graph& graph, const InferredTypes& inferred,
                            const InferredTypes& visible, DimEvaluator& evaluator, bool optimize);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_RUNTIME_ONNXRUNTIME_H_
