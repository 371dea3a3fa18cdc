// Whole models: no plan of ONNX Runtime lets two live tensors overlap.
#include <gtest/gtest.h>

#include <string>

#include "backend/runtime/onnxruntime.h"
#include "frontend/read_graph.h"
#include "passes/plan_check.h"

namespace footprint {
namespace {

class Models : public testing::TestWithParam<const char*> {};

TEST_P(Models, NoLiveTensorsOverlap) {
  DiagnosticSink sink;
  const std::string path = std::string(FOOTPRINT_SOURCE_DIR) + "/models/" + GetParam();
  const std::optional<LoadedModel> model = ReadGraph(path, sink);
  ASSERT_TRUE(model.has_value());
  const Graph& graph = model->graph;
  const InferredTypes inferred = InferShapes(graph, {}, model->fallback.get(), sink);
  DimEvaluator evaluator(*graph.dims, {{"batch", 2}, {"sequence", 64}});
  for (const bool optimize : {false, true}) {
    InferOptions limited;
    limited.limits = &OnnxRuntimeLimits(optimize);
    const InferredTypes visible = InferShapes(graph, limited, model->fallback.get(), sink);
    const RuntimePlan plan = PlanOnnxRuntime(graph, inferred, visible, evaluator, optimize);
    EXPECT_EQ(CheckPlan(plan.problem, plan.plan), "");
    EXPECT_EQ(plan.bytes.unknown_buffers, 0);
    EXPECT_GT(plan.bytes.peak_bytes, 0);
    EXPECT_EQ(plan.rewrites.empty(), !optimize);
  }
}
INSTANTIATE_TEST_SUITE_P(All, Models,
                         testing::Values("resnet50.train_loss.onnx",
                                         "resnet50.train_loss_dynamo.onnx",
                                         "mobilenet_v2.train_loss.onnx",
                                         "bert_base.train_loss.onnx", "gpt2.train_loss.onnx"));

}  // namespace
}  // namespace footprint
