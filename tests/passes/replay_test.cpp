// Programs acted out: text cases (tests/cases/replay), and properties that hold for all of them.
#include "passes/replay.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "passes/replay_print.h"
#include "passes/timeline.h"
#include "tests/support/case_runner.h"
#include "tests/support/torch_text.h"

namespace footprint {
namespace {

struct Setup {
  DimTable dims;
  DimBindings bindings;
  ReplayOptions options;
};

// name=number binds a dimension, checkpoint=FIRST-END checkpoints a run of calls; other words
// choose the precision, the optimizer, the kernel.
void Apply(const std::string& word, Setup& setup) {
  const std::vector<std::string> parts = absl::StrSplit(word, '=');
  if (word == "bf16") setup.options.module = ElementType::kBfloat16;
  if (word == "fp16") setup.options.module = ElementType::kFloat16;
  if (word == "amp-bf16") setup.options.autocast = ElementType::kBfloat16;
  if (word == "amp-fp16") setup.options.autocast = ElementType::kFloat16;
  if (word == "math") setup.options.attention = AttentionKernel::kMath;
  if (word == "efficient") setup.options.attention = AttentionKernel::kEfficient;
  if (word == "flash") setup.options.attention = AttentionKernel::kFlash;
  if (word == "cudnn") setup.options.attention = AttentionKernel::kCudnn;
  if (const Optimizer* found = FindOptimizer(word)) setup.options.optimizer = found;
  if (word == "master") setup.options.master_weights = true;
  if (word == "grad-scaler") setup.options.scales_loss = true;
  if (word == "accumulate") setup.options.accumulates = true;
  if (parts[0] == "checkpoint") {
    const std::vector<std::string> ends = absl::StrSplit(parts[1], '-');
    setup.options.checkpoints.push_back(
        {CallId(std::stoi(ends[0])), CallId(std::stoi(ends[1])), "calls " + parts[1]});
    return;
  }
  if (parts.size() == 2) setup.bindings.emplace_back(parts[0], std::stoll(parts[1]));
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

using PrintReplay = std::string (*)(const TrainingReplay&, DimEvaluator&);

std::string RunProgram(const std::string& path, const std::vector<std::string>& arguments,
                       PrintReplay print) {
  Setup setup;
  for (const std::string& word : arguments) Apply(word, setup);
  std::string error;
  const std::optional<TorchProgram> program =
      ParseTorchProgram(ReadFile(path), setup.dims, &error);
  if (!program) return error;
  DimEvaluator evaluator(setup.dims, setup.bindings);
  const TrainingReplay replay = Replay(*program, setup.dims, evaluator, setup.options);
  std::string out = print(replay, evaluator);
  for (CallId id : replay.misfits) absl::StrAppend(&out, "call ", id.index(), " does not fit\n");
  return out;
}

// --- Whole programs ------------------------------------------------------------------------------

class ReplayCases : public testing::TestWithParam<std::string> {};

std::string PrintEvents(const TrainingReplay& replay, DimEvaluator& evaluator) {
  return Print(replay.trace, replay.in_place_additions, evaluator);
}

TEST_P(ReplayCases, PrintWhatTheyExpect) {
  EXPECT_TRUE(RunCase(GetParam(), [](const std::string& path, const auto& arguments) {
    return RunProgram(path, arguments, PrintEvents);
  }));
}
INSTANTIATE_TEST_SUITE_P(, ReplayCases, testing::ValuesIn(CasesOf(FOOTPRINT_SOURCE_DIR, "replay")),
                         CaseName);

// --- Single operators ----------------------------------------------------------------------------

// What one operator costs, as a caller would measure it who holds its operands, its result and the
// gradient of the result:
//   forward    the highest bytes above the operands
//   kept       the result and what was saved, above the operands
//   backward   the highest bytes above all of these
//   gradients  those of the operands
std::string PrintRow(const TrainingReplay& replay, DimEvaluator& evaluator) {
  const MemoryTrace& trace = replay.trace;
  const Timeline timeline = ComputeTimeline(trace, evaluator, kAllocationGranularity);
  const auto live = [&](int64_t tick) { return timeline.live_bytes[static_cast<size_t>(tick)]; };
  const auto peak = [&](int64_t begin, int64_t end) { return live(timeline.PeakTick(begin, end)); };
  const auto rounded = [](int64_t bytes) { return (bytes + 511) / 512 * 512; };
  const int64_t backward = trace.phase_tick[1];
  const int64_t optimizer = trace.phase_tick[2];
  const int64_t operands = live(0);
  // The first allocation of backward is the gradient of the result.
  const int64_t start = backward + 1 < optimizer ? live(backward + 1) : live(backward);
  int64_t gradients = 0;
  std::string saved;
  for (size_t i = 0; i < trace.storages.size(); ++i) {
    const StorageId id(i);
    if (trace.storages[id].category == Category::kGradient) {
      gradients += rounded(timeline.bytes[id].value_or(0));
    }
  }
  for (StorageId id : trace.saved) {
    const StorageRecord& storage = trace.storages[id];
    absl::StrAppend(&saved, saved.empty() ? "" : ", ", storage.name, " ",
                    ElementTypeName(storage.element), " ", timeline.bytes[id].value_or(-1));
  }
  return absl::StrCat("forward ", peak(0, backward) - operands, " kept ",
                      live(backward) - operands, " backward ", peak(backward, optimizer) - start,
                      " gradients ", gradients, "\nsaved ",
                      saved.empty() ? "nothing" : saved, "\n");
}

class ReplayRowCases : public testing::TestWithParam<std::string> {};

TEST_P(ReplayRowCases, CostWhatTheyExpect) {
  EXPECT_TRUE(RunCase(GetParam(), [](const std::string& path, const auto& arguments) {
    return RunProgram(path, arguments, PrintRow);
  }));
}
INSTANTIATE_TEST_SUITE_P(, ReplayRowCases, testing::ValuesIn(CasesOf(FOOTPRINT_SOURCE_DIR, "row")),
                         CaseName);

// --- What the mathematics needs ------------------------------------------------------------------

class ReplayNeedCases : public testing::TestWithParam<std::string> {};

TEST_P(ReplayNeedCases, NeedWhatTheyExpect) {
  EXPECT_TRUE(RunCase(GetParam(), [](const std::string& path, const auto& arguments) {
    return RunProgram(path, arguments, [](const TrainingReplay& replay, DimEvaluator& evaluator) {
      return PrintNeeds(replay.trace, evaluator);
    });
  }));
}
INSTANTIATE_TEST_SUITE_P(, ReplayNeedCases,
                         testing::ValuesIn(CasesOf(FOOTPRINT_SOURCE_DIR, "needed")), CaseName);

// --- Properties ----------------------------------------------------------------------------------

// Three residual blocks of convolution, norm and activation, then a classifier.
std::string ResidualNetwork() {
  std::string text = "input %x0: float32[batch, 16, 8, 8]\ninput %target: int64[batch]\n"
                     "parameter %fc: float32[10, 16]\nparameter %b: float32[10]\n";
  for (int i = 0; i < 3; ++i) {
    const std::string n = absl::StrCat(i);
    absl::StrAppend(&text, "parameter %w", n, ": float32[16, 16, 3, 3]\nparameter %g", n,
                    ": float32[16]\nparameter %s", n, ": float32[16]\nbuffer %m", n,
                    ": float32[16]\nbuffer %v", n, ": float32[16]\n");
    absl::StrAppend(&text, "%c", n, ": float32[batch, 16, 8, 8] = aten::conv2d(%x", n, ", %w", n,
                    ", None, [1, 1], [1, 1])\n%n", n, " = aten::batch_norm(%c", n, ", %g", n,
                    ", %s", n, ", %m", n, ", %v", n, ", True)\n%a", n, " = aten::add(%n", n, ", %x",
                    n, ") in-place-if-unsaved\n%x", i + 1, " = aten::relu(%a", n, ") in-place\n");
  }
  return text +
         "%p = aten::mean.dim(%x3, [-1, -2], True)\n"
         "%f: float32[batch, 16] = aten::flatten(%p, 1)\n"
         "%y = aten::linear(%f, %fc, %b)\n"
         "%l = aten::cross_entropy_loss(%y, %target)\nloss %l\n";
}

TrainingReplay ReplayResidual(DimTable& dims, DimEvaluator& evaluator,
                              const ReplayOptions& options = {}) {
  std::string error;
  const std::optional<TorchProgram> program = ParseTorchProgram(ResidualNetwork(), dims, &error);
  EXPECT_TRUE(program.has_value()) << error;
  return Replay(*program, dims, evaluator, options);
}

TEST(ReplayTest, EveryStorageHasItsIntervalInsideTheTrace) {
  DimTable dims;
  DimEvaluator evaluator(dims, {{"batch", 4}});
  ReplayOptions options;
  options.optimizer = FindOptimizer("adamw");
  const MemoryTrace trace = ReplayResidual(dims, evaluator, options).trace;
  std::vector<int> made(static_cast<size_t>(trace.end_tick), 0);
  for (size_t i = 0; i < trace.storages.size(); ++i) {
    const StorageRecord& storage = trace.storages[StorageId(i)];
    EXPECT_GE(storage.first_tick, 0);
    EXPECT_LT(storage.first_tick, storage.end_tick) << storage.name;
    EXPECT_LE(storage.end_tick, trace.end_tick) << storage.name;
    EXPECT_FALSE(storage.name.empty());
    EXPECT_FALSE(storage.reason.empty());
    if (storage.first_tick > 0) ++made[static_cast<size_t>(storage.first_tick)];
  }
  EXPECT_EQ(*std::max_element(made.begin(), made.end()), 1) << "one allocation in each tick";
  for (size_t i = 1; i < trace.steps.size(); ++i) {
    EXPECT_LE(trace.steps[i - 1].first_tick, trace.steps[i].first_tick);
  }
}

TEST(ReplayTest, OneReplayServesAllBindingsThatKeepItsGuards) {
  DimTable dims;
  DimEvaluator four(dims, {{"batch", 4}});
  const MemoryTrace at_four = ReplayResidual(dims, four).trace;
  DimTable other_dims;
  DimEvaluator seven(other_dims, {{"batch", 7}});
  const MemoryTrace at_seven = ReplayResidual(other_dims, seven).trace;
  DimEvaluator seven_again(dims, {{"batch", 7}});
  EXPECT_EQ(ComputeTimeline(at_four, seven_again, kAllocationGranularity).live_bytes,
            ComputeTimeline(at_seven, seven, kAllocationGranularity).live_bytes);
}

TEST(ReplayTest, FrozenParametersLetTheirPartnersGo) {
  const char* text =
      "parameter %a: float32[64, 64] frozen\nparameter %b: float32[64, 64]\n"
      "input %x: float32[8, 64]\n%y = aten::linear(%x, %a)\n%z = aten::linear(%y, %b)\nloss %z\n";
  DimTable dims;
  std::string error;
  const std::optional<TorchProgram> program = ParseTorchProgram(text, dims, &error);
  ASSERT_TRUE(program.has_value()) << error;
  DimEvaluator evaluator(dims, {});
  const MemoryTrace trace = Replay(*program, dims, evaluator, {}).trace;
  ASSERT_EQ(trace.saved.size(), 1u);
  EXPECT_EQ(trace.storages[trace.saved[0]].name, "y");
}

TEST(ReplayTest, ParametersThatTheLossDoesNotReachHaveNoGradientAndNoState) {
  const char* text =
      "parameter %used: float32[4]\nparameter %unused: float32[1024]\n"
      "%y = aten::relu(%used)\nloss %y\n";
  DimTable dims;
  std::string error;
  const std::optional<TorchProgram> program = ParseTorchProgram(text, dims, &error);
  ASSERT_TRUE(program.has_value()) << error;
  DimEvaluator evaluator(dims, {});
  ReplayOptions options;
  options.optimizer = FindOptimizer("adam");
  const MemoryTrace trace = Replay(*program, dims, evaluator, options).trace;
  for (const StorageRecord& storage : trace.storages) {
    if (storage.category == Category::kGradient || storage.category == Category::kOptimizerState) {
      EXPECT_EQ(evaluator.Evaluate(storage.bytes), 16) << storage.name;
    }
  }
}

TEST(ReplayTest, OperandsThatDoNotFitAreReportedAndKeepGradientsFlowing) {
  const char* text =
      "parameter %w: float32[4, 4]\n%t: float32[2, 8] = aten::permute(%w, [0, 1, 2])\n"
      "%y = aten::relu(%t)\nloss %y\n";
  DimTable dims;
  std::string error;
  const std::optional<TorchProgram> program = ParseTorchProgram(text, dims, &error);
  ASSERT_TRUE(program.has_value()) << error;
  DimEvaluator evaluator(dims, {});
  const TrainingReplay replay = Replay(*program, dims, evaluator, {});
  EXPECT_EQ(replay.misfits, std::vector<CallId>{CallId(0)});
  bool has_gradient = false;
  for (const StorageRecord& storage : replay.trace.storages) {
    has_gradient |= storage.category == Category::kGradient;
  }
  EXPECT_TRUE(has_gradient);
}

// A chain as long as a deep network: nothing may recurse along it.
TEST(ReplayTest, LongChainsDoNotRecurse) {
  std::string text = "parameter %x0: float32[2]\n";
  constexpr int kCalls = 100000;
  for (int i = 0; i < kCalls; ++i) {
    absl::StrAppend(&text, "%x", i + 1, " = aten::mul(%x", i, ", 2.0)\n");
  }
  absl::StrAppend(&text, "%unread = aten::mul(%x", kCalls, ", 2.0)\nloss %x", kCalls, "\n");
  DimTable dims;
  std::string error;
  const std::optional<TorchProgram> program = ParseTorchProgram(text, dims, &error);
  ASSERT_TRUE(program.has_value()) << error;
  DimEvaluator evaluator(dims, {});
  EXPECT_GT(Replay(*program, dims, evaluator, {}).trace.end_tick, 2 * kCalls);
}

}  // namespace
}  // namespace footprint
