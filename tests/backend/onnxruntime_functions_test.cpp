// Function bodies, control flow, and kernels that go by what they are given: what ONNX Runtime
// allocated at once when it ran the models, at both levels.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "tests/backend/planned_peak.h"

namespace footprint {
namespace {

const MeasuredModel kModels[] = {
    {"Sums that are stored and handed out", R"(
(float[8, 64] x) => (float[n, m] y, float[8, 64] s) <float[8, 64] s = {0...}>
{
  y = Exp(x)
}
)",
     4096, 4096},
    {"A cast to what another operand is", R"(
(float[3, 64] x) => (float[n, m] y)
{
  a = Constant<value = float {0.5}>()
  b = CastLike(a, x)
  c = Constant<value = float {0.25}>()
  d = CastLike(c, x)
  e = Mul(x, b)
  y = Add(e, d)
}
)",
     1600, 1600},
    {"GroupNormalization", R"(
(float[2, 64, 8, 8] x, float[64] s, float[64] t) => (float[n, m, k, l] y)
{
  y = GroupNormalization<num_groups = 2>(x, s, t)
}
)",
     98688, 98688, 21},
    {"GroupNormalization beside its operand", R"(
(float[2, 64, 8, 8] x, float[64] s, float[64] t) => (float[n, m, k, l] y)
{
  a = Sin(x)
  b = GroupNormalization<num_groups = 2>(a, s, t)
  y = Add(a, b)
}
)",
     131456, 131456, 21},
    {"A loss and its logarithms", R"(
(float[2, 3, 16, 16] x, int64[2, 16, 16] t, float[3] w) => (float[n, m, k] y, float[a, c, d, e] l)
{
  y, l = SoftmaxCrossEntropyLoss<ignore_index = 1, reduction = "none">(x, t, w)
}
)",
     18944, 23104},
    {"A sum of losses", R"(
(float[2, 3, 16, 16] x, int64[2, 16, 16] t) => (float y)
{
  y = SoftmaxCrossEntropyLoss<ignore_index = 1, reduction = "sum">(x, t)
}
)",
     16960, 23104},
    {"A mean loss", R"(
(float[2, 3, 16, 16] x, int64[2, 16, 16] t) => (float y)
{
  y = SoftmaxCrossEntropyLoss(x, t)
}
)",
     12352, 18496},
    {"Cropped and padded", R"(
(float[3, 20, 8] x) => (float[a, c, d] y) <int64[2] s = {10, 9}>
{
  y = CenterCropPad<axes = [1, 2]>(x, s)
}
)",
     3392, 3392, 18},
    {"A causal convolution", R"(
(float[2, 32, 64] x, float[32, 1, 4] w) => (float[a, c, d] y, float[e, f, g] s)
{
  y, s = CausalConvWithState(x, w)
}
)",
     99840, 99840, 27},
    {"A causal convolution of a state with an activation", R"(
(float[2, 32, 8] x, float[32, 1, 4] w, float[32] v, float[2, 32, 3] p) =>
  (float[a, c, d] y, float[e, f, g] s)
{
  y, s = CausalConvWithState<activation = "silu">(x, w, v, p)
}
)",
     70400, 70400, 27},
    {"A causal convolution of half precision", R"(
(float16[2, 32, 64] x, float16[32, 1, 4] w) => (float16[a, c, d] y, float16[e, f, g] s)
{
  y, s = CausalConvWithState<activation = "swish">(x, w)
}
)",
     108352, 108352, 27},
    {"Linear attention", R"(
(float[2, 8, 64] q, float[2, 8, 64] k, float[2, 8, 32] v) => (float[a, c, d] y, float[e, f, g, h] s)
{
  y, s = LinearAttention<q_num_heads = 4, kv_num_heads = 4, update_rule = "linear">(q, k, v)
}
)",
     34240, 34240, 27},
    {"Linear attention of one step", R"(
(float[2, 1, 64] q, float[2, 1, 64] k, float[2, 1, 32] v, float[2, 4, 16, 8] p) =>
  (float[a, c, d] y, float[e, f, g, h] s)
{
  y, s = LinearAttention<q_num_heads = 4, kv_num_heads = 4, update_rule = "linear">(q, k, v, p)
}
)",
     15296, 15296, 27},
    {"Linear attention whose queries share states that decay", R"(
(float[2, 8, 128] q, float[2, 8, 64] k, float[2, 8, 32] v, float[2, 8, 64] d, float[2, 8, 4] r) =>
  (float[a, c, e] y, float[f, g, i, j] s)
{
  y, s = LinearAttention<q_num_heads = 8, kv_num_heads = 4>(q, k, v, , d, r)
}
)",
     49472, 49472, 27},
    {"Linear attention of half precision", R"(
(float16[2, 8, 128] q, float16[2, 8, 64] k, float16[2, 8, 32] v, float16[2, 4, 16, 8] p,
  float16[2, 8, 4] d) => (float16[a, c, e] y, float16[f, g, i, j] s)
{
  y, s = LinearAttention<q_num_heads = 8, kv_num_heads = 4, update_rule = "gated", scale = 0.5>(
    q, k, v, p, d)
}
)",
     35712, 35712, 27},
    {"A loop", R"(
(float[8, 256] x) => (float[8, 256] y, float[n, 8, 256] s)
{
  m = Constant<value = int64 {4}>()
  c = Constant<value = bool {1}>()
  a = Exp(x)
  y, s = Loop(m, c, a)<body = b (int64 i, bool p, float[8, 256] h) =>
    (bool q, float[8, 256] h2, float[8, 256] o)
  {
    q = Identity(p)
    k = Mul(h, a)
    k2 = Sigmoid(k)
    h2 = Add(k2, h)
    o = Neg(h2)
  }>
}
)",
     98432, 98432},
    {"A loop that makes its condition", R"(
(float[8, 256] x) => (float[8, 256] y, float[n, 8, 256] s)
{
  m = Constant<value = int64 {4}>()
  c = Constant<value = bool {1}>()
  a = Exp(x)
  y, s = Loop(m, c, a)<body = b (int64 i, bool p, float[8, 256] h) =>
    (bool q, float[8, 256] h2, float[8, 256] o)
  {
    z = Constant<value = int64 {8}>()
    q = Less(i, z)
    k = Mul(h, a)
    k2 = Sigmoid(k)
    h2 = Add(k2, h)
    o = Neg(h2)
  }>
}
)",
     98496, 98496},
    {"A loop of one step", R"(
(float[8, 256] x) => (float[8, 256] y, float[n, 8, 256] s)
{
  m = Constant<value = int64 {1}>()
  c = Constant<value = bool {1}>()
  a = Exp(x)
  y, s = Loop(m, c, a)<body = b (int64 i, bool p, float[8, 256] h) =>
    (bool q, float[8, 256] h2, float[8, 256] o)
  {
    q = Identity(p)
    k = Mul(h, a)
    k2 = Sigmoid(k)
    h2 = Add(k2, h)
    o = Neg(h2)
  }>
}
)",
     41088, 41088},
    {"A loop that stacks numbers", R"(
(float[1] x) => (float[1] y, float[n, 1] s)
{
  m = Constant<value = int64 {5}>()
  c = Constant<value = bool {1}>()
  y, s = Loop(m, c, x)<body = b (int64 i, bool p, float[1] h) => (bool q, float[1] h2, float[1] o)
  {
    q = Identity(p)
    h2 = Exp(h)
    o = Neg(h2)
  }>
}
)",
     704, 704},
    {"A scan", R"(
(float[8, 16] x, float[5, 8, 16] z) => (float[8, 16] y, float[5, 8, 16] s)
{
  a = Exp(x)
  y, s = Scan(a, z)<num_scan_inputs = 1, body = b (float[8, 16] h, float[8, 16] r) =>
    (float[8, 16] h2, float[8, 16] o)
  {
    k = Exp(r)
    h2 = Mul(h, k)
    l = Exp(h2)
    o = Neg(l)
  }>
}
)",
     5120, 5120},
    {"A scan of two steps", R"(
(float[8, 16] x, float[2, 8, 16] z) => (float[8, 16] y, float[2, 8, 16] s)
{
  a = Exp(x)
  y, s = Scan(a, z)<num_scan_inputs = 1, body = b (float[8, 16] h, float[8, 16] r) =>
    (float[8, 16] h2, float[8, 16] o)
  {
    k = Exp(r)
    h2 = Mul(h, k)
    l = Exp(h2)
    o = Neg(l)
  }>
}
)",
     3072, 3072},
    {"A scan of one step", R"(
(float[8, 16] x, float[1, 8, 16] z) => (float[8, 16] y, float[1, 8, 16] s)
{
  a = Exp(x)
  y, s = Scan(a, z)<num_scan_inputs = 1, body = b (float[8, 16] h, float[8, 16] r) =>
    (float[8, 16] h2, float[8, 16] o)
  {
    k = Exp(r)
    h2 = Mul(h, k)
    l = Exp(h2)
    o = Neg(l)
  }>
}
)",
     2048, 2048},
    {"An image that is made smaller, smoothly", R"(
(float[2, 3, 40, 30] x) => (float[a, c, d, e] y) <int64[4] s = {2, 3, 16, 18}>
{
  y = Resize<antialias = 1, mode = "cubic">(x, , , s)
}
)",
     16960, 16960, 18},
    {"An image that is made larger, smoothly", R"(
(float[2, 3, 20, 30] x) => (float[a, c, d, e] y) <int64[4] s = {2, 3, 44, 41}>
{
  y = Resize<antialias = 1, mode = "linear">(x, , , s)
}
)",
     54272, 54272, 18},
    {"A smooth image whose channels are last", R"(
(float[2, 40, 30, 3] x) => (float[a, c, d, e] y) <int64[4] s = {2, 16, 18, 3}>
{
  y = Resize<antialias = 1, mode = "linear">(x, , , s)
}
)",
     16384, 16384, 18},
    {"Smooth space", R"(
(float[1, 2, 12, 10, 8] x) => (float[a, c, d, e, f] y) <int64[5] s = {1, 2, 5, 6, 7}>
{
  y = Resize<antialias = 1, mode = "linear">(x, , , s)
}
)",
     12992, 12992, 18},
    {"A smooth image of bytes", R"(
(uint8[2, 3, 40, 30] x) => (uint8[a, c, d, e] y) <int64[4] s = {2, 3, 16, 18}>
{
  y = Resize<antialias = 1, mode = "linear">(x, , , s)
}
)",
     4736, 4736, 18},
    {"One channel at a time under kernels as wide as the image", R"(
(float[2, 16, 40, 7] x, float[16, 1, 7, 7] w) => (float[a, c, d, e] y)
{
  a1 = Exp(x)
  y = Conv<group = 16>(a1, w)
}
)",
     40192, 40192},
    {"One channel at a time under kernels as high as the image", R"(
(float[2, 16, 7, 40] x, float[16, 1, 7, 1] w) => (float[a, c, d, e] y)
{
  a1 = Exp(x)
  y = Conv<group = 16>(a1, w)
}
)",
     40960, 40960},
    {"One channel at a time under the whole line", R"(
(float[2, 16, 4] x, float[16, 1, 4] w) => (float[a, c, d] y)
{
  a1 = Exp(x)
  y = Conv<group = 16>(a1, w)
}
)",
     640, 640},
    {"A quantized convolution whose weights are not stored", R"(
(uint8[1, 4, 7, 7] x, uint8[8, 4, 3, 3] w) => (uint8[a, c, d, e] y)
  <float xs = {0.5}, uint8 xz = {3}, float ws = {0.25}, uint8 wz = {2}, float ys = {1.0},
   uint8 yz = {0}>
{
  y = QLinearConv(x, xs, xz, w, ws, wz, ys, yz)
}
)",
     2880, 2624},
    {"Attention of half precision", R"(
(float16[2, 4, 64, 16] q, float16[2, 2, 48, 16] k, float16[2, 2, 48, 16] v) =>
  (float16[a, c, d, e] y)
{
  y = Attention<is_causal = 1>(q, k, v)
}
)",
     83968, 83968, 23},
    {"A branch whose condition is stored", R"(
(float[8, 64] x) => (float[n, m] y)
{
  c = Constant<value = bool {1}>()
  a = Exp(x)
  b = If(c)<then_branch = t () => (float[1, 64] p)
  {
    q = Exp(a)
    r = Concat<axis = 0>(q, q, q)
    p = ReduceMax<axes = [0], keepdims = 1>(r)
  }, else_branch = e () => (float[8, 64] p)
  {
    p = Identity(a)
  }>
  y = Neg(b)
}
)",
     10496, 8192},
    {"A branch whose condition is computed from sizes, in another", R"(
(float[8, 64] x) => (float[n, m] y, float[k, l] z)
{
  zero = Constant<value = int64 {0}>()
  eight = Constant<value = int64 {8}>()
  s = Shape(x)
  k = Gather(s, zero)
  c = Equal(k, eight)
  d = Not(c)
  a = Exp(x)
  b, z = If(d)<then_branch = t () => (float[8, 64] p, float[8, 64] q)
  {
    p = Identity(a)
    q = Identity(a)
  }, else_branch = e () => (float[8, 64] p, float[8, 64] q)
  {
    p = If(c)<then_branch = t2 () => (float[8, 64] r)
    {
      u = Exp(a)
      r = Mul(u, u)
    }, else_branch = e2 () => (float[8, 64] r)
    {
      r = Identity(a)
    }>
    q = Identity(a)
  }>
  y = Neg(b)
}
)",
     8320, 6144},
    {"Sizes of a known shape are counted when the graph runs", R"(
(float[8, 64] x) => (int64 y, float[n, m] z)
{
  two = Constant<value = int64 {2}>()
  s = Size(x)
  y = Mul(s, two)
  z = Exp(x)
}
)",
     2176, 2176},
    {"A sequence that is joined", R"(
(float[8, 33] x, float[5, 33] z) => (float[n, m] y)
{
  a = Exp(x)
  s = SequenceConstruct(a, z, x)
  b = ConcatFromSequence<axis = 0>(s)
  y = Neg(b)
}
)",
     5696, 5696},
    {"A sequence that is made shorter", R"(
(float[9, 33] x) => (float[n, m] y)
{
  one = Constant<value = int64 {1}>()
  a = Exp(x)
  s = SequenceConstruct(a, x, x)
  t = SequenceErase(s, one)
  b = SequenceAt(t, one)
  y = Neg(b)
}
)",
     4864, 4864},
};

