#include "frontend/scopes.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "frontend/read_graph.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ONNX_NAMESPACE::NodeProto;

NodeProto Named(const std::string& name) {
  NodeProto node;
  node.set_name(name);
  return node;
}

TEST(Scopes, PathsOfNodesShareTheirParents) {
  Graph graph;
  ScopeBuilder builder(graph);
  const NodeProto a = Named("/m/h.0/attn/MatMul"), b = Named("/m/h.0/Add"), c = Named("Add_1");
  const ScopeId attn = builder.OfNode(a, {});
  const ScopeId block = builder.OfNode(b, {});
  EXPECT_EQ(graph.scopes[attn].path, "m/h.0/attn");
  EXPECT_EQ(graph.scopes[attn].parent, block);
  EXPECT_FALSE(builder.OfNode(c, {}).valid());
  EXPECT_EQ(graph.scopes.size(), 4u);
}

TEST(Scopes, LongPathsAreCutAndNotMultiplied) {
  Graph graph;
  ScopeBuilder builder(graph);
  std::string path;
  for (int i = 0; i < 200'000; ++i) absl::StrAppend(&path, "/component");
  const NodeProto deep = Named(path);
  EXPECT_EQ(graph.scopes[builder.OfNode(deep, {})].path.size(),
            64 * std::string("component/").size() - 1);
  std::vector<NodeProto> nodes;
  for (int i = 0; i < 2000; ++i) {
    nodes.push_back(Named(absl::StrCat(i, std::string(10'000, 'a'), path.substr(0, 1000))));
  }
  for (const NodeProto& node : nodes) builder.OfNode(node, {});
  size_t bytes = 0;
  for (const Scope& scope : graph.scopes) bytes += scope.path.size();
  EXPECT_LT(bytes, 66u << 20);
}

// Every parameter of a real export is in the scope of its module, in both exporters' words.
TEST(Scopes, ParametersOfRealExportsAreInTheirModules) {
  for (const char* name : {"resnet50.train_loss.onnx", "resnet50.train_loss_dynamo.onnx",
                           "mobilenet_v2.train_loss.onnx", "gpt2.train_loss.onnx"}) {
    DiagnosticSink sink;
    const auto model = ReadGraph(absl::StrCat(FOOTPRINT_SOURCE_DIR "/models/", name), sink);
    ASSERT_TRUE(model.has_value()) << name;
    int checked = 0;
    for (const Constant& constant : model->graph.constants) {
      if (constant.name.rfind("m.", 0) != 0) continue;
      const std::string& path = model->graph.scopes[constant.scope].path;
      // "m/layer1/layer1.0/conv1" and "m/layer1/0/conv1" both end in the module's own name.
      const std::string module = constant.name.substr(0, constant.name.rfind('.'));
      const std::string own = path.substr(path.rfind('/') + 1);
      EXPECT_EQ(module.substr(module.size() - std::min(module.size(), own.size())), own)
          << name << ": " << constant.name << " is in " << path;
      ++checked;
    }
    EXPECT_GT(checked, 50) << name;
  }
}

}  // namespace
}  // namespace footprint
