// Operators that ONNX Runtime lists and that have no row.
#ifndef FOOTPRINT_IR_OPS_ONNX_WITHOUT_ROW_H_
#define FOOTPRINT_IR_OPS_ONNX_WITHOUT_ROW_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace footprint {

struct OpWithoutRow {
  absl::string_view domain;
  absl::string_view name;
  absl::string_view why;
};

absl::Span<const OpWithoutRow> OpsWithoutRow();

}  // namespace footprint

#endif  // FOOTPRINT_IR_OPS_ONNX_WITHOUT_ROW_H_
