// Which operators of a model have no row.
#ifndef FOOTPRINT_BACKEND_MISSING_OPS_H_
#define FOOTPRINT_BACKEND_MISSING_OPS_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "backend/report.h"

namespace footprint {

struct MissingOp {
  std::string domain;  // "ai.onnx", "com.microsoft" ...
  std::string name;
  int version = 0;  // opset version of the domain in force
  int64_t nodes = 0;
  // What the shapes of its outputs come from instead: "ONNX's schema", or "declarations" of the
  // file, if there are any.
  std::string shapes_from;
};

// Of the model at `path`, functions taken apart, by domain, name and version.
std::variant<std::vector<MissingOp>, Failure> FindMissingOps(const std::string& path);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_MISSING_OPS_H_
