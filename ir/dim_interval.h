// Interval arithmetic on DimBounds. Saturating: a bound that leaves 64 bits is no bound.
#ifndef FOOTPRINT_IR_DIM_INTERVAL_H_
#define FOOTPRINT_IR_DIM_INTERVAL_H_

#include <cstdint>

#include "ir/dim.h"

namespace footprint {

enum class Rounding { kDown, kUp };

constexpr DimBounds Exactly(int64_t value) { return {value, value}; }
DimBounds Plus(DimBounds a, DimBounds b);
DimBounds Negative(DimBounds a);
DimBounds Times(DimBounds a, DimBounds b);
DimBounds Power(DimBounds a, int32_t power);
// No bounds unless b is all positive.
DimBounds Quotient(DimBounds a, DimBounds b, Rounding rounding);
DimBounds MinOf(DimBounds a, DimBounds b);
DimBounds MaxOf(DimBounds a, DimBounds b);
// What is in both. An empty meet (contradictory constraints) keeps `a`.
DimBounds Meet(DimBounds a, DimBounds b);

}  // namespace footprint

#endif  // FOOTPRINT_IR_DIM_INTERVAL_H_
