// The state of one inference: the context that rules see, and the tables that grow.
#ifndef FOOTPRINT_PASSES_INFER_SHAPES_STATE_H_
#define FOOTPRINT_PASSES_INFER_SHAPES_STATE_H_

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "ir/infer_context.h"
#include "passes/infer_shapes.h"

namespace footprint {

class Inference final : public InferContext {
 public:
  Inference(const Graph& graph, OpFallback* fallback, DiagnosticSink& sink)
      : graph_(graph), fallback_(fallback), sink_(sink) {}

  InferredTypes Run(const InferOptions& options);

  const Node& node() const override { return *node_; }
  DimTable& dims() override { return *graph_.dims; }
  const Constant& constant(ConstantId id) const override { return graph_.constants[id]; }
  const Region& region(RegionId id) const override { return graph_.regions[id]; }
  const ValueType& InputType(int i) const override;
  KnownValuePtr InputValue(int i) const override;
  ElementBounds InputBounds(int i) const override;
  void SetOutputType(int i, ValueType type) override;
  void SetOutputValue(int i, KnownValuePtr value) override;
  void SetOutputBounds(int i, ElementBounds bounds) override;
  const ValueType& OutputType(int i) const override;
  Dim RequireEqual(Dim a, Dim b, absl::string_view what) override;
  void RequireLessEqual(Dim a, Dim b, absl::string_view what) override;
  Dim RequireBroadcast(Dim a, Dim b, absl::string_view what) override;
  void Error(std::string message) override;
  void Note(std::string message) override;
  RegionResult InferRegion(RegionId region, absl::Span<const ValueType> input_types,
                           absl::Span<const KnownValuePtr> input_values, bool report,
                           absl::Span<const ElementBounds> input_bounds = {}) override;
  bool Afford(RegionId region, int64_t times) override;

 private:
  using Relation = DimConstraint::Relation;

  void Seed(const InferOptions& options);
  // Nodes that do not have the inputs, outputs and attributes of their operator are not inferred.
  void RefuseMalformed();
  void InferNode(NodeId id);
  void AskFallback();
  // Reports operands whose element types differ although the row says that they must not.
  void CheckElements(const OnnxOp& op);
  void FinishOutputs();
  // Reports sizes of output i that are negative, and takes them for unknown; those that may be are
  // checked at binding time.
  void CheckSizes(int i, TensorType* type);
  void RecordSizes(const TensorType& type);
  // Reports contents that could not be computed although those of all inputs are known.
  void CheckContents();
  // Reports a value whose bytes, or an output some size of which, does not fit 64 bits: the first.
  void CheckBytes(ValueId value);
  void CheckOverflow();
  bool FitsAtLeast(const TensorType& type) const;
  bool HasPlainInputs() const;
  ElementBounds BoundsOf(ValueId value) const;
  void KeepBounds(ValueId value, ElementBounds bounds);
  // Infers bodies that no rule asked for, from what the file declares.
  void InferForgottenRegions();

  // Leaves of an output what the limits let be seen; see infer_shapes_limits.cpp.
  void Limit(ValueId value);
  bool IsComputed() const;  // contents of the outputs of the node at hand
  bool IsFolded() const;
  bool IsSeen(Dim dim);
  Dim SpelledAs(ValueId id, size_t axis, Dim declared);

  // Merges what the file declares into what was inferred; see infer_shapes_declared.cpp.
  void Refine(ValueId value, bool report_mismatch);
  bool RefineDims(TensorType& inferred, const TensorType& declared);
  Dim RefineDim(Dim inferred, Dim declared, bool* contradicts);
  bool NamesInputSizes(Dim dim);

  void Record(Dim a, Dim b, Relation relation, absl::string_view what);
  // "[32, 784] x [256, 10]; input 1 is initializer w"
  std::string DescribeOperands() const;
  std::string DescribeContents(ValueId id) const;
  void Fail(std::string kind, std::string message);
  bool MayReport();

  const Graph& graph_;
  OpFallback* fallback_;
  DiagnosticSink& sink_;
  InferredTypes result_;
  absl::flat_hash_map<ValueId, ElementBounds> bounds_;

  // The node at hand.
  NodeId node_id_;
  const Node* node_ = nullptr;
  bool failed_ = false;
  const InferenceLimits* limits_ = nullptr;
  bool decides_shapes_ = false;  // the rule at hand sets types
  absl::flat_hash_map<Dim, bool> seen_;
  IdVector<ValueId, bool> folded_;  // stored, or computed beforehand
  bool overflowed_ = false;  // said once for the whole graph
  absl::flat_hash_set<NodeId> malformed_;

  int depth_ = 0;       // of regions
  int undecided_ = 0;   // branches around us that run-time values choose
  int quiet_ = 0;       // regions around us that are inferred without reporting
  int64_t visits_ = 0;  // of nodes in regions
  std::vector<bool> region_seen_;
  int reported_ = 0;
  absl::flat_hash_set<std::string> input_symbols_;
  bool has_input_symbols_ = false;
  absl::flat_hash_set<std::tuple<Dim, Dim, uint8_t>> recorded_;
};

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_INFER_SHAPES_STATE_H_
