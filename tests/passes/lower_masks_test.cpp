#include "passes/lower_masks.h"

#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

TorchArgument Append(TorchProgram& program, absl::string_view op,
                     std::vector<TorchArgument> arguments) {
  TorchValue value;
  value.type = TensorType::Make(ElementType::kFloat, {Dim(8)});
  TorchCall call;
  call.op = FindTorchOp(op);
  call.arguments = std::move(arguments);
  call.results = {program.values.Add(value)};
  program.calls.Add(call);
  return TorchArgument::Tensor(call.results[0]);
}

// Longer than any module's: nothing may recurse along it.
TEST(LowerMasksTest, LongChainsBehindAMaskDoNotRecurse) {
  TorchProgram program;
  TorchArgument places = Append(program, "aten::arange", {TorchArgument::Int(8)});
  for (int i = 0; i < 500000; ++i) places = Append(program, "aten::view", {places});
  const TorchArgument open = Append(program, "aten::ge", {places, TorchArgument::Int(0)});
  const TorchArgument mask = Append(
      program, "aten::where", {open, TorchArgument::Float(0), TorchArgument::Float(-1)});
  const TorchArgument scores = Append(program, "aten::relu", {});
  const TorchArgument masked = Append(program, "aten::add", {scores, mask});
  Append(program, "aten::softmax", {masked});
  EXPECT_EQ(LeaveOutOpenMasks({}, program), 1);
  EXPECT_EQ(program.calls.size(), 2u);
}

}  // namespace
}  // namespace footprint
