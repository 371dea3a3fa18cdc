// How operators take a transposition of what they read behind themselves: for MoveTransposes().
#ifndef FOOTPRINT_BACKEND_RUNTIME_ONNXRUNTIME_TRANSPOSES_H_
#define FOOTPRINT_BACKEND_RUNTIME_ONNXRUNTIME_TRANSPOSES_H_

#include <cstdint>
#include <vector>

#include "backend/runtime/rewriter.h"

namespace footprint {

using Permutation = std::vector<int64_t>;

Permutation Inverse(const Permutation& permutation);
// The one that does `first` and then `second`.
Permutation Composed(const Permutation& first, const Permutation& second);
// Of what is left without the axes, and of what has axes of one element more; sorted.
Permutation WithoutAxes(const Permutation& permutation, const std::vector<int64_t>& axes);
Permutation WithAxes(const Permutation& permutation, const std::vector<int64_t>& axes);

class TransposeMover;
// A node that reads a transposed operand.
struct TransposedNode {
  TransposeMover& mover;
  int32_t node = -1;
  int32_t transpose = -1;  // the node that makes the operand
  const Permutation& permutation;
};
struct TransposeHandler {
  absl::string_view op_type;
  enum class Operands : uint8_t { kFirst, kAll, kNotScalar, kQuantizedPair, kQuantized } operands;
  // Takes the transposition to the results. False where it cannot, and then nothing was changed.
  bool (*handle)(const TransposedNode& what);
  bool transposes_results = true;
  absl::string_view domain = "";
};
// Null: nothing is taken past it.
const TransposeHandler* FindTransposeHandler(const RuntimeNode& node);
std::vector<size_t> TransposedOperands(const RuntimeGraph& graph, const RuntimeNode& node,
                                       const TransposeHandler& handler);

// What the handlers do to the graph.
class TransposeMover {
 public:
  explicit TransposeMover(Rewriter& rewriter) : rewriter_(rewriter), graph_(rewriter.graph()) {}

  Rewriter& rewriter() { return rewriter_; }
  RuntimeGraph& graph() { return graph_; }

  // The operand in another order: a stored one is laid out so; of a transposition the one before
  // it, or both as one; else by a node of its own.
  void TransposeInput(int32_t node, size_t i, const Permutation& permutation);
  // What the node makes has been in the order that this puts right.
  void TransposeOutputs(int32_t node, const Permutation& permutation);
  // Axes of one element before the others, up to the rank. False: unknown ranks, or more.
  bool WidenInputs(int32_t node, const std::vector<size_t>& inputs, size_t rank);
  // A transposition after another one that undoes it.
  void Cancel(int32_t node, int32_t transpose);
  void RemoveIfUnused(int32_t node);

 private:
  bool TransposeQuantized(int32_t dequantization, const Permutation& permutation);
  void SetInput(int32_t node, size_t i, int32_t value);
  void WidenInput(int32_t node, size_t i, size_t rank);
  void MakeInstead(int32_t maker, int32_t plain, int32_t result, int32_t node);
  int32_t AddTranspose(int32_t value, const Permutation& permutation, NodeId source);

  Rewriter& rewriter_;
  RuntimeGraph& graph_;
};

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_RUNTIME_ONNXRUNTIME_TRANSPOSES_H_
