// LowerContext: what a lowering rule may ask about the nodes it stands for, and how it appends
// calls.
#ifndef FOOTPRINT_IR_OPS_LOWERING_LOWER_CONTEXT_H_
#define FOOTPRINT_IR_OPS_LOWERING_LOWER_CONTEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ir/graph.h"
#include "ir/infer_context.h"
#include "ir/ops/lowering/lowering.h"
#include "ir/torch_program.h"

namespace footprint {

// Whose work the padding of a node was.
enum class Padding : uint8_t {
  kNodes,  // the operator's
  kApart,  // an operator's of its own
  kDone,   // the same, and operand 0 is its result
};

class LowerContext {
 public:
  virtual ~LowerContext() = default;

  // Of a shape: its last node.
  virtual const Node& node() const = 0;
  virtual const Lowering& row() const = 0;
  virtual DimTable& dims() const = 0;

  // Operands: the node's inputs, or what the shape bound, in the order of Lowering::operands.
  virtual int num_operands() const = 0;
  virtual ValueId operand(int i) const = 0;
  bool Has(int i) const { return operand(i).valid(); }
  // Element kUndefined where it is not known.
  virtual const TensorType& Type(int i) const = 0;
  // Contents, null if not known.
  virtual KnownValuePtr Known(int i) const = 0;
  // The node that makes operand i; null for inputs and constants.
  virtual const Node* Producer(int i) const = 0;
  virtual bool IsParameter(int i) const = 0;
  // The exporter named the stored constant, not the module: "onnx::MatMul_1234".
  virtual bool HasMadeUpName(int i) const = 0;
  // A stored constant that is neither parameter nor buffer: what an exporter puts where the
  // operator wants an operand and the module had none.
  virtual bool IsLiteral(int i) const = 0;
  // Shape arithmetic or a literal: no tensor of its own.
  virtual bool IsArithmetic(int i) const = 0;
  // Index arithmetic that costs nothing here (Lowering::free_operands).
  virtual bool IsFree(int i) const = 0;
  // PyTorch exported the file (its habits may be assumed).
  virtual bool FromPyTorch() const = 0;
  virtual Padding padding() const = 0;
  // The file was exported in training mode: some node says so.
  virtual bool InTrainingMode() const = 0;
  // Some dropout of the file is active.
  virtual bool DropsSomewhere() const = 0;

  // The graph around the node, for rules that look further than their operands.
  virtual const Graph& graph() const = 0;
  // The value behind Identity nodes.
  virtual ValueId Resolve(ValueId value) const = 0;
  virtual const TensorType& TypeOf(ValueId value) const = 0;
  virtual KnownValuePtr KnownOf(ValueId value) const = 0;
  // Nodes that read the value as a tensor, in order.
  virtual absl::Span<const NodeId> Readers(ValueId value) const = 0;
  // One of the node's inputs is a number.
  virtual bool HasNumber(const Node& node) const = 0;
  // The tensor of a value of the graph; invalid if there is none so far.
  virtual TorchValueId TensorOf(ValueId value) = 0;

  bool IsNumber(int i) const;
  // The number in operand i, where it is known.
  std::optional<double> Number(int i) const;
  std::optional<int64_t> Int(int i) const;
  // All integers of operand i; empty if absent or not known.
  std::vector<Dim> Ints(int i) const;
  int Rank(int i) const { return Type(i).rank(); }

  // Operand i as an argument: None if absent, a number if it is one, else the tensor.
  TorchArgument Argument(int i);
  // As a tensor in any case: literals are made into one.
  TorchArgument Tensor(int i);
  virtual TorchValueId TensorId(int i) = 0;
  // The parameter in operand i as the module has it: [out, in], where the file stores [in, out].
  virtual TorchValueId TransposedParameter(int i) = 0;

  // A tensor of the module that the file lacks, named after the parameter in operand `beside`; a
  // parameter trains if that one does.
  virtual TorchValueId ModuleTensor(TorchValueKind kind, absl::string_view name, TensorType type,
                                    int beside) = 0;

  virtual bool HasResult(int i) const = 0;
  virtual const TensorType& ResultType(int i = 0) const = 0;
  // Nodes that read output 0.
  virtual int NumResultReaders() const = 0;

  // Appends a call with one new result that the graph does not show.
  virtual TorchValueId Call(absl::string_view op, std::vector<TorchArgument> arguments,
                            TensorType type) = 0;
  // Appends a call that makes the node's outputs [0, results).
  virtual void Result(absl::string_view op, std::vector<TorchArgument> arguments,
                      int results = 1) = 0;
  // Output i is a tensor that exists already.
  virtual void Alias(int i, TorchValueId tensor) = 0;
  // Of the call appended last.
  virtual void SetEvidence(Evidence evidence, std::string note) = 0;
};

// Rules that several families share.
bool LowerSame(LowerContext& ctx);      // the row's operator on operand 0 alone
bool LowerBinary(LowerContext& ctx);    // operands 0 and 1, either may be a number
bool LowerVariadic(LowerContext& ctx);  // the row's binary operator, folded over all operands
bool LowerView(LowerContext& ctx);      // the row's operator(x, result's sizes)
bool LowerNothing(LowerContext& ctx);   // output 0 is operand 0

// An axis attribute, counted from the front.
int64_t Axis(const LowerContext& ctx, int operand, int64_t default_value);
// Axes as attribute (older opsets) or operand `i`, counted from the front, ascending; empty if
// absent.
std::vector<int64_t> Axes(const LowerContext& ctx, int i, int rank);
TorchArgument IntList(absl::Span<const int64_t> values);
TorchArgument IntList(absl::Span<const Dim> values);
// Axes in another order: a transposition where two change places.
struct Reordering {
  absl::string_view op;
  std::vector<TorchArgument> arguments;
};
Reordering Reorder(TorchArgument tensor, absl::Span<const int64_t> perm);
// The type with other dimensions.
TensorType WithDims(const TensorType& type, absl::Span<const Dim> dims);

}  // namespace footprint

#endif  // FOOTPRINT_IR_OPS_LOWERING_LOWER_CONTEXT_H_
