// A shape's text (see lowering.h), read into a table of its parts.
#ifndef FOOTPRINT_IR_OPS_LOWERING_SHAPE_H_
#define FOOTPRINT_IR_OPS_LOWERING_SHAPE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"

namespace footprint {

struct ShapePart {
  enum class Kind : uint8_t { kOperator, kVariable, kNumber, kAnything };
  Kind kind = Kind::kAnything;
  absl::InlinedVector<absl::string_view, 2> operators;  // kOperator: any of them
  std::vector<std::pair<absl::string_view, std::vector<int64_t>>> attributes;
  std::vector<int> operands;   // parts, for kOperator
  int output = 0;              // Op.1(a): which output of the operator
  int variable = -1;           // bound to the value this part stands for, -1: none
  bool optional = false;       // Op?(a)
  bool shared = false;         // &Op(a)
  bool commutes = false;       // operands in either order
};

struct Shape {
  std::vector<ShapePart> parts;  // the root is the last
  std::vector<absl::string_view> variables;
};

// Aborts on text that is no shape: rows are part of the program.
Shape ParseShape(absl::string_view text);

}  // namespace footprint

#endif  // FOOTPRINT_IR_OPS_LOWERING_SHAPE_H_
