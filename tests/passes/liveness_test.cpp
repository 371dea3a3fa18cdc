#include "passes/liveness.h"

#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "passes/timeline.h"
#include "tests/support/naive_liveness.h"

namespace footprint {
namespace {

const OnnxOp kFresh = {.name = "Fresh"};
const OnnxOp kView = {.name = "View", .alias = 0};
const OnnxOp kUnary = {.name = "Unary", .inplace = 1};
const OnnxOp kBinary = {.name = "Binary", .inplace = 3};
const OnnxOp kIf = {.name = "If", .control = Control::kIf};
const OnnxOp kLoop = {.name = "Loop", .control = Control::kLoop};

// A graph of float vectors whose types are given, not inferred.
class Builder {
 public:
  Builder() {
    graph_.scopes.Add(Scope());
    graph_.regions.Add(Region());
  }

  ValueId Input(Dim size) {
    const ValueId id = AddValue(ValueKind::kInput, RegionId(0), size);
    graph_.regions[RegionId(0)].inputs.push_back(id);
    return id;
  }

  RegionId Body() { return graph_.regions.Add(Region()); }

  ValueId BodyInput(RegionId region, Dim size) {
    const ValueId id = AddValue(ValueKind::kRegionInput, region, size);
    graph_.regions[region].inputs.push_back(id);
    return id;
  }

  std::vector<ValueId> Add(const OnnxOp& op, std::vector<ValueId> inputs,
                           const std::vector<Dim>& sizes, RegionId region = RegionId(0),
                           const std::vector<RegionId>& bodies = {}) {
    Node node;
    node.op_type = std::string(op.name);
    node.op = &op;
    node.inputs.assign(inputs.begin(), inputs.end());
    node.region = region;
    node.scope = ScopeId(0);
    for (RegionId body : bodies) {
      Attribute attribute;
      attribute.kind = Attribute::Kind::kRegion;
      attribute.region = body;
      node.attributes.push_back(attribute);
    }
    const NodeId id = graph_.nodes.Add(node);
    for (RegionId body : bodies) graph_.regions[body].owner = id;
    graph_.regions[region].nodes.push_back(id);
    std::vector<ValueId> outputs;
    for (Dim size : sizes) {
      const ValueId output = AddValue(ValueKind::kNodeOutput, region, size);
      graph_.values[output].producer = id;
      graph_.nodes[id].outputs.push_back(output);
      outputs.push_back(output);
    }
    return outputs;
  }

  ValueId Add1(const OnnxOp& op, std::vector<ValueId> inputs, Dim size,
               RegionId region = RegionId(0)) {
    return Add(op, std::move(inputs), {size}, region)[0];
  }

  void Output(ValueId id, RegionId region = RegionId(0)) {
    graph_.regions[region].outputs.push_back(id);
    graph_.values[id].is_graph_output |= region == RegionId(0);
  }

  Dim Symbol(const char* name) { return graph_.dims->Symbol(name); }

  // Peak of what is computed, in bytes.
  int64_t Peak(bool in_place, const DimBindings& bindings = {}) {
    Prepare();
    DimEvaluator evaluator(*graph_.dims, bindings);
    const MemoryTrace trace = ComputeLiveness(graph_, inferred_, roles_, evaluator, {in_place});
    const Timeline timeline = ComputeTimeline(trace, evaluator, 1);
    int64_t inputs = 0;
    for (size_t i = 0; i < trace.storages.size(); ++i) {
      if (trace.storages[StorageId(i)].category == Category::kInput) {
        inputs += *timeline.bytes[StorageId(i)];
      }
    }
    if (timeline.live_bytes.empty()) return 0;
    return timeline.live_bytes[static_cast<size_t>(timeline.PeakTick(0, trace.end_tick))] - inputs;
  }

  int64_t NaivePeak(bool in_place) {
    Prepare();
    DimEvaluator evaluator(*graph_.dims, {});
    return NaiveActivationPeak(graph_, inferred_, evaluator, in_place);
  }

 private:
  ValueId AddValue(ValueKind kind, RegionId region, Dim size) {
    Value value;
    value.name = absl::StrCat("v", graph_.values.size());
    value.kind = kind;
    value.region = region;
    value.declared = ValueType::Tensor(TensorType::Make(ElementType::kFloat, {size}));
    return graph_.values.Add(value);
  }

  void Prepare() {
    inferred_.types.resize(graph_.values.size());
    inferred_.values.resize(graph_.values.size());
    roles_.of.resize(graph_.values.size(), Role::kNone);
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      inferred_.types[ValueId(i)] = graph_.values[ValueId(i)].declared;
    }
  }

