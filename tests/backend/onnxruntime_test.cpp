// Each kernel of the profile as a small graph: the planned buffers against what was measured.
#include "backend/runtime/onnxruntime.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "backend/analyze.h"

namespace footprint {
namespace {

constexpr int64_t kElements = int64_t{2} * 8 * 16 * 16;
constexpr int64_t kTensor = kElements * 4;

RuntimeReport PlanOf(const std::string& model, GraphOptimization optimization) {
  Options options;
  options.model_path = "model.onnxtxt";
  options.model_bytes = model;
  options.mode = Mode::kInference;
  options.runtime = Runtime::kOnnxRuntime;
  options.graph_optimization = optimization;
  const std::variant<Report, Failure> result = Analyze(options);
  if (const auto* failure = std::get_if<Failure>(&result)) {
    ADD_FAILURE() << model << failure->diagnostics.front().message;
    return {};
  }
  return std::get<Report>(result).inference->runtimes.back();
}

std::string Model(int opset, const std::string& body) {
  return "<ir_version: 10, opset_import: [\"\" : " + std::to_string(opset) +
         ", \"com.microsoft\" : 1]>\ng (float[2, 8, 16, 16] x) => (float[2, 8, 16, 16] y) {\n" +
         body + "}\n";
}

// How `b` lies in a graph where a is read by nothing else.
std::string PlacementOfB(const RuntimeReport& report) {
  for (const RuntimeBuffer& buffer : report.buffers) {
    for (const PlannedTensor& tensor : buffer.tensors) {
      if (tensor.name == "b") return tensor.placement;
    }
  }
  return "missing";
}

// With a dead buffer of its shape about, a kernel that cannot write in place takes that one.
RuntimeReport PlanUnary(const std::string& call, int opset) {
  return PlanOf(Model(opset, "a = Exp(x)\n" + call + "\ny = Exp(b)\n"), GraphOptimization::kNone);
}

class InPlace : public testing::TestWithParam<const char*> {};
TEST_P(InPlace, OverwritesItsOperand) {
  const std::string op = GetParam();
  EXPECT_EQ(PlacementOfB(PlanUnary("b = " + op + "(a)", 17)), "in place") << op;
}
INSTANTIATE_TEST_SUITE_P(Kernels, InPlace,
                         testing::Values("Relu", "Sigmoid", "Tanh", "HardSigmoid", "LeakyRelu",
                                         "Elu", "Selu", "Celu", "Softplus", "Softsign",
                                         "ThresholdedRelu", "Shrink", "Clip", "Softmax",
                                         "LogSoftmax", "Trilu", "Cast<to = 6>", "Cast<to = 1>"));

class OwnBuffer : public testing::TestWithParam<const char*> {};
TEST_P(OwnBuffer, OverwritesNothing) {
  const std::string op = GetParam();
  EXPECT_EQ(PlacementOfB(PlanUnary("b = " + op, 20)), "own") << op;
}
INSTANTIATE_TEST_SUITE_P(
    Kernels, OwnBuffer,
    testing::Values("Add(a, a)", "Sub(a, a)", "Mul(a, a)", "Div(a, a)", "Pow(a, a)", "Max(a, a)",
                    "Min(a, a)", "Sum(a, a)", "Mean(a, a)", "Erf(a)", "Sqrt(a)", "Reciprocal(a)",
                    "Neg(a)", "Exp(a)", "Log(a)", "Abs(a)", "Ceil(a)", "Floor(a)", "Round(a)",
                    "Sign(a)", "Sin(a)", "Cos(a)", "Tan(a)", "Gelu(a)", "Hardmax(a)", "Dropout(a)",
                    "Concat<axis = 1>(a)", "Transpose<perm = [0, 1, 3, 2]>(a)",
                    "MaxPool<kernel_shape = [1, 1]>(a)", "com.microsoft.QuickGelu(a)",
                    "com.microsoft.FastGelu(a)"));

class Alias : public testing::TestWithParam<const char*> {};
TEST_P(Alias, SharesItsOperand) {
  const std::string constant = "s = Constant<value = int64[4] {2, 8, 16, 16}>()\n";
  EXPECT_EQ(PlacementOfB(PlanUnary(constant + "b = " + std::string(GetParam()), 17)), "alias");
}
INSTANTIATE_TEST_SUITE_P(Kernels, Alias, testing::Values("Reshape(a, s)", "Identity(a)"));

// Bytes of tensors of the full size that are alive at the peak, scratch included.
struct Measured {
  const char* call;
  int opset;
  int64_t peak;
  int64_t scratch;
};
class Scratch : public testing::TestWithParam<Measured> {};
TEST_P(Scratch, AsMeasured) {
  const Measured& row = GetParam();
  const std::string body = std::string("a = Exp(x)\n") + row.call + "\n";
  const RuntimeReport report = PlanOf(Model(row.opset, body), GraphOptimization::kNone);
  EXPECT_EQ(report.activation_peak_bytes, row.peak) << row.call;
  EXPECT_EQ(report.scratch_bytes, row.scratch) << row.call;
}
INSTANTIATE_TEST_SUITE_P(
    Kernels, Scratch,
    testing::Values(Measured{"y = Exp(a)", 17, 2 * kTensor, 0},
                    Measured{"y = HardSwish(a)", 17, 3 * kTensor, 0},
                    Measured{"y = Mish(a)", 18, 3 * kTensor, 0},
                    Measured{"y = Swish(a)", 24, 3 * kTensor, 0},
                    Measured{"y = Softmax<axis = 1>(a)", 17, 4 * kTensor, 2 * kTensor},
                    Measured{"y = Softmax<axis = 1>(a)", 12, 2 * kTensor, 0},
                    Measured{"y = LRN<size = 5>(a)", 17, 61'440, 28'672},
                    Measured{"c = Exp(x)\nd = Exp(x)\ny = Sum(a, c, d)", 17, 5 * kTensor, kTensor},
                    Measured{"y = com.microsoft.BiasGelu(a, x)", 17, 3 * kTensor, kTensor}));

std::string WithWeight(const std::string& weight, const std::string& call,
                       const std::string& result) {
  return "<ir_version: 10, opset_import: [\"\" : 17]>\ng (float[2, 8, 16, 16] x, float" + weight +
         " w) => (float" + result + " y) {\na = Exp(x)\ny = " + call + "\n}\n";
}

TEST(Scratch, OfConvolutions) {
  const auto scratch = [](const std::string& weight, const std::string& call) {
    return PlanOf(WithWeight(weight, call, "[n, c, h, v]"), GraphOptimization::kNone).scratch_bytes;
  };
  EXPECT_EQ(scratch("[8, 8, 3, 3]", "Conv<pads = [1, 1, 1, 1]>(a, w)"), 65'536);
  EXPECT_EQ(scratch("[8, 8, 1, 1]", "Conv<strides = [2, 2]>(a, w)"), 65'536);
  EXPECT_EQ(scratch("[512, 8, 1, 1]", "Conv(a, w)"), 0);
  EXPECT_EQ(scratch("[512, 8, 3, 3]", "Conv<pads = [1, 1, 1, 1]>(a, w)"), 73'728);
  EXPECT_EQ(scratch("[512, 4, 3, 3]", "Conv<pads = [1, 1, 1, 1], group = 2>(a, w)"), 65'536);
  EXPECT_EQ(scratch("[8, 4, 2, 2]", "ConvTranspose<strides = [2, 2]>(a, w)"), 16'384);
  EXPECT_EQ(scratch("[8, 4, 3, 3]", "ConvTranspose<strides = [2, 2], pads = [1, 1, 1, 1]>(a, w)"),
            36'864);
}

TEST(Kernels, HaveOneRowEach) {
  std::set<std::pair<absl::string_view, absl::string_view>> names;
  for (const Kernel& kernel : OnnxRuntimeKernels()) {
    EXPECT_TRUE(names.emplace(kernel.domain, kernel.name).second) << kernel.name;
  }
}

TEST(Plan, ATinyTensorTakesSixtyFourBytes) {
  const RuntimeReport report = PlanOf(
      "<ir_version: 8, opset_import: [\"\" : 17]>\ng (float x) => (float y) {\n"
      "a = Exp(x)\ny = Exp(a)\n}\n",
      GraphOptimization::kNone);
  EXPECT_EQ(report.activation_peak_bytes, 128);
}

TEST(Rewrites, SayWhatWasApplied) {
  const RuntimeReport report =
      PlanOf(Model(17, "a = Exp(x)\ns = Sigmoid(a)\nb = Mul(a, s)\nc = Identity(b)\ny = Exp(c)\n"),
             GraphOptimization::kAll);
  EXPECT_EQ(report.rewrites, (std::vector<std::string>{"Identity taken out: 1",
                                                       "spelled-out activation -> QuickGelu: 1"}));
  EXPECT_EQ(report.activation_peak_bytes, 2 * kTensor);
}

TEST(Quantized, EveryReaderDequantizesForItself) {
  const RuntimeReport report = PlanOf(
      "<ir_version: 8, opset_import: [\"\" : 17]>\n"
      "g (int8[2, 8, 16, 16] x) => (float[2, 8, 16, 16] y) {\n"
      "s = Constant<value = float {0.5}>()\nz = Constant<value = int8 {0}>()\n"
      "q = Identity(x)\na = DequantizeLinear(q, s, z)\nb = Exp(a)\nc = Neg(a)\ny = Add(b, c)\n"
      "}\n",
      GraphOptimization::kNone);
  int64_t dequantized = 0;
  for (const RuntimeBuffer& buffer : report.buffers) {
    for (const PlannedTensor& tensor : buffer.tensors) dequantized += tensor.name[0] == 'a' ? 1 : 0;
  }
  EXPECT_EQ(dequantized, 2);
}

// Sizes that an operator computes from names share nothing, those it hands on do.
TEST(Visible, ComputedSizesAreNotSeen) {
  const auto placement = [](const std::string& call) {
    return PlacementOfB(
        PlanOf("<ir_version: 8, opset_import: [\"\" : 17]>\n"
               "g (float[batch, 16] x) => (float[n, m] y) {\n" +
                   call + "\nb = Relu(a)\ny = Exp(b)\n}\n",
               GraphOptimization::kNone));
  };
  EXPECT_EQ(placement("a = Exp(x)"), "in place");
  EXPECT_EQ(placement("a = Concat<axis = 0>(x, x)"), "own");
  const std::string shape = "s = Constant<value = int64[2] {-1, 8}>()\n";
  EXPECT_EQ(placement(shape + "c = Exp(x)\na = Reshape(c, s)"), "own");
}

TEST(Bodies, CountWhileTheirNodeRuns) {
  const RuntimeReport report = PlanOf(
      "<ir_version: 8, opset_import: [\"\" : 17]>\n"
      "g (float[8, 256] x) => (float[8, 256] y, float[n, 8, 256] s) {\n"
      "m = Constant<value = int64 {4}>()\nc = Constant<value = bool {1}>()\na = Exp(x)\n"
      "y, s = Loop(m, c, a) <body = b (int64 i, bool p, float[8, 256] h) =>"
      " (bool q, float[8, 256] h2, float[8, 256] o) {\nq = Identity(p)\nk = Mul(h, a)\n"
      "k2 = Sigmoid(k)\nh2 = Add(k2, h)\no = Neg(h2)\n}>\n}\n",
      GraphOptimization::kNone);
  EXPECT_EQ(report.activation_peak_bytes, 98'432);
}

}  // namespace
}  // namespace footprint
