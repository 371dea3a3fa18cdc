#include "backend/runtime/onnxruntime_weights.h"

#include <algorithm>
#include <limits>

#include "backend/runtime/onnxruntime.h"

namespace footprint {
namespace {

int64_t Narrow(Wide bytes) {
  constexpr Wide kMost = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::min(bytes, kMost));
}

}  // namespace

void WeightLedger::Read(Key value, Wide bytes) {
  Row& row = rows_[value];
  row.stored = Aligned(bytes);
  row.is_read = true;
}

void WeightLedger::Copy(Key value, Wide bytes, const Copier& by, const PackedOperand& copy) {
  Row& row = rows_[value];
  row.stored = Aligned(bytes);
  if (copy.keeps) row.is_read = true;
  Wide& made = row.copies[{by.kernel, copy.apart ? by.node : Key{-1, -1}, by.part}];
  made = std::max(made, Aligned(copy.bytes));
}

WeightBytes WeightLedger::Total() const {
  Wide read = 0;
  Wide released = 0;
  Wide packed = 0;
  for (const auto& [key, row] : rows_) {
    (row.is_read ? read : released) += row.stored;
    for (const auto& [copy, bytes] : row.copies) packed += bytes;
  }
  return {.held = Narrow(read + packed), .packed = Narrow(packed), .released = Narrow(released)};
}

}  // namespace footprint
