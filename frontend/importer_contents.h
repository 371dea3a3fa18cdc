// The elements of small tensors.
#ifndef FOOTPRINT_FRONTEND_IMPORTER_CONTENTS_H_
#define FOOTPRINT_FRONTEND_IMPORTER_CONTENTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/tensor_type.h"
#include "onnx/onnx_pb.h"

namespace footprint {

// The elements of an integer or bool tensor in whichever field holds them; nullopt if they are not
// in the message, not all of them, or one does not fit.
std::optional<std::vector<int64_t>> IntegersOf(const ONNX_NAMESPACE::TensorProto& tensor,
                                               ElementType element, int64_t elements);

// The same for float16, bfloat16, float32 and float64; nullopt for other types.
std::optional<std::vector<double>> FloatsOf(const ONNX_NAMESPACE::TensorProto& tensor,
                                            ElementType element, int64_t elements);

}  // namespace footprint

#endif  // FOOTPRINT_FRONTEND_IMPORTER_CONTENTS_H_
