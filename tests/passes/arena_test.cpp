#include "passes/arena.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace footprint {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

TEST(Arena, RegionsDouble) {
  Arena arena(ArenaGrowth::kNextPowerOfTwo);
  arena.Allocate(3'211'264);  // as measured: resnet50 at batch 1
  EXPECT_EQ(arena.reserved_bytes(), 4 * kMiB);
  arena.Allocate(3'211'264);
  EXPECT_EQ(arena.reserved_bytes(), 8 * kMiB);
  arena.Allocate(3'211'264);
  EXPECT_EQ(arena.reserved_bytes(), 16 * kMiB);
}

TEST(Arena, ARegionIsAsLargeAsTheRequest) {
  Arena arena(ArenaGrowth::kSameAsRequested);
  arena.Allocate(1000);
  EXPECT_EQ(arena.reserved_bytes(), 1024);
  arena.Free(arena.Allocate(512));
  arena.Allocate(512);
  EXPECT_EQ(arena.reserved_bytes(), 1536);
}

TEST(Arena, FreedNeighboursJoin) {
  Arena arena(ArenaGrowth::kNextPowerOfTwo);
  const int64_t first = arena.Allocate(kMiB / 2);
  const int64_t second = arena.Allocate(kMiB / 2);
  arena.Free(first);
  arena.Free(second);
  arena.Allocate(kMiB);
  EXPECT_EQ(arena.reserved_bytes(), kMiB);
}

TEST(Arena, AChunkThatIsHardlyLargerIsHandedOutWhole) {
  Arena arena(ArenaGrowth::kSameAsRequested);
  arena.Free(arena.Allocate(1024));
  arena.Allocate(768);
  arena.Allocate(256);
  EXPECT_EQ(arena.reserved_bytes(), 1024 + 256);
}

// Chains in which each step reads the last few tensors.
TEST(PackPlan, PiecesThatAreAliveTogetherDoNotOverlap) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    PlanProblem problem;
    std::vector<std::optional<int64_t>> sizes;
    problem.tensors.push_back({.given = true});
    sizes.emplace_back(64);
    for (int32_t i = 1; i < 30; ++i) {
      problem.tensors.push_back({.shape = static_cast<int32_t>(random() % 3), .output = i == 29});
      sizes.emplace_back(64 * (1 + problem.tensors.back().shape * 7));
      const auto back = static_cast<int32_t>(random() % 4) + 1;
      problem.steps.push_back({{i - 1, std::max(0, i - back)}, {{i, -1, {}}}, 0});
    }
    const Plan plan = MakePlan(problem);
    const PlanBytes bytes = MeasurePlan(problem, plan, sizes, 64);
    const PackedPlan packed = PackPlan(problem, plan, bytes);
    EXPECT_GE(packed.peak_bytes, bytes.peak_bytes);
    for (size_t a = 0; a < plan.buffers.size(); ++a) {
      for (size_t b = a + 1; b < plan.buffers.size(); ++b) {
        if (packed.offsets[a] < 0 || packed.offsets[b] < 0) continue;
        const PlanBuffer& left = plan.buffers[a];
        const PlanBuffer& right = plan.buffers[b];
        const bool together = left.first_step < right.end_step && right.first_step < left.end_step;
        const bool apart = packed.offsets[a] + bytes.buffer_bytes[a] <= packed.offsets[b] ||
                           packed.offsets[b] + bytes.buffer_bytes[b] <= packed.offsets[a];
        ASSERT_TRUE(!together || apart) << round;
      }
    }
  }
}

}  // namespace
}  // namespace footprint
