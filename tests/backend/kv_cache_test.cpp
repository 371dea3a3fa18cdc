#include "backend/runtime/kv_cache.h"

#include <gtest/gtest.h>

#include <string>

#include "backend/analyze.h"

namespace footprint {
namespace {

InferenceReport Inference(const std::string& model, std::optional<int64_t> device_memory = {}) {
  Options options;
  options.model_path = "model.onnxtxt";
  options.model_bytes = model;
  options.mode = Mode::kInference;
  options.dims = {{"batch", 2}, {"past", 10}};
  options.device_memory = device_memory;
  const std::variant<Report, Failure> result = Analyze(options);
  if (const auto* failure = std::get_if<Failure>(&result)) {
    ADD_FAILURE() << failure->diagnostics.front().message;
    return {};
  }
  return *std::get<Report>(result).inference;
}

std::string ByNames(const std::string& past, const std::string& present) {
  return "<ir_version: 8, opset_import: [\"\" : 17]>\n"
         "g (float[batch, 4, 1, 8] k, float[batch, 4, past, 8] " +
         past + ") => (float[batch, 4, total, 8] " + present + ") {\n" + present +
         " = Concat<axis = 2>(" + past + ", k)\n}\n";
}

TEST(KvCache, OfTheNamesThatExportersGive) {
  for (const auto& [past, present] :
       {std::pair{"past_key_values_0_key", "present_0_key"}, std::pair{"past_0", "present_0"},
        std::pair{"past_key_values_key_cache_0", "present_key_values_key_cache_0"}}) {
    const InferenceReport report = Inference(ByNames(past, present), 100'000);
    ASSERT_TRUE(report.kv_cache.has_value()) << past;
    const KvCacheReport& cache = *report.kv_cache;
    EXPECT_TRUE(cache.assumed);
    EXPECT_FALSE(cache.shared);
    EXPECT_EQ(cache.past_bytes, 2 * 4 * 10 * 8 * 4);
    EXPECT_EQ(cache.present_bytes, 2 * 4 * 11 * 8 * 4);
    EXPECT_EQ(cache.bytes_per_token, 2 * 4 * 8 * 4);
    EXPECT_EQ(cache.bytes_per_token_expression, "128*batch");
    // Past and present beside each other, and the new key.
    EXPECT_EQ(cache.full_at_length, (100'000 - 256) / 2 / 256);
  }
}

TEST(KvCache, OfAnOperatorThatWritesIntoThePast) {
  const InferenceReport report = Inference(
      "<ir_version: 8, opset_import: [\"\" : 17, \"com.microsoft\" : 1]>\n"
      "g (float[batch, 1, 32] q, float[batch, 1, 16] k, float[batch, 1, 16] v,"
      " float[batch, 2, past, 8] a, float[batch, 2, past, 8] b, int32[batch] s, int32 t)"
      " => (float[batch, 1, 32] y, float[batch, 2, past, 8] c, float[batch, 2, past, 8] d) {\n"
      "y, c, d = com.microsoft.GroupQueryAttention<num_heads = 4, kv_num_heads = 2>"
      "(q, k, v, a, b, s, t)\n}\n");
  ASSERT_TRUE(report.kv_cache.has_value());
  EXPECT_TRUE(report.kv_cache->shared);
  EXPECT_FALSE(report.kv_cache->assumed);
  EXPECT_EQ(report.kv_cache->tensors, 2);
  EXPECT_EQ(report.kv_cache->bytes_per_token_expression, "128*batch");
  EXPECT_FALSE(report.kv_cache->full_at_length.has_value());
}

TEST(KvCache, IsNotThereWithoutPastAndPresent) {
  EXPECT_FALSE(Inference(ByNames("x", "y")).kv_cache.has_value());
  EXPECT_FALSE(Inference(ByNames("past_0", "y")).kv_cache.has_value());
}

}  // namespace
}  // namespace footprint
