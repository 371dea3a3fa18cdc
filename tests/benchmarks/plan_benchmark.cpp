#include <benchmark/benchmark.h>

#include <random>

#include "passes/plan.h"
#include "tests/support/random_plan.h"

namespace footprint {
namespace {

void BM_PlanBuffers(benchmark::State& state) {
  std::mt19937 random(1);
  const PlanProblem problem = RandomProblem(random, static_cast<int>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(MakePlan(problem).buffers.size());
  state.SetComplexityN(state.range(0));
}
BENCHMARK(BM_PlanBuffers)->Range(1000, 100000)->Unit(benchmark::kMillisecond)->Complexity();

}  // namespace
}  // namespace footprint