  Graph graph_;
  InferredTypes inferred_;
  Roles roles_;
};

TEST(Liveness, ChainOfElementwiseOperators) {
  Builder b;
  ValueId x = b.Input(1000);
  ValueId h = x;
  for (int i = 0; i < 4; ++i) h = b.Add1(kUnary, {h}, 1000);
  b.Output(h);
  EXPECT_EQ(b.Peak(/*in_place=*/false), 8000);
  EXPECT_EQ(b.Peak(/*in_place=*/true), 4000);
}

TEST(Liveness, InputIsNeverOverwritten) {
  Builder b;
  const ValueId x = b.Input(1000);
  const ValueId h = b.Add1(kUnary, {x}, 1000);
  b.Output(b.Add1(kBinary, {x, h}, 1000));
  EXPECT_EQ(b.Peak(true), 4000);  // over h, not over x
  EXPECT_EQ(b.Peak(false), 8000);
}

TEST(Liveness, OperandOfAnotherSizeIsNotOverwritten) {
  Builder b;
  const ValueId x = b.Input(10);
  const ValueId small = b.Add1(kFresh, {x}, 1);
  const ValueId large = b.Add1(kBinary, {small}, 10);
  b.Output(large);
  EXPECT_EQ(b.Peak(true), 44);
}

TEST(Liveness, SizesThatAreEqualOnlyAtTheBinding) {
  Builder b;
  const ValueId x = b.Input(b.Symbol("n"));
  const ValueId h = b.Add1(kFresh, {x}, b.Symbol("n"));
  b.Output(b.Add1(kUnary, {h}, b.Symbol("m")));
  EXPECT_EQ(b.Peak(true, {{"n", 8}, {"m", 8}}), 32);
  EXPECT_EQ(b.Peak(true, {{"n", 8}, {"m", 9}}), 68);
}

TEST(Liveness, PeakOfAnIfIsTheLargerBranch) {
  Builder b;
  const ValueId condition = b.Input(1);
  std::vector<RegionId> branches;
  for (int64_t size : {100, 300}) {
    const RegionId body = b.Body();
    const ValueId inner = b.Add1(kFresh, {condition}, size, body);
    b.Output(b.Add1(kFresh, {inner}, 10, body), body);
    branches.push_back(body);
  }
  b.Output(b.Add(kIf, {condition}, {10}, RegionId(0), branches)[0]);
  EXPECT_EQ(b.Peak(true), 4 * (300 + 10));
}

TEST(Liveness, CapturedValueLivesUntilItsLoopEnds) {
  Builder b;
  const ValueId x = b.Input(1);
  const ValueId captured = b.Add1(kFresh, {x}, 50);
  const RegionId body = b.Body();
  const ValueId state = b.BodyInput(body, 10);
  const ValueId used = b.Add1(kFresh, {captured, state}, 10, body);
  const ValueId wide = b.Add1(kFresh, {used}, 200, body);
  b.Output(b.Add1(kFresh, {wide}, 10, body), body);
  // trip count and condition are omitted; one carried value.
  b.Output(b.Add(kLoop, {ValueId(), ValueId(), x}, {10}, RegionId(0), {body})[0]);
  // wide, its reader's result and the captured value, which the next iteration reads again.
  EXPECT_EQ(b.Peak(true), 4 * (200 + 10 + 50));
}

TEST(Liveness, StackedResultOfALoopIsThereWhileItRuns) {
  Builder b;
  const ValueId x = b.Input(1);
  const RegionId body = b.Body();
  const ValueId row = b.Add1(kFresh, {x}, 10, body);
  b.Output(row, body);
  b.Output(b.Add(kLoop, {ValueId(), ValueId()}, {70}, RegionId(0), {body})[0]);
  EXPECT_EQ(b.Peak(true), 4 * (70 + 10));
}

TEST(Liveness, AgreesWithTheNaiveSimulationOnRandomGraphs) {
  std::mt19937 random(7);
  auto pick = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  for (int round = 0; round < 3000; ++round) {
    Builder b;
    std::vector<std::pair<ValueId, int64_t>> values;
    for (size_t i = 0; i <= pick(2); ++i) values.emplace_back(b.Input(8), 8);
    const size_t nodes = 1 + pick(24);
    for (size_t i = 0; i < nodes; ++i) {
      const auto [operand, size] =
          values[values.size() - 1 - pick(std::min<size_t>(values.size(), 5))];
      const auto [other, other_size] = values[pick(values.size())];
      const OnnxOp* ops[] = {&kFresh, &kView, &kUnary, &kBinary, &kBinary};
      const OnnxOp& op = *ops[pick(5)];
      const int64_t result = op.alias == 0 || pick(3) > 0 ? size : int64_t{8} << pick(3);
      if (pick(8) == 0) {
        for (ValueId id : b.Add(op, {operand, other}, {result, 4})) values.emplace_back(id, 4);
        values[values.size() - 2].second = result;
      } else {
        values.emplace_back(b.Add1(op, {operand, other}, result), result);
      }
    }
    for (size_t i = 0; i <= pick(3); ++i)
      b.Output(values[values.size() - 1 - pick(values.size())].first);
    for (bool in_place : {false, true}) {
      ASSERT_EQ(b.Peak(in_place), b.NaivePeak(in_place)) << "round " << round;
    }
  }
}

TEST(Timeline, FirstOfEqualPeaksAndWhoIsAlive) {
  MemoryTrace trace;
  auto add = [&](int64_t bytes, int64_t first, int64_t end) {
    StorageRecord storage;
    storage.bytes = bytes;
    storage.first_tick = first;
    storage.end_tick = end;
    return trace.storages.Add(storage);
  };
  const StorageId a = add(100, 0, 3);
  const StorageId c = add(700, 1, 2);
  add(700, 2, 3);
  trace.end_tick = 4;
  DimTable dims;
  DimEvaluator evaluator(dims, {});
  const Timeline timeline = ComputeTimeline(trace, evaluator, kAllocationGranularity);
  EXPECT_EQ(timeline.live_bytes, (std::vector<int64_t>{512, 1536, 1536, 0}));
  EXPECT_EQ(timeline.PeakTick(0, 4), 1);
  EXPECT_EQ(LiveAt(trace, timeline, 1), (std::vector<StorageId>{c, a}));
}

TEST(Timeline, SaysWhenASumLeaves64Bits) {
  MemoryTrace trace;
  for (int i = 0; i < 2; ++i) {
    StorageRecord storage;
    storage.bytes = std::numeric_limits<int64_t>::max() - 5;
    storage.end_tick = 1;
    trace.storages.Add(storage);
  }
  trace.end_tick = 1;
  DimTable dims;
  DimEvaluator evaluator(dims, {});
  EXPECT_TRUE(ComputeTimeline(trace, evaluator, 1).overflow);
}

}  // namespace
}  // namespace footprint
