// What the name of a module's class says and its float32 export does not: casts that were no-ops
// when the file was made, and autograd functions of the module's own. A short list of widely used
// library classes; whoever uses a row reports it, since a name is weaker than a text.
#ifndef FOOTPRINT_IR_OPS_LOWERING_CLASS_FACTS_H_
#define FOOTPRINT_IR_OPS_LOWERING_CLASS_FACTS_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace footprint {

struct ClassFact {
  // The classes' names, by spaces, or their ends: "RMSNorm" is LlamaRMSNorm too.
  absl::string_view class_name;
  // The whole module is this one call on what it is handed (its own autograd function).
  absl::string_view function = "";

  // Casts to float32.
  enum class Up : uint8_t {
    kNothing,
    kInput,       // what the module is handed, once, for all that reads it
    kPowOperand,  // only for the square
    kScores,      // both operands of the product that gives the scores of attention
    kSoftmaxOperand,
  };
  Up up = Up::kNothing;
  // Casts back, to the type of what the module is handed or of its parameter.
  enum class Down : uint8_t {
    kNothing,
    kBeforeWeightToInput,   // the normalised value, before it meets the parameter
    kBeforeWeightToWeight,  // the same, to the parameter's type
    kResultToInput,         // what the module returns
    kResultToModule,        // what the module returns, to the type that its parameters have
    kSoftmaxToHanded,       // the probabilities of attention, to the type of queries and values
  };
  Down down = Down::kNothing;
  // Softmax is asked for the type of the hidden states, which was float32 when the file was made.
  bool softmax_as_hidden = false;
  // The submodule of this name is handed its operand in the type of its weight; empty: none.
  absl::string_view cast_for = "";
  // The logits are cast to float32 for the loss.
  enum class FloatLoss : uint8_t { kNo, kOnShiftedLabels, kAlways };
  FloatLoss float_loss = FloatLoss::kNo;
  absl::string_view note;   // in the user's words
};

// The row for a class ("transformers.models.llama.modeling_llama.LlamaRMSNorm"); null: none.
const ClassFact* FindClassFact(absl::string_view class_name);

}  // namespace footprint

#endif  // FOOTPRINT_IR_OPS_LOWERING_CLASS_FACTS_H_
