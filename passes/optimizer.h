// Optimizers as data: what each keeps between steps, and what its step allocates on the way.
#ifndef FOOTPRINT_PASSES_OPTIMIZER_H_
#define FOOTPRINT_PASSES_OPTIMIZER_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ir/dim.h"
#include "ir/tensor_type.h"
#include "passes/memory_trace.h"

namespace footprint {

// One tensor of state for each parameter.
struct OptimizerState {
  enum class Size : uint8_t {
    kNone,
    kLikeParameter,  // shape and type of the parameter
    kScalar,         // float32, on the device
    kRows,           // of a matrix: one number for each row; nothing below rank 2
    kColumns,        // likewise for each column
    kVector,         // like the parameter, below rank 2 only
    kMatrix,         // like the parameter, from rank 2 on only
    kQuantized,      // one byte for each element from 4096 elements on, else float32
    kQuantizedScale, // float32 for each block of 256 elements of those, else nothing
  };
  absl::string_view name;
  Size size = Size::kNone;
};

struct Optimizer {
  static constexpr int kMaxStates = 6;
  static constexpr int64_t kSmallestPaged = 100000;  // elements of a parameter
  absl::string_view name;  // "adamw", "adamw:for-loop", "adamw:fused"
  OptimizerState states[kMaxStates] = {};  // in the order in which they are made
  StateMade state_made = StateMade::kInStep;
  // State of parameters of kSmallestPaged elements or more lies in unified memory, which the driver
  // moves between host and device page by page; scales of quantized state do not.
  bool paged = false;
  // Tables of 256 float32 that quantized state is read with, once for all parameters.
  int code_tables = 0;
  // What the step allocates: names of variables, each of which is bound to a new tensor like the
  // parameter ("?name": a bool mask like it, "%name": its bfloat16 copy, "#name": the bfloat16
  // product of a matrix with its transpose over the longer side, "~name": a float32 scalar); what
  // the name was bound to before goes once the new tensor exists; "-name" drops it. `lists`: for
  // all parameters at once; then `each`: for one parameter after the other, where names keep their
  // tensors until they are bound again.
  absl::string_view lists = "";
  absl::string_view each = "";
  // Its kernel takes GradScaler's scale: gradients are only checked before it runs.
  bool takes_scale = false;
  // False: from source or description, not measured.
  bool measured = true;
};

// Null if there is none of that name.
const Optimizer* FindOptimizer(absl::string_view name);
absl::Span<const Optimizer> AllOptimizers();

// Does this state of a parameter of that many elements lie in unified memory?
bool IsPaged(const Optimizer& optimizer, const OptimizerState& state, Dim elements);

// The shape and type of a state tensor of a parameter; false if the parameter has none of that
// kind.
bool StateTensor(const OptimizerState& state, const Dims& parameter, ElementType element,
                 DimTable& dims, Dims* shape, ElementType* state_element);

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_OPTIMIZER_H_
