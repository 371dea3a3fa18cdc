// The ONNX operators with a row of their own, as text and as JSON.
#ifndef FOOTPRINT_BACKEND_CLI_OPS_TABLE_H_
#define FOOTPRINT_BACKEND_CLI_OPS_TABLE_H_

#include <string>

#include "backend/terminal.h"

namespace footprint {

std::string OpsText(const Terminal& terminal);
std::string OpsJson();  // "footprint-ops/1"

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_CLI_OPS_TABLE_H_
