#include "passes/replay_rows.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "ir/ops/torch/strides.h"

namespace footprint {
namespace {

const Tensor& FirstOf(absl::Span<const Tensor> operands) {
  static const Tensor none;
  for (const Tensor& operand : operands) {
    if (operand) return operand;
  }
  return none;
}

Dims ShapeOf(Eager& eager, const TorchOp& op, absl::Span<const Tensor> operands,
             const CallArguments* call) {
  switch (op.shape) {
    case ResultShape::kBroadcast: return BroadcastShape(eager, operands);
    case ResultShape::kLikeFirst: return FirstOf(operands).shape();
    case ResultShape::kDeclared: break;
  }
  const TensorType* declared = call == nullptr ? nullptr : call->declared();
  return declared == nullptr ? Dims{Dim()} : declared->dims;
}

ElementType DeclaredElement(Eager& eager, const CallArguments* call) {
  const TensorType* declared = call == nullptr ? nullptr : call->declared();
  if (declared == nullptr || declared->element == ElementType::kFloat) return eager.mode().module;
  return declared->element;
}

// A number with a point makes integers floating point.
ElementType PromotedWithNumbers(absl::Span<const Tensor> operands, const CallArguments* call) {
  const ElementType element = PromotedElement(operands);
  if (call == nullptr || IsFloatingPoint(element)) return element;
  for (int i = 0; i < 2; ++i) {
    if (call->IsFraction(i)) return ElementType::kFloat;
  }
  return element;
}

ElementType ElementOf(Eager& eager, const TorchOp& op, absl::Span<const Tensor> operands,
                      const CallArguments* call) {
  switch (op.element) {
    case ResultElement::kPromoted: return PromotedWithNumbers(operands, call);
    case ResultElement::kLikeFirst: return FirstOf(operands).element();
    case ResultElement::kBool: return ElementType::kBool;
    case ResultElement::kInt64: return ElementType::kInt64;
    case ResultElement::kDeclared: return DeclaredElement(eager, call);
  }
  return ElementType::kUndefined;
}

// Rows that read their operand for the gradient have no use for its storage in place: PyTorch
// copies it first, and nothing is won.
bool MayOverwrite(const TorchOp& op) {
  if (op.in_place_saves_result) return true;
  return std::none_of(op.saves.begin(), op.saves.end(), [](const SavedOperand& saved) {
    return saved.source == SavedOperand::Source::kArgument && saved.index == 0;
  });
}

// Channels stay last where the first operand has them so. Convolutions of bfloat16 do only in cuDNN
// on devices that PyTorch knows to be able to; the references, made without one, took the kernel
// that needs none, whose results are contiguous.
bool KeepsChannelsLast(Eager& eager, const TorchOp& op, const Tensor& model, const Dims& shape) {
  if (op.convolves && model.element() == ElementType::kBfloat16) return false;
  return IsChannelsLast(eager, model) && shape.size() == model.shape().size();
}

Tensor NewResult(Eager& eager, const TorchOp& op, absl::Span<const Tensor> operands,
                 const CallArguments* call, bool in_place, ElementType element) {
  const Tensor& first = FirstOf(operands);
  if (in_place) return eager.Alias(first, first.shape(), first.strides());
  const Dims shape = ShapeOf(eager, op, operands, call);
  switch (op.strides) {
    case ResultStrides::kContiguous: break;
    case ResultStrides::kLikeOperands:
      return eager.NewStrided(shape, OperandStrides(eager, operands, shape), element);
    case ResultStrides::kMemoryFormat:
      if (!KeepsChannelsLast(eager, op, first, shape)) break;
      return eager.NewStrided(shape, ChannelsLastStrides(eager.dims(), shape), element);
  }
  return eager.New(shape, element);
}

Tensor NewKept(Eager& eager, const KeptTensor& kept, const Tensor& result) {
  const ElementType element =
      kept.element == ElementType::kUndefined ? result.element() : kept.element;
  switch (kept.shape) {
    case KeptTensor::Shape::kLikeResult: return NewLike(eager, result, element, kept.what);
    case KeptTensor::Shape::kScalar: return eager.New({}, element, kept.what);
    case KeptTensor::Shape::kEmpty: return eager.New({Dim(0)}, element, kept.what);
    case KeptTensor::Shape::kChannels: return eager.New({result.dim(1)}, element, kept.what);
  }
  return {};
}

bool IsReadFor(const SavedOperand& saved, int argument) {
  return saved.needed_by == 0 || (saved.needed_by >> argument & 1) != 0;
}

Tensor NewGradient(Backward& b, const TorchOp& op, const ArgumentGradient& gradient) {
  const Tensor& incoming = b.gradient();
  switch (gradient.form) {
    case GradientForm::kSame: return incoming;
    case GradientForm::kLikeArgument: return b.eager.New(b.shape(gradient.argument),
                                                         incoming.element());
    case GradientForm::kMemoryFormat: {
      const Tensor& model = op.saves.empty() ? incoming : b.saved(0);
      const Dims& shape = b.shape(gradient.argument);
      if (!KeepsChannelsLast(b.eager, op, model, shape)) {
        return b.eager.New(shape, incoming.element());
      }
      return b.eager.NewStrided(shape, ChannelsLastStrides(b.eager.dims(), shape),
                                incoming.element());
    }
    case GradientForm::kLikeGradient: break;
  }
  // As arithmetic on the incoming gradient and the saved operands that the formula reads.
  std::vector<Tensor> operands = {incoming};
  for (size_t i = 0; i < op.saves.size(); ++i) {
    const Tensor& saved = b.saved(static_cast<int>(i));
    if (saved && IsReadFor(op.saves[i], gradient.argument)) operands.push_back(saved);
  }
  const Dims shape = BroadcastShape(b.eager, operands);
  return b.eager.NewStrided(shape, OperandStrides(b.eager, operands, shape),
                            PromotedElement(operands));
}

// The gradients of a row, in its order.
void RowGradients(Backward& b, const TorchOp& op) {
  for (const ArgumentGradient& gradient : op.gradients) {
    if (!b.Needs(gradient.argument)) continue;
    std::vector<Tensor> temporaries;
    for (int i = 0; i < gradient.temporaries; ++i) {
      temporaries.push_back(gradient.form == GradientForm::kLikeArgument
                                ? b.eager.New(b.shape(gradient.argument), b.gradient().element(),
                                              "temporary")
                                : NewLike(b.eager, b.gradient(), b.gradient().element(),
                                          "temporary"));
    }
    b.Give(gradient.argument, NewGradient(b, op, gradient));
  }
}

SavedTensor SavedBy(Eager& eager, const SavedOperand& saved, absl::Span<const Tensor> operands,
                    const TensorList& results, bool result_instead) {
  bool needed = saved.needed_by == 0;
  for (size_t i = 0; i < operands.size(); ++i) {
    if ((saved.needed_by >> i & 1) != 0) needed |= eager.Needs(operands[i]);
  }
  if (!needed) return {};
  const size_t index = static_cast<size_t>(saved.index);
  SavedTensor kept;
  kept.needed_by = saved.needed_by;
  kept.read_by = saved.read_by;
  switch (saved.source) {
    case SavedOperand::Source::kArgument:
      if (index < operands.size()) kept.tensor = operands[index];
      if (result_instead && index == 0) kept.tensor = results[0];
      if (saved.or_other_end) kept.instead = results[0].storage();
      break;
    case SavedOperand::Source::kResult:
      kept.tensor = results[0];
      if (saved.or_other_end && operands[0]) kept.instead = operands[0].storage();
      break;
    case SavedOperand::Source::kKept: kept.tensor = results[1 + index]; break;
  }
  return kept;
}

}  // namespace

TensorList ApplyRow(Eager& eager, const TorchOp& op, absl::Span<const Tensor> operands,
                    const CallArguments* call) {
  const ElementType element = ElementOf(eager, op, operands, call);
  const bool in_place =
      call != nullptr && MayOverwrite(op) && call->WritesInPlace(eager, element);
  TensorList results = {NewResult(eager, op, operands, call, in_place, element)};
  for (const KeptTensor& kept : op.kept) results.push_back(NewKept(eager, kept, results[0]));
  if (op.node.empty()) return results;

  bool needed = false;
  for (const ArgumentGradient& gradient : op.gradients) {
    const size_t i = static_cast<size_t>(gradient.argument);
    needed |= i < operands.size() && eager.Needs(operands[i]);
  }
  if (!needed) return results;
  std::vector<SavedTensor> saved;
  for (const SavedOperand& operand : op.saves) {
    saved.push_back(SavedBy(eager, operand, operands, results,
                            in_place && op.in_place_saves_result));
  }
  eager.Record(op.node, operands, {results[0]}, saved,
               [&op](Backward& b) { RowGradients(b, op); });
  return results;
}

}  // namespace footprint
