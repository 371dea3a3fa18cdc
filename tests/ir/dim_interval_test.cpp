// Every interval with small ends, against all its members.
#include "ir/dim_interval.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "ir/dim_polynomial.h"

namespace footprint {
namespace {

constexpr int64_t kMinusInfinity = std::numeric_limits<int64_t>::min();
constexpr int64_t kInfinity = DimBounds::kNoBound;
constexpr int64_t kEnd = 3;
// Members tried where there is no bound.
constexpr int64_t kFar = 40;

std::vector<DimBounds> SmallIntervals() {
  std::vector<DimBounds> intervals;
  for (int64_t lower = -kEnd - 1; lower <= kEnd; ++lower) {
    for (int64_t upper = std::max(lower, -kEnd); upper <= kEnd + 1; ++upper) {
      intervals.push_back(
          {lower < -kEnd ? kMinusInfinity : lower, upper > kEnd ? kInfinity : upper});
    }
  }
  return intervals;
}

int64_t First(DimBounds interval) { return std::max(interval.lower, -kFar); }
int64_t Last(DimBounds interval) { return std::min(interval.upper, kFar); }

using Operation = std::function<int64_t(int64_t, int64_t)>;

// All results of two intervals.
DimBounds Hull(DimBounds a, DimBounds b, const Operation& operation) {
  DimBounds hull{kInfinity, kMinusInfinity};
  for (int64_t x = First(a); x <= Last(a); ++x) {
    for (int64_t y = First(b); y <= Last(b); ++y) {
      hull.lower = std::min(hull.lower, operation(x, y));
      hull.upper = std::max(hull.upper, operation(x, y));
    }
  }
  return hull;
}

// An end that has no bound shows as a result that only far members give.
void ExpectHull(DimBounds result, DimBounds hull, DimBounds a, DimBounds b) {
  const std::string operands = "[" + std::to_string(a.lower) + ", " + std::to_string(a.upper) +
                               "] and [" + std::to_string(b.lower) + ", " +
                               std::to_string(b.upper) + "]";
  EXPECT_EQ(result.lower, hull.lower <= -kFar / kEnd ? kMinusInfinity : hull.lower) << operands;
  EXPECT_EQ(result.upper, hull.upper >= kFar / kEnd ? kInfinity : hull.upper) << operands;
}

TEST(DimIntervalTest, SumsAndProductsAreExact) {
  for (const DimBounds a : SmallIntervals()) {
    for (const DimBounds b : SmallIntervals()) {
      ExpectHull(Plus(a, b), Hull(a, b, std::plus<>()), a, b);
      ExpectHull(Times(a, b), Hull(a, b, std::multiplies<>()), a, b);
      ExpectHull(MinOf(a, b), Hull(a, b, [](int64_t x, int64_t y) { return std::min(x, y); }), a,
                 b);
      ExpectHull(MaxOf(a, b), Hull(a, b, [](int64_t x, int64_t y) { return std::max(x, y); }), a,
                 b);
    }
    ExpectHull(Negative(a), Hull(Exactly(0), a, std::minus<>()), a, a);
  }
}

TEST(DimIntervalTest, QuotientsAreExact) {
  for (const DimBounds a : SmallIntervals()) {
    for (const DimBounds b : SmallIntervals()) {
      const DimBounds down = Quotient(a, b, Rounding::kDown);
      const DimBounds up = Quotient(a, b, Rounding::kUp);
      if (b.lower < 1) {
        EXPECT_EQ(down.lower, kMinusInfinity);
        EXPECT_EQ(up.upper, kInfinity);
        continue;
      }
      ExpectHull(down, Hull(a, b, FloorQuotient), a, b);
      ExpectHull(up, Hull(a, b, CeilQuotient), a, b);
    }
  }
}

TEST(DimIntervalTest, PowersContainAllAndKeepTheirSign) {
  for (const DimBounds a : SmallIntervals()) {
    for (int32_t power = 1; power <= 4; ++power) {
      const DimBounds result = Power(a, power);
      for (int64_t x = First(a); x <= Last(a); ++x) {
        int64_t value = 1;
        for (int32_t i = 0; i < power; ++i) value *= x;
        EXPECT_LE(result.lower, value);
        EXPECT_GE(result.upper, value);
      }
      EXPECT_TRUE(result.lower >= 0 || (power % 2 == 1 && a.lower < 0));
      EXPECT_TRUE(result.upper <= 0 || power % 2 == 0 || a.upper > 0);
    }
  }
  EXPECT_EQ(Power({-3, 2}, 2).upper, 9);
  EXPECT_EQ(Power({2, 3}, 3).lower, 8);
  EXPECT_EQ(Power({2, 3}, 3).upper, 27);
}

TEST(DimIntervalTest, MeetKeepsWhatIsInBoth) {
  EXPECT_EQ(Meet({1, 9}, {4, 12}).lower, 4);
  EXPECT_EQ(Meet({1, 9}, {4, 12}).upper, 9);
  EXPECT_EQ(Meet({1, 4}, {4, 12}).upper, 4);
  EXPECT_EQ(Meet({1, 3}, {4, 12}).lower, 1);
  EXPECT_EQ(Meet({1, 3}, {4, 12}).upper, 3);
}

TEST(DimIntervalTest, SaturatesWithoutClaimingTooMuch) {
  const DimBounds large = {kInfinity - 1, kInfinity - 1};
  EXPECT_EQ(Plus(large, large).upper, kInfinity);
  EXPECT_EQ(Plus(large, large).lower, kInfinity - 1);
  EXPECT_EQ(Times(large, Exactly(-2)).lower, kMinusInfinity);
  EXPECT_EQ(Times(large, Exactly(-2)).upper, kMinusInfinity + 1);
  EXPECT_EQ(Plus(Times(large, Exactly(-2)), Exactly(-2)).upper, kMinusInfinity + 1);
  EXPECT_EQ(Times({0, kInfinity}, {-1, kInfinity}).lower, kMinusInfinity);
  EXPECT_EQ(Times({0, 0}, {}).lower, 0);
  EXPECT_EQ(Times({0, 0}, {}).upper, 0);
}

}  // namespace
}  // namespace footprint
