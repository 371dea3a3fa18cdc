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
    {"A transform whose length is no power of two", R"(
(float[3, 20, 1] x) => (float[n, m, k] y) <int64 a = {1}>
{
  y = DFT(x, , a)
}
)",
     2560, 2560, 20},
    {"Half of a transform", R"(
(float[3, 20, 1] x) => (float[n, m, k] y) <int64 a = {1}>
{
  y = DFT<onesided = 1>(x, , a)
}
)",
     2368, 2368, 20},
    {"A transform of a power of two", R"(
(float[3, 16, 1] x) => (float[n, m, k] y) <int64 a = {1}>
{
  y = DFT(x, , a)
}
)",
     384, 384, 20},
    {"Frames of a stated length", R"(
(float[1, 400, 1] x) => (float[n, m, k, l] y) <int64 s = {20}, int64 f = {40}>
{
  y = STFT(x, s, , f)
}
)",
     7296, 7296},
    {"Hardmax along an axis within", R"(
(float[3, 20, 64] x) => (float[n, m, k] y)
{
  y = Hardmax<axis = 1>(x)
}
)",
     46080, 46080},
    {"A deformable convolution", R"(
(float[1, 8, 9, 9] x, float[6, 8, 3, 3] w, float[1, 36, 7, 7] o) => (float[n, m, k, l] y)
{
  y = DeformConv<offset_group = 2>(x, w, o)
}
)",
     47616, 47616, 19},
    {"Causal attention with a mask of numbers", R"(
(float[2, 4, 8, 16] q, float[2, 4, 12, 16] k, float[2, 4, 12, 16] v, float[2, 4, 8, 12] m) =>
  (float[n, c, h, l] y)
{
  y = Attention<is_causal = 1>(q, k, v, m)
}
)",
     10240, 10240, 23},
    {"Causal attention with a mask of truth values", R"(
(float[2, 4, 8, 16] q, float[2, 4, 12, 16] k, float[2, 4, 12, 16] v, bool[2, 1, 8, 12] m) =>
  (float[n, c, h, l] y)
{
  y = Attention<is_causal = 1>(q, k, v, m)
}
)",
     7936, 7936, 23},
    {"A loss of classes", R"(
(float[2, 3, 64, 64] x, int64[2, 64, 64] t) => (float[n, m, k] y)
{
  y = NegativeLogLikelihoodLoss<reduction = "none">(x, t)
}
)",
     65536, 65536},
    {"A loss of weighted classes of which some are ignored", R"(
(float[2, 3, 64, 64] x, int64[2, 64, 64] t, float[3] w) => (float y)
{
  y = NegativeLogLikelihoodLoss<ignore_index = -100>(x, t, w)
}
)",
     270336, 270336},
    {"The last states of a network whose steps are left out", R"(
(float[10, 3, 16] x, float[2, 24, 16] w, float[2, 24, 24] r) => (float[n, m, k] y)
{
  , y = RNN<direction = "bidirectional", hidden_size = 24, activations = ["Tanh", "Tanh"]>(x, w, r)
}
)",
     9216, 9216},
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
TEST_P(MeasuredKernels, AsPlanned) { ExpectMeasured(GetParam()); }
INSTANTIATE_TEST_SUITE_P(OnnxRuntime, MeasuredKernels, testing::ValuesIn(kModels),
                         [](const auto& row) { return TestName(row.param); });

}  // namespace
}  // namespace footprint
