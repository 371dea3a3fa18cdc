// How ONNX Runtime rewrites a graph: small graphs as planned, and as measured with version 1.32 on
// one thread, arena and memory patterns off.
#include <string>

#include "tests/backend/planned_peak.h"

namespace footprint {
namespace {

const MeasuredModel kModels[] = {
    {"Cancel across an addition", R"(
(float[2, 8, 4, 16] x) => (float[2, 8, 4, 16] y)
{
  a = Transpose<perm = [0, 2, 1, 3]>(x)
  b = Exp(a)
  c = Add(b, a)
  y = Transpose<perm = [0, 2, 1, 3]>(c)
}
)",
     12288, 8192},
    {"Two readers stop one", R"(
(float[2, 8, 4, 16] x) => (float[2, 4, 8, 8] y)
{
  a = Transpose<perm = [0, 2, 1, 3]>(x)
  b = Relu(a)
  c = Transpose<perm = [0, 1, 3, 2]>(b)
  y = MatMul(b, c)
}
)",
     10240, 6144},
    {"Two readers let pass what is undone", R"(
(float[2, 8, 4, 64] x, float[64, 1] w) => (float[n, m, k, l] y, float[c, d, e, f] v)
{
  a = Transpose<perm = [0, 2, 1, 3]>(x)
  b = Relu(a)
  v = MatMul(b, w)
  c = ReduceMean<axes = [3]>(b)
  y = Transpose<perm = [0, 2, 1, 3]>(c)
}
)",
     16896, 32768},
    {"Two readers stop what is not undone", R"(
(float[2, 8, 4, 64] x, float[64, 1] w) => (float[n, m, k, l] y, float[c, d, e, f] v)
{
  a = Transpose<perm = [0, 2, 1, 3]>(x)
  b = Relu(a)
  v = MatMul(b, w)
  c = ReduceMean<axes = [3]>(b)
  y = Transpose<perm = [0, 1, 3, 2]>(c)
}
)",
     16896, 16896},
    {"One reader lets pass what is taken up behind it", R"(
(float[2, 8, 4, 64] x, float[64, 1] w) => (float[n, m, k, l] y, float[c, d, e, f] v)
{
  a = Transpose<perm = [0, 2, 1, 3]>(x)
  b = Relu(a)
  g = Relu(b)
  v = MatMul(g, w)
  c = ReduceMean<axes = [3]>(g)
  y = Transpose<perm = [0, 1, 3, 2]>(c)
}
)",
     16896, 32768},
    {"A scale between a transposition and its product", R"(
(float[2, 32, 64] x, float[2, 32, 64] z) => (float[n, m, k] y) <float r = {8}>
{
  a = Exp(z)
  b = Transpose<perm = [0, 2, 1]>(a)
  c = Div(b, r)
  d = MatMul(x, c)
  y = Exp(d)
}
)",
     32768, 24576},
    {"GELU in an order that is not one", R"(
(float[2, 32, 64] x) => (float[n, m, k] y) <float r = {1.4142135}, float o = {1}, float h = {0.5}>
{
  a = Exp(x)
  b = Div(a, r)
  c = Erf(b)
  d = Add(c, o)
  e = Mul(h, d)
  f = Mul(a, e)
  y = Relu(f)
}
)",
     49152, 49152},
    {"GELU of a product by the root of a half", R"(
(float[2, 32, 64] x) => (float[n, m, k] y) <float r = {0.70710677}, float o = {1}, float h = {0.5}>
{
  a = Exp(x)
  b = Mul(a, r)
  c = Erf(b)
  d = Add(c, o)
  e = Mul(a, d)
  f = Mul(e, h)
  y = Relu(f)
}
)",
     49152, 49152},
    {"Half of x first, by tanh", R"(
(float[2, 32, 64] x) => (float[n, m, k] y) <float p = {3}, float k = {0.044715},
  float r = {0.7978845}, float o = {1}, float h = {0.5}>
{
  a = Exp(x)
  b = Pow(a, p)
  c = Mul(b, k)
  d = Add(a, c)
  e = Mul(d, r)
  f = Tanh(e)
  g = Add(f, o)
  i = Mul(a, h)
  j = Mul(i, g)
  y = Relu(j)
}
)",
     65536, 32768},
    {"Half of the product last, by tanh", R"(
(float[2, 32, 64] x) => (float[n, m, k] y) <float p = {3}, float k = {0.044715},
  float r = {0.7978845}, float o = {1}, float h = {0.5}>
{
  a = Exp(x)
  b = Pow(a, p)
  c = Mul(b, k)
  d = Add(a, c)
  e = Mul(d, r)
  f = Tanh(e)
  g = Add(f, o)
  i = Mul(a, g)
  j = Mul(i, h)
  y = Relu(j)
}
)",
     49152, 49152},
    {"Lines between the elements of an image twice as large", R"(
(float[2, 16, 8, 8] x) => (float[n, c, h, v] y) <float[16, 16, 3, 3] w = {0...},
  float[4] s = {1.0, 1.0, 2.0, 2.0}>
{
  a = Conv<pads = [1, 1, 1, 1]>(x, w)
  b = Resize<mode = "linear">(a, , s)
  c = Add(b, b)
  y = Conv<pads = [1, 1, 1, 1]>(c, w)
}
)",
     131072, 65536},
    {"A sum is made in a convolution that is not in blocks", R"(
(float[2, 18, 8, 8] x, float[2, 18, 8, 8] z) => (float[n, m, h, w] y) <float[18, 18, 3, 3]
  f = {0...}, float[18] c = {0...}>
{
  d = Exp(z)
  a = Conv<pads = [1, 1, 1, 1]>(x, f, c)
  s = Add(d, a)
  y = Relu(s)
}
)",
     74752, 83968},
    {"A sum with one of another size is not", R"(
(float[2, 18, 8, 8] x, float[1, 18, 8, 8] z) => (float[n, m, h, w] y) <float[18, 18, 3, 3]
  f = {0...}, float[18] c = {0...}>
{
  d = Exp(z)
  a = Conv<pads = [1, 1, 1, 1]>(x, f, c)
  s = Add(d, a)
  y = Relu(s)
}
)",
     74752, 74752},
    {"Past slices and concatenation", R"(
(float[2, 8, 4, 16] x) => (float[n, m, k, l] y) <int64[1] zero = {0}, int64[1] four = {4},
  int64[1] three = {3}>
{
  a = Transpose<perm = [0, 2, 1, 3]>(x)
  b = Slice(a, zero, four, three)
  c = Concat<axis = 1>(b, b)
  d = Exp(c)
  y = Transpose<perm = [0, 1, 3, 2]>(d)
}
)",
     5120, 4096},
    {"Past a gathered position", R"(
(float[2, 8, 4, 16] x) => (float[n, m, k] y) <int64 one = {1}>
{
  a = Transpose<perm = [2, 0, 1, 3]>(x)
  b = Gather<axis = 0>(a, one)
  y = Exp(b)
}
)",
     5120, 2048},
    {"Past a mean, a squeeze and a softmax", R"(
(float[2, 8, 4, 16] x) => (float[n, m, k] y) <int64[1] two = {2}>
{
  a = Transpose<perm = [0, 2, 3, 1]>(x)
  b = Softmax<axis = 3>(a)
  c = ReduceMean<axes = [2]>(b)
  d = Squeeze(c, two)
  e = Exp(d)
  y = Transpose<perm = [0, 2, 1]>(e)
}
)",
     4352, 12288},
    {"A shorter operand is widened", R"(
(float[2, 8, 4, 16] x, float[4, 16] z) => (float[2, 8, 4, 16] y) <float[8, 16] q = {0...}>
{
  a = Transpose<perm = [0, 2, 1, 3]>(x)
  w = Transpose<perm = [1, 0]>(z)
  v = Exp(z)
  b = Add(a, q)
  u = Neg(v)
  c = Exp(b)
  y = Transpose<perm = [0, 2, 1, 3]>(c)
}
)",
     8192, 8192},
    {"Channels last on the way out and in", R"(
(float[2, 16, 8, 8] x) => (float[n, c, h, v] y) <float[16, 16, 3, 3] w = {0...}, float[16] bias
  = {0...}>
{
  a = Conv<pads = [1, 1, 1, 1]>(x, w, bias)
  b = Transpose<perm = [0, 2, 3, 1]>(a)
  c = Softmax(b)
  d = Transpose<perm = [0, 3, 1, 2]>(c)
  y = Conv<pads = [1, 1, 1, 1]>(d, w, bias)
}
)",
     81920, 32768},
    {"A pool of a plain image", R"(
(float[2, 16, 8, 8] x) => (float[n, c, h, v] y)
{
  a = Exp(x)
  b = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(a)
  y = Exp(b)
}
)",
     10240, 16384},
    {"A product of images", R"(
(float[2, 16, 8, 8] x) => (float[n, c, h, v] y) <float[16, 16, 3, 3] w = {0...}, float[16] bias
  = {0...}>
{
  a = Conv<pads = [1, 1, 1, 1]>(x, w, bias)
  b = Sigmoid(a)
  c = Mul(a, b)
  d = Conv<pads = [1, 1, 1, 1]>(c, w, bias)
  e = Mul(d, d)
  y = Exp(e)
}
)",
     81920, 16384},
    {"An image twice as large", R"(
(float[2, 16, 8, 8] x) => (float[n, c, h, v] y) <float[16, 16, 3, 3] w = {0...}, float[16] bias
  = {0...}, float[4] s = {1.0, 1.0, 2.0, 2.0}>
{
  a = Conv<pads = [1, 1, 1, 1]>(x, w, bias)
  b = Resize<coordinate_transformation_mode = "asymmetric", mode = "nearest", nearest_mode =
    "floor">(a, , s)
  y = Conv<pads = [1, 1, 1, 1]>(b, w, bias)
}
)",
     131072, 65536},
    {"A sum of images of unknown sizes", R"(
(float[b, 16, h, w] x, float[b, 16, i, j] z) => (float[n, c, k, l] y) <float[16, 16, 3, 3] f =
  {0...}, float[16] bias = {0...}>
{
  a = Conv<pads = [1, 1, 1, 1]>(x, f, bias)
  d = Conv<pads = [1, 1, 1, 1]>(z, f, bias)
  e = Relu(d)
  g = Relu(a)
  s = Add(e, g)
  y = Conv<pads = [1, 1, 1, 1]>(s, f, bias)
}
)",
     96256, 46080},
    {"Halved sizes are the same", R"(
(float[b, 16, h, w] x) => (float[n, c, k, l] y) <float[16, 16, 3, 3] f = {0...}, float[16] bias
  = {0...}, float[16] bias2 = {1...}>
{
  a = Conv<pads = [1, 1, 1, 1], strides = [2, 2]>(x, f, bias)
  d = Conv<pads = [1, 1, 1, 1], strides = [2, 2]>(x, f, bias2)
  r = Relu(d)
  s = Add(a, r)
  y = Conv<pads = [1, 1, 1, 1]>(s, f, bias)
}
)",
     73216, 23040},
    {"A factor for each channel is worked into the filter", R"(
(float[2, 16, 8, 8] x) => (float[n, c, h, v] y) <float[16, 16, 3, 3] w = {0...}, float[16] bias
  = {0...}, float[16, 1, 1] g = {0...}>
{
  a = Conv<pads = [1, 1, 1, 1]>(x, w, bias)
  b = Mul(a, g)
  y = Exp(b)
}
)",
     73728, 16384},
    {"GELU before the scale of a product", R"(
(float[2, 32, 64] x, float[64, 64] q) => (float[2, 32, 64] y) <float r = {1.4142135}, float o =
  {1}, float h = {0.5}>
{
  a = Exp(x)
  b = Div(a, r)
  c = Erf(b)
  d = Add(c, o)
  e = Mul(a, d)
  f = Mul(e, h)
  y = MatMul(f, q)
}
)",
     49152, 32768},
    {"Tanh of products", R"(
(float[b, 64] x) => (float[n, m] y) <float[64, 128] w = {1...}, float h = {0.5}, float k =
  {0.79788456}, float c = {0.044715}, float o = {1}>
{
  a = MatMul(x, w)
  p = Mul(a, h)
  q = Mul(a, k)
  s = Mul(a, c)
  t = Mul(s, a)
  u = Add(t, o)
  v = Mul(q, u)
  th = Tanh(v)
  g = Add(th, o)
  z = Mul(p, g)
  y = Neg(z)
}
)",
     4096, 2048},
    {"Tanh that is handed out stays", R"(
(float[b, 64] x) => (float[n, m] y) <float[64, 128] w = {1...}, float h = {0.5}, float k =
  {0.79788456}, float c = {0.044715}, float o = {1}, float three = {3}>
{
  a = MatMul(x, w)
  p = Mul(a, h)
  q = Pow(a, three)
  s = Mul(q, c)
  t = Add(a, s)
  v = Mul(t, k)
  th = Tanh(v)
  g = Add(th, o)
  y = Mul(p, g)
}
)",
     3072, 3072},
    {"Adding nothing to unknown sizes", R"(
(float[b, 64, 64] x) => (float[n, m, k] y) <int64[3] r = {-1, 32, 128}, float z = {0}>
{
  q = Exp(x)
  a = Reshape(q, r)
  c = Add(a, z)
  e = Exp(c)
  f = Add(e, a)
  g = Add(f, c)
  y = Exp(g)
}
)",
     131072, 98304},
    {"The last position is a piece, too", R"(
(float[b, 6, 64] x) => (float[n, m, k] y) <int64[1] z = {0}, int64[1] e = {-2}, int64[1] ax = {1},
  int64[1] i = {-2}, int64[1] j = {-1}>
{
  a = Exp(x)
  s = Slice(a, z, e, ax)
  t = Gather<axis = 1>(a, i)
  u = Gather<axis = 1>(a, j)
  v = Exp(t)
  w = Exp(v)
  q = Add(u, w)
  y = Add(s, q)
}
)",
     5632, 6144},
    {"Names that are spelled in another way are others", R"(
(float[h, h, 64] x) => (float[n, m, k] y) <float[h, h, 64] a, float["h", "(h**2)//h", 64] c,
  float["h", "(h**2)//h", 64] e, float[h, h, 64] f>
{
  a = Exp(x)
  c = Neg(a)
  e = Exp(c)
  f = Neg(e)
  y = Neg(f)
}
)",
     110592, 110592},
    {"Equal numbers are one", R"(
(float[2, 32, 64] x) => (float[2, 32, 64] y) <float p = {3}, float q = {3}>
{
  a = Exp(x)
  b = Mul(a, p)
  c = Mul(a, q)
  d = Sub(b, c)
  y = Exp(d)
}
)",
     49152, 32768},
    {"An Identity that hands a product out", R"(
(float[8, 16] x) => (float[n, m] y) <float[16, 512] w = {0...}>
{
  a = Exp(x)
  b = MatMul(a, w)
  y = Identity(b)
}
)",
     32768, 16896},
    {"An Identity that hands out what is read elsewhere", R"(
(float[8, 16] x) => (float[n, m] y, float[k, l] z) <float[16, 512] w = {0...}>
{
  a = Exp(x)
  b = MatMul(a, w)
  z = Exp(b)
  y = Identity(b)
}
)",
     49152, 49152},
    {"Doubles: a product of a transposed and scaled matrix", R"(
(double[2, 8, 64] x, double[2, 16, 64] w) => (double[n, m, k] y)
{
  s = Constant<value = double {0.5}>()
  a = Transpose<perm = [0, 2, 1]>(w)
  b = Mul(a, s)
  y = MatMul(x, b)
}
)",
     32768, 2048},
    {"Doubles: SiLU", R"(
(double[2, 8, 64] x) => (double[n, m, k] y)
{
  a = Exp(x)
  b = Sigmoid(a)
  c = Mul(a, b)
  y = Neg(c)
}
)",
     24576, 24576},
    {"Doubles: GELU by its tanh", R"(
(double[2, 8, 64] x) => (double[n, m, k] y)
{
  three = Constant<value = double {3}>()
  small = Constant<value = double {0.044715}>()
  root = Constant<value = double {0.7978845834732056}>()
  one = Constant<value = double {1}>()
  half = Constant<value = double {0.5}>()
  a = Exp(x)
  b = Pow(a, three)
  c = Mul(b, small)
  d = Add(a, c)
  e = Mul(d, root)
  f = Tanh(e)
  h = Add(f, one)
  i = Mul(a, half)
  j = Mul(i, h)
  y = Neg(j)
}
)",
     32768, 32768},
    {"Doubles: RMSNorm", R"(
(double[2, 8, 16] x) => (double[n, m, k] y) <double[16] w = {0...}>
{
  two = Constant<value = double {2}>()
  small = Constant<value = double {0.00001}>()
  a = Exp(x)
  b = Pow(a, two)
  c = ReduceMean<axes = [-1]>(b)
  d = Add(c, small)
  e = Sqrt(d)
  f = Div(a, e)
  h = Mul(f, w)
  y = Neg(h)
}
)",
     4352, 4352},
    {"A blocked product that takes its bias before its activation", R"(
(float[2, 8, 64] x) => (float[n, m, k] y)
  <uint8[128, 2, 16] w = {0...}, float[256] s = {1...}, float[128] v = {2...}>
{
  three = Constant<value = float {3}>()
  small = Constant<value = float {0.044715}>()
  root = Constant<value = float {0.7978845834732056}>()
  one = Constant<value = float {1}>()
  half = Constant<value = float {0.5}>()
  p = Exp(x)
  q = com.microsoft.MatMulNBits<K = 64, N = 128, bits = 4, block_size = 32>(p, w, s)
  a = Add(q, v)
  b = Pow(a, three)
  c = Mul(b, small)
  d = Add(a, c)
  e = Mul(d, root)
  f = Tanh(e)
  h = Add(f, one)
  i = Mul(a, half)
  j = Mul(i, h)
  y = Neg(j)
}
)",
     32768, 16384},
    {"A blocked product that keeps its place", R"(
(float[2, 8, 64] x) => (float[n, m, k] y)
  <uint8[64, 2, 16] w = {0...}, float[128] s = {1...}, float[64] v = {2...},
   uint8[512, 2, 16] w2 = {3...}, float[1024] s2 = {4...},
   uint8[64, 16, 16] w3 = {5...}, float[1024] s3 = {6...}>
{
  p = Exp(x)
  q = com.microsoft.MatMulNBits<K = 64, N = 64, bits = 4, block_size = 32>(p, w, s)
  a = Add(q, v)
  b = com.microsoft.MatMulNBits<K = 64, N = 512, bits = 4, block_size = 32>(p, w2, s2)
  b1 = Exp(b)
  c = com.microsoft.MatMulNBits<K = 512, N = 64, bits = 4, block_size = 32>(b1, w3, s3)
  d = Add(a, c)
  y = Neg(d)
}
)",
     69632, 69632},
};

