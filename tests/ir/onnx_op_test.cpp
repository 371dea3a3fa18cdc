#include "ir/onnx_op.h"

#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(OnnxOps, AreFoundByVersion) {
  EXPECT_EQ(FindOnnxOp("", "Gelu", 19), nullptr);
  ASSERT_NE(FindOnnxOp("", "Gelu", 20), nullptr);
  EXPECT_EQ(FindOnnxOp("", "Gelu", 20)->name, "Gelu");
  EXPECT_NE(FindOnnxOp("", "Conv", 1), nullptr);
  EXPECT_NE(FindOnnxOp("", "Conv", 99), nullptr);
  EXPECT_EQ(FindOnnxOp("", "Conv", 0), nullptr);
}

TEST(OnnxOps, AreFoundByDomain) {
  EXPECT_NE(FindOnnxOp("", "Attention", 23), FindOnnxOp("com.microsoft", "Attention", 1));
  EXPECT_NE(FindOnnxOp("com.microsoft", "Attention", 1), nullptr);
  EXPECT_EQ(FindOnnxOp("", "FusedMatMul", 17), nullptr);
  EXPECT_EQ(FindOnnxOp("ai.onnx", "Relu", 13), FindOnnxOp("", "Relu", 13));
  EXPECT_NE(FindOnnxOp("ai.onnx.ml", "Scaler", 1), nullptr);
  EXPECT_EQ(FindOnnxOp("com.example", "Relu", 13), nullptr);
  EXPECT_EQ(FindOnnxOp("", "relu", 13), nullptr);
}

TEST(OnnxOps, AreOrderedAndDoNotOverlap) {
  std::tuple<std::string, std::string, int> last;
  int last_until = 0;
  for (const OnnxOp* op : AllOnnxOps()) {
    const std::tuple<std::string, std::string, int> key(op->domain, op->name, op->since);
    EXPECT_LT(last, key);
    EXPECT_LE(op->since, op->until) << op->name;
    const bool same = std::get<0>(last) == op->domain && std::get<1>(last) == op->name;
    if (same) {
      EXPECT_GT(op->since, last_until) << op->name;
    }
    last = key;
    last_until = op->until;
  }
}

TEST(OnnxOps, SayWhatTheyAre) {
  std::set<std::string> domains;
  for (const OnnxOp* op : AllOnnxOps()) {
    domains.insert(std::string(op->domain));
    EXPECT_NE(op->types, nullptr) << op->name;
    EXPECT_LT(op->alias, 1) << op->name << ": storage is shared with operand 0 alone";
    EXPECT_FALSE(op->alias >= 0 && op->inplace != 0) << op->name;
    EXPECT_EQ(op->weights & op->statistics, 0U) << op->name;
    EXPECT_FALSE(op->is_identity && op->alias != 0) << op->name;
  }
  EXPECT_EQ(domains, (std::set<std::string>{"", "ai.onnx.ml", "ai.onnx.preview",
                                            "ai.onnx.preview.training", "com.microsoft"}));
}

TEST(OnnxOps, KnowStorageWeightsAndControl) {
  EXPECT_EQ(FindOnnxOp("", "Reshape", 13)->alias, 0);
  EXPECT_EQ(FindOnnxOp("", "Transpose", 13)->alias, -1);
  EXPECT_TRUE(FindOnnxOp("", "Identity", 13)->is_identity);
  EXPECT_EQ(FindOnnxOp("", "Add", 13)->inplace, 0b11U);
  EXPECT_EQ(FindOnnxOp("", "Less", 13)->inplace, 0U);
  EXPECT_EQ(FindOnnxOp("", "Conv", 13)->weights, 0b110U);
  EXPECT_EQ(FindOnnxOp("", "BatchNormalization", 15)->statistics, 0b11000U);
  EXPECT_TRUE(FindOnnxOp("", "InstanceNormalization", 15)->has_filler_weights);
  EXPECT_EQ(FindOnnxOp("", "Loop", 13)->control, Control::kLoop);
  EXPECT_EQ(FindOnnxOp("", "Gather", 13)->textbook, TextbookKind::kEmbedding);
  EXPECT_EQ(FindOnnxOp("com.microsoft", "MatMulNBits", 1)->textbook, TextbookKind::kLinear);
}

// The index is built by whoever comes first.
TEST(OnnxOps, AreFoundFromManyThreads) {
  std::vector<std::thread> threads;
  std::vector<const OnnxOp*> found(8);
  for (size_t i = 0; i < found.size(); ++i) {
    threads.emplace_back([&found, i] { found[i] = FindOnnxOp("", "Softmax", 13); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const OnnxOp* op : found) EXPECT_EQ(op, found[0]);
  EXPECT_NE(found[0], nullptr);
}

}  // namespace
}  // namespace footprint
