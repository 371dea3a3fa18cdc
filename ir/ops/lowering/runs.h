// Runs: what one call of PyTorch looks like where both exporters write it as the same calls in a
// row. Told by what the calls are, how they are wired, and the names of the module's parameters.
#ifndef FOOTPRINT_IR_OPS_LOWERING_RUNS_H_
#define FOOTPRINT_IR_OPS_LOWERING_RUNS_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace footprint {

struct CallRun {
  // In order, without "aten::". "a|b": either; "a?": may be absent; "a*": any number of them.
  absl::string_view calls;
  absl::string_view torch;  // the call they stand for
  // What it takes, by spaces: argument 1 of call 0 is "0.1". "=" behind it: not taken, but the same
  // as what is, or nothing but a constant.
  absl::string_view operands;
  absl::string_view results = "";  // calls whose result is the run's; empty: the last one
  // Of a cell of a recurrent layer: where its matrix for the input is among the operands, by the
  // name it has in the module. -1: no cell.
  int cell_weight = -1;
  int states = 0;           // of a cell: operands 1 to `states`, zeros where the file has constants
  bool first_step = false;  // of a cell whose states are zero: the exporter computed their share
  bool windows = false;  // its first call picks windows by constant places: two axes become four
  bool pools = false;    // it reduces the last axes and keeps them, as decompositions count axes
  bool wraps = false;    // what its slices read stands among them in the joined tensor
  // The last operand's name ends so, and beside it is a buffer of the other name, as long as the
  // first axis of the result, which the run writes before it reads it: the file lacks that.
  absl::string_view state_suffix = "";
  absl::string_view note = "";
};

absl::Span<const CallRun> CallRuns();

// Parameters of a cell, for its input and for its state.
inline constexpr absl::string_view kCellInputWeight = "weight_ih";
inline constexpr absl::string_view kCellStateWeight = "weight_hh";
inline constexpr absl::string_view kCellStateBias = "bias_hh";
inline constexpr absl::string_view kZerosCall = "aten::zeros";

}  // namespace footprint

#endif  // FOOTPRINT_IR_OPS_LOWERING_RUNS_H_
