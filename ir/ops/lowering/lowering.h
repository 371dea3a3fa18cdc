// Lowering: how ONNX operators become eager PyTorch calls. One row per ONNX operator, or per shape
// that exporters give one PyTorch operator in several nodes; the rows live in this folder, one file
// per family that shares rules.
//
// A shape is an expression over ONNX operators that ends in the node it is written for:
//
//   Mul(Mul(x, Add(Erf(Div(x, #)), #)), #)       GELU, as written below opset 20
//
//   Op(a, b)        the node that makes this value; operands beyond those named do not matter.
//                   Add, Mul and their like match in either order
//   Op.1(a)         output 1 of the operator
//   Op:n(a)         the same, and the value it makes is bound to n
//   Op[perm=1,0]    with this attribute (integers)
//   Op|Op2          either operator
//   Op?(a)          the operator, or directly its first operand where it is absent
//   &Op(a)          may have readers outside the shape (it stays if they need it)
//   x, w, bias      any value; the same name is the same value
//   #, #eps         a number: known or shape arithmetic of one element
//   _               anything, also an omitted operand
//
// Inner values must not be read from outside (unless &). A bare operator name is the one-to-one
// case.
#ifndef FOOTPRINT_IR_OPS_LOWERING_LOWERING_H_
#define FOOTPRINT_IR_OPS_LOWERING_LOWERING_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ir/torch_program.h"

namespace footprint {

class LowerContext;  // ir/ops/lowering/lower_context.h

// Appends the calls of a match. False: this case has no counterpart and is lowered generically.
using LowerRule = bool (*)(LowerContext&);
// What a shape does not say about its operands. Asks only; appends nothing.
using LowerCondition = bool (*)(const LowerContext&);

struct Lowering {
  absl::string_view onnx = "";      // operator ("Relu", "com.microsoft::Gelu") or shape
  absl::string_view operands = "";  // of a shape: names it binds, in the order the rule counts them
  absl::string_view torch = "";     // the PyTorch operator that a plain rule calls
  LowerRule lower = nullptr;        // null: sizes only, no tensor in PyTorch
  LowerCondition when = nullptr;
  // Operands (bit i) whose arithmetic costs nothing where it comes from shapes alone.
  uint32_t free_operands = 0;
  // Operands that are tensors of the module or not there: what the exporter computes for them costs
  // nothing.
  uint32_t stored_operands = 0;
  // Operands (bit i) that PyTorch takes as numbers: constants there are no tensors.
  uint32_t number_operands = 0;
  // Operands (bit i) that the exporter puts together from parameters: the rule gets those instead,
  // behind kFirstPart, if they are nothing else.
  uint32_t composed_operands = 0;
  // Operands (bit i) that code makes for the operator, to write into or to fill in: constants there
  // are no buffers.
  uint32_t made_operands = 0;
  // Only where attention written by hand is to be taken as one call.
  bool fuses_attention = false;
  absl::string_view note = "";  // evidence in the user's words
};

// The call for what has no PyTorch counterpart, and the one that makes a literal tensor.
inline constexpr absl::string_view kGenericCall = "footprint::generic";
inline constexpr absl::string_view kLiteralCall = "aten::full";
// Of the losses that a step adds to a graph without one.
inline constexpr absl::string_view kCrossEntropyCall = "aten::cross_entropy_loss";
inline constexpr absl::string_view kMseCall = "aten::mse_loss";
inline constexpr absl::string_view kSumCall = "aten::sum";
inline constexpr absl::string_view kViewCall = "aten::view";
// What a fused kernel computes.
inline constexpr absl::string_view kAttentionCall = "aten::scaled_dot_product_attention";
// Operands from here on are the parameters of composed ones, in order.
inline constexpr int kFirstPart = 8;
// The result is the operand under another shape, type or range: what the step keeps of the one it
// keeps of the other.
bool HandsOn(const TorchOp& op);

// The one-to-one row of an operator, or null.
const Lowering* FindLowering(absl::string_view domain, absl::string_view op_type);
// All shapes; earlier ones are tried first.
absl::Span<const Lowering* const> LoweringShapes();

// Families.
absl::Span<const Lowering> ActivationLowerings();
absl::Span<const Lowering> AttentionLowerings();
absl::Span<const Lowering> CastLowerings();
absl::Span<const Lowering> ConvolutionLowerings();
absl::Span<const Lowering> CreationLowerings();
absl::Span<const Lowering> FusedLowerings();
absl::Span<const Lowering> IndexLowerings();
absl::Span<const Lowering> LossLowerings();
absl::Span<const Lowering> MatrixLowerings();
absl::Span<const Lowering> NormLowerings();
absl::Span<const Lowering> PointwiseLowerings();
absl::Span<const Lowering> RandomLowerings();
absl::Span<const Lowering> RecurrentLowerings();
absl::Span<const Lowering> ReductionLowerings();
absl::Span<const Lowering> ViewLowerings();

}  // namespace footprint

#endif  // FOOTPRINT_IR_OPS_LOWERING_LOWERING_H_
