// What ONNX Runtime makes of quantized graphs and of half precision: small graphs as planned, and
// as measured with version 1.32 on one thread, arena and memory patterns off.
#include "tests/backend/planned_peak.h"

namespace footprint {
namespace {

const MeasuredModel kModels[] = {
    {"A quantized convolution", R"(
(float[2, 16, 8, 8] x) => (float[n, c, h, v] y) <float s = {0.5}, uint8 z = {0}, int8 zi = {0},
  int8 zl = {-128}, int8[32, 16, 3, 3] w = {1...}, float sw = {0.25}, int32[32] bias = {0...},
  float sb = {0.125}>
{
  q = QuantizeLinear(x, s, z)
  d = DequantizeLinear(q, s, z)
  f = DequantizeLinear(w, sw, zi)
  g = DequantizeLinear(bias, sb)
  a = Conv<pads = [1, 1, 1, 1]>(d, f, g)
  p = QuantizeLinear(a, s, z)
  y = DequantizeLinear(p, s, z)
}
)",
     108672, 20480},
    {"Signed images become unsigned", R"(
(float[2, 16, 8, 8] x) => (float[n, c, h, v] y) <float s = {0.5}, uint8 z = {0}, int8 zi = {0},
  int8 zl = {-128}, int8[32, 16, 3, 3] w = {1...}, float sw = {0.25}, int32[32] bias = {0...},
  float sb = {0.125}>
{
  q = QuantizeLinear(x, s, zi)
  d = DequantizeLinear(q, s, zi)
  f = DequantizeLinear(w, sw, zi)
  g = DequantizeLinear(bias, sb)
  a = Conv<pads = [1, 1, 1, 1]>(d, f, g)
  p = QuantizeLinear(a, s, zi)
  y = DequantizeLinear(p, s, zi)
}
)",
     108672, 20480},
    {"An activation that quantization makes redundant", R"(
(float[2, 16, 8, 8] x) => (float[n, c, h, v] y) <float s = {0.5}, uint8 z = {0}, int8 zi = {0},
  int8 zl = {-128}, int8[32, 16, 3, 3] w = {1...}, float sw = {0.25}, int32[32] bias = {0...},
  float sb = {0.125}>
{
  q = QuantizeLinear(x, s, z)
  d = DequantizeLinear(q, s, z)
  f = DequantizeLinear(w, sw, zi)
  g = DequantizeLinear(bias, sb)
  a = Conv<pads = [1, 1, 1, 1]>(d, f, g)
  r = Relu(a)
  p = QuantizeLinear(r, s, z)
  y = DequantizeLinear(p, s, z)
}
)",
     108672, 20480},
    {"A bias of another scale", R"(
(float[2, 16, 8, 8] x) => (float[n, c, h, v] y) <float s = {0.5}, uint8 z = {0}, int8 zi = {0},
  int8 zl = {-128}, int8[32, 16, 3, 3] w = {1...}, float sw = {0.25}, int32[32] bias = {0...},
  float sb = {0.5}>
{
  q = QuantizeLinear(x, s, z)
  d = DequantizeLinear(q, s, z)
  f = DequantizeLinear(w, sw, zi)
  g = DequantizeLinear(bias, sb)
  a = Conv<pads = [1, 1, 1, 1]>(d, f, g)
  p = QuantizeLinear(a, s, z)
  y = DequantizeLinear(p, s, z)
}
)",
     108672, 108672},
    {"A float bias is quantized", R"(
(float[2, 16, 8, 8] x) => (float[n, c, h, v] y) <float s = {0.5}, uint8 z = {0}, int8 zi = {0},
  int8 zl = {-128}, int8[32, 16, 3, 3] w = {1...}, float sw = {0.25}, int32[32] bias = {0...},
  float sb = {0.125}, float[32] fb = {0...}>
{
  q = QuantizeLinear(x, s, z)
  d = DequantizeLinear(q, s, z)
  f = DequantizeLinear(w, sw, zi)
  a = Conv<pads = [1, 1, 1, 1]>(d, f, fb)
  p = QuantizeLinear(a, s, z)
  y = DequantizeLinear(p, s, z)
}
)",
     108544, 20480},
    {"A quantized residual block", R"(
(float[2, 16, 8, 8] x) => (float[n, c, h, v] y) <float s = {0.5}, uint8 z = {0}, int8 zi = {0},
  int8 zl = {-128}, int8[16, 16, 3, 3] w = {1...}, float sw = {0.25}>
{
  q = QuantizeLinear(x, s, z)
  d = DequantizeLinear(q, s, z)
  f = DequantizeLinear(w, sw, zi)
  a = Conv<pads = [1, 1, 1, 1]>(d, f)
  p = QuantizeLinear(a, s, z)
  e = DequantizeLinear(p, s, z)
  b = Add(e, d)
  t = QuantizeLinear(b, s, z)
  u = DequantizeLinear(t, s, z)
  m = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(u)
  n = QuantizeLinear(m, s, z)
  y = DequantizeLinear(n, s, z)
}
)",
     101376, 15360},
    {"A quantized depthwise convolution", R"(
(float[2, 16, 8, 8] x) => (float[n, c, h, v] y) <float s = {0.5}, uint8 z = {0}, int8 zi = {0},
  int8 zl = {-128}, uint8[16, 1, 3, 3] w = {1...}, float sw = {0.25}, uint8 zw = {7}>
{
  q = QuantizeLinear(x, s, z)
  d = DequantizeLinear(q, s, z)
  f = DequantizeLinear(w, sw, zw)
  a = Conv<pads = [1, 1, 1, 1], group = 16>(d, f)
  p = QuantizeLinear(a, s, z)
  y = DequantizeLinear(p, s, z)
}
)",
     84544, 14848},
    {"Quantization moved past a reshape", R"(
(float[2, 16, 8, 8] x) => (float[n, m] y) <float s = {0.5}, uint8 z = {0}, int8 zi = {0}, int8
  zl = {-128}, int64[2] to = {2, 1024}, int8[1024, 32] w = {1...}, float sw = {0.25}>
{
  q = QuantizeLinear(x, s, z)
  d = DequantizeLinear(q, s, z)
  a = Reshape(d, to)
  f = DequantizeLinear(w, sw, zi)
  b = MatMul(a, f)
  p = QuantizeLinear(b, s, z)
  y = DequantizeLinear(p, s, z)
}
)",
     141312, 2368},
    {"A quantized product that stays a number", R"(
(float[2, 8, 64] x) => (float[n, m, k] y) <float s = {0.5}, uint8 z = {0}, int8 zi = {0}, int8
  zl = {-128}, int8[64, 96] w = {1...}, float sw = {0.25}>
{
  q = QuantizeLinear(x, s, z)
  d = DequantizeLinear(q, s, z)
  f = DequantizeLinear(w, sw, zi)
  b = MatMul(d, f)
  y = Exp(b)
}
)",
     34816, 12288},
    {"Quantized choice and concatenation", R"(
(float[2, 8, 64] x, bool[2, 8, 64] t) => (float[n, m, k] y) <float s = {0.5}, uint8 z = {0},
  int8 zi = {0}, int8 zl = {-128}, float o = {0.5}>
{
  q = QuantizeLinear(x, s, z)
  d = DequantizeLinear(q, s, z)
  b = Where(t, o, d)
  p = QuantizeLinear(b, s, z)
  e = DequantizeLinear(p, s, z)
  g = Sigmoid(e)
  h = QuantizeLinear(g, s, z)
  i = DequantizeLinear(h, s, z)
  y = Exp(i)
}
)",
     17408, 8192},
    {"A stored number is signed where the bytes were", R"(
(float[2, 8, 64] x, bool[2, 8, 64] t) => (float[n, m, k] y) <float s = {0.5}, int8 z = {0},
  float o = {0.5}>
{
  q = QuantizeLinear(x, s, z)
  d = DequantizeLinear(q, s, z)
  b = Where(t, o, d)
  p = QuantizeLinear(b, s, z)
  e = DequantizeLinear(p, s, z)
  y = Exp(e)
}
)",
     17408, 17472},
    {"Readers that remain have nodes of their own", R"(
(float[8, 64, 16] x) => (float[n, m, k] y) <float s = {0.5}, uint8 z = {0}, float o = {1}>
{
  q = QuantizeLinear(x, s, z)
  u = DequantizeLinear(q, s, z)
  a = Mul(u, o)
  g = Concat<axis = 0>(a, a)
  h = ReduceMax<axes = [0]>(g)
  y = Sub(h, a)
}
)",
     102400, 163840},
    {"Sizes off the axis of a concatenation are those of any operand", R"(
(float[b, 8, 16] x, float[p, 8, 16] v) => (float[n, g, h] y) <float s = {0.5}, uint8 z = {0}>
{
  a = QuantizeLinear(x, s, z)
  w = QuantizeLinear(v, s, z)
  t = com.microsoft.QLinearAdd(w, s, z, a, s, z, s, z)
  u = com.microsoft.QLinearConcat<axis = 2>(s, z, t, s, z, a, s, z)
  c = DequantizeLinear(u, s, z)
)",
     11264, 11264, 17, kTellsSeenSizes},
    {"Dynamic quantization of one product", R"(
(float[2, 8, 64] x) => (float[n, m, k] y) <int8 zi = {0}, int8[64, 96] w = {1...}, float sw =
  {0.25}, float[96] bias = {0...}>
{
  a = Exp(x)
  q, qs, qz = DynamicQuantizeLinear(a)
  b = MatMulInteger(q, w, qz, zi)
  c = Cast<to = 1>(b)
  m = Mul(qs, sw)
  d = Mul(c, m)
  e = Add(d, bias)
  y = Exp(e)
}
)",
     12352, 12288},
    {"Dynamic quantization of two", R"(
(float[2, 8, 64] x) => (float[n, m, k] y) <int8 zi = {0}, int8[64, 96] w = {1...}, int8[64, 96]
  w2 = {1...}, float sw = {0.25}>
{
  a = Exp(x)
  q, qs, qz = DynamicQuantizeLinear(a)
  b = MatMulInteger(q, w, qz, zi)
  c = Cast<to = 1>(b)
  m = Mul(qs, sw)
  d = Mul(c, m)
  f = MatMulInteger(q, w2, qz, zi)
  g = Cast<to = 1>(f)
  m2 = Mul(qs, sw)
  h = Mul(g, m2)
  y = Sub(d, h)
}
)",
     18496, 18496},
    {"Integers convolved", R"(
(float[2, 16, 8, 8] x) => (float[n, c, h, v] y) <int8 zi = {0}, int8[16, 8, 3, 3] w = {1...}>
{
  q, qs, qz = DynamicQuantizeLinear(x)
  b = ConvInteger<pads = [1, 1, 1, 1], group = 2>(q, w, qz, zi)
  c = Cast<to = 1>(b)
  y = Exp(c)
}
)",
     16448, 16448},
    {"Half weights of two products are cast in each run", R"(
(float16[b, 64] x) => (float16[n, m] y) <float16[64, 64] w = {0...}>
{
  a = MatMul(x, w)
  y = MatMul(a, w)
}
)",
     17408, 17408},
    {"Half weights of one product are cast beforehand", R"(
(float16[b, 64] x) => (float16[n, m] y) <float16[64, 64] w = {0...}, float16[64, 64] v = {1...}>
{
  a = MatMul(x, w)
  y = MatMul(a, v)
}
)",
     33792, 1024},
    {"Quantization is moved up first", R"(
(uint8[2, 8, 16] x) => (uint8[n, m, k] y) <float s = {0.02}, float t = {0.03}, uint8 z = {3}>
{
  a = DequantizeLinear(x, s, z)
  b = Transpose<perm = [0, 2, 1]>(a)
  c = Transpose<perm = [1, 0, 2]>(b)
  y = QuantizeLinear(c, t, z)
}
)",
     2048, 1280},
    {"Of a list of half operands the first one decides", R"(
(float16[2, 16, 64] x, float16[2, 16, 64] z) => (float16[n, m, k] y)
{
  a = Sin(x)
  e = Concat<axis = 1>(a, z)
  f = Sin(e)
  y = Transpose(f)
}
)",
     32768, 32768},
    {"Not the second one of a list of half operands", R"(
(float16[2, 16, 64] x, float16[2, 64, 16] z) => (float16[n, m, k] y)
{
  a = Sin(x)
  b = Transpose<perm = [0, 2, 1]>(z)
  e = Concat<axis = 1>(b, a)
  f = Sin(e)
  y = Transpose(f)
}
)",
     40960, 40960},
    {"Pools of bytes work on numbers", R"(
(uint8[2, 16, 8, 8] x) => (uint8[n, m, h, w] y) <float s = {0.5}, uint8 z = {3}>
{
  y = com.microsoft.QLinearAveragePool<kernel_shape = [2, 2], strides = [2, 2]>(x, s, z, s, z)
}
)",
     8704, 8704},
    {"Choices between bytes", R"(
(uint8[2, 16, 8, 8] x, bool[2, 16, 8, 8] c) => (uint8[n, m, h, w] y) <float s = {0.5},
  uint8 z = {3}>
{
  y = com.microsoft.QLinearWhere(c, x, s, z, x, s, z, s, z)
}
)",
     6144, 6144},
    {"Undone quantization stays where two nodes read it", R"(
(float[2, 64, 64] x) => (float[n, m, k] y) <float s = {0.5}, uint8 z = {3}>
{
  v = Exp(x)
  q = QuantizeLinear(v, s, z)
  d = DequantizeLinear(q, s, z)
  e = QuantizeLinear(d, s, z)
  a = Cast<to = 1>(e)
  b = Exp(a)
  c = ReduceMax(b)
  f = Cast<to = 2>(c)
  t = Transpose<perm = [0, 2, 1]>(e)
  h = Max(t, f)
  j = Max(q, h)
  y = Cast<to = 1>(j)
}
)",
     90112, 90112},
    {"Duplicates are not declared", R"(
(uint8[b, 64, 64] x) => (float[n, m, k] y) <float s = {0.5}, uint8 z = {3}, int64[3] r = {-1, 32,
  128}, float[b, 32, 128] d>
{
  q = Reshape(x, r)
  d = DequantizeLinear(q, s, z)
  e = Exp(d)
  f = Exp(e)
  g = Exp(f)
  h = Exp(d)
  i = Exp(h)
  j = Exp(i)
  k = Exp(d)
  l = Exp(k)
  m = Exp(l)
  p = Add(g, j)
  y = Add(p, m)
}
)",
     131072, 131072},
    {"Nor is what is made of them", R"(
(uint8[b, 64, 64] x) => (float[n, m, k] y) <float s = {0.5}, uint8 z = {3}, int64[3] r = {-1, 32,
  128}, float[b, 32, 128] d, int64[1] one = {1}, int64[1] zero = {0}, int64[1] half = {64},
  int64[1] end = {128}, int64[1] two = {2}>
{
  q = Reshape(x, r)
  d = DequantizeLinear(q, s, z)
  a = Slice(d, zero, half, two)
  e = Exp(a)
  f = Exp(e)
  g = Exp(f)
  c = Slice(d, half, end, two)
  h = Exp(c)
  i = Exp(h)
  j = Exp(i)
  k = Slice(d, one, half, one)
  l = Exp(k)
  m = Exp(l)
  p = Add(g, j)
  o = ReduceSum(m)
  y = Add(p, o)
}
)",
     65600, 63488},
    {"A body reads what is dequantized once", R"(
(uint8[2, 64, 64] x, bool c) => (float[n, m, k] y) <float s = {0.5}, uint8 z = {3}>
{
  q = Identity(x)
  d = DequantizeLinear(q, s, z)
  a = Exp(d)
  b = If<then_branch = t () => (float[2, 64, 64] u) { u = Neg(d) },
         else_branch = e () => (float[2, 64, 64] v) { v = Exp(d) }>(c)
  y = Add(a, b)
}
)",
     98304, 98304},
    {"Nodes are numbered as they are listed", R"(
(float[2, 16, 64] x) => (float[n, m, k] y)
{
  y = Add(c, d)
  d = ReduceMax(e)
  e = Concat<axis = 0>(x, x)
  c = Exp(f)
  f = Neg(x)
}
)",
     24640, 24640},
    {"Also where the order is another one", R"(
(float[2, 16, 64] x) => (float[n, m, k] y)
{
  y = Add(c, d)
  c = Exp(f)
  f = Neg(x)
  d = ReduceMax(e)
  e = Concat<axis = 0>(x, x)
}
)",
     16448, 16448},
    {"Half precision is cast around kernels without it", R"(
(float16[2, 32, 64] x) => (float16[n, m, k] y) <float16[64, 64] w = {0...}>
{
  a = Exp(x)
  b = Neg(a)
  c = MatMul(b, w)
  d = Transpose<perm = [0, 2, 1]>(c)
  y = Relu(d)
}
)",
     49152, 32768},
};

class MeasuredQuantized : public testing::TestWithParam<MeasuredModel> {};
TEST_P(MeasuredQuantized, AsPlanned) { ExpectMeasured(GetParam()); }
INSTANTIATE_TEST_SUITE_P(OnnxRuntime, MeasuredQuantized, testing::ValuesIn(kModels),
                         [](const auto& row) { return TestName(row.param); });

}  // namespace
}  // namespace footprint
