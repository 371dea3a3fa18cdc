// Answers about operators without a row, from the schemas that ONNX itself carries.
#ifndef FOOTPRINT_FRONTEND_FALLBACK_H_
#define FOOTPRINT_FRONTEND_FALLBACK_H_

#include <memory>

#include "ir/fallback.h"

namespace footprint {

// Cheap to make: the schemas are registered when the first question comes.
std::unique_ptr<OpFallback> MakeSchemaFallback();

}  // namespace footprint

#endif  // FOOTPRINT_FRONTEND_FALLBACK_H_
