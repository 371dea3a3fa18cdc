// ONNX's own shape inference as a second opinion.
#ifndef FOOTPRINT_TESTS_CONFORMANCE_ONNX_ORACLE_H_
#define FOOTPRINT_TESTS_CONFORMANCE_ONNX_ORACLE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace footprint {

// A tensor as ONNX has it. Sizes that are names or not known: -1.
struct OracleType {
  int element = 0;
  bool has_rank = false;
  std::vector<int64_t> dims;
};

// The tensors of the top graph by name, of the model at `path` with all declared shapes but those
// of inputs removed, with data propagation. Empty if ONNX cannot read or infer it.
std::map<std::string, OracleType> InferWithOnnx(const std::string& path);

}  // namespace footprint

#endif  // FOOTPRINT_TESTS_CONFORMANCE_ONNX_ORACLE_H_
