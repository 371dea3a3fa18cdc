// A sum of sizes.
#ifndef FOOTPRINT_BACKEND_TOTAL_H_
#define FOOTPRINT_BACKEND_TOTAL_H_

#include <cstdint>
#include <optional>

#include "backend/report.h"

namespace footprint {

// Stays unknown once a part of it is, or once it leaves 64 bits.
class Total {
 public:
  void Add(const std::optional<int64_t>& bytes) {
    known_ = known_ && bytes.has_value() && !__builtin_add_overflow(sum_, *bytes, &sum_);
  }
  Bytes value() const { return known_ ? Bytes(sum_) : std::nullopt; }

 private:
  bool known_ = true;
  int64_t sum_ = 0;
};

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_TOTAL_H_
