// TorchProgram: the eager PyTorch calls behind a graph, in call order. Made by passes/lower, acted
// out by passes/replay. Arguments are in the order of the ATen schema, so a call reads like the
// PyTorch documentation: aten::conv2d(input, weight, bias, stride, padding, dilation, groups).
#ifndef FOOTPRINT_IR_TORCH_PROGRAM_H_
#define FOOTPRINT_IR_TORCH_PROGRAM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "ir/dim.h"
#include "ir/id.h"
#include "ir/tensor_type.h"
#include "ir/torch_op.h"

namespace footprint {

enum class TorchValueKind : uint8_t { kParameter, kBuffer, kInput, kComputed };

struct TorchValue {
  std::string name;
  TorchValueKind kind = TorchValueKind::kComputed;
  TensorType type;        // in the file's precision; the replay applies --precision
  bool trainable = false; // parameters that are not frozen
  ValueId onnx_value;     // the value of the graph that holds it; may be invalid
  ConstantId constant;    // parameters and buffers that are stored in the file
  ScopeId scope;
  // Python still refers to it after its last reader: it lives at least until this call has returned
  // (arguments of a module call, the model's output). Invalid: dies after its last reader.
  CallId held_until;
};

struct TorchArgument {
  enum class Kind : uint8_t {
    kNone, kTensor, kTensors, kInt, kInts, kFloat, kBool, kString, kElementType
  };
  Kind kind = Kind::kNone;
  TorchValueId tensor;                 // kTensor
  std::vector<TorchValueId> tensors;   // kTensors (cat, stack, index): an invalid id is None
  Dim integer;                         // kInt
  absl::InlinedVector<Dim, 4> integers;  // kInts
  double number = 0;                   // kFloat
  bool boolean = false;                // kBool
  std::string text;                    // kString
  ElementType element = ElementType::kUndefined;  // kElementType

  static TorchArgument Tensor(TorchValueId id);
  static TorchArgument Tensors(std::vector<TorchValueId> ids);
  static TorchArgument Int(Dim value);
  static TorchArgument Ints(absl::Span<const Dim> values);
  static TorchArgument Float(double value);
  static TorchArgument Bool(bool value);
  static TorchArgument String(std::string value);
  static TorchArgument Element(ElementType value);
};

// What a lowering rests on.
enum class Evidence : uint8_t {
  kExporter,    // the exporter's own text names the operator
  kPattern,     // the nodes have the shape that exporters give the operator
  kOperator,    // a one-to-one ONNX operator
  kName,        // a name in the file
  kAssumption,  // a stated default
  kGeneric,     // no PyTorch counterpart known: gradients flow, what the mathematics needs is saved
};

enum class InPlace : uint8_t {
  kNo,
  kYes,
  kIfUnsaved,  // in place if nobody saved the operand so far, else out of place
};

struct TorchCall {
  const TorchOp* op = nullptr;  // never null: generic calls have the row "footprint::generic"
  std::vector<TorchArgument> arguments;
  absl::InlinedVector<TorchValueId, 1> results;  // an invalid id is a result that nobody reads
  InPlace in_place = InPlace::kNo;               // writes into its first tensor argument
  ScopeId scope;
  NodeId node;            // the (last) ONNX node it stands for; may be invalid
  Evidence evidence = Evidence::kOperator;
  std::string note;       // evidence in the user's words; may be empty
};

struct TorchProgram {
  IdVector<TorchValueId, TorchValue> values;
  IdVector<CallId, TorchCall> calls;
  TorchValueId loss;   // the scalar that backward starts from
  std::vector<TorchValueId> stored;  // parameters, then buffers, in the module's own order
  // The ONNX value each torch value stands for, the other way round; invalid: none (shape
  // arithmetic).
  IdVector<ValueId, TorchValueId> torch_of;
  // ONNX operators that were lowered generically: totals rest on a guess and say so.
  std::vector<NodeId> generic_nodes;
};

// Calls visit(tensor) for every tensor that the call reads, in order, as often as it reads it.
template <typename Call, typename Visit>  // TorchCall, constant or not
void ForEachTensor(Call& call, Visit visit) {
  for (auto& argument : call.arguments) {
    if (argument.tensor.valid()) visit(argument.tensor);
    for (auto& tensor : argument.tensors) {
      if (tensor.valid()) visit(tensor);
    }
  }
}

// The call that makes each value; invalid: none.
IdVector<TorchValueId, CallId> FindProducers(const TorchProgram& program);

class DimTable;
std::string Print(const TorchProgram& program, const DimTable& dims);

}  // namespace footprint

#endif  // FOOTPRINT_IR_TORCH_PROGRAM_H_
