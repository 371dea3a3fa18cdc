#include "passes/byte_total.h"

#include "gtest/gtest.h"
#include "passes/timeline.h"

namespace footprint {
namespace {

TEST(ByteTotal, BoundsPartsOfOneWholeTogether) {
  DimTable dims;
  const Dim part = dims.Fresh("u", 0, 10);
  DimEvaluator evaluator(dims, {});
  ByteTotal total(evaluator);
  total.Add(7);
  total.Add(part);
  EXPECT_TRUE(total.is_bounded());
  EXPECT_EQ(total.bytes(), 17);
  total.Add(dims.Sub(10, part));
  EXPECT_FALSE(total.is_bounded());
  EXPECT_EQ(total.bytes(), 17);
  total.Add(Dim());
  EXPECT_EQ(total.bytes(), std::nullopt);
}

TEST(ByteTotal, RoundsEachPart) {
  DimTable dims;
  const Dim part = dims.Fresh("u", 0, 1000);
  DimEvaluator evaluator(dims, {});
  ByteTotal total(evaluator, 512);
  total.Add(1);
  total.Add(part);
  total.Add(dims.Sub(1000, part));
  // Not 3 x 1024: two parts of 1000 take 1536 at most, as 500 and 500 or 512 and 488 do not.
  EXPECT_EQ(total.bytes(), 512 + 1536);
  EXPECT_TRUE(total.is_bounded());
}

TEST(Timeline, BoundsWhatIsAliveTogether) {
  DimTable dims;
  const Dim part = dims.Fresh("u", 0, 100);
  MemoryTrace trace;
  const auto add = [&trace](Dim bytes, int64_t first, int64_t end) {
    StorageRecord storage;
    storage.bytes = bytes;
    storage.first_tick = first;
    storage.end_tick = end;
    trace.storages.Add(storage);
  };
  add(part, 0, 3);
  add(dims.Sub(100, part), 1, 2);
  add(5, 1, 4);
  trace.end_tick = 4;
  DimEvaluator evaluator(dims, {});
  EXPECT_EQ(ComputeTimeline(trace, evaluator, 1).live_bytes,
            (std::vector<int64_t>{100, 105, 105, 5}));
}

}  // namespace
}  // namespace footprint
