// Shape inference: Graph -> the type of every value, and the known contents of small ones.
#ifndef FOOTPRINT_PASSES_INFER_SHAPES_H_
#define FOOTPRINT_PASSES_INFER_SHAPES_H_

#include <string>
#include <vector>

#include "ir/diagnostic.h"
#include "ir/fallback.h"
#include "ir/graph.h"
#include "ir/infer_context.h"

namespace footprint {

// Something that must hold for the model to run; checked when names are bound to numbers.
struct DimConstraint {
  enum class Relation : uint8_t { kEqual, kLessEqual, kBroadcast /* equal, or one is 1 */ };
  Dim left;
  Dim right;
  Relation relation = Relation::kEqual;
  NodeId node;
  std::string what;  // "inner dimensions of MatMul"
  bool may_not_run = false;  // in a branch that a value at run time chooses
};

struct InferredTypes {
  IdVector<ValueId, ValueType> types;
  IdVector<ValueId, KnownValuePtr> values;  // null: contents not known
  std::vector<DimConstraint> constraints;
  // Nodes without a row whose outputs came from the fallback, or stayed as declared or unknown.
  std::vector<NodeId> fallback_nodes;
  std::vector<NodeId> unknown_nodes;
};

// Inference as another program makes it, which knows less. Contents are known only where all are
// numbers, and a size is a number, a name of the model, or what the file declares.
struct InferenceLimits {
  // Whether contents of the node's outputs are computed. `stored`: by operand.
  bool (*computes)(const Node& node, const std::vector<bool>& stored) = nullptr;
  // Takes out of the type of an output what is not seen; `inputs` are the contents of the operands.
  void (*forget)(const Node& node, absl::Span<const KnownValuePtr> inputs,
                 TensorType& output) = nullptr;
  // Whether the node is computed beforehand once what it needs is stored; null: none is. Contents
  // of such results are known.
  bool (*folds)(const Node& node) = nullptr;
  // Whether the node needs the sizes of its operand, not the contents.
  bool (*needs_sizes)(const Node& node) = nullptr;
};

struct InferOptions {
  // Values given on the command line for inputs that decide shapes, by input.
  std::vector<std::pair<ValueId, KnownValuePtr>> input_values;
  // Shapes given on the command line, by input; override declared ones.
  std::vector<std::pair<ValueId, TensorType>> input_types;
  const InferenceLimits* limits = nullptr;
};

// `fallback` may be null. Problems of the model go to `sink`; inference goes on where it can.
InferredTypes InferShapes(const Graph& graph, const InferOptions& options, OpFallback* fallback,
                          DiagnosticSink& sink);

// Checks the recorded constraints at a binding; a violation is a usage error naming the node.
void CheckConstraints(const Graph& graph, const InferredTypes& inferred, DimEvaluator& evaluator,
                      DiagnosticSink& sink);

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_INFER_SHAPES_H_
