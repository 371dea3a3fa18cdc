// A tensor in a file of its own: an ONNX TensorProto, or an array that NumPy saved.
#ifndef FOOTPRINT_FRONTEND_TENSOR_FILE_H_
#define FOOTPRINT_FRONTEND_TENSOR_FILE_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace footprint {

// Row-major. Integers and booleans are in `integers`, floating-point numbers in `floats`.
struct TensorContents {
  std::vector<int64_t> shape;
  std::vector<int64_t> integers;
  std::vector<double> floats;
};

// Whether `bytes` begin like a .npy file.
bool IsNpy(const std::string& bytes);

// Of the bytes of a .npy file, or of a serialized TensorProto; or what is wrong with them.
std::variant<TensorContents, std::string> ParseTensorFile(const std::string& bytes);

}  // namespace footprint

#endif  // FOOTPRINT_FRONTEND_TENSOR_FILE_H_
