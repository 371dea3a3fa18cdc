// BodyWriter: writes the body of a function, node by node, in place of a node of a runtime's graph.
#ifndef FOOTPRINT_BACKEND_RUNTIME_ONNXRUNTIME_BODIES_H_
#define FOOTPRINT_BACKEND_RUNTIME_ONNXRUNTIME_BODIES_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "backend/runtime/runtime_graph.h"
#include "ir/dim.h"

namespace footprint {

// How a result differs from the value that it is like: applied to its type as it is, and to the one
// that the runtime sees.
using TypeEdit = absl::FunctionRef<void(TensorType&)>;

class BodyWriter {
 public:
  // `is_optimized`: the graph was rewritten before.
  BodyWriter(RuntimeGraph& graph, RuntimeNode node, bool is_optimized)
      : is_optimized(is_optimized), graph_(graph), node_(std::move(node)) {}

  const bool is_optimized;
  const Node& source() const { return graph_.graph->nodes[node_.source]; }
  DimTable& dims() { return *graph_.graph->dims; }
  int32_t Operand(size_t i) const { return i < node_.inputs.size() ? node_.inputs[i] : -1; }
  bool Has(size_t operand) const { return Operand(operand) >= 0; }
  int32_t Result(size_t i) const { return i < node_.outputs.size() ? node_.outputs[i] : -1; }
  size_t Rank(int32_t value) const { return graph_.value(value).type.dims.size(); }
  ElementType Element(int32_t value) const { return graph_.value(value).type.element; }
  Dim Size(int32_t value, size_t axis) const;  // unknown where there is none

  // A node of one result, which is like another value but for `edit`.
  int32_t Add(
      absl::string_view op, std::vector<int32_t> inputs, int32_t like,
      TypeEdit edit = [](TensorType&) {});
  // The same, a vector of so many sizes.
  int32_t AddSizes(absl::string_view op, std::vector<int32_t> inputs, size_t count);
  int32_t AddCast(int32_t value, ElementType element);
  // The runtime cannot tell how large the value is. Returns it.
  int32_t Hide(int32_t value);
  // A node that makes a result of the function.
  void Finish(absl::string_view op, std::vector<int32_t> inputs, size_t output = 0);
  // A Scan of one state, which is the first of its inputs and results; the other result stacks what
  // a step makes, and is like another value but for `edit`. `write` gets a function of one step:
  // its operands are the state, a slice of each other input along the first axis, and the captures;
  // its results are those of the step.
  struct Scanned {
    int32_t state = -1;
    int32_t stacked = -1;
  };
  Scanned AddScan(std::vector<int32_t> inputs, std::vector<int32_t> captures, int32_t like,
                  TypeEdit edit, absl::FunctionRef<void(BodyWriter&)> write);

 private:
  int32_t AddResult(absl::string_view op, int32_t like, TypeEdit edit);
  RuntimeNode Make(absl::string_view op, std::vector<int32_t> inputs) const;

  RuntimeGraph& graph_;
  const RuntimeNode node_;
};

// Bodies that depend on what a node has.
void WriteClassificationLoss(BodyWriter& body);  // of logarithms: NegativeLogLikelihoodLoss
void WriteCrossEntropyLoss(BodyWriter& body);
void WriteGroupNormalization(BodyWriter& body);
void WriteCenterCropPad(BodyWriter& body);
void WriteCausalConvolution(BodyWriter& body);
void WriteLinearAttention(BodyWriter& body);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_RUNTIME_ONNXRUNTIME_BODIES_H_
