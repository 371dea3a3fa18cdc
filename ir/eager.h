// Eager: what the rows of TorchOp are written against. Abstract tensors (a storage, a shape,
// strides, an element type; no data), the tape of autograd, and the few things eager PyTorch can
// do with them. passes/replay implements it and watches the storages come and go.
//
// A Tensor is a handle that counts references, as in PyTorch: when the last handle of a tensor
// goes, the tensor goes; when the last tensor of a storage goes, its bytes are free. So the scopes
// of a row's C++ variables are the lifetimes of PyTorch's temporaries.
//
//   handle --> TensorData --> storage of 4 KiB <-- TensorData (a view) <-- handle
//                  \-- gradient node --> saved tensors, edges to the nodes of its inputs
#ifndef FOOTPRINT_IR_EAGER_H_
#define FOOTPRINT_IR_EAGER_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ir/dim.h"
#include "ir/id.h"
#include "ir/tensor_type.h"
#include "ir/torch_op.h"
#include "ir/torch_program.h"

namespace footprint {

struct GradientNode;

// The counted state behind Tensor handles.
struct TensorData {
  Eager* owner = nullptr;
  int32_t references = 0;
  StorageId storage;
  ElementType element = ElementType::kUndefined;
  bool requires_grad = false;
  // Views keep the tensor whose storage they share, so that storage has two tensors at least.
  TensorData* base = nullptr;
  // A leaf's gradients end in its accumulator; other tensors' in output `output` of `node`.
  GradientNode* node = nullptr;
  GradientNode* accumulator = nullptr;
  int32_t output = 0;
  enum class Answer : int8_t { kUnasked, kNo, kYes };
  Answer contiguous = Answer::kUnasked;  // remembered by IsContiguous()
  Dims shape;
  Dims strides;
  Dim element_count;
};

class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(TensorData* data) : data_(data) { Retain(); }
  Tensor(const Tensor& other) : data_(other.data_) { Retain(); }
  Tensor(Tensor&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  Tensor& operator=(Tensor other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }
  ~Tensor();

  explicit operator bool() const { return data_ != nullptr; }
  TensorData* data() const { return data_; }
  const Dims& shape() const { return data_->shape; }
  const Dims& strides() const { return data_->strides; }
  int rank() const { return static_cast<int>(data_->shape.size()); }
  Dim dim(int axis) const { return data_->shape[static_cast<size_t>(axis)]; }
  Dim element_count() const { return data_->element_count; }
  ElementType element() const { return data_->element; }
  StorageId storage() const { return data_->storage; }
  bool requires_grad() const { return data_ != nullptr && data_->requires_grad; }
  // A parameter, or a tensor that autograd did not make.
  bool is_leaf() const { return data_->node == nullptr; }

 private:
  void Retain() {
    if (data_ != nullptr) ++data_->references;
  }
  TensorData* data_ = nullptr;
};

// One gradient function at work: reads the incoming gradients and what was saved, gives one
// gradient for each input that needs one. Whatever it allocates and does not give dies when it
// returns.
class Backward {
 public:
  Backward(Eager& eager, GradientNode& node, absl::Span<Tensor> incoming, absl::Span<Tensor> given)
      : eager(eager), node_(node), incoming_(incoming), given_(given) {}

  Eager& eager;
  // False for arguments that the call left out.
  bool Needs(int input) const;
  // Of one output of the operator; empty if nothing reached that output.
  const Tensor& gradient(int output = 0) const { return incoming_[static_cast<size_t>(output)]; }
  const Tensor& saved(int index) const;
  // Shape and type of an input whose gradient is needed.
  const Dims& shape(int input) const;
  ElementType element(int input) const;
  void Give(int input, Tensor gradient) {
    const size_t i = static_cast<size_t>(input);
    if (i < given_.size()) given_[i] = std::move(gradient);
  }

 private:
  GradientNode& node_;
  absl::Span<Tensor> incoming_;
  absl::Span<Tensor> given_;
};

using BackwardFunction = std::function<void(Backward&)>;

struct SavedTensor {
  SavedTensor() = default;
  SavedTensor(Tensor tensor, uint32_t needed_by = 0)  // NOLINT: a tensor is saved as it stands
      : tensor(std::move(tensor)), needed_by(needed_by) {}
  Tensor tensor;
  uint32_t needed_by = 0;  // inputs for whose gradients it is saved (bit i: input i), 0: all
  uint32_t read_by = SavedOperand::kReadByAll;  // whose mathematics reads its numbers
  StorageId instead;  // of a tensor that the gradients could read instead; invalid: none

  static SavedTensor Unread(Tensor tensor) { return ReadBy(std::move(tensor), 0); }
  static SavedTensor ReadBy(Tensor tensor, uint32_t inputs) {
    SavedTensor saved(std::move(tensor));
    saved.read_by = inputs;
    return saved;
  }
};

// A node of the tape.
struct GradientNode {
  struct Edge {
    GradientNode* node = nullptr;  // null: this input needs no gradient
    int32_t output = 0;
    ElementType element = ElementType::kUndefined;
    Dims shape;
  };
  absl::string_view name;
  int64_t sequence = 0;    // creation order; accumulators: kAccumulator
  int32_t references = 0;  // tensors made by it, nodes that lead to it
  int32_t outputs = 1;
  int32_t step = -1;       // the call that recorded it
  absl::InlinedVector<Edge, 3> edges;
  std::vector<SavedTensor> saved;
  BackwardFunction backward;
  // Accumulators: the parameter. Not counted: the parameter owns its accumulator.
  TensorData* variable = nullptr;
  // Used while backward runs.
  int32_t dependencies = 0;
  std::vector<Tensor> incoming;

