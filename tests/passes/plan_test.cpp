#include "passes/plan.h"

#include <gtest/gtest.h>

#include <random>

#include "passes/plan_check.h"
#include "tests/support/random_plan.h"

namespace footprint {
namespace {

using Sizes = std::vector<std::optional<int64_t>>;

PlanTensor Shaped(int32_t shape) { return {.shape = shape}; }
PlanTensor Given(int32_t shape) { return {.shape = shape, .given = true}; }
PlanTensor Output(int32_t shape) { return {.shape = shape, .output = true}; }
PlanStep Unary(int32_t from, int32_t to) { return {{from}, {{to, -1, {}}}, 0}; }

TEST(Plan, ADeadBufferOfTheSameShapeIsUsedAgainAndStaysInBetween) {
  // x -> a -> b -> c -> out; a, b, c of one shape.
  const PlanProblem problem{{Given(0), Shaped(0), Shaped(1), Shaped(0), Output(0)},
                            {Unary(0, 1), Unary(1, 2), Unary(2, 3), Unary(3, 4)}};
  const Plan plan = MakePlan(problem);
  EXPECT_EQ(plan.buffer_of[3], plan.buffer_of[1]);
  EXPECT_EQ(plan.placements[3], Placement::kReused);
  EXPECT_EQ(plan.placements[4], Placement::kOwn);
  const PlanBytes bytes = MeasurePlan(problem, plan, Sizes{100, 100, 100, 100, 100}, 64);
  EXPECT_EQ(bytes.live_bytes, (std::vector<int64_t>{128, 256, 256, 256}));
  EXPECT_EQ(CheckPlan(problem, plan), "");
}

TEST(Plan, TheMostRecentlyFreedBufferComesFirst) {
  const PlanProblem problem{
      {Given(0), Shaped(0), Shaped(0), Shaped(1), Shaped(1), Shaped(0), Output(0)},
      {Unary(0, 1), Unary(0, 2), Unary(1, 3), Unary(2, 4), Unary(4, 5), Unary(5, 6), Unary(3, 6)}};
  EXPECT_EQ(MakePlan(problem).buffer_of[5], MakePlan(problem).buffer_of[2]);
}

TEST(Plan, OverwritesOnlyWhatDiesThereAndIsNotGiven) {
  PlanProblem problem{{Given(0), Shaped(0), Shaped(0), Output(0)}, {}};
  problem.steps = {{{0}, {{1, -1, {0}}}, 0}, {{1}, {{2, -1, {1}}}, 0}, {{2}, {{3, -1, {2}}}, 0}};
  const Plan plan = MakePlan(problem);
  EXPECT_EQ(plan.placements[1], Placement::kOwn);
  EXPECT_EQ(plan.placements[2], Placement::kInPlace);
  EXPECT_EQ(plan.placements[3], Placement::kOwn);  // handed out
  problem.steps[2].reads.push_back(1);
  EXPECT_EQ(MakePlan(problem).placements[2], Placement::kOwn);
}

TEST(Plan, AnAliasKeepsItsSourceAlive) {
  PlanProblem problem{{Given(0), Shaped(0), Shaped(1), Shaped(0), Output(0)}, {}};
  problem.steps = {Unary(0, 1), {{1}, {{2, 1, {}}}, 0}, Unary(0, 3), {{2, 3}, {{4, -1, {}}}, 7}};
  const Plan plan = MakePlan(problem);
  EXPECT_EQ(plan.buffer_of[2], plan.buffer_of[1]);
  EXPECT_NE(plan.buffer_of[3], plan.buffer_of[1]);
  EXPECT_EQ(CheckPlan(problem, plan), "");
  const PlanBytes bytes = MeasurePlan(problem, plan, Sizes{64, 64, 64, std::nullopt, 64}, 64);
  EXPECT_EQ(bytes.unknown_buffers, 1);
  EXPECT_EQ(bytes.peak_bytes, 64 + 64 + 7);
}

TEST(Plan, WhatNobodyReadsStaysAndIsNotUsedAgain) {
  PlanProblem problem{{Given(0), Shaped(0), Shaped(1), Shaped(0), Shaped(1), Output(0)}, {}};
  problem.steps = {{{0}, {{1, -1, {}}, {2, -1, {}}}, 0},
                   {{1}, {{3, -1, {}}, {4, -1, {}}}, 0},
                   Unary(3, 5)};
  const Plan plan = MakePlan(problem);
  EXPECT_NE(plan.buffer_of[4], plan.buffer_of[2]);
  EXPECT_EQ(plan.buffers[static_cast<size_t>(plan.buffer_of[2])].end_step, 3);
}

TEST(Plan, WhatIsNotVisibleSharesNothing) {
  PlanProblem problem{{Given(-1), Shaped(-1), Shaped(-1), Output(-1)}, {}};
  problem.steps = {Unary(0, 1), {{1}, {{2, -1, {1}}}, 0}, Unary(2, 3)};
  const Plan plan = MakePlan(problem);
  EXPECT_NE(plan.buffer_of[1], plan.buffer_of[2]);
}

TEST(PlanCheck, FindsOverlapAndBuffersThatEndTooEarly) {
  const PlanProblem problem{{Given(0), Shaped(0), Shaped(0), Output(0)},
                            {Unary(0, 1), Unary(0, 2), {{1, 2}, {{3, -1, {}}}, 0}}};
  Plan plan = MakePlan(problem);
  Plan wrong = plan;
  wrong.buffer_of[2] = wrong.buffer_of[1];
  EXPECT_EQ(CheckPlan(problem, wrong), "tensors 1 and 2 overlap in a buffer");
  wrong = plan;
  wrong.buffers[static_cast<size_t>(plan.buffer_of[1])].end_step = 1;
  EXPECT_EQ(CheckPlan(problem, wrong), "tensor 1 outlives its buffer");
}

TEST(Plan, RandomProgramsNeverOverlap) {
  std::mt19937 random(7);
  int64_t shared = 0;
  for (int round = 0; round < 4000; ++round) {
    const PlanProblem problem = RandomProblem(random, 1 + static_cast<int>(random() % 40));
    const Plan plan = MakePlan(problem);
    ASSERT_EQ(CheckPlan(problem, plan), "") << "round " << round;
    for (const Placement placement : plan.placements) {
      shared += placement == Placement::kReused || placement == Placement::kInPlace ? 1 : 0;
    }
  }
  EXPECT_GT(shared, 1000);
}

}  // namespace
}  // namespace footprint
