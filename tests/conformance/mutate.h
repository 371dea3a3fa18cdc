// Damages a model at random: what is left is a model that a parser takes, and often nonsense.
#ifndef FOOTPRINT_TESTS_CONFORMANCE_MUTATE_H_
#define FOOTPRINT_TESTS_CONFORMANCE_MUTATE_H_

#include <cstdint>

#include "onnx/onnx_pb.h"

namespace footprint {

// One to three changes to ranks and sizes of inputs, element types, attributes, contents of integer
// initializers, operands, results or the opset. The same seed makes the same changes.
void Mutate(ONNX_NAMESPACE::ModelProto& model, uint32_t seed);

}  // namespace footprint

#endif  // FOOTPRINT_TESTS_CONFORMANCE_MUTATE_H_
