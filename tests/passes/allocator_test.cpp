// The caching allocator: its rules one by one, and a step whose figures follow from them by hand.
#include "passes/allocator.h"

#include <vector>

#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

TEST(CachingAllocator, SmallRequestsShareASegmentOf2MiB) {
  CachingAllocator allocator;
  const auto first = allocator.Allocate(1);
  const auto second = allocator.Allocate(513);
  EXPECT_EQ(allocator.AddressOf(second) - allocator.AddressOf(first), 512);
  EXPECT_EQ(allocator.allocated_bytes(), 512 + 1024);
  EXPECT_EQ(allocator.reserved_bytes(), 2 * kMiB);
  allocator.Allocate(kMiB);
  EXPECT_EQ(allocator.reserved_bytes(), 2 * kMiB);
  allocator.Allocate(kMiB);  // does not fit the rest
  EXPECT_EQ(allocator.reserved_bytes(), 4 * kMiB);
}

TEST(CachingAllocator, LargeRequestsShareASegmentOf20MiBOrHaveTheirOwn) {
  CachingAllocator allocator;
  allocator.Allocate(kMiB + 1);
  EXPECT_EQ(allocator.reserved_bytes(), 20 * kMiB);
  EXPECT_EQ(allocator.allocated_bytes(), kMiB + 512);
  allocator.Allocate(10 * kMiB);  // fits the rest of the first segment
  EXPECT_EQ(allocator.reserved_bytes(), 20 * kMiB);
  allocator.Allocate(11 * kMiB);
  EXPECT_EQ(allocator.reserved_bytes(), 32 * kMiB);
  // What is left of its own segment of 12 MiB is no more than 1 MiB: the block is not split.
  EXPECT_EQ(allocator.allocated_bytes(), kMiB + 512 + 10 * kMiB + 12 * kMiB);
}

TEST(CachingAllocator, TakesTheSmallestFreeBlockAndMergesWhatIsFreed) {
  CachingAllocator allocator;
  std::vector<CachingAllocator::Handle> blocks;
  for (const int64_t size : {4, 2, 3, 6}) blocks.push_back(allocator.Allocate(size * kMiB));
  allocator.Free(blocks[0]);
  allocator.Free(blocks[2]);
  EXPECT_EQ(allocator.Allocate(3 * kMiB), blocks[2]);
  allocator.Free(blocks[2]);
  allocator.Free(blocks[1]);  // 4 + 2 + 3 are one block again
  EXPECT_EQ(allocator.Allocate(9 * kMiB), blocks[0]);
  EXPECT_EQ(allocator.reserved_bytes(), 20 * kMiB);
}

TEST(CachingAllocator, SegmentsDoNotMerge) {
  CachingAllocator allocator;
  const auto first = allocator.Allocate(12 * kMiB);
  const auto second = allocator.Allocate(12 * kMiB);
  allocator.Free(first);
  allocator.Free(second);
  allocator.Allocate(24 * kMiB);
  EXPECT_EQ(allocator.reserved_bytes(), 48 * kMiB);
}

TEST(CachingAllocator, ExpandableSegmentsGrowAtTheirEnd) {
  CachingAllocator allocator(/*expandable=*/true);
  const auto first = allocator.Allocate(12 * kMiB);
  const auto second = allocator.Allocate(12 * kMiB);
  EXPECT_EQ(allocator.reserved_bytes(), 40 * kMiB);
  allocator.Free(second);
  allocator.Free(first);
  EXPECT_EQ(allocator.Allocate(45 * kMiB), first);
  EXPECT_EQ(allocator.reserved_bytes(), 60 * kMiB);
  EXPECT_EQ(allocator.allocated_bytes(), 45 * kMiB);
  allocator.Allocate(512);
  EXPECT_EQ(allocator.reserved_bytes(), 62 * kMiB);
}

StorageRecord Storage(Category category, int64_t bytes, int64_t first_tick, int64_t end_tick) {
  StorageRecord storage;
  storage.category = category;
  storage.bytes = bytes;
  storage.first_tick = first_tick;
  storage.end_tick = end_tick;
  return storage;
}

// The parameter and its two states live through all steps; in the first the optimizer's temporary
// comes after the states, later ones find them there.
TEST(ReplayAllocator, ReachesASteadyState) {
  MemoryTrace trace;
  trace.storages.Add(Storage(Category::kParameter, 30 * kMiB, 0, 5));
  trace.storages.Add(Storage(Category::kOptimizerState, 30 * kMiB, 0, 5));
  trace.storages.Add(Storage(Category::kOptimizerState, 30 * kMiB, 0, 5));
  trace.storages.Add(Storage(Category::kSavedActivation, 40 * kMiB, 1, 3));
  trace.storages.Add(Storage(Category::kGradient, 30 * kMiB, 2, 5));
  trace.storages.Add(Storage(Category::kWorkspace, 30 * kMiB, 4, 5));
  trace.storages.Add(Storage(Category::kTransient, 0, 1, 2));
  trace.end_tick = 5;
  trace.phase_tick[1] = 2;
  trace.phase_tick[2] = 3;
  DimTable dims;
  DimEvaluator evaluator(dims, {});
  const Timeline timeline = ComputeTimeline(trace, evaluator, kAllocationGranularity);
  const std::optional<AllocatorPeak> peak = ReplayAllocator(trace, timeline);
  ASSERT_TRUE(peak.has_value());
  // The first state takes 30 of the 40 MiB that the activation left. In the second step the
  // activation needs a new segment; all else finds its block.
  EXPECT_EQ(peak->allocated_bytes, 160 * kMiB);
  EXPECT_EQ(peak->reserved_bytes, (30 + 40 + 30 + 30 + 30 + 40) * kMiB);
}

TEST(ReplayAllocator, HasNoFiguresForUnknownSizes) {
  MemoryTrace trace;
  trace.storages.Add(StorageRecord{});
  trace.end_tick = 1;
  DimTable dims;
  DimEvaluator evaluator(dims, {});
  const Timeline timeline = ComputeTimeline(trace, evaluator, kAllocationGranularity);
  EXPECT_FALSE(ReplayAllocator(trace, timeline).has_value());
}

}  // namespace
}  // namespace footprint
