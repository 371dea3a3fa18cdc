#include "ir/dim_interval.h"

#include <algorithm>

#include "ir/dim_polynomial.h"
#include "ir/wide.h"

namespace footprint {
namespace {

constexpr int64_t kMinusInfinity = std::numeric_limits<int64_t>::min();
constexpr int64_t kInfinity = DimBounds::kNoBound;

bool IsInfinite(int64_t bound) { return bound == kMinusInfinity || bound == kInfinity; }

// The infinities are kept for "no bound": a finite lower bound is never kInfinity and a finite
// upper bound never kMinusInfinity.
int64_t SaturatedLower(Wide value) {
  if (value <= kMinusInfinity) return kMinusInfinity;
  return static_cast<int64_t>(std::min<Wide>(value, kInfinity - 1));
}
int64_t SaturatedUpper(Wide value) {
  if (value >= kInfinity) return kInfinity;
  return static_cast<int64_t>(std::max<Wide>(value, kMinusInfinity + 1));
}

Wide EndpointProduct(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return 0;
  if (IsInfinite(a) || IsInfinite(b)) return (a < 0) == (b < 0) ? kInfinity : kMinusInfinity;
  return Wide{a} * b;
}

int64_t RoundedQuotient(int64_t a, int64_t b, Rounding rounding) {
  return rounding == Rounding::kDown ? FloorQuotient(a, b) : CeilQuotient(a, b);
}

// a / b for the infinitely large b that a missing upper bound allows.
int64_t QuotientByInfinity(int64_t a, Rounding rounding) {
  if (rounding == Rounding::kDown) return a < 0 ? -1 : 0;
  return a > 0 ? 1 : 0;
}

}  // namespace

DimBounds Plus(DimBounds a, DimBounds b) {
  DimBounds sum;
  if (a.lower != kMinusInfinity && b.lower != kMinusInfinity) {
    sum.lower = SaturatedLower(Wide{a.lower} + b.lower);
  }
  if (a.upper != kInfinity && b.upper != kInfinity) {
    sum.upper = SaturatedUpper(Wide{a.upper} + b.upper);
  }
  return sum;
}

DimBounds Negative(DimBounds a) { return Times(a, Exactly(-1)); }

DimBounds Times(DimBounds a, DimBounds b) {
  const Wide products[] = {EndpointProduct(a.lower, b.lower), EndpointProduct(a.lower, b.upper),
                               EndpointProduct(a.upper, b.lower),
                               EndpointProduct(a.upper, b.upper)};
  return {SaturatedLower(*std::min_element(std::begin(products), std::end(products))),
          SaturatedUpper(*std::max_element(std::begin(products), std::end(products)))};
}

DimBounds Power(DimBounds a, int32_t power) {
  DimBounds result = a;
  for (int32_t i = 1; i < power; ++i) result = Times(result, a);
  if (power % 2 == 0) result.lower = std::max<int64_t>(result.lower, 0);
  return result;
}

DimBounds Quotient(DimBounds a, DimBounds b, Rounding rounding) {
  DimBounds result;
  if (b.lower < 1) return result;
  const auto divide = [&](int64_t dividend, int64_t divisor) {
    return divisor == kInfinity ? QuotientByInfinity(dividend, rounding)
                                : RoundedQuotient(dividend, divisor, rounding);
  };
  if (a.lower != kMinusInfinity) result.lower = divide(a.lower, a.lower >= 0 ? b.upper : b.lower);
  if (a.upper != kInfinity) result.upper = divide(a.upper, a.upper >= 0 ? b.lower : b.upper);
  return result;
}

DimBounds MinOf(DimBounds a, DimBounds b) {
  return {std::min(a.lower, b.lower), std::min(a.upper, b.upper)};
}
DimBounds MaxOf(DimBounds a, DimBounds b) {
  return {std::max(a.lower, b.lower), std::max(a.upper, b.upper)};
}

DimBounds Meet(DimBounds a, DimBounds b) {
  const DimBounds meet{std::max(a.lower, b.lower), std::min(a.upper, b.upper)};
  return meet.lower <= meet.upper ? meet : a;
}

}  // namespace footprint
