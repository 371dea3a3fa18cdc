// Graphs of a few nodes to which random ones were reduced where a plan and ONNX Runtime did not
// agree: what it allocated at once, at both levels.
#include <gtest/gtest.h>

#include "tests/backend/planned_peak.h"

namespace footprint {
namespace {

const MeasuredModel kModels[] = {
    {"What nobody reads has a buffer of its own", R"(
(float[2, 64, 64] x) => (float[i, j, k] y)
{
  a, c = Split<axis = 2>(x)
  d = Concat<axis = 2>(c, a)
  p, q = Split<axis = 2>(d)
  y = Concat<axis = 2>(p, p, p, p)
}
)",
     98304, 98304},
    {"What nobody reads may be taken by others", R"(
(float[64, 64] x) => (float[n, m] y)
{
  u, v = Split<axis = 0>(x)
  a = Exp(v)
  c = Exp(a)
  d = Exp(c)
  e = Concat<axis = 0>(d, d, d)
  y = ReduceMax<axes = [0], keepdims = 1>(e)
}
)",
     32768, 32768},
    {"A branch that is told how large its result is", R"(
(float[2, 64, 32] x, bool c) => (float[n, m, k] y) <int64[3] s = {2, 64, 32}>
{
  y = If(c)<then_branch = t () => (float[2, 64, 32] o)
  {
    a = Concat<axis = 0>(x, x, x)
    d = Neg(a)
    e = ReduceSum<keepdims = 0>(d)
    o = Expand(e, s)
  }, else_branch = f () => (float[2, 64, 32] z)
  {
    z = Neg(x)
  }>
}
)",
     114688, 114688},
    {"A scan along other axes", R"(
(float[64, 32] h, float[64, 4, 32] z) => (float[64, 32] y, float[n, m, k] s)
{
  y, s = Scan(h, z)<num_scan_inputs = 1, scan_input_axes = [1], scan_output_axes = [1],
    body = b (float[64, 32] p, float[64, 32] q) => (float[64, 32] o, float[64, 32] r)
  {
    o = Add(p, q)
    r = Exp(q)
  }>
}
)",
     122880, 122880},
    {"A scan whose step takes something beside", R"(
(float[64, 32] h, float[2, 64, 32] z) => (float[64, 32] y, float[n, m, k] s)
{
  y, s = Scan(h, z)<num_scan_inputs = 1,
    body = b (float[64, 32] p, float[64, 32] q) => (float[64, 32] o, float[64, 32] r)
  {
    o = Softmax<axis = 0>(p)
    r = Identity(q)
  }>
}
)",
     49152, 49152},
    {"Softmax of doubles", R"(
(double[2, 64, 64] x) => (double[n, m, k] y)
{
  a = Floor(x)
  c = Softmax(a)
  y = Sqrt(c)
}
)",
     131072, 131072},
    {"What is given is expanded to its own size", R"(
(float[2, 64, 32] x) => (float[n, m, k] y) <int64[3] s = {2, 64, 32}>
{
  a = Expand(x, s)
  y = Exp(a)
}
)",
     32768, 32768},
    {"What is given and nothing is added to", R"(
(float[2, 64, 32] x) => (float[n, m, k] y) <float z = {0}>
{
  a = Add(x, z)
  y = Exp(a)
}
)",
     32768, 32768},
    {"A normalization whose squares are products", R"(
(float[2, 64, 32] x) => (float[n, m, k] y) <float[32] g = {0...}, float[32] t = {1...},
  float s = {0.001}>
{
  z = Neg(x)
  a = ReduceMean<axes = [-1], keepdims = 1>(z)
  d = Sub(z, a)
  e = Mul(d, d)
  v = ReduceMean<axes = [-1], keepdims = 1>(e)
  w = Add(v, s)
  q = Sqrt(w)
  r = Div(d, q)
  c = Mul(r, g)
  y = Add(c, t)
}
)",
     33792, 33792},
    {"Doubles: a divided product", R"(
(double[3, 8, 24, 24] a, double[3, 8, 24, 8] c) => (double[i, j, k, l] y) <double s = {2.5}>
{
  v = Div(a, s)
  y = MatMul(v, c)
}
)",
     147456, 147456},
    {"A convolution whose groups are half a block", R"(
(float[2, 32, 12, 8] x) => (float[n, m, k, l] y) <float[16, 16, 5, 5] w = {0...}>
{
  y = Conv<group = 2, pads = [2, 2, 2, 2]>(x, w)
}
)",
     77824, 77824},
    {"HardSwish behind a convolution", R"(
(float[2, 32, 12, 8] x) => (float[n, m, k, l] y) <float[24, 32, 3, 3] w = {0...}>
{
  a = Conv<pads = [1, 1, 1, 1]>(x, w)
  y = HardSwish(a)
}
)",
     83968, 73728},
    {"The mean of a given image", R"(
(float[2, 16, 12, 8] x) => (float[n, m, k, l] y)
{
  y = GlobalAveragePool(x)
}
)",
     128, 12416},
    {"A sum that is normalized along another axis", R"(
(float[3, 32, 24] x, float[3, 32, 24] z) => (float[n, m, k] y) <float[3, 32, 24] g = {0...}>
{
  a = Add(x, z)
  y = LayerNormalization<axis = 0>(a, g)
}
)",
     18432, 18432},
    {"GELU behind a product", R"(
(float[2, 64, 32] x) => (float[n, m, k] y) <float a = {1.4142135}, float o = {1},
  float s = {0.5}, float[32] g = {0...}>
{
  z = Mul(x, g)
  d = Div(z, a)
  e = Erf(d)
  f = Add(e, o)
  u = Mul(z, f)
  y = Mul(u, s)
}
)",
     49152, 49152},
    {"Half precision: Dropout", R"(
(float16[4, 64, 32] x) => (float16[n, m, k] y)
{
  y = Dropout(x)
}
)",
     65536, 65536},
    {"Half precision: there and back", R"(
(float[64, 96] x) => (float[n, m] y)
{
  a = Cast<to = 10>(x)
  y = Cast<to = 1>(a)
}
)",
     36864, 36864},
    {"Half precision: on to integers", R"(
(float16[4, 64, 32] x) => (int64[n, m, k] y)
{
  a = Mul(x, x)
  y = Cast<to = 7>(a)
}
)",
     98304, 98304},
    {"Half precision: a result of another declared size", R"(
(float16[b, 192] x) => (float16[n, m] y)
{
  a = Mul(x, x)
  c = Transpose<perm = [0, 1]>(a)
  d = Transpose<perm = [0, 1]>(c)
  y = Exp(d)
}
)",
     4608, 3072},
    {"A product of weights without a zero point", R"(
(uint8[32, 64] x) => (float[n, m] y) <float s = {0.02}, uint8 p = {3}, float v = {0.01},
  int8[64, 64] w = {0...}>
{
  a = DequantizeLinear(x, s, p)
  d = DequantizeLinear(w, v)
  y = Gemm(a, d)
}
)",
     32768, 32768},
    {"Zero points of two kinds", R"(
(float[2, 64, 32] x) => (uint8[n, m, k] y) <float s = {0.02}, uint8 p = {0}, int8 i = {0}>
{
  q = QuantizeLinear(x, s, i)
  a = DequantizeLinear(q, s, i)
  y = QuantizeLinear(a, s, p)
}
)",
     20480, 20480},
};

class MeasuredReduced : public testing::TestWithParam<MeasuredModel> {};
TEST_P(MeasuredReduced, AsPlanned) { ExpectMeasured(GetParam()); }
INSTANTIATE_TEST_SUITE_P(OnnxRuntime, MeasuredReduced, testing::ValuesIn(kModels),
                         [](const auto& row) { return TestName(row.param); });

}  // namespace
}  // namespace footprint
