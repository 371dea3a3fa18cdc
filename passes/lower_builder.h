// ProgramBuilder: makes a TorchProgram for a graph, call by call.
#ifndef FOOTPRINT_PASSES_LOWER_BUILDER_H_
#define FOOTPRINT_PASSES_LOWER_BUILDER_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "ir/graph.h"
#include "ir/torch_program.h"
#include "passes/infer_shapes.h"
#include "passes/roles.h"

namespace footprint {

class ProgramBuilder {
 public:
  // The program begins with the inputs of the graph.
  ProgramBuilder(const Graph& graph, const InferredTypes& types, const Roles& roles);

  // What following calls stand for.
  struct Origin {
    NodeId node;
    ScopeId scope;
    Evidence evidence = Evidence::kOperator;
    std::string note;
  };
  void SetOrigin(Origin origin) { origin_ = std::move(origin); }
  const Origin& origin() const { return origin_; }

  // The tensor behind a value of the graph: made already, a stored constant, or a literal that the
  // program makes when it is first read. Invalid: no tensor is known for it.
  TorchValueId TensorOf(ValueId value);
  // The same for a constant that the step makes itself.
  TorchValueId LiteralOf(ValueId value) {
    return IsBound(value) ? TensorOf(value) : MakeLiteral(value);
  }
  void Bind(ValueId value, TorchValueId tensor) { program_.torch_of[value] = tensor; }
  bool IsBound(ValueId value) const { return program_.torch_of[value].valid(); }

  TorchValueId AddValue(TorchValue value) { return program_.values.Add(std::move(value)); }
  // A computed tensor that no value of the graph shows.
  TorchValueId AddComputed(std::string name, TensorType type);
  // The computed tensor for a value of the graph.
  TorchValueId AddComputedFor(ValueId value);
  // The value turned out to be one that the graph does not show.
  void Rename(TorchValueId value, std::string name) {
    program_.values[value].name = std::move(name);
    program_.values[value].onnx_value = ValueId();
  }
  TorchValueId TransposedParameter(ValueId value);

  // A call; an operator without a row becomes a generic call on the tensors among its arguments.
  void Append(absl::string_view op, std::vector<TorchArgument> arguments,
              absl::InlinedVector<TorchValueId, 1> results);
  void AppendGeneric(const std::vector<TorchValueId>& tensors,
                     absl::InlinedVector<TorchValueId, 1> results);
  TorchCall& last() { return program_.calls[CallId(program_.calls.size() - 1)]; }

  // Computed from something that trains, as far as types tell.
  bool MayRequireGrad(TorchValueId id) const {
    return static_cast<size_t>(id.index()) < requires_grad_.size() && requires_grad_[id];
  }
  // The call whose first result it is; null: none. Until the next call is appended.
  const TorchCall* MakerOf(TorchValueId id) const {
    const bool is_made = static_cast<size_t>(id.index()) < maker_.size() && maker_[id].valid();
    return is_made ? &program_.calls[maker_[id]] : nullptr;
  }
  const TorchValue& value(TorchValueId id) const { return program_.values[id]; }
  TorchProgram& program() { return program_; }
  const TorchProgram& program() const { return program_; }
  // Stored parameters and buffers that no call read so far join the program.
  void AddUnread();
  TorchProgram Take() { return std::move(program_); }

 private:
  TorchValueId AddStored(ValueId value);
  void NoteResults(const TorchCall& call);
  TorchValueId MakeLiteral(ValueId value);

  const Graph& graph_;
  const InferredTypes& types_;
  const Roles& roles_;
  TorchProgram program_;
  Origin origin_;
  IdVector<TorchValueId, bool> transposed_;
  IdVector<TorchValueId, bool> requires_grad_;
  IdVector<TorchValueId, CallId> maker_;
};

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_LOWER_BUILDER_H_