  static constexpr int64_t kAccumulator = INT64_MAX;
};

inline bool Backward::Needs(int input) const {
  const size_t i = static_cast<size_t>(input);
  return i < node_.edges.size() && node_.edges[i].node != nullptr;
}
inline const Tensor& Backward::saved(int index) const {
  return node_.saved[static_cast<size_t>(index)].tensor;
}
inline const Dims& Backward::shape(int input) const {
  return node_.edges[static_cast<size_t>(input)].shape;
}
inline ElementType Backward::element(int input) const {
  return node_.edges[static_cast<size_t>(input)].element;
}

enum class AttentionKernel : uint8_t { kAuto, kMath, kEfficient, kFlash, kCudnn };

// What the whole step has in common.
struct EagerMode {
  ElementType module = ElementType::kFloat;         // floating-point parameters and inputs
  ElementType autocast = ElementType::kUndefined;   // the low precision; undefined: no autocast
  AttentionKernel attention = AttentionKernel::kAuto;
};

class Eager {
 public:
  virtual ~Eager() = default;
  const EagerMode& mode() const { return mode_; }
  DimTable& dims() { return dims_; }

  // Decided for every binding if possible; else at the bindings of this run, and guarded.
  virtual bool Equal(Dim a, Dim b) = 0;
  virtual bool Less(Dim a, Dim b) = 0;

  // New storages. `what` must outlive the step (a literal): "mask", "indices"; empty: a result.
  virtual Tensor New(const Dims& shape, ElementType element, absl::string_view what = {}) = 0;
  virtual Tensor NewStrided(const Dims& shape, const Dims& strides, ElementType element,
                            absl::string_view what = {}) = 0;
  // A view; it keeps `of` (or the tensor that `of` is a view of).
  virtual Tensor View(const Tensor& of, const Dims& shape, const Dims& strides) = 0;
  // Another tensor on the same storage that is no view to autograd: _unsafe_view, detach, in place.
  virtual Tensor Alias(const Tensor& of, const Dims& shape, const Dims& strides) = 0;

  // `copy` has the numbers of `of`, in another layout, type or shape: one of them is enough to
  // compute gradients from.
  virtual void NoteCopy(const Tensor& copy, const Tensor& of) = 0;

  // Records a node if one of `inputs` (some may be empty) requires a gradient, and makes `outputs`
  // its outputs. Does nothing otherwise.
  virtual void Record(absl::string_view node, absl::Span<const Tensor> inputs,
                      absl::Span<const Tensor> outputs, absl::Span<const SavedTensor> saved,
                      BackwardFunction backward) = 0;
  // Will a node that takes it as an input compute its gradient?
  virtual bool Needs(const Tensor& tensor) const = 0;

  // A row that has no `run`, on tensors alone; an operator inside another.
  virtual Tensor Apply(const TorchOp& op, absl::Span<const Tensor> operands) = 0;
  // What autocast makes of an operand of such an inner operator; the operand itself outside
  // autocast.
  virtual Tensor Autocasted(const Tensor& tensor, Autocast rule) = 0;
  // Tensors on its storage, this one included.
  virtual int StorageReferences(const Tensor& tensor) const = 0;

 protected:
  Eager(DimTable& dims, EagerMode mode) : dims_(dims), mode_(mode) {}

 private:
  friend class Tensor;
  virtual void Release(TensorData* data) = 0;

  DimTable& dims_;
  EagerMode mode_;
};

inline Tensor::~Tensor() {
  if (data_ != nullptr && --data_->references == 0) data_->owner->Release(data_);
}

// The arguments of one call, its tensors resolved and cast as autocast asks.
class CallArguments {
 public:
  CallArguments(const TorchOp& op, const TorchCall& call, const TorchProgram& program)
      : op(op), call_(call), program_(program) {}

  const TorchOp& op;

  int size() const { return static_cast<int>(call_.arguments.size()); }
  // False for None and for arguments left out.
  bool Has(int index) const;
  bool IsTensor(int index) const;
  // A number with a point: integers become floating point beside it.
  bool IsFraction(int index) const;
  // Empty if argument `index` is no tensor. For lists: its elements; None elements are empty.
  const Tensor& tensor(int index) const;
  absl::Span<const Tensor> tensors(int index) const;
  Dim integer(int index, Dim otherwise = Dim(0)) const;
  // A constant: axes, flags. `otherwise` if absent or symbolic.
  int64_t constant(int index, int64_t otherwise = 0) const;
  // A single integer counts as a list of one.
  Dims integers(int index) const;
  double number(int index, double otherwise = 0) const;
  bool boolean(int index, bool otherwise = false) const;
  absl::string_view text(int index) const;
  ElementType element(int index, ElementType otherwise = ElementType::kUndefined) const;

  // What shape inference found for result `index`; null if the call has no such result or its rank
  // is unknown.
  const TensorType* declared(int index = 0) const;
  int result_count() const { return static_cast<int>(call_.results.size()); }
  // Is the result to be written into argument 0? Only where it fits: `element` or a type of float.
  bool WritesInPlace(Eager& eager, ElementType element) const;
  // Autocast::kFloat32Result: the type that autocast asks for, else undefined.
  ElementType autocast_result = ElementType::kUndefined;

  // By argument; filled in by the replay.
  absl::InlinedVector<absl::InlinedVector<Tensor, 1>, 8> resolved;

 private:
  const TorchArgument* argument(int index) const;

  const TorchCall& call_;
  const TorchProgram& program_;
};

}  // namespace footprint

#endif  // FOOTPRINT_IR_EAGER_H_