class MeasuredFunctions : public testing::TestWithParam<MeasuredModel> {};
TEST_P(MeasuredFunctions, AsPlanned) { ExpectMeasured(GetParam()); }
INSTANTIATE_TEST_SUITE_P(OnnxRuntime, MeasuredFunctions, testing::ValuesIn(kModels),
                         [](const auto& row) { return TestName(row.param); });

// Nothing is known of what they read.
TEST(Functions, OfOperandsWithoutARankAreWritten) {
  for (const char* call : {"y = SoftmaxCrossEntropyLoss<ignore_index = 1>(a, t)",
                           "y = NegativeLogLikelihoodLoss<reduction = \"none\">(a, t)",
                           "y = GroupNormalization<num_groups = 2>(a, a, a)",
                           "y = CenterCropPad(a, s)", "y, z = CausalConvWithState(a, a)",
                           "y, z = LinearAttention<q_num_heads = 4, kv_num_heads = 2>(a, a, a)"}) {
    const std::string graph = absl::StrCat(
        "(float[8, 4] x, int64[8] i, int64[n] s) => (float[k] y)\n{\n  a = Reshape(x, s)\n"
        "  t = Reshape(i, s)\n  ",
        call, "\n}\n");
    const RuntimeReport report =
        PlannedReport({"", graph.c_str(), 0, 0, 27}, GraphOptimization::kNone);
    EXPECT_FALSE(report.buffers.empty()) << call;
  }
}

// Nothing that it makes has a name.
TEST(Functions, OfResultsThatAreLeftOutAreNotRun) {
  for (const char* call : {"\"\" = Range(i, i, i)", "\"\" = MatMul(x, x)", "\"\" = Transpose(x)",
                           "\"\" = DequantizeLinear(q, f)", "\"\" = HardSwish(x)"}) {
    const std::string graph = absl::StrCat(
        "(float[4, 4] x) => (float[n, m] y) <int64 i = {3}, int8[4] q = {0...}, float f = {1}>\n"
        "{\n  ",
        call, "\n  y = Exp(x)\n}\n");
    for (const auto level : {GraphOptimization::kNone, GraphOptimization::kAll}) {
      EXPECT_EQ(PlannedPeak({"", graph.c_str(), 0, 0}, level), 64) << call;
    }
  }
}

}  // namespace
}  // namespace footprint
