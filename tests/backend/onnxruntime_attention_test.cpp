// Kernels of attention, experts, few bits and half precision: what ONNX Runtime allocated at once
// when it ran them, at both levels.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/backend/planned_peak.h"

namespace footprint {
namespace {

const MeasuredModel kModels[] = {
    {"Heads of long sequences, a block at a time", R"(
(float[2, 150, 32] q, float[2, 700, 32] k, float[2, 700, 96] v) => (float[n, m, l] y)
{
  y = com.microsoft.MultiHeadAttention<num_heads = 2>(q, k, v)
}
)",
     1062400, 1062400},
    {"Heads whose biases are added first", R"(
(float[2, 150, 64] q, float[2, 8, 64] k, float[2, 8, 64] v, float[192] b) => (float[n, m, l] y)
{
  y = com.microsoft.MultiHeadAttention<num_heads = 4>(q, k, v, b)
}
)",
     230656, 230656},
    {"Heads of sequences of which some are padding", R"(
(float[2, 17, 32] q, float[2, 40, 32] k, float[2, 40, 32] v, int32[2] p) => (float[n, m, l] y)
{
  y = com.microsoft.MultiHeadAttention<num_heads = 2>(q, k, v, , p)
}
)",
     44992, 44992},
    {"Heads with a past", R"(
(float[2, 5, 32] q, float[2, 5, 32] k, float[2, 5, 32] v, float[2, 2, 30, 16] pk, float[2, 2,
  30, 16] pv) =>
  (float[n, m, l] y, float[a, c, d, e] kk, float[f, g, h, i] vv)
{
  y, kk, vv = com.microsoft.MultiHeadAttention<num_heads = 2, unidirectional = 1>(q, k, v, , ,
    , pk, pv)
}
)",
     28800, 28800},
    {"Heads of another sequence", R"(
(float[2, 17, 32] q, float[2, 2, 40, 16] k, float[2, 2, 40, 16] v) => (float[n, m, l] y)
{
  y = com.microsoft.MultiHeadAttention<num_heads = 2>(q, k, v)
}
)",
     24192, 24192},
    {"All three of attention in one product", R"(
(float[2, 20, 32] x, float[32, 112] w, float[112] b, int32[2, 20] p) => (float[n, m, l] y)
{
  y = com.microsoft.Attention<num_heads = 2, qkv_hidden_sizes = [32, 32, 48]>(x, w, b, p)
}
)",
     40128, 40128},
    {"All three with a past", R"(
(float[2, 4, 32] x, float[32, 96] w, float[96] b, float[2, 2, 2, 30, 16] p) => (float[n, m,
  l] y, float[a, c, d, e, f] z)
{
  y, z = com.microsoft.Attention<num_heads = 2, unidirectional = 1>(x, w, b, , p)
}
)",
     26048, 26048},
    {"Grouped queries of a long prompt", R"(
(float[1, 300, 64] q, float[1, 300, 32] k, float[1, 300, 32] v, float[1, 2, 0, 16] pk, float[1,
  2, 0, 16] pv) =>
  (float[n, m, l] y, float[a, c, d, e] kk, float[f, g, h, i] vv) <int32[1] s = {299},
    int32 t = {300}>
{
  y, kk, vv = com.microsoft.GroupQueryAttention<num_heads = 4, kv_num_heads = 2>(q, k, v, pk,
    pv, s, t)
}
)",
     347904, 347904},
    {"A grouped query of a long past", R"(
(float[1, 1, 64] q, float[1, 1, 32] k, float[1, 1, 32] v, float[1, 2, 3000, 16] pk, float[1, 2,
  3000, 16] pv) =>
  (float[n, m, l] y, float[a, c, d, e] kk, float[f, g, h, i] vv) <int32[1] s = {3000},
    int32 t = {3001}>
{
  y, kk, vv = com.microsoft.GroupQueryAttention<num_heads = 4, kv_num_heads = 2>(q, k, v, pk,
    pv, s, t)
}
)",
     781120, 781120},
    {"Grouped queries under a cap", R"(
(float[1, 20, 64] q, float[1, 20, 32] k, float[1, 20, 32] v, float[1, 2, 30, 16] pk, float[1,
  2, 30, 16] pv) =>
  (float[n, m, l] y, float[a, c, d, e] kk, float[f, g, h, i] vv) <int32[1] s = {49},
    int32 t = {50}>
{
  y, kk, vv = com.microsoft.GroupQueryAttention<num_heads = 4, kv_num_heads = 2,
    softcap = 2.0>(q, k, v, pk, pv, s, t)
}
)",
     44160, 44160},
    {"Grouped queries of half precision", R"(
(float16[1, 200, 64] q, float16[1, 200, 32] k, float16[1, 200, 32] v, float16[1, 2, 0, 16] pk,
  float16[1, 2, 0, 16] pv) =>
  (float16[n, m, l] y, float16[a, c, d, e] kk, float16[f, g, h, i] vv) <int32[1] s = {199},
    int32 t = {200}>
{
  y, kk, vv = com.microsoft.GroupQueryAttention<num_heads = 4, kv_num_heads = 2>(q, k, v, pk,
    pv, s, t)
}
)",
     806400, 806400},
    {"A decoder and what it attends to", R"(
(float[2, 1, 64] q, float[2, 4, 24, 16] k, float[2, 4, 24, 16] v, int32[2, 24] p) => (float[n,
  m, l] y)
{
  y = com.microsoft.DecoderMaskedMultiHeadAttention<num_heads = 4>(q, k, v, p)
}
)",
     3008, 3008},
    {"A state for each key and value", R"(
(float[2, 30, 128] q, float[2, 30, 128] k, float[2, 30, 64] v, float[2, 4, 32, 16] p, float[2,
  30, 4] d, float[2, 30, 4] r) => (float[n, m, l] y, float[a, c, e, f] s)
{
  y, s = com.microsoft.LinearAttention<q_num_heads = 4, kv_num_heads = 4,
    update_rule = "gated_delta">(q, k, v, p, d, r)
}
)",
     31936, 31936},
    {"Experts, of whom each takes every token", R"(
(float[20, 32] x, float[20, 1] r, float[1, 48, 32] w, float[1, 48] u, float[1, 32, 48] v,
  float[1, 32] t) => (float[n, m] y)
{
  y = com.microsoft.MoE<k = 1, activation_type = "relu">(x, r, w, u, v, t)
}
)",
     407296, 407296},
    {"Experts of four bits, for one token", R"(
(float[1, 64] x, float[1, 4] r) => (float[n, m] y) <uint8[4, 128, 32] w = {0...}, float[4, 128,
  2] ws = {1...}, uint8[4, 64, 64] v = {2...}, float[4, 64, 4] vs = {3...}>
{
  y = com.microsoft.QMoE<k = 1, activation_type = "relu", expert_weight_bits = 4,
    block_size = 32>(x, r, w, ws, , v, vs)
}
)",
     2944, 2944},
    {"Experts whose bits are unpacked", R"(
(float16[1, 64] x, float16[1, 4] r, uint8[4, 128, 64] w, float16[4, 128] ws, uint8[4, 64,
  128] v, float16[4, 64] vs) => (float16[n, m] y)
{
  y = com.microsoft.QMoE<k = 1, activation_type = "relu", expert_weight_bits = 8>(x, r, w, ws,
    , v, vs)
}
)",
     68928, 68928},
    {"A product of blocks in half precision", R"(
(float16[2, 8, 64] x) => (float16[n, m, l] y) <uint8[32, 2, 16] w = {0...},
  float16[64] s = {1...}>
{
  y = com.microsoft.MatMulNBits<K = 64, N = 32, bits = 4, block_size = 32>(x, w, s)
}
)",
     5120, 5120},
    {"A product of blocks that are not stored", R"(
(float[2, 8, 64] x, uint8[32, 2, 16] w, float[64] s) => (float[n, m, l] y)
{
  y = com.microsoft.MatMulNBits<K = 64, N = 32, bits = 4, block_size = 32>(x, w, s)
}
)",
     10240, 10240},
    {"A product of blocks of bytes", R"(
(float[2, 8, 64] x) => (float[n, m, l] y) <uint8[32, 2, 32] w = {0...}, float[64] s = {1...}>
{
  y = com.microsoft.MatMulNBits<K = 64, N = 32, bits = 8, block_size = 32>(x, w, s)
}
)",
     10240, 10240},
    {"A product of turned bytes", R"(
(uint8[64, 40] x, uint8[24, 64] w) => (uint8[n, m] y) <float xs = {0.5}, uint8 xz = {3},
  float ws = {0.25}, uint8 wz = {2}, float ys = {1.0}, uint8 yz = {0}>
{
  y = com.microsoft.QGemm<transA = 1, transB = 1>(x, xs, xz, w, ws, wz, , ys, yz)
}
)",
     8896, 8896},
    {"A skipped normalization of half precision beside a stored addend", R"(
(float16[1, 8, 64] x, float16[64] g) => (float16[n, m, l] y) <float16[1, 8, 64] z = {0...},
  float16[64] t = {1...}>
{
  y = com.microsoft.SkipLayerNormalization(x, z, g, t)
}
)",
     5376, 5376},
    {"Numbers that are drawn", R"(
(float[40, 30] x) => (float[n, m] y)
{
  a = Abs(x)
  y = Bernoulli(a)
}
)",
     10816, 10816},
    {"Classes that are drawn", R"(
(float[2, 300] x) => (int32[n, m] y)
{
  y = Multinomial<sample_size = 5>(x)
}
)",
     2496, 2496},
    {"A cache that is written to", R"(
(float16[2, 4, 20, 8] p, float16[2, 4, 5, 8] u, int64[2] i) => (float16[n, m, k, l] y)
{
  a = Round(p)
  y = TensorScatter<axis = 2>(a, u, i)
}
)",
     5120, 5120, 24},
    {"Half precision that is handed out as doubles", R"(
(float16[40, 30] x) => (double[n, m] y)
{
  a = Tanh(x)
  y = Cast<to = 11>(a)
}
)",
     14400, 14400},
    {"GELU of half precision", R"(
(float16[2, 4, 32] x, float16[32] b) => (float16[n, m, k] y)
{
  a = com.microsoft.Gelu(x)
  y = com.microsoft.FastGelu(a, b)
}
)",
     3584, 3200},
    {"GroupNormalization of 18", R"(
(float[2, 64, 8, 8] x, float[2] s, float[2] t) => (float[n, m, k, l] y)
{
  y = GroupNormalization<num_groups = 2>(x, s, t)
}
)",
     65728, 65728, 18},
    {"A triangle, in place", R"(
(float[40, 30] x) => (float[n, m] y)
{
  a = Exp(x)
  b = com.microsoft.Trilu(a)
  y = Neg(b)
}
)",
     9600, 9600},
    {"Another view", R"(
(float[40, 30] x) => (float[n, m, k] y) <int32 i = {0}>
{
  a = Exp(x)
  b = com.microsoft.ExpandDims(a, i)
  y = Neg(b)
}
)",
     9600, 9600},
    {"A sample, in place", R"(
(float[40, 30] x) => (float[n, m] y)
{
  a = Exp(x)
  b = com.microsoft.SampleOp(a)
  y = Neg(b)
}
)",
     9600, 9600},
    {"A matrix of four bits", R"(
(float[8, 64] x) => (float[n, m] y) <uint8[1024] w = {0...}, float[32] s = {1...}>
{
  y = com.microsoft.MatMulBnb4<K = 64, N = 32, block_size = 64, quant_type = 1>(x, w, s)
}
)",
     9216, 9216},
    {"A transposed convolution whose padding is stored", R"(
(float[2, 6, 9, 9] x, float[6, 4, 3, 3] w) => (float[n, m, k, l] y) <int64[4] p = {1, 1, 1, 1}>
{
  y = com.microsoft.ConvTransposeWithDynamicPads<strides = [2, 2]>(x, w, p)
}
)",
     20992, 20992},
    {"Words of characters", R"(
(int32[20, 12] x) => (float[n, m] y) <float[16, 1, 3, 8] w = {0...}, float[16] b = {1...},
  float[30, 8] e = {2...}>
{
  y = com.microsoft.WordConvEmbedding<embedding_size = 16, conv_window_size = 3,
    char_embedding_size = 8>(x, w, b, e)
}
)",
     53888, 53888},
    {"LSTM that attends to a memory", R"(
(float[4, 2, 8] x, float[1, 64, 14] w, float[1, 64, 16] r, float[1, 128] b, float[1, 16,
  10] qw, float[1, 12, 10] mw, float[1, 10] v, float[2, 5, 12] m, float[1, 28, 6] aw) =>
  (float[n, k, l, o] y, float[c, d, e] h)
{
  y, h = com.microsoft.AttnLSTM<hidden_size = 16>(x, w, r, b, , , , , qw, mw, v, m, , aw)
}
)",
     5312, 5312},
    {"Quantized attention with a past", R"(
(uint8[2, 4, 32] x, float[96] b, float[2, 2, 2, 30, 16] p) => (float[n, m, l] y, float[a, c, d,
  e, f] z) <uint8[32, 96] w = {0...}, float xs = {0.5}, float ws = {0.25}, uint8 xz = {3},
    uint8 wz = {2}>
{
  y, z = com.microsoft.QAttention<num_heads = 2, unidirectional = 1>(x, w, b, xs, ws, , xz, wz, p)
}
)",
     26048, 26048},
};

