// Shape inference against the size of the graph: linear, and below 5 microseconds a node.
#include "benchmark/benchmark.h"
#include "passes/infer_shapes.h"
#include "tests/support/graph_builder.h"

namespace footprint {
namespace {

// Blocks of convolution, norm, activation and sum.
void Convolutions(GraphBuilder& builder, int64_t nodes) {
  ValueId x = builder.Input("x", {builder.Symbol("batch"), 64, builder.Symbol("h"), 56});
  const ValueId w = builder.Weight("w", {64, 64, 3, 3});
  const ValueId s = builder.Weight("s", {64});
  for (int64_t i = 0; i < nodes; i += 4) {
    const ValueId conv =
        builder.Node("Conv", {x, w},
                     {IntsAttribute("kernel_shape", {3, 3}), IntsAttribute("pads", {1, 1, 1, 1})});
    const ValueId norm = builder.Node("BatchNormalization", {conv, s, s, s, s});
    x = builder.Node("Add", {builder.Node("Relu", {norm}), x});
  }
}

// Blocks as exporters write a view: sizes gathered from shapes, then a Reshape.
void ShapeArithmetic(GraphBuilder& builder, int64_t nodes) {
  ValueId x = builder.Input("x", {builder.Symbol("batch"), builder.Symbol("sequence"), 768});
  const ValueId zero = builder.Scalar(0);
  const ValueId one = builder.Scalar(1);
  const ValueId axis = builder.Ints({0});
  const ValueId heads = builder.Ints({12, 64});
  const ValueId hidden = builder.Ints({-1, 768});
  for (int64_t i = 0; i < nodes; i += 8) {
    const ValueId shape = builder.Node("Shape", {x});
    const ValueId batch = builder.Node("Gather", {shape, zero});
    const ValueId steps = builder.Node("Gather", {shape, one});
    const ValueId a = builder.Node("Unsqueeze", {batch, axis});
    const ValueId b = builder.Node("Unsqueeze", {steps, axis});
    const ValueId split = builder.Node("Concat", {a, b, heads}, {IntAttribute("axis", 0)});
    const ValueId y = builder.Node("Reshape", {x, split});
    const ValueId merged = builder.Node("Concat", {a, hidden}, {IntAttribute("axis", 0)});
    x = builder.Node("Reshape", {y, merged});
  }
}

void Infer(benchmark::State& state, void (*build)(GraphBuilder&, int64_t)) {
  GraphBuilder builder(17);
  build(builder, state.range(0));
  for (auto _ : state) {
    DiagnosticSink sink;
    benchmark::DoNotOptimize(InferShapes(builder.graph(), {}, nullptr, sink));
    if (sink.has_errors()) state.SkipWithError("inference failed");
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(builder.graph().nodes.size()));
}

BENCHMARK_CAPTURE(Infer, convolutions, Convolutions)
    ->RangeMultiplier(10)
    ->Range(1000, 100'000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Infer, shape_arithmetic, ShapeArithmetic)
    ->RangeMultiplier(10)
    ->Range(1000, 100'000)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace footprint
