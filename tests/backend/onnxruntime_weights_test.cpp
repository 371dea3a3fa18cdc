// Weights once a session is ready, copies of kernels included: small graphs as planned, and as
// measured with version 1.32 on x86-64 with AVX-512 and VNNI, arena off.
#include "tests/backend/planned_peak.h"

namespace footprint {
namespace {

const MeasuredModel kModels[] = {
    {"Columns of a product come in sixteens", R"(
(float[b, 100] x) => (float[n, m] y) <float[100, 70] w = {0...}> { y = MatMul(x, w) }
)",
     32000, 32000},
    {"A matrix the other way round", R"(
(float[b, 100] x) => (float[n, m] y) <float[70, 100] w = {0...}, float[70] c = {0...}>
{ y = Gemm<transB = 1>(x, w, c) }
)",
     32320, 32320},
    {"Stored matrices are not copied", R"(
(float[4, b, 100] x) => (float[n, m, k] y) <float[4, 100, 70] w = {0...}> { y = MatMul(x, w) }
)",
     112000, 112000},
    {"One copy for two of a kind", R"(
(float[b, 100] x, float[b, 100] z) => (float[n, m] y, float[k, l] v) <float[100, 70] w = {0...}>
{ y = MatMul(x, w) v = MatMul(z, w) }
)",
     32000, 32000},
    {"A copy for each kind", R"(
(float[b, 100] x, float[b, 100] z) => (float[n, m] y, float[k, l] v) <float[100, 70] w = {0...}>
{ y = MatMul(x, w) v = Gemm(z, w) }
)",
     64000, 64000},
    {"What is read elsewhere stays", R"(
(int64[b] i) => (float[n, m] y) <float[500, 100] w = {0...}>
{ e = Gather(w, i) y = Gemm<transB = 1>(e, w) }
)",
     404800, 404800},
    {"What is handed out stays", R"(
(float[b, 100] x) => (float[n, m] y, float[100, 70] w) <float[100, 70] w = {0...}>
{ y = MatMul(x, w) }
)",
     60032, 60032},
    {"Bytes in fours of rows, with sums", R"(
(uint8[b, 99] x) => (int32[n, m] y) <int8[99, 70] w = {0...}> { y = MatMulInteger(x, w) }
)",
     8320, 8320},
    {"Unsigned bytes in pairs of rows", R"(
(uint8[b, 101] x) => (int32[n, m] y) <uint8[101, 70] w = {0...}> { y = MatMulInteger(x, w) }
)",
     8512, 8512},
    {"Signed bytes are multiplied as stored", R"(
(int8[b, 100] x) => (int32[n, m] y) <int8[100, 70] w = {0...}> { y = MatMulInteger(x, w) }
)",
     7040, 7040},
    {"Filters in blocks of channels", R"(
(float[b, 20, 14, 14] x) => (float[n, m, h, w] y) <float[40, 20, 3, 3] f = {0...}>
{ y = Conv(x, f) }
)",
     28800, 55296},
    {"Filters of a plain image", R"(
(float[b, 3, 14, 14] x) => (float[n, m, h, w] y) <float[20, 3, 7, 7] f = {0...}>
{ y = Conv(x, f) }
)",
     11776, 18816},
    {"Filters of one channel each", R"(
(float[b, 40, 14, 14] x) => (float[n, m, h, w] y) <float[40, 1, 3, 3] f = {0...}>
{ y = Conv<group = 40>(x, f) }
)",
     1472, 1728},
    {"Filters of bytes", R"(
(uint8[b, 20, 14, 14] x) => (uint8[n, m, h, w] y) <int8[40, 20, 3, 3] f = {0...}, float s = {0.5},
  uint8 z = {3}, int8 o = {0}>
{ y = QLinearConv(x, s, z, f, s, o, s, z) }
)",
     8832, 8832},
    {"Filters of bytes around another zero", R"(
(uint8[b, 20, 14, 14] x) => (uint8[n, m, h, w] y) <int8[40, 20, 3, 3] f = {0...}, float s = {0.5},
  uint8 z = {3}, int8 o = {1}>
{ y = QLinearConv(x, s, z, f, s, o, s, z) }
)",
     9024, 9024},
    {"Filters of bytes in groups", R"(
(uint8[b, 20, 14, 14] x) => (uint8[n, m, h, w] y) <int8[40, 10, 3, 3] f = {0...}, float s = {0.5},
  uint8 z = {3}, int8 o = {0}>
{ y = QLinearConv<group = 2>(x, s, z, f, s, o, s, z) }
)",
     6336, 6336},
    {"Gates of an LSTM", R"(
(float[t, b, 31] x) => (float[n, m, k, l] y) <float[2, 84, 31] w = {0...}, float[2, 84, 21]
  r = {0...}>
{ y = LSTM<hidden_size = 21, direction = "bidirectional">(x, w, r) }
)",
     39936, 39936},
    {"Gates of a GRU", R"(
(float[t, b, 31] x) => (float[n, m, k, l] y) <float[2, 63, 31] w = {0...}, float[2, 63, 21]
  r = {0...}>
{ y = GRU<hidden_size = 21, direction = "bidirectional">(x, w, r) }
)",
     29312, 29312},
    {"Heads of an attention", R"(
(float[b, t, 60] x) => (float[n, m, k] y) <float[60, 180] w = {0...}, float[180] c = {0...}>
{ y = com.microsoft.Attention<num_heads = 3>(x, w, c) }
)",
     69888, 69888},
    {"Four bits, multiplied as integers", R"(
(float[b, 128] x) => (float[n, m] y) <uint8[70, 4, 16] w = {0...}, float[70, 4] s = {0...}>
{
  y = com.microsoft.MatMulNBits<K = 128, N = 70, bits = 4, block_size = 32, accuracy_level = 4>
    (x, w, s)
}
)",
     8192, 8192},
    {"Eight bits, multiplied as integers", R"(
(float[b, 128] x) => (float[n, m] y) <uint8[70, 4, 32] w = {0...}, float[70, 4] s = {0...}>
{
  y = com.microsoft.MatMulNBits<K = 128, N = 70, bits = 8, block_size = 32, accuracy_level = 4>
    (x, w, s)
}
)",
     12672, 12672},
    {"Four bits, multiplied as numbers", R"(
(float[b, 128] x) => (float[n, m] y) <uint8[70, 4, 16] w = {0...}, float[70, 4] s = {0...}>
{ y = com.microsoft.MatMulNBits<K = 128, N = 70, bits = 4, block_size = 32>(x, w, s) }
)",
     5632, 5632},
    {"Weights of branches", R"(
(float[2, 100] x, bool c) => (float[n, m] y) <float[100, 70] w = {0...}, float[100, 70] v = {1...}>
{
  y = If(c) <then_branch = t () => (float[2, 70] a) { a = MatMul(x, w) },
             else_branch = e () => (float[2, 70] d) { d = MatMul(x, v) }>
}
)",
     64000, 64000},
    {"Quantized beforehand", R"(
(float[2, 20, 30] x) => (float[2, 20, 30] y) <float[2, 20, 30] w = {1...}, float s = {0.5},
  uint8 z = {3}>
{
  q = QuantizeLinear(w, s, z)
  d = DequantizeLinear(q, s, z)
  y = Add(x, d)
}
)",
     4928, 1344},
    {"Convolutions with numbers worked in store weights of their own", R"(
(float[b, 5, 16, 16] x) => (float[n, m, h, w] y) <float[5, 5, 3, 3] k = {1...}, float[5] c = {1...},
  float[1, 5, 1, 1] s = {2...}, float[1, 5, 1, 1] t = {3...}>
{
  a = Conv<pads = [1, 1, 1, 1]>(x, k, c)
  d = Mul(a, s)
  e = Conv<pads = [1, 1, 1, 1]>(d, k, c)
  f = Mul(e, t)
  y = Exp(f)
}
)",
     1152, 5888},
};

