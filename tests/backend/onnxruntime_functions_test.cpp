// Functions of half precision: which are spelled out depends on the version of the operator set.
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "tests/backend/planned_peak.h"

namespace footprint {
namespace {

struct HalfCall {
  const char* name;
  const char* call;
  int opset;
  int64_t bytes;  // that ONNX Runtime allocated at once, at either level of graph optimization
};
std::ostream& operator<<(std::ostream& out, const HalfCall& row) { return out << row.name; }

constexpr HalfCall kCalls[] = {
    {"Elu18", "Elu(a)", 18, 94208},
    {"Elu20", "Elu(a)", 20, 24576},
    {"HardSigmoid18", "HardSigmoid(a)", 18, 41024},
    {"HardSwish17", "HardSwish(a)", 17, 57344},
    {"HardSwish18", "HardSwish(a)", 18, 65664},
    {"LeakyRelu17", "LeakyRelu(a)", 17, 94208},
    {"LeakyRelu20", "LeakyRelu(a)", 20, 24576},
    {"PRelu18", "PRelu(a, s)", 18, 94208},
    {"Relu17", "Relu(a)", 17, 24576},
    {"Relu18", "Relu(a)", 18, 16448},
    {"Relu20", "Relu(a)", 20, 24576},
    {"Selu18", "Selu(a)", 18, 94208},
    {"Softplus18", "Softplus(a)", 18, 40960},
    {"Softsign18", "Softsign(a)", 18, 57344},
    {"ThresholdedRelu18", "ThresholdedRelu(a)", 18, 77824},
    {"Mish18", "Mish(a)", 18, 57344},
    {"Softmax17", "Softmax(a)", 17, 41216},
    {"LogSoftmax17", "LogSoftmax(a)", 17, 41472},
    {"Gelu20", "Gelu(a)", 20, 57408},
    {"GeluTanh20", "Gelu<approximate = \"tanh\">(a)", 20, 73728},
    {"Swish24", "Swish(a)", 24, 57344},
    {"MeanVarianceNormalization17", "MeanVarianceNormalization<axes = [0, 2]>(a)", 17, 65536},
    {"ReduceL1Of18", "ReduceL1(a)", 18, 32768},
    {"ReduceL1Of22", "ReduceL1(a)", 22, 32768},
    {"ReduceL2Of18", "ReduceL2(a)", 18, 32768},
    {"ReduceL2Of20", "ReduceL2(a)", 20, 24576},
    {"ReduceSumSquare20", "ReduceSumSquare(a)", 20, 32768},
    {"ReduceLogSumExp18", "ReduceLogSumExp(a)", 18, 65536},
};

class HalfFunctions : public testing::TestWithParam<HalfCall> {};
TEST_P(HalfFunctions, AsMeasured) {
  const std::string graph =
      std::string("(float16[2, 16, 64] x) => (float16[n, m, k] y)\n") +
      "<float16[64] s = {1...}, int64[1] zero = {0}, int64[1] end = {9}>\n{\n" +
      "  a = Concat<axis = 0>(x, x)\n  b = " + GetParam().call + "\n" +
      "  y = Slice(b, zero, end, zero)\n}\n";
  MeasuredModel model = {GetParam().name, graph.c_str(), GetParam().bytes, GetParam().bytes};
  model.opset = GetParam().opset;
  EXPECT_EQ(PlannedPeak(model, GraphOptimization::kNone), model.none);
  EXPECT_EQ(PlannedPeak(model, GraphOptimization::kAll), model.all);
}
INSTANTIATE_TEST_SUITE_P(OnnxRuntime, HalfFunctions, testing::ValuesIn(kCalls),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace footprint
