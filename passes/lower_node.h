// NodeContext: a node of the graph, or a shape that ends in it, as lowering rules see it.
#ifndef FOOTPRINT_PASSES_LOWER_NODE_H_
#define FOOTPRINT_PASSES_LOWER_NODE_H_

#include <string>
#include <vector>

#include "ir/ops/lowering/lower_context.h"
#include "passes/lower_builder.h"
#include "passes/lower_facts.h"

namespace footprint {

// How the nodes of the graph are to be lowered: see lower_onnx.cpp.
struct PlannedNode {
  const Lowering* row = nullptr;  // null: generic
  std::vector<ValueId> operands;  // resolved; of a shape: by Lowering::operands
  bool is_shape = false;
  bool absorbed = false;          // an inner node of a shape
  bool live = false;              // somebody reads what it makes
};

class NodeContext : public LowerContext {
 public:
  // While planning, `builder` is null and only questions may be asked.
  NodeContext(const LowerFacts& facts, ProgramBuilder* builder, NodeId id,
              const PlannedNode& planned)
      : facts_(facts), builder_(builder), id_(id), planned_(planned) {}

  const Node& node() const override { return facts_.graph().nodes[id_]; }
  const Lowering& row() const override { return *planned_.row; }
  DimTable& dims() const override { return *facts_.graph().dims; }

  int num_operands() const override { return static_cast<int>(planned_.operands.size()); }
  ValueId operand(int i) const override;
  const TensorType& Type(int i) const override;
  KnownValuePtr Known(int i) const override;
  const Node* Producer(int i) const override;
  bool IsParameter(int i) const override;
  bool HasMadeUpName(int i) const override;
  bool IsLiteral(int i) const override;
  bool IsArithmetic(int i) const override;
  bool IsFree(int i) const override;
  bool FromPyTorch() const override { return facts_.from_pytorch(); }
  bool InTrainingMode() const override { return facts_.in_training_mode(); }
  bool DropsSomewhere() const override { return facts_.drops_somewhere(); }

  const Graph& graph() const override { return facts_.graph(); }
  ValueId Resolve(ValueId value) const override { return facts_.Resolve(value); }
  const TensorType& TypeOf(ValueId value) const override;
  KnownValuePtr KnownOf(ValueId value) const override;
  absl::Span<const NodeId> Readers(ValueId value) const override {
    return facts_.Readers(facts_.Resolve(value));
  }
  bool HasNumber(const Node& node) const override;
  TorchValueId TensorOf(ValueId value) override;

  Padding padding() const override { return padding_; }
  void set_padding(Padding padding) { padding_ = padding; }

  TorchValueId TensorId(int i) override { return builder_->TensorOf(operand(i)); }
  TorchValueId TransposedParameter(int i) override {
    return builder_->TransposedParameter(operand(i));
  }
  TorchValueId ModuleTensor(TorchValueKind kind, absl::string_view name, TensorType type,
                            int beside) override;
  bool HasResult(int i) const override { return node().output(static_cast<size_t>(i)).valid(); }
  const TensorType& ResultType(int i) const override;
  int NumResultReaders() const override;
  TorchValueId Call(absl::string_view op, std::vector<TorchArgument> arguments,
                    TensorType type) override;
  void Result(absl::string_view op, std::vector<TorchArgument> arguments, int results) override;
  void Alias(int i, TorchValueId tensor) override;
  void SetEvidence(Evidence evidence, std::string note) override;

 private:
  const Constant* StoredConstant(int i) const;

  const LowerFacts& facts_;
  ProgramBuilder* builder_;
  NodeId id_;
  const PlannedNode& planned_;
  Padding padding_ = Padding::kNodes;
};

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_LOWER_NODE_H_
