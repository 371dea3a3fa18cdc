// OnnxOp: what a pass may ask about an ONNX operator. One row per operator and version range; the
// rows live in ir/ops/onnx, one file per family that shares rules.
//
// A row says what is possible; the pass decides whether it is safe here.
#ifndef FOOTPRINT_IR_ONNX_OP_H_
#define FOOTPRINT_IR_ONNX_OP_H_

#include <cstdint>
#include <initializer_list>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ir/op_signature.h"

namespace footprint {

class InferContext;  // ir/infer_context.h
struct Node;         // ir/graph.h

// Sets the types (and, if the operator computes shapes, the values) of a node's outputs.
using InferRule = void (*)(InferContext&);
// How many weights the `elements` bytes of a stored operand hold.
using WeightCount = int64_t (*)(const Node& node, int operand, int64_t elements);

enum class Control : uint8_t { kNone, kIf, kLoop, kScan, kSequenceMap };

// What textbook accounting asks about an operator.
enum class TextbookKind : uint8_t {
  kNone,
  kEmbedding,  // a table: Gather
  kLinear,     // a weight matrix
  kConvolution,
  kSoftmax,    // the middle of attention
  kAttention,  // attention in one operator
  kNormalization,
};

struct OnnxOp {
  static constexpr int kLatest = 1 << 30;

  absl::string_view name;
  absl::string_view domain = "";  // "" is ai.onnx
  int since = 1;                  // first opset version of the domain that this row describes
  int until = kLatest;            // last one, inclusive
  Signature signature = "1->1";
  InferRule types = nullptr;      // null: the fallback or the declared type is asked
  // Computes small integer (or shape-deciding float) contents from those of the inputs; called
  // after `types` when every input it needs is known.
  InferRule values = nullptr;
  // The operand whose storage output 0 shares (Reshape, Identity ...), -1: none.
  int alias = -1;
  // Operands whose storage output 0 may overwrite if they die here: bit i for operand i.
  uint32_t inplace = 0;
  Control control = Control::kNone;
  // Operands that must have one element type, where they are there: bit i, the last one for all
  // that follow.
  uint32_t same_element = 0;
  // Operands that hold trained weights when they are stored floating-point constants: bit i.
  uint32_t weights = 0;
  // Operands that say what the stored numbers of quantized weights mean, their scales and zero
  // points: bit i. They take bytes, but are no weights of their own.
  uint32_t quantization = 0;
  WeightCount weight_count = nullptr;  // of operands stored in bytes; null: one weight each
  // Operands that hold statistics which training updates but no gradient does: bit i.
  uint32_t statistics = 0;
  // Hands its input on unchanged (Identity).
  bool is_identity = false;
  // Draws random numbers: its results are no constants even where its inputs are.
  bool is_random = false;
  // Exporters write it with an all-one scale (operand 1) and an all-zero bias (operand 2) in
  // Constant nodes where the module has no such parameters.
  bool has_filler_weights = false;
  // Embeddings, linear layers and convolutions own a weight matrix or table: articles count their
  // outputs, and nothing else.
  TextbookKind textbook = TextbookKind::kNone;

  constexpr OnnxOp With(Signature other) const {
    OnnxOp op = *this;
    op.signature = other;
    return op;
  }
  // `operands`: scales and zero points.
  constexpr OnnxOp Quantized(uint32_t operands, WeightCount count = nullptr) const {
    OnnxOp op = *this;
    op.quantization = operands;
    op.weight_count = count;
    return op;
  }
};

constexpr uint32_t kEveryOperand = ~0u;  // where a field has a bit for each operand

// The row for an operator at an opset version of its domain, or null.
const OnnxOp* FindOnnxOp(absl::string_view domain, absl::string_view name, int version);

// All rows, by domain, name, since.
absl::Span<const OnnxOp* const> AllOnnxOps();

}  // namespace footprint

#endif  // FOOTPRINT_IR_ONNX_OP_H_
