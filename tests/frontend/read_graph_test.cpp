#include "frontend/read_graph.h"

#include "gtest/gtest.h"

namespace footprint {
namespace {

std::string Model(const char* name) { return std::string(FOOTPRINT_SOURCE_DIR "/models/") + name; }

TEST(ReadGraph, WholeModelsBecomeGraphs) {
  struct Expected {
    const char* name;
    size_t nodes;
    int64_t parameter_bytes;  // of floating-point initializers; tied ones once
  };
  // Nodes without Constant nodes; bytes as PyTorch counts them, statistics of norms included.
  const Expected models[] = {
      {"resnet50.train_loss.onnx", 176, 102'228'128 + 212'480},
      {"gpt2_xl.train_loss.onnx", 6261, 6'230'444'800},
  };
  for (const Expected& expected : models) {
    DiagnosticSink sink;
    const auto model = ReadGraph(Model(expected.name), sink);
    ASSERT_TRUE(model.has_value()) << expected.name;
    EXPECT_EQ(Verify(model->graph), "") << expected.name;
    EXPECT_EQ(model->graph.nodes.size(), expected.nodes);
    int64_t bytes = 0;
    for (const Constant& constant : model->graph.constants) {
      if (constant.origin == ConstantOrigin::kInitializer &&
          IsFloatingPoint(constant.type.element)) {
        bytes += constant.stored_bytes;
      }
    }
    EXPECT_EQ(bytes, expected.parameter_bytes) << expected.name;
    EXPECT_TRUE(model->provenance.empty());
    EXPECT_NE(model->fallback, nullptr);
  }
}

TEST(ReadGraph, WhatCannotBeReadSaysWhy) {
  DiagnosticSink sink;
  EXPECT_FALSE(ReadGraph(Model("no such file.onnx"), sink).has_value());
  ASSERT_EQ(sink.all().size(), 1u);
  EXPECT_EQ(sink.all()[0].blame, Blame::kUsage);
}

}  // namespace
}  // namespace footprint
