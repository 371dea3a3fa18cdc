// What ONNX Runtime sees of sizes that are computed: small graphs, as planned and as measured with
// version 1.32 on one thread, arena and memory patterns off.
#include "tests/backend/planned_peak.h"

namespace footprint {
namespace {

const MeasuredModel kModels[] = {
    {"Stored numbers among sizes are not seen", R"(
(float[8, 64, 16] x) => (float[n, m, k, l] y) <int64[1] f = {4}, int64[1] z = {0}, int64[1] o = {1}>
{
  s = Shape(x)
  a = Gather(s, z)
  b = Gather(s, o)
  t = Concat<axis = 0>(a, b, f, f)
  c = Reshape(x, t)
)",
     135168, 167936, 17, kTellsSeenSizes},
    {"Sizes beside one that has a name are not seen", R"(
(float[b, 64, 16] x) => (float[n, m] y) <int64[1] z = {1}, int64[1] o = {2}>
{
  s = Shape(x)
  a = Gather(s, z)
  f = Gather(s, o)
  t = Concat<axis = 0>(a, f)
  c = ConstantOfShape(t)
)",
     16448, 16448, 17, kTellsSeenSizes},
    {"Sizes alone are seen", R"(
(float[8, 64, 16] x) => (float[n, m, k, l] y) <int64[1] f = {2}, int64[1] z = {0}, int64[1] o = {1}>
{
  s = Shape(x)
  a = Gather(s, z)
  b = Gather(s, o)
  w = Gather(s, f)
  t = Concat<axis = 0>(a, b, w)
  c = Reshape(x, t)
)",
     167936, 167936, 17, kTellsSeenSizes},
    {"Positions that are not known leave the rank", R"(
(float[8, b, 512] x) => (float[n, m] y) <int64[1] z = {0}, int64[1] o = {1}>
{
  s = Shape<start = 1, end = 2>(x)
  a = Slice(x, z, s, o)
  c = ReduceMax<axes = [1], keepdims = 0>(a)
)",
     67584, 67584, 17, kTellsSeenSizes},
    {"So does a number of the largest that is not known", R"(
(float[8, 512, b] x) => (float[n, m] y)
{
  s = Shape<start = 2, end = 3>(x)
  a, k = TopK(x, s)
  c = ReduceMax<axes = [2], keepdims = 0>(a)
)",
     133120, 133120, 17, kTellsSeenSizes},
    {"The batch of what moves between depth and space is seen", R"(
(float[b, 8, 4, 4] x) => (float[n, m, k, l] y)
{
  c = DepthToSpace<blocksize = 2>(x)
)",
     5632, 5632, 17, kTellsSeenSizes},
    {"And of what moves back", R"(
(float[b, 8, 4, 4] x) => (float[n, m, k, l] y)
{
  c = SpaceToDepth<blocksize = 2>(x)
)",
     5632, 5632, 17, kTellsSeenSizes},
};

class MeasuredSizes : public testing::TestWithParam<MeasuredModel> {};
TEST_P(MeasuredSizes, AsPlanned) { ExpectMeasured(GetParam()); }
INSTANTIATE_TEST_SUITE_P(OnnxRuntime, MeasuredSizes, testing::ValuesIn(kModels),
                         [](const auto& row) { return TestName(row.param); });

std::string RewritesOf(const MeasuredModel& model) {
  std::string all;
  for (const std::string& rewrite : PlannedReport(model, GraphOptimization::kAll).rewrites) {
    all += rewrite + "; ";
  }
  return all;
}

const MeasuredModel kCopiedSizes = {"Sizes that a Reshape copies are stored", R"(
(float[b, h, 16] x) => (float[n, m, k, l] y) <int64[1] z = {0}, int64 g = {0}, int64 o = {1},
  int64[1] f = {4}>
{
  s = Shape(x)
  c = Gather(s, g)
  d = Gather(s, o)
  e = Unsqueeze(c, z)
  i = Unsqueeze(d, z)
  p = Exp(x)
  t = Concat<axis = 0>(e, i, f, f)
  q = Reshape(p, t)
  y = Sin(q)
}
)",
                                    3072, 3072};

const MeasuredModel kOtherSizes = {"Sizes of another image are not", R"(
(float[b, h, 16] x, float[b, i, 16] v) => (float[n, m, k, l] y) <int64[1] z = {0}, int64 g = {0},
  int64 o = {1}, int64[1] f = {4}, int64[1] r = {-1}>
{
  s = Shape(x)
  c = Gather(s, g)
  d = Gather(s, o)
  e = Unsqueeze(c, z)
  a = Unsqueeze(d, z)
  p = Exp(v)
  t = Concat<axis = 0>(e, a, f, r)
  q = Reshape(p, t)
  y = Sin(q)
}
)",
                                   3072, 3072};

TEST(Rewrites, StoreSizesThatAReshapeCopies) {
  EXPECT_EQ(RewritesOf(kCopiedSizes), "sizes of Reshape stored: 1; ");
  EXPECT_EQ(RewritesOf(kOtherSizes), "");
  EXPECT_EQ(PlannedPeak(kCopiedSizes, GraphOptimization::kAll), kCopiedSizes.all);
  EXPECT_EQ(PlannedPeak(kOtherSizes, GraphOptimization::kAll), kOtherSizes.all);
}

}  // namespace
}  // namespace footprint
