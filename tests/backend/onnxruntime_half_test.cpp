// Half precision: which functions are spelled out depends on the version of the operator set; what
// is cast, and what is not computed beforehand.
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
    {"SkippedLayerNormalization", "com.microsoft.SkipLayerNormalization(a, a, s, s)", 17, 65536},
    {"SkippedSimplified", "com.microsoft.SkipSimplifiedLayerNormalization(a, a, s)", 17, 65536},
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
  ExpectMeasured(model);
}
INSTANTIATE_TEST_SUITE_P(OnnxRuntime, HalfFunctions, testing::ValuesIn(kCalls),
                         [](const auto& row) { return row.param.name; });

const MeasuredModel kModels[] = {
    {"Nothing is computed beforehand without a kernel", R"(
(float16[b, 64] x) => (float16[n, m] y) <float16[64, 64] w = {1...}>
{
  k = Mul(w, w)
  l = Neg(k)
  y = MatMul(x, l)
}
)",
     33280, 33280},
    {"Statistics that nobody reads are cast", R"(
(float16[b, 64] x) => (float16[n, m] y) <float16[1, 64, 64] w = {1...}, float16[64] s = {1...},
  float16[64] o = {1...}, float16[64] mean = {1...}, float16[64] var = {1...},
  int64[2] r = {64, 64}>
{
  q = Exp(x)
  v = Neg(w)
  z, z1, z2 = BatchNormalization<training_mode = 1>(v, s, o, mean, var)
  k = Reshape(z, r)
  y = MatMul(q, k)
}
)",
     34304, 33280},
    {"The sum of a skipped normalization and scales that are given", R"(
(float16[b, 16, 64] x, float16[64] g) => (float16[n, m, k] y, float16[q, r, t] z) <float16[64] s =
  {1...}>
{
  a = Clip(x)
  y,,, u = com.microsoft.SkipLayerNormalization(a, x, s, s)
  z = LayerNormalization(u, g, s)
}
)",
     45056, 45056},
    {"Quick GELU is spelled out and fused again", R"(
(float16[b, 16, 64] x) => (float16[n, m, k] y)
{
  a = Concat<axis = 0>(x, x)
  c = com.microsoft.QuickGelu(a)
  y = Concat<axis = 1>(c, c)
}
)",
     49152, 32768},
    {"Of the operands of a maximum the first one decides", R"(
(float16[b, 16, 64] x) => (float16[n, m, k] y) <float16 z = {0}>
{
  a = Exp(x)
  c = Cast<to = 10>(a)
  d = Max(a, z)
  e = Exp(d)
  y = Neg(e)
}
)",
     20544, 16384},
    {"Pieces are split off before casts", R"(
(float16[b, 16, 64] x) => (float16[n, m, k] y) <int64[1] z = {0}, int64[1] e = {8},
  int64[1] f = {16}, int64[1] ax = {1}>
{
  a = Exp(x)
  s = Slice(a, z, e, ax)
  t = Slice(a, e, f, ax)
  u = Neg(t)
  v = Exp(u)
  w = Concat<axis = 1>(v, v)
  q = Concat<axis = 1>(w, w)
  r = Neg(q)
  o = ReduceMax<keepdims = 1>(r)
  i = Add(t, o)
  y = Concat<axis = 1>(s, i)
}
)",
     55296, 45056},
    {"Half precision: RMSNorm twice by one row", R"(
(float16[2, 8, 64] x) => (float16[n, m, k] y) <float16[64, 64] q = {0...}, float16[64] w = {1...}>
{
  two = Constant<value = float {2}>()
  small = Constant<value = float {0.00001}>()
  a = Cast<to = 1>(x)
  b = Pow(a, two)
  c = ReduceMean<axes = [-1]>(b)
  d = Add(c, small)
  e = Sqrt(d)
  f = Div(a, e)
  h = Cast<to = 10>(f)
  i = Mul(h, w)
  j = MatMul(i, q)
  a2 = Cast<to = 1>(j)
  b2 = Pow(a2, two)
  c2 = ReduceMean<axes = [-1]>(b2)
  d2 = Add(c2, small)
  e2 = Sqrt(d2)
  f2 = Div(a2, e2)
  h2 = Cast<to = 10>(f2)
  i2 = Mul(h2, w)
  y = Neg(i2)
}
)",
     24960, 8448},
    {"Half precision: names that operands do not agree on", R"(
(float16[h, 16] x, float16[i, 16] z) => (float16[n, m] y) <float16[h, 16] c>
{
  c = Add(x, z)
  e = Exp(c)
  g = Concat<axis = 0>(e, e, e)
  k = ReduceMax<axes = [0], keepdims = 1>(g)
  l = Add(e, k)
  y = Neg(l)
}
)",
     3136, 3136},
    {"Names that operands do not agree on, as declared", R"(
(float[h, 16] x, float[i, 16] z) => (float[n, m] y) <float[h, 16] c>
{
  c = Add(x, z)
  e = Exp(c)
  g = Concat<axis = 0>(e, e, e)
  k = ReduceMax<axes = [0], keepdims = 1>(g)
  l = Add(e, k)
  y = Neg(l)
}
)",
     3904, 3904},
};

class MeasuredHalf : public testing::TestWithParam<MeasuredModel> {};
TEST_P(MeasuredHalf, AsPlanned) { ExpectMeasured(GetParam()); }
INSTANTIATE_TEST_SUITE_P(OnnxRuntime, MeasuredHalf, testing::ValuesIn(kModels),
                         [](const auto& row) { return TestName(row.param); });

}  // namespace
}  // namespace footprint