class MeasuredContributed : public testing::TestWithParam<MeasuredModel> {};
TEST_P(MeasuredContributed, AsPlanned) { ExpectMeasured(GetParam()); }
INSTANTIATE_TEST_SUITE_P(OnnxRuntime, MeasuredContributed, testing::ValuesIn(kModels),
                         [](const auto& row) { return TestName(row.param); });

// ONNX Runtime refuses to run it where results do not lie in the past. Handed out, they count
// beside it: who binds them is not known.
TEST(SparseAttention, WritesIntoItsPast) {
  const MeasuredModel model = {"Sparse attention", R"(
(float[1, 16, 64] q, float[1, 16, 32] k, float[1, 16, 32] v, float[1, 2, 32, 16] pk,
  float[1, 2, 32, 16] pv, int32[1, 3] r, int32[1, 3] i, int32[1] t, int32[1] u) =>
  (float[n, m, l] y, float[a, c, d, e] z)
{
  y, kk, vv = com.microsoft.SparseAttention<num_heads = 4, kv_num_heads = 2,
    sparse_block_size = 16>(q, k, v, pk, pv, r, i, t, u)
  z = Exp(kk)
}
)",
                               0, 0};
  const RuntimeReport report = PlannedReport(model, GraphOptimization::kNone);
  std::vector<std::string> first;
  for (const RuntimeBuffer& buffer : report.buffers) first.push_back(buffer.tensors[0].name);
  EXPECT_EQ(first, (std::vector<std::string>{"y", "z"}));
}

// How many tokens meet at one expert is decided when the graph runs: all, at most. Tokens that were
// spread over four took 1,215,936 bytes.
TEST(Experts, MayAllBeTheSame) {
  const MeasuredModel model = {"Experts", R"(
(float[1000, 32] x, float[1000, 4] r, float[4, 48, 32] w, float[4, 32, 48] v) =>
  (float[n, m] y)
{
  y = com.microsoft.MoE<k = 2, activation_type = "relu">(x, r, w, , v)
}
)",
                               1'215'936, 1'215'936};
  EXPECT_GE(PlannedPeak(model, GraphOptimization::kNone), model.none);
  EXPECT_LE(PlannedPeak(model, GraphOptimization::kNone), 2 * model.none);
}

}  // namespace
}  // namespace footprint
