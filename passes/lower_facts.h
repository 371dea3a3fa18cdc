// LowerFacts: which values of an ONNX graph are tensors of the PyTorch program, and who reads them.
#ifndef FOOTPRINT_PASSES_LOWER_FACTS_H_
#define FOOTPRINT_PASSES_LOWER_FACTS_H_

#include <vector>

#include "absl/types/span.h"
#include "ir/graph.h"
#include "passes/infer_shapes.h"
#include "passes/roles.h"

namespace footprint {

class LowerFacts {
 public:
  LowerFacts(const Graph& graph, const InferredTypes& types, const Roles& roles);

  const Graph& graph() const { return graph_; }
  const InferredTypes& types() const { return types_; }
  const Roles& roles() const { return roles_; }
  // PyTorch exported the file.
  bool from_pytorch() const { return from_pytorch_; }
  // Some node of the file says that it was exported for training.
  bool in_training_mode() const { return in_training_mode_; }
  // Some dropout of the file is active.
  bool drops_somewhere() const { return drops_somewhere_; }

  // The value behind Identity nodes; what gives a merged parameter its name back stays.
  ValueId Resolve(ValueId value) const { return source_[value]; }
  // No tensor of its own: shape arithmetic, literals.
  bool IsArithmetic(ValueId value) const { return arithmetic_[source_[value]]; }
  bool IsOneNumber(ValueId value) const;
  // Made of shapes and literals alone.
  bool IsFromShapes(ValueId value) const { return from_shapes_[source_[value]]; }
  // What `reader` reads where the file names `value`. A module that casts its argument for itself
  // leaves the cast even where it does nothing, and the exporter lets later readers outside the
  // module read it; they read the argument.
  ValueId SeenFrom(NodeId reader, ValueId value) const;
  // Nodes that read the value as a tensor, in order.
  absl::Span<const NodeId> Readers(ValueId value) const;
  // Is it this scope, or one inside it?
  bool IsWithin(ScopeId scope, ScopeId outer) const;

 private:
  void ClassifyValues();
  void ClassifyNode(const Node& node);
  void ListReaders();

  const Graph& graph_;
  const InferredTypes& types_;
  const Roles& roles_;
  bool from_pytorch_ = false;
  bool in_training_mode_ = false;
  bool drops_somewhere_ = false;
  IdVector<ValueId, ValueId> source_;
  IdVector<ValueId, bool> arithmetic_;
  IdVector<ValueId, bool> from_shapes_;
  IdVector<ValueId, bool> from_stored_;
  IdVector<ValueId, int32_t> first_reader_;  // into readers_; one more entry than values
  std::vector<NodeId> readers_;
};

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_LOWER_FACTS_H_