class Weights : public testing::TestWithParam<MeasuredModel> {};
TEST_P(Weights, TakeWhatWasMeasured) {
  EXPECT_EQ(PlannedReport(GetParam(), GraphOptimization::kNone).weight_bytes, GetParam().none);
  EXPECT_EQ(PlannedReport(GetParam(), GraphOptimization::kAll).weight_bytes, GetParam().all);
}
INSTANTIATE_TEST_SUITE_P(Kernels, Weights, testing::ValuesIn(kModels),
                         [](const auto& model) { return TestName(model.param); });

// Its scale and bias are read in groups, by steps that are not planned.
TEST(Weights, OfAnExpandedFunctionAreHeld) {
  const MeasuredModel model = {"GroupNormalization", R"(
(float[2, 512, 8] x) => (float[2, 512, 8] y) <float[512] s = {1...}, float[512] b = {0...}>
{ y = GroupNormalization <num_groups = 4> (x, s, b) }
)",
                               0, 0};
  EXPECT_EQ(PlannedReport(model, GraphOptimization::kNone).weight_bytes, 4096);
  EXPECT_EQ(PlannedReport(model, GraphOptimization::kAll).weight_bytes, 4096);
}

TEST(Weights, TellWhatWasCopiedAndGivenUp) {
  const RuntimeReport report = PlannedReport(kModels[0], GraphOptimization::kNone);
  EXPECT_EQ(report.prepacked_weight_bytes, 32000);
  EXPECT_EQ(report.released_weight_bytes, 28032);
  EXPECT_FALSE(report.prepacked_for.empty());
  const RuntimeReport plain = PlannedReport(kModels[2], GraphOptimization::kNone);
  EXPECT_EQ(plain.prepacked_weight_bytes, 0);
  EXPECT_EQ(plain.released_weight_bytes, 0);
  EXPECT_TRUE(plain.prepacked_for.empty());
}

}  // namespace
}  // namespace footprint
