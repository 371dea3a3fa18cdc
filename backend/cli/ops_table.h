// What footprint knows of operators, as text and as JSON.
#ifndef FOOTPRINT_BACKEND_CLI_OPS_TABLE_H_
#define FOOTPRINT_BACKEND_CLI_OPS_TABLE_H_

#include <string>
#include <vector>

#include "backend/missing_ops.h"
#include "backend/terminal.h"

namespace footprint {

// The ONNX operators with a row of their own.
std::string OnnxOpsText(const Terminal& terminal);
std::string OnnxOpsJson();  // "footprint-ops/1"

// The PyTorch operators: how the result is laid out, what autograd saves, which gradients there
// are, what autocast does.
std::string TorchOpsText(const Terminal& terminal);
std::string TorchOpsJson();  // "footprint-torch-ops/1"

// The operators of a model that have no row.
std::string MissingOpsText(const std::vector<MissingOp>& missing, const Terminal& terminal);
std::string MissingOpsJson(const std::vector<MissingOp>& missing);  // "footprint-missing-ops/1"

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_CLI_OPS_TABLE_H_
