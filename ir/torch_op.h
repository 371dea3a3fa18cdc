// TorchOp: what eager PyTorch does when an ATen operator is called, as far as memory is concerned:
// how the result is laid out, what is allocated beside it, what autograd saves and for whose
// gradient, and what each gradient allocates, in which order. One row per operator; the rows live
// in ir/ops/torch, one file per family that shares rules.
//
//   {.name = "aten::relu", .arguments = "self", .node = "ReluBackward0",
//    .saves = {Result()}, .gradients = {{0}}}
//
// reads: relu makes a new tensor with the strides of its operand; autograd saves the result; the
// gradient of argument 0 is one new tensor like the incoming gradient.
//
// What depends on strides or is made of other operators (reshape, matmul, linear, attention) has a
// `run` function instead, written against ir/eager.h.
//
// Convention for calls: arguments are those of ATen's schema, in schema order, trailing defaults
// may be left out. `arguments` spells them. A number may stand where the schema has `Scalar`, and
// for the second operand of arithmetic ("aten::mul" covers mul.Tensor and mul.Scalar). Overloads
// whose arguments differ in kind have rows of their own: "aten::max.dim" beside "aten::max".
#ifndef FOOTPRINT_IR_TORCH_OP_H_
#define FOOTPRINT_IR_TORCH_OP_H_

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ir/tensor_type.h"

namespace footprint {

class Eager;          // ir/eager.h
class CallArguments;  // ir/eager.h
class Tensor;         // ir/eager.h
using TensorList = absl::InlinedVector<Tensor, 2>;

// Acts out one call and returns its results; none if the operands do not fit the operator.
using RunFunction = TensorList (*)(Eager& eager, const CallArguments& arguments);

enum class ResultShape : uint8_t {
  kBroadcast,  // of all tensor operands
  kLikeFirst,  // of the first tensor operand
  kDeclared,   // what shape inference found for the value the call makes
};

enum class ResultStrides : uint8_t {
  kLikeOperands,    // TensorIterator: the order of the operands' strides, dense
  kContiguous,
  kMemoryFormat,    // channels last if the first operand is, else contiguous
};

enum class ResultElement : uint8_t { kPromoted, kLikeFirst, kBool, kInt64, kDeclared };

// A storage that the call makes beside its result and that autograd may keep.
struct KeptTensor {
  enum class Shape : uint8_t { kLikeResult, kScalar, kEmpty, kChannels };
  absl::string_view what;  // "mask", "indices", "mean"
  ElementType element = ElementType::kUndefined;  // undefined: that of the result
  Shape shape = Shape::kLikeResult;
};

// One tensor that autograd saves.
struct SavedOperand {
  enum class Source : uint8_t { kArgument, kResult, kKept };
  Source source = Source::kArgument;
  int8_t index = 0;
  // Saved only if the gradient of one of these arguments will be computed (bit i: argument i).
  // 0: whenever a node is recorded at all.
  uint32_t needed_by = 0;
  // What the mathematics asks for, whatever PyTorch saves: the arguments whose gradients read its
  // numbers. 0: none of them; PyTorch takes the shape from it, or nothing.
  uint32_t read_by = kReadByAll;
  // The gradient can be written with the other end of the call instead: argument 0 for the result,
  // the result for an argument.
  bool or_other_end = false;

  static constexpr uint32_t kReadByAll = ~0u;

  constexpr SavedOperand For(int argument) const {
    SavedOperand saved = *this;
    saved.needed_by |= 1u << argument;
    return saved;
  }
  constexpr SavedOperand ReadBy(std::initializer_list<int> arguments) const {
    SavedOperand saved = *this;
    saved.read_by = 0;
    for (int argument : arguments) saved.read_by |= 1u << argument;
    return saved;
  }
  constexpr SavedOperand Unread() const { return ReadBy({}); }
  constexpr SavedOperand OrOtherEnd() const {
    SavedOperand saved = *this;
    saved.or_other_end = true;
    return saved;
  }
};
constexpr SavedOperand Arg(int index) {
  return {.source = SavedOperand::Source::kArgument, .index = static_cast<int8_t>(index)};
}
constexpr SavedOperand Result() { return {.source = SavedOperand::Source::kResult}; }
constexpr SavedOperand Kept(int index) {
  return {.source = SavedOperand::Source::kKept, .index = static_cast<int8_t>(index)};
}

enum class GradientForm : uint8_t {
  kLikeGradient,  // a new tensor with the strides of the incoming gradient
  kLikeArgument,  // a new contiguous tensor of the argument's shape
  kMemoryFormat,  // the same, channels last if argument 0 was
  kSame,          // the incoming gradient itself
};

// The gradient of one argument; the gradients of a row are in the order in which they are computed.
struct ArgumentGradient {
  int8_t argument = 0;
  GradientForm form = GradientForm::kLikeGradient;
  // Tensors like the gradient that the formula makes first and that live until the gradient exists.
  int8_t temporaries = 0;
};

// What autocast does with the floating-point tensor arguments, last argument first.
enum class Autocast : uint8_t {
  kNone,           // runs in the types it is given
  kLow,            // casts to the low precision; parameters once per step
  kFloat32,        // casts to float32
  kFloat32Result,  // asks for a float32 result instead
  kPromote,        // casts to the widest of them
};

struct TorchOp {
  absl::string_view name;
  absl::string_view arguments;  // "input, weight, bias, stride, padding, dilation, groups"
  int operands = 1;             // leading arguments that must be tensors (or lists of them)
  absl::string_view node = "";  // autograd's name of the node; empty: not differentiable
  ResultShape shape = ResultShape::kBroadcast;
  ResultStrides strides = ResultStrides::kLikeOperands;
  ResultElement element = ResultElement::kPromoted;
  std::vector<KeptTensor> kept = {};
  std::vector<SavedOperand> saves = {};
  std::vector<ArgumentGradient> gradients = {};
  Autocast autocast = Autocast::kNone;
  // Unfolds argument 0 to multiply it with the filter in argument 1, or runs as if it did.
  bool convolves = false;
  // Written in place, it saves its result where it would have saved argument 0.
  bool in_place_saves_result = false;
  RunFunction run = nullptr;  // replaces the fields from `node` to `gradients`
};

// The row of "aten::name.overload", else that of "aten::name", else null. Dots for the namespace
// ("aten.name.overload") and a "torch.ops." in front are understood.
const TorchOp* FindTorchOp(absl::string_view name);

// All rows, ordered by name.
absl::Span<const TorchOp* const> AllTorchOps();

// The name of argument `index` in the row's `arguments`; empty if it has fewer.
absl::string_view ArgumentName(const TorchOp& op, int index);

}  // namespace footprint

#endif  // FOOTPRINT_IR_TORCH_OP_H_