class MeasuredRewrites : public testing::TestWithParam<MeasuredModel> {};
TEST_P(MeasuredRewrites, AsPlanned) { ExpectMeasured(GetParam()); }
int CountOf(const char* graph, const std::string& what) {
  const MeasuredModel model = {"", graph, 0, 0};
  for (const std::string& line : PlannedReport(model, GraphOptimization::kAll).rewrites) {
    if (line.rfind(what + ": ", 0) == 0) return std::stoi(line.substr(what.size() + 2));
  }
  return 0;
}

TEST(Rewrites, NodesMergeWhoseOperandsMergeLater) {
  EXPECT_EQ(CountOf(R"(
(float[b, 64] x, bool[b, 64] c) => (float[n, m] y) <float q = {2}>
{
  u = Not(c)
  c1 = Cast<to = 1>(u)
  w1 = Where(u, q, c1)
  e1 = Exp(w1)
  c2 = Cast<to = 1>(u)
  w2 = Where(u, q, c2)
  e2 = Neg(w2)
  y = Add(e1, e2)
}
)",
                    "computed once"),
            2);
}

TEST(Rewrites, NodesMergeWhoseTensorsAreEqual) {
  const char* graph = R"(
(int64[2] s) => (float[n, m] y)
{
  a = ConstantOfShape<value = float[1] {1}>(s)
  b = ConstantOfShape<value = float[1] {1}>(s)
  c = ConstantOfShape<value = float[1] {2}>(s)
  d = Add(a, b)
  y = Add(d, c)
}
)";
  EXPECT_EQ(CountOf(graph, "computed once"), 1);
}

TEST(Rewrites, AGemmHasABiasOfItsColumns) {
  const std::string head =
      "(float[2, 32, 64] x, float[32, 64] z) => (y) <float[64, 64] w = {1...}, ";
  const auto gemms = [&](const std::string& bias, const std::string& left) {
    const std::string graph = head + bias + ">\n{ p = MatMul(" + left + ", w) y = Add(p, q) }";
    return CountOf(graph.c_str(), "MatMul + Add -> Gemm");
  };
  EXPECT_EQ(gemms("float[64] q = {1...}", "x"), 1);
  EXPECT_EQ(gemms("float[1] q = {1}", "x"), 0);
  EXPECT_EQ(gemms("float[1, 64] q = {1...}", "x"), 0);
  EXPECT_EQ(gemms("float[1, 64] q = {1...}", "z"), 1);
  EXPECT_EQ(gemms("float[32, 1] q = {1...}", "z"), 1);
  EXPECT_EQ(gemms("float[1, 1] q = {1...}", "z"), 0);
}

INSTANTIATE_TEST_SUITE_P(OnnxRuntime, MeasuredRewrites, testing::ValuesIn(kModels),
                         [](const auto& row) { return TestName(row.param); });

}  // namespace
}  // namespace footprint
