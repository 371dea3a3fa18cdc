// Scan: a body that runs once for each row of its scanned inputs.
#ifndef FOOTPRINT_IR_OPS_ONNX_SCAN_RULES_H_
#define FOOTPRINT_IR_OPS_ONNX_SCAN_RULES_H_

#include "ir/infer_context.h"

namespace footprint {

// Types of the outputs, and their contents where there are few rows and something is known of the
// inputs'.
void ScanTypes(InferContext& c);

}  // namespace footprint

#endif  // FOOTPRINT_IR_OPS_ONNX_SCAN_RULES_H_
