#include "backend/units.h"

#include <gtest/gtest.h>

#include <limits>

namespace footprint {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

TEST(Units, ThousandsAreGrouped) {
  EXPECT_EQ(WithThousands(0), "0");
  EXPECT_EQ(WithThousands(999), "999");
  EXPECT_EQ(WithThousands(1000), "1,000");
  EXPECT_EQ(WithThousands(-1234567), "-1,234,567");
  EXPECT_EQ(WithThousands(kMax), "9,223,372,036,854,775,807");
  EXPECT_EQ(WithThousands(std::numeric_limits<int64_t>::min()), "-9,223,372,036,854,775,808");
}

TEST(Units, BinaryAndDecimalUnitsHaveTheirOwnNames) {
  EXPECT_EQ(BinaryUnits(17106000000), "15.93 GiB");
  EXPECT_EQ(DecimalUnits(17106000000), "17.11 GB");
  EXPECT_EQ(BinaryUnits(60614246400), "56.45 GiB");
  EXPECT_EQ(DecimalUnits(90614246400), "90.61 GB");
  EXPECT_EQ(BinaryUnits(90614246400), "84.39 GiB");
}

TEST(Units, BytesHaveNoDecimals) {
  EXPECT_EQ(BinaryUnits(0), "0 B");
  EXPECT_EQ(BinaryUnits(1023), "1,023 B");
  EXPECT_EQ(DecimalUnits(999), "999 B");
}

TEST(Units, RoundingMayReachTheNextUnit) {
  EXPECT_EQ(BinaryUnits((1 << 20) - 1), "1.00 MiB");
  EXPECT_EQ(BinaryUnits((1 << 20) - 6), "1,023.99 KiB");
  EXPECT_EQ(DecimalUnits(999994), "999.99 kB");
  EXPECT_EQ(DecimalUnits(999995), "1.00 MB");
}

TEST(Units, LargestAndNegativeNumbers) {
  EXPECT_EQ(BinaryUnits(kMax), "8,192.00 PiB");
  EXPECT_EQ(DecimalUnits(kMax), "9,223.37 PB");
  EXPECT_EQ(BinaryUnits(std::numeric_limits<int64_t>::min()), "-8,192.00 PiB");
  EXPECT_EQ(BinaryUnits(-1536), "-1.50 KiB");
}

TEST(Units, ARowSharesTheUnitOfItsReference) {
  EXPECT_EQ(DecimalUnitsLike(4000000000, 4000000000), "4 GB");
  EXPECT_EQ(DecimalUnitsLike(500000000, 4000000000), "0.5 GB");
  EXPECT_EQ(DecimalUnitsLike(3500000000, 28000000000), "3.5 GB");
  EXPECT_EQ(DecimalUnitsLike(50000000, 400000000), "50 MB");
  EXPECT_EQ(DecimalUnitsLike(100, 100), "100 B");
}

TEST(ParseCount, SuffixesArePowersOfAThousand) {
  EXPECT_EQ(ParseCount("124439808"), 124439808);
  EXPECT_EQ(ParseCount("12k"), 12000);
  EXPECT_EQ(ParseCount("350M"), 350000000);
  EXPECT_EQ(ParseCount("7B"), 7000000000);
  EXPECT_EQ(ParseCount("7G"), 7000000000);
  EXPECT_EQ(ParseCount("2t"), 2000000000000);
}

TEST(ParseCount, FractionsAreExact) {
  EXPECT_EQ(ParseCount("1.5B"), 1500000000);
  EXPECT_EQ(ParseCount("0.1k"), 100);
  EXPECT_EQ(ParseCount("1.557611200B"), 1557611200);
  EXPECT_EQ(ParseCount("1.000000000000K"), 1000);
  EXPECT_EQ(ParseCount("9.223372036854K"), std::nullopt);
  EXPECT_EQ(ParseCount("1.2345K"), std::nullopt);
  EXPECT_EQ(ParseCount("1.5"), std::nullopt);
  EXPECT_EQ(ParseCount("2.0"), 2);
}

TEST(ParseCount, RefusesWhatIsNoCount) {
  for (const char* text : {"", "B", "-1", "+1", "1..5B", "1.B", ".5B", "1.5x", "1e9", "7 B", "7BB",
                           "0x10", "1,000", "1.-5B", "1.5.B"}) {
    EXPECT_EQ(ParseCount(text), std::nullopt) << text;
  }
}

TEST(ParseCount, RefusesWhatDoesNotFit) {
  EXPECT_EQ(ParseCount("9223372036854775807"), kMax);
  EXPECT_EQ(ParseCount("9223372036854775808"), std::nullopt);
  EXPECT_EQ(ParseCount("9223372T"), 9223372000000000000);
  EXPECT_EQ(ParseCount("9223373T"), std::nullopt);
  EXPECT_EQ(ParseCount("9223372036854.775807M"), kMax);
  EXPECT_EQ(ParseCount("9223372036854.775808M"), std::nullopt);
  EXPECT_EQ(ParseCount("9223372.036854775T"), 9223372036854775000);
  EXPECT_EQ(ParseCount("9223372.9T"), std::nullopt);
}

TEST(ParseSize, UnitsAreWhatTheyAreCalled) {
  EXPECT_EQ(ParseSize("1073741824"), 1073741824);
  EXPECT_EQ(ParseSize("24GiB"), int64_t{24} << 30);
  EXPECT_EQ(ParseSize("23.5 GiB"), (int64_t{47} << 30) / 2);
  EXPECT_EQ(ParseSize("80GB"), 80000000000);
  EXPECT_EQ(ParseSize("0.0015KB"), 1);  // rounded down
  EXPECT_EQ(ParseSize("9223372036854775807B"), kMax);
  EXPECT_EQ(ParseSize("512 KiB"), 524288);
}

TEST(ParseSize, RefusesWhatIsNoSize) {
  for (const char* text : {"", "GiB", "0", "0.0001KB", "-1GB", "1e9", "24 apples", "1.GB", "nan",
                           "9223372036854775808", "8388608TiB"}) {
    EXPECT_EQ(ParseSize(text), std::nullopt) << text;
  }
}

TEST(Joined, LeavesEmptyTextsOut) {
  EXPECT_EQ(Joined({}), "");
  EXPECT_EQ(Joined({"", "a", "", "b", ""}), "a, b");
}

}  // namespace
}  // namespace footprint
