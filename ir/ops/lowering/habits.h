// Habits of PyTorch's modules that no file shows.
#ifndef FOOTPRINT_IR_OPS_LOWERING_HABITS_H_
#define FOOTPRINT_IR_OPS_LOWERING_HABITS_H_

#include "absl/strings/string_view.h"
#include "ir/graph.h"
#include "ir/torch_op.h"

namespace footprint {

// Calls that modules write into their first operand where nobody reads that operand later.
struct InPlaceHabit {
  absl::string_view op;
  bool after_branch = false;  // only where EndsBranch of what made the operand
  bool in_norm = false;       // only as a module inside a norm's, as timm has them
  absl::string_view note;
};
const InPlaceHabit* FindInPlaceHabit(const TorchOp& op);
// The library of this class has the habit; PyTorch's own default is a new tensor.
bool HasInPlaceHabits(absl::string_view class_name);
// What `out += identity` adds into: a norm over channels, or torchvision's stochastic depth.
bool EndsBranch(const TorchOp& op, absl::string_view module);

// Turns angles into a rotary position embedding. The frequencies behind the angles are a buffer
// that the transformers library keeps twice.
bool IsRotation(const TorchOp& op);
bool IsRotation(const Node& node);
bool IsCosineOrSine(const TorchOp& op);  // of its angles
inline constexpr absl::string_view kFrequenciesName = "inv_freq";
inline constexpr absl::string_view kFrequenciesCopyName = "original_inv_freq";

// The product of two computed tensors, as in attention written out; a layer's is another call.
bool MultipliesTensors(const TorchOp& op);
bool Attends(const TorchOp& op);  // in one kernel
// Softmax, and what lets probabilities through: dropout and casts.
bool GivesProbabilities(const TorchOp& op);
bool PassesProbabilities(const TorchOp& op);
inline constexpr size_t kSoftmaxType = 2;  // the argument
bool DropsOut(const TorchOp& op);
bool Casts(const TorchOp& op);
bool Inverts(const TorchOp& op);  // each element
bool Scales(const TorchOp& op);   // by its other operand
bool IsSum(const TorchOp& op);  // of two operands
// A product of computed tensors on top of a bias, as some write the scores of attention.
bool AddsProductToBias(const TorchOp& op);
bool GivesMeans(const TorchOp& op);
bool TakesRoot(const TorchOp& op);  // or one over it

// What callers of modules of text models keep names for, by the names of the modules.
struct NamedModule {
  absl::string_view module;
  // Its caller keeps what it was handed until the module of this name, which follows, has returned.
  // Empty: its caller keeps what it returned, until it returns itself.
  absl::string_view next = "";
};
const NamedModule* FindNamedModule(absl::string_view module);
// Rows of a table. Indices that a module stores for one of its own are a buffer.
inline constexpr absl::string_view kIndexCopyName = "index";
bool LooksUp(const TorchOp& op);
// Gives its first operand another shape or order of axes, as a view or a copy.
bool RearrangesOnly(const TorchOp& op);

// What masks are made of: numbers from a first one up; a >= b; a choice; one number everywhere.
bool CountsUp(const TorchOp& op);
bool IsAtLeast(const TorchOp& op);
bool Chooses(const TorchOp& op);
bool FillsWithNumber(const TorchOp& op);

// Its results are no numbers that a gradient could flow to.
bool Compares(const Node& node);
// Hands on the numbers of its first operand under another shape.
bool Rearranges(const Node& node);

// Which operand says whether a dropout is active; -1: none.
int ModeOperand(const Node& node);

// cuDNN keeps the gates of a recurrent layer in a reserve space of its own size.
bool HasReserveSpace(const TorchOp& op);

// Norms whose running statistics (argument kRunningMean) come with a counter of steps, one int64.
bool CountsSteps(const TorchOp& op);
inline constexpr size_t kRunningMean = 3;
inline constexpr absl::string_view kRunningMeanName = "running_mean";
inline constexpr absl::string_view kStepCounterName = "num_batches_tracked";

}  // namespace footprint

#endif  // FOOTPRINT_IR_OPS_LOWERING_HABITS_H_
