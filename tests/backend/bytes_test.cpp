#include "backend/bytes.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace footprint {
namespace {

const TrainingRegime& RegimeOf(const BytesReport& report, int64_t width) {
  for (const TrainingRegime& regime : report.regimes) {
    if (regime.width == width) return regime;
  }
  ADD_FAILURE() << "no regime of " << width << " bytes per parameter";
  return report.regimes.front();
}

TEST(Bytes, Widths) {
  const BytesReport report = *ComputeBytes(7000000000, "");
  ASSERT_EQ(report.widths.size(), 4u);
  EXPECT_EQ(report.widths[0].bytes, 28000000000);
  EXPECT_EQ(report.widths[1].bytes, 14000000000);
  EXPECT_EQ(report.widths[2].bytes, 7000000000);
  EXPECT_EQ(report.widths[3].bytes, 3500000000);
  EXPECT_TRUE(report.regimes.empty());
}

TEST(Bytes, HalfBytesAreRoundedUpOnce) {
  EXPECT_EQ(BytesOfWidths(1)->back().bytes, 1);
  EXPECT_EQ(BytesOfWidths(3)->back().bytes, 2);
  EXPECT_EQ(BytesOfWidths(4)->back().bytes, 2);
}

// The figures that are quoted for a million parameters under Adam.
TEST(Bytes, RegimesOfAdam) {
  const BytesReport report = *ComputeBytes(1000000, "adam");
  EXPECT_EQ(report.regimes.front().total_bytes, 16000000);  // 4 + 4 + 8
  EXPECT_EQ(RegimeOf(report, 12).total_bytes, 12000000);    // 4 + 8, gradients freed
  EXPECT_EQ(RegimeOf(report, 12).gradient_bytes, 0);
  const TrainingRegime& mixed = report.regimes[3];  // 2 + 2 + 4 + 8
  EXPECT_EQ(mixed.total_bytes, 16000000);
  EXPECT_EQ(mixed.parameter_bytes, 2000000);
  EXPECT_EQ(mixed.gradient_bytes, 2000000);
  EXPECT_EQ(mixed.master_bytes, 4000000);
  EXPECT_EQ(mixed.optimizer_state_bytes, 8000000);
  EXPECT_EQ(RegimeOf(report, 18).total_bytes, 18000000);  // 2 + 4 + 4 + 8
}

TEST(Bytes, EveryRegimeAddsUp) {
  for (const std::string& optimizer : OptimizerNames()) {
    const BytesReport report = *ComputeBytes(1024, optimizer);
    for (const TrainingRegime& regime : report.regimes) {
      EXPECT_EQ(regime.parameter_bytes + regime.gradient_bytes + regime.master_bytes +
                    regime.optimizer_state_bytes,
                regime.total_bytes)
          << optimizer << " " << regime.name;
      EXPECT_EQ(regime.width * 1024, regime.total_bytes) << optimizer << " " << regime.name;
    }
  }
}

TEST(Bytes, OptimizerStates) {
  EXPECT_EQ(ComputeBytes(1024, "sgd")->regimes.front().optimizer_state_bytes, 0);
  EXPECT_EQ(ComputeBytes(1024, "sgd-momentum")->regimes.front().optimizer_state_bytes, 4096);
  EXPECT_EQ(ComputeBytes(1024, "adamw")->regimes.front().optimizer_state_bytes, 8192);
  EXPECT_EQ(ComputeBytes(138357544, "adam")->regimes.front().optimizer_state_bytes, 1106860352);
  EXPECT_EQ(StateValuesPerParameter("lion"), 1);
  EXPECT_EQ(StateValuesPerParameter("adafactor"), std::nullopt);
  EXPECT_EQ(StateValuesPerParameter("none"), std::nullopt);
}

TEST(Bytes, RefusesWhatDoesNotFit) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_FALSE(ComputeBytes(kMax, "").has_value());
  EXPECT_TRUE(ComputeBytes(kMax / 4, "").has_value());
  EXPECT_FALSE(ComputeBytes(kMax / 4, "adam").has_value());
  EXPECT_TRUE(ComputeBytes(kMax / 18, "adam").has_value());
}

TEST(Bytes, TextSharesOneUnitInARow) {
  const auto text = [](int64_t count) { return BytesText(*ComputeBytes(count, ""), Terminal{}); };
  for (const char* figure : {"400 MB", "200 MB", "100 MB", " 50 MB"}) {
    EXPECT_NE(text(100000000).find(figure), std::string::npos) << figure;
  }
  for (const char* figure : {"4 GB", "2 GB", "1 GB", "0.5 GB"}) {
    EXPECT_NE(text(1000000000).find(figure), std::string::npos) << figure;
  }
}

TEST(Bytes, Json) {
  const auto json = nlohmann::json::parse(BytesJson(*ComputeBytes(1000, "adamw")));
  EXPECT_EQ(json["schema"], "footprint-bytes/1");
  EXPECT_EQ(json["widths"]["int4"], 500);
  EXPECT_EQ(json["optimizer"], "adamw");
  EXPECT_EQ(json["training"][0]["total_bytes"], 16000);
  const auto without = nlohmann::json::parse(BytesJson(*ComputeBytes(1000, "")));
  EXPECT_TRUE(without["optimizer"].is_null());
  EXPECT_TRUE(without["training"].empty());
}

TEST(MixedUnitsNote, SaysWhatArticlesPrintAndWhatIsRight) {
  TextbookReport textbook;
  textbook.activation_bytes = 60614246400;
  textbook.total_bytes = 90614246400;
  const std::string note = MixedUnitsNote(textbook);
  EXPECT_NE(note.find("30 GB"), std::string::npos) << note;
  EXPECT_NE(note.find("56.45 GiB"), std::string::npos) << note;
  EXPECT_NE(note.find("86.45"), std::string::npos) << note;
  EXPECT_NE(note.find("90.61 GB"), std::string::npos) << note;
  EXPECT_NE(note.find("84.39 GiB"), std::string::npos) << note;
}

TEST(MixedUnitsNote, SaysNothingWithoutActivations) {
  EXPECT_EQ(MixedUnitsNote(TextbookReport{}), "");
}

}  // namespace
}  // namespace footprint
