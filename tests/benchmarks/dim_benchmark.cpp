#include <benchmark/benchmark.h>

#include <vector>

#include "ir/dim.h"

namespace footprint {
namespace {

void BM_DimConstants(benchmark::State& state) {
  DimTable table;
  int64_t i = 0;
  for (auto _ : state) {
    const Dim size = table.Add(table.FloorDiv(table.Add(i++ % 1024, 5), 2), 1);
    benchmark::DoNotOptimize(table.Product({32, 64, size, size}));
  }
}
BENCHMARK(BM_DimConstants);

// Symbolic work that was done before, as in the later layers of a network.
void BM_DimRepeated(benchmark::State& state) {
  DimTable table;
  const Dim batch = table.Symbol("batch");
  const Dim sequence = table.Symbol("sequence");
  for (auto _ : state) {
    const Dim elements = table.Product({batch, 12, sequence, sequence});
    benchmark::DoNotOptimize(table.FloorDiv(table.Mul(elements, 4), sequence));
  }
}
BENCHMARK(BM_DimRepeated);

// What shape inference asks of a graph with range(0) nodes: ten operations a node, most of them on
// constants or seen before, new expressions now and then.
void BM_DimGraph(benchmark::State& state) {
  for (auto _ : state) {
    DimTable table;
    const Dim batch = table.Symbol("batch");
    const Dim height = table.Symbol("height");
    for (int64_t node = 0; node < state.range(0); ++node) {
      const int64_t channels = 64 * (1 + node / 100 % 32);
      const Dim size = table.Add(table.FloorDiv(table.Sub(height, 1 + node % 8), 2), 1);
      const Dim elements = table.Product({batch, channels, size, size});
      benchmark::DoNotOptimize(table.Mul(elements, 4));
      benchmark::DoNotOptimize(table.Product({channels, channels, 3}));
    }
  }
  state.SetComplexityN(state.range(0));
}
BENCHMARK(BM_DimGraph)->Arg(1000)->Arg(10000)->Arg(100000)->Complexity(benchmark::oN);

// Expressions that were never seen.
void BM_DimNew(benchmark::State& state) {
  DimTable table;
  const Dim batch = table.Symbol("batch");
  const Dim height = table.Symbol("height");
  int64_t i = 0;
  for (auto _ : state) {
    ++i;
    benchmark::DoNotOptimize(table.Add(table.Mul(table.CeilDiv(height, i + 1), batch), i));
  }
}
BENCHMARK(BM_DimNew)->Iterations(100000);

void BM_DimEvaluate(benchmark::State& state) {
  DimTable table;
  const Dim batch = table.Symbol("batch");
  std::vector<Dim> sizes;
  sizes.reserve(10000);
  for (int64_t i = 0; i < 10000; ++i) {
    sizes.push_back(
        table.Product({batch, i + 1, table.CeilDiv(table.Symbol("height"), 2 + i % 5)}));
  }
  for (auto _ : state) {
    DimEvaluator evaluator(table, {{"batch", 32}, {"height", 224}});
    for (const Dim size : sizes) benchmark::DoNotOptimize(evaluator.Evaluate(size));
  }
}
BENCHMARK(BM_DimEvaluate)->Unit(benchmark::kMicrosecond);

void BM_DimParseAndPrint(benchmark::State& state) {
  DimTable table;
  for (auto _ : state) {
    const auto dim = table.Parse("12*batch*(floor((height - 3)/2) + 1)");
    benchmark::DoNotOptimize(table.ToString(*dim));
  }
}
BENCHMARK(BM_DimParseAndPrint);

}  // namespace
}  // namespace footprint
