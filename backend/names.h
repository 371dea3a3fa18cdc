// Names of options as the command line spells them.
#ifndef FOOTPRINT_BACKEND_NAMES_H_
#define FOOTPRINT_BACKEND_NAMES_H_

#include "backend/options.h"

namespace footprint {

constexpr const char* PrecisionName(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return "fp32";
    case Precision::kBf16:
      return "bf16";
    case Precision::kFp16:
      return "fp16";
    case Precision::kAmpBf16:
      return "amp-bf16";
    case Precision::kAmpFp16:
      return "amp-fp16";
    case Precision::kMixedMaster:
      return "mixed:master";
  }
  return "";
}

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_NAMES_H_
