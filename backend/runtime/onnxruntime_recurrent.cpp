// What recurrent kernels take while they run, each direction on its own: the gates of all steps,
// states of one, and biases; results that the file leaves out; backward the sequences reversed.
#include <algorithm>

#include "backend/runtime/onnxruntime_scratch.h"

namespace footprint {
namespace {

constexpr Wide kFloat = 4;

struct Sizes {
  explicit Sizes(const SizedNode& sized) {
    if (sized.source == nullptr || sized.inputs.empty() || sized.inputs[0].size() != 3) return;
    const absl::string_view direction = sized.source->String("direction", "forward");
    directions = direction == "bidirectional" ? 2 : 1;
    is_reversed = direction != "forward";
    has_bias = sized.Has(3);
    steps = sized.inputs[0][0];
    const Wide batch = sized.inputs[0][1];
    const Wide hidden = sized.source->Int("hidden_size", 0);
    row = Aligned(hidden * kFloat);
    state = Aligned(batch * hidden * kFloat);
    sequence = Aligned(steps * batch * hidden * kFloat);
    lengths = Aligned(batch * kFloat);
    input = Aligned(sized.input_bytes[0]);
    exact_sequence = steps * batch * hidden * kFloat;
    exact_state = batch * hidden * kFloat;
  }

  // Of the results from the second on, those that are not asked for.
  Wide LeftOut(const SizedNode& sized, size_t results) const {
    Wide bytes = 0;
    for (size_t i = 1; i < results; ++i) {
      if (!sized.Makes(i)) bytes += Aligned(directions * exact_state);
    }
    return bytes;
  }
  Wide Reversed() const { return is_reversed ? input + sequence : 0; }

  Wide directions = 0;
  bool is_reversed = false;
  bool has_bias = false;
  Wide steps = 0;
  Wide row = 0;
  Wide state = 0;
  Wide sequence = 0;
  Wide lengths = 0;
  Wide input = 0;
  Wide exact_sequence = 0;
  Wide exact_state = 0;
};

}  // namespace

Wide LstmScratch(const SizedNode& sized) {
  const Sizes sizes(sized);
  const Wide one = Aligned(4 * sizes.exact_sequence) + 3 * sizes.state +
                   (sizes.has_bias ? 6 : 2) * sizes.row + sizes.lengths;
  return sizes.directions * one + sizes.LeftOut(sized, 3) + sizes.Reversed();
}

Wide GruScratch(const SizedNode& sized) {
  const Sizes sizes(sized);
  const bool is_linear_first =
      sized.source != nullptr && sized.source->Int("linear_before_reset", 0) != 0;
  const Wide biases = !sizes.has_bias ? 0 : is_linear_first ? 4 : 3;
  const Wide one = Aligned(3 * sizes.exact_sequence) +
                   (2 + biases + (is_linear_first ? 1 : 0)) * sizes.state + sizes.lengths;
  return sizes.directions * one + sizes.LeftOut(sized, 2) + sizes.Reversed();
}

// All steps of all directions are kept, even if they are left out.
Wide RnnScratch(const SizedNode& sized) {
  const Sizes sizes(sized);
  const Wide left_out = Aligned(sizes.directions * sizes.exact_sequence);
  return sizes.sequence + (sized.Makes(0) ? Wide{0} : left_out);
}

// The memory [batch, steps, size] that is attended to, for each direction as well.
Wide AttentionLstmScratch(const SizedNode& sized) {
  enum : size_t { kLengths = 4, kQueryWeights = 8, kMemory = 11, kLayer = 13 };
  const Sizes sizes(sized);
  if (sizes.steps == 0 || sized.inputs.size() <= kMemory || sized.inputs[kMemory].size() != 3 ||
      sized.inputs[kQueryWeights].size() != 3) {
    return 0;
  }
  const Wide batch = sized.inputs[0][1];
  const Wide memory = sized.inputs[kMemory][1];
  const Wide width = sized.inputs[kMemory][2];
  const Wide attended = sized.inputs[kQueryWeights][2];
  const bool has_layer = sized.inputs.size() > kLayer && sized.inputs[kLayer].size() == 3;
  Wide one = Aligned(batch * memory * width * kFloat) +
             Aligned(batch * memory * attended * kFloat) + Aligned(batch * attended * kFloat) +
             sizes.lengths + 2 * Aligned(batch * memory * kFloat) +
             Aligned(batch * width * kFloat) + 4 * sizes.state + 3 * sizes.row +
             Aligned(4 * sizes.exact_sequence);
  if (has_layer) one += Aligned(batch * sized.inputs[kLayer][2] * kFloat);
  if (sizes.has_bias) one += 4 * sizes.row;
  if (!sized.Has(kLengths)) one += sizes.lengths;
  constexpr size_t kLastCells = 2;
  const Wide cells =
      sized.Makes(kLastCells) ? Wide{0} : Aligned(sizes.directions * sizes.exact_state);
  return sizes.directions * one + cells +
         (sizes.directions == 1 ? Wide{0} : sizes.sequence + sizes.input);
}

}  // namespace footprint
