// What kernels take while they run: small graphs as planned, and as measured with version 1.32 on
// one thread, arena and memory patterns off.
#include "tests/backend/planned_peak.h"

namespace footprint {
namespace {

const MeasuredModel kModels[] = {
    {"Statistics of training are written over the stored ones", R"(
(float[2, 64, 4, 4] x) => (float[n, m, k, l] y) <float[64] s = {1...}, float[64] c = {1...},
  float[64] m = {1...}, float[64] v = {1...}>
{
  a, p, q = BatchNormalization<training_mode = 1>(x, s, c, m, v)
  b, r, t = BatchNormalization<training_mode = 1>(a, s, c, m, v)
  d, u, w = BatchNormalization<training_mode = 1>(b, s, c, m, v)
  y = Exp(d)
}
)",
     16896, 16896},
    {"Updates are scattered into a copy", R"(
(float[2, 256] x, int64[1, 1] i, float[1, 256] u, int64[2, 1] j) => (int64[n, m] y)
{
  a = Sin(x)
  b = ScatterND(a, i, u)
  s = Shape(b)
  v = Expand(u, s)
  c = ScatterND(b, j, v)
  y = ArgMax<axis = 1>(c)
}
)",
     6144, 6144},
    {"Einsum of both layouts", R"(
(float[2, 10, 4, 8] a, float[2, 12, 4, 8] b) => (float[2, 4, 10, 12] y)
{
  c = Exp(a)
  d = Exp(b)
  y = Einsum<equation = "bihd,bjhd->bhij">(c, d)
}
)",
     22016, 22016},
    {"Einsum that lays its result out", R"(
(float[2, 4, 10, 12] a, float[2, 12, 4, 8] b) => (float[2, 10, 4, 8] y)
{
  c = Exp(a)
  d = Exp(b)
  y = Einsum<equation = "bhij,bjhd->bihd">(c, d)
}
)",
     20736, 20736},
    {"Einsum of matrices", R"(
(float[2, 10, 12] a, float[2, 12, 8] b) => (float[2, 10, 8] y)
{
  y = Einsum<equation = "bij,bjk->bik">(a, b)
}
)",
     2048, 2048},
    {"LSTM both ways", R"(
(float[10, 3, 16] x) => (float[10, 2, 3, 24] y) <float[2, 96, 16] w = {0...}, float[2, 96, 24]
  r = {0...}, float[2, 192] b = {0...}>
{
  y = LSTM<direction = "bidirectional", hidden_size = 24>(x, w, r, b)
}
)",
     38336, 38336},
    {"LSTM with its last states", R"(
(float[10, 3, 16] x) => (float[10, 1, 3, 24] y, float[1, 3, 24] h, float[1, 3, 24] c) <float[1,
  96, 16] w = {0...}, float[1, 96, 24] r = {0...}, float[1, 192] b = {0...}>
{
  y, h, c = LSTM<hidden_size = 24>(x, w, r, b)
}
)",
     16832, 16832},
    {"GRU backward", R"(
(float[10, 3, 16] x) => (float[10, 1, 3, 24] y) <float[1, 72, 16] w = {0...}, float[1, 72, 24]
  r = {0...}, float[1, 144] b = {0...}>
{
  y = GRU<direction = "reverse", hidden_size = 24>(x, w, r, b)
}
)",
     18304, 18304},
    {"GRU, linear first", R"(
(float[10, 3, 16] x) => (float[10, 1, 3, 24] y, float[1, 3, 24] h) <float[1, 72, 16] w =
  {0...}, float[1, 72, 24] r = {0...}, float[1, 144] b = {0...}>
{
  y, h = GRU<hidden_size = 24, linear_before_reset = 1>(x, w, r, b)
}
)",
     14144, 14144},
    {"RNN", R"(
(float[10, 3, 16] x) => (float[10, 2, 3, 24] y) <float[2, 24, 16] w = {0...}, float[2, 24, 24]
  r = {0...}, float[2, 48] b = {0...}>
{
  y = RNN<direction = "bidirectional", hidden_size = 24>(x, w, r, b)
}
)",
     8640, 8640},
    {"Queries turned by their positions", R"(
(float[1, 8, 128] q, float[1, 8, 64] k, float[1, 8, 64] v, float[1, 2, 24, 32] pk,
  float[1, 2, 24, 32] pv) => (float[n, m, l] y, float[a, b, c, d] ck, float[e, f, g, h] cv)
  <int32[1] len = {31}, int32 total = {32}, float[64, 16] cos = {0...}, float[64, 16] sin = {0...}>
{
  a = Exp(q)
  y, ck, cv = com.microsoft.GroupQueryAttention<do_rotary = 1, kv_num_heads = 2,
    num_heads = 4>(a, k, v, pk, pv, len, total, cos, sin)
}
)",
     41024, 41024},
};

class MeasuredKernels : public testing::TestWithParam<MeasuredModel> {};
TEST_P(MeasuredKernels, AsPlanned) {
  EXPECT_EQ(PlannedPeak(GetParam(), GraphOptimization::kNone), GetParam().none);
  EXPECT_EQ(PlannedPeak(GetParam(), GraphOptimization::kAll), GetParam().all);
}
INSTANTIATE_TEST_SUITE_P(OnnxRuntime, MeasuredKernels, testing::ValuesIn(kModels),
                         [](const auto& row) { return TestName(row.param); });

}  // namespace
}  // namespace footprint
