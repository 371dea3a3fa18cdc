// Reads the printed form of a TorchProgram back, so that programs can be written down in tests:
//
//   parameter %w: float32[12, 8, 3, 3]
//   input %x: float32[batch, 8, 16, 16]
//   %y: float32[batch, 12, 16, 16] = aten::conv2d(%x, %w, None, [1, 1], [1, 1])
//   loss %y
//
// A parameter may be followed by "frozen", a call by "in-place", "in-place-if-unsaved" and "held:N"
// (the index of the call until which its first result is held). '#' begins a comment.
#ifndef FOOTPRINT_TESTS_SUPPORT_TORCH_TEXT_H_
#define FOOTPRINT_TESTS_SUPPORT_TORCH_TEXT_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "ir/dim.h"
#include "ir/torch_program.h"

namespace footprint {

// nullopt: `error` says which line is wrong.
std::optional<TorchProgram> ParseTorchProgram(absl::string_view text, DimTable& dims,
                                              std::string* error);

}  // namespace footprint

#endif  // FOOTPRINT_TESTS_SUPPORT_TORCH_TEXT_H_
