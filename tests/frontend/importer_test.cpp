#include "frontend/importer.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "onnx/defs/parser.h"

namespace footprint {
namespace {

using ONNX_NAMESPACE::AttributeProto;
using ONNX_NAMESPACE::GraphProto;
using ONNX_NAMESPACE::ModelProto;
using ONNX_NAMESPACE::NodeProto;

constexpr char kHeader[] = "<ir_version: 8, opset_import: [\"\" : 18, \"l\" : 1]>\n";

struct Imported {
  std::optional<ImportedModel> model;
  DiagnosticSink sink;
};

Imported Import(const ModelProto& proto) {
  Imported result;
  ModelFile file;
  file.model = proto;
  result.model = ImportModel(file, result.sink);
  if (result.model.has_value()) {
    EXPECT_EQ(Verify(result.model->graph), "");
  }
  return result;
}

ModelProto Parse(const std::string& text) {
  ModelProto proto;
  ONNX_NAMESPACE::OnnxParser parser(text);
  const auto status = parser.Parse(proto);
  EXPECT_TRUE(status.IsOK()) << status.ErrorMessage();
  return proto;
}

std::string FirstError(const Imported& imported) {
  for (const Diagnostic& diagnostic : imported.sink.all()) {
    if (diagnostic.severity == Severity::kError) return diagnostic.kind;
  }
  return "";
}

NodeProto* AddNode(GraphProto* graph, const std::string& op, const std::string& input,
                   const std::string& output) {
  NodeProto* node = graph->add_node();
  node->set_op_type(op);
  if (!input.empty()) node->add_input(input);
  node->add_output(output);
  return node;
}

TEST(Importer, ComposedNamesNeverClashWithNamesOfTheFile) {
  const Imported imported = Import(Parse(absl::StrCat(kHeader, R"(
g (float[2] x) => (y, z, "f/h")
{
  [f] y = l.F (x)
  [f] z = l.F (y)
  "f/h" = Neg (z)
}
<domain: "l", opset_import: ["" : 18]>
F (a) => (b) { h = Relu (a) b = Exp (h) })")));
  ASSERT_TRUE(imported.model.has_value());
  std::vector<std::string> names;
  for (const Value& value : imported.model->graph.values) names.push_back(value.name);
  EXPECT_EQ(names, (std::vector<std::string>{"x", "f/h#2", "y", "f/h#3", "z", "f/h"}));
}

TEST(Importer, OneDefinitionIsStoredOnceHoweverOftenItIsCalled) {
  const Imported imported = Import(Parse(absl::StrCat(kHeader, R"(
g (float[2] x, bool c) => (z)
{
  y = l.F (x, c)
  z = l.F (y, c)
}
<domain: "l", opset_import: ["" : 18]>
F (a, c) => (b) {
  w = Constant <value = float[2] {1, 2}> ()
  s = ConstantOfShape <value = float[1] {3}> (w)
  h = If (c) < then_branch = t () => (r) <float[2] v = {1, 2}> { r = Add (v, w) },
               else_branch = e () => (a2) { a2 = Identity (s) } >
  b = Add (h, a)
})")));
  ASSERT_TRUE(imported.model.has_value());
  const Graph& graph = imported.model->graph;
  std::vector<std::string> names;
  for (const Constant& constant : graph.constants) names.push_back(constant.name);
  EXPECT_EQ(names, (std::vector<std::string>{"F/w", "F/s.value", "F/h/then_branch/v"}));
  int values = 0;
  for (const Value& value : graph.values) values += value.kind == ValueKind::kConstant;
  EXPECT_EQ(values, 4);
}

TEST(Importer, GraphGivenToAFunctionSeesTheNamesAroundTheCall) {
  ModelProto proto = Parse(absl::StrCat(kHeader, R"(
g (float[2] x, bool c) => (y) { h = Relu (x) y = l.F (c) }
<domain: "l", opset_import: ["" : 18]>
F <body> (c) => (b) {
  h = Not (c)
  b = If (h) < then_branch : graph = @body, else_branch : graph = @body >
})"));
  AttributeProto* body = proto.mutable_graph()->mutable_node(1)->add_attribute();
  body->set_name("body");
  body->set_type(AttributeProto::GRAPH);
  AddNode(body->mutable_g(), "Neg", "h", "inside");
  body->mutable_g()->add_output()->set_name("inside");
  const Imported imported = Import(proto);
  ASSERT_TRUE(imported.model.has_value()) << FirstError(imported);
  const Graph& graph = imported.model->graph;
  ASSERT_EQ(graph.regions.size(), 3u);
  const Node& inside = graph.nodes[graph.regions[RegionId(1)].nodes[0]];
  EXPECT_EQ(graph.values[inside.input(0)].name, "h");  // the float, not the bool of the function
}

TEST(Importer, BodiesNestAsDeepAsProtobufLets) {
  ModelProto proto = Parse(absl::StrCat(kHeader, "g (float[2] x, bool c) => (v0) { }"));
  GraphProto* graph = proto.mutable_graph();
  constexpr int kDepth = 30;
  for (int i = 0; i < kDepth; ++i) {
    AttributeProto* body = AddNode(graph, "If", "c", absl::StrCat("v", i))->add_attribute();
    body->set_name("then_branch");
    body->set_type(AttributeProto::GRAPH);
    graph = body->mutable_g();
    graph->add_output()->set_name(absl::StrCat("v", i + 1));
  }
  AddNode(graph, "Relu", "x", absl::StrCat("v", kDepth));
  const Imported imported = Import(proto);
  ASSERT_TRUE(imported.model.has_value()) << FirstError(imported);
  EXPECT_EQ(imported.model->graph.regions.size(), kDepth + 1u);
}

ModelProto ChainOfFunctions(int depth) {
  std::string text = absl::StrCat(kHeader, "g (float[2] x) => (y) { y = l.F0 (x) }\n");
  for (int i = 0; i < depth; ++i) {
    absl::StrAppend(&text, "<domain: \"l\", opset_import: [\"\" : 18]>\nF", i, " (a) => (b) { ");
    absl::StrAppend(&text, i + 1 < depth ? absl::StrCat("b = l.F", i + 1, " (a)") : "b = Relu (a)",
                    " }\n");
  }
  return Parse(text);
}

TEST(Importer, FunctionsCallFunctionsUpToALimit) {
  EXPECT_TRUE(Import(ChainOfFunctions(150)).model.has_value());
  EXPECT_EQ(FirstError(Import(ChainOfFunctions(500))), "nested-too-deep");
}

TEST(Importer, ReportsSoManyErrorsAndStops) {
  ModelProto proto = Parse(absl::StrCat(kHeader, "g (float[2] x) => (x) { }"));
  for (int i = 0; i < 1000; ++i) {
    AddNode(proto.mutable_graph(), "Relu", absl::StrCat("missing", i), absl::StrCat("v", i));
  }
  const Imported imported = Import(proto);
  EXPECT_FALSE(imported.model.has_value());
  EXPECT_EQ(imported.sink.all().size(), 20u);
}

TEST(Importer, LongCyclesAreFoundWithoutSearchingForThem) {
  ModelProto proto = Parse(absl::StrCat(kHeader, "g (float[2] x) => (x) { }"));
  constexpr int kNodes = 100'000;
  for (int i = 0; i < kNodes; ++i) {
    AddNode(proto.mutable_graph(), "Relu", absl::StrCat("v", (i + 1) % kNodes),
            absl::StrCat("v", i));
  }
  EXPECT_EQ(FirstError(Import(proto)), "not-sorted");
}

TEST(Importer, NodesAreReadInAnOrderInWhichTheyCanRun) {
  ModelProto proto = Parse(absl::StrCat(kHeader, "g (float[2] x) => (v100000) { }"));
  constexpr int kNodes = 100'000;
  for (int i = kNodes; i > 0; --i) {
    AddNode(proto.mutable_graph(), "Relu", i == 1 ? "x" : absl::StrCat("v", i - 1),
            absl::StrCat("v", i));
  }
  const Imported imported = Import(proto);
  ASSERT_TRUE(imported.model.has_value());
  const Graph& graph = imported.model->graph;
  ASSERT_EQ(graph.nodes.size(), size_t{kNodes});
  EXPECT_EQ(graph.nodes[NodeId(0)].position, kNodes - 1);
  EXPECT_EQ(graph.values[graph.nodes[NodeId(0)].output(0)].name, "v1");
  EXPECT_EQ(imported.sink.all().front().kind, "not-sorted");
}

TEST(Importer, LongNamesAreNotMultiplied) {
  ModelProto proto = Parse(absl::StrCat(kHeader, "g (float[2] x, bool c) => (y) { }"));
  NodeProto* outer = AddNode(proto.mutable_graph(), "If", "c", "y");
  outer->set_name(std::string(1 << 20, 'n'));
  AttributeProto* body = outer->add_attribute();
  body->set_name("then_branch");
  body->set_type(AttributeProto::GRAPH);
  for (int i = 0; i < 10'000; ++i) AddNode(body->mutable_g(), "Relu", "x", absl::StrCat("v", i));
  body->mutable_g()->add_output()->set_name("v0");
  EXPECT_EQ(FirstError(Import(proto)), "too-large");
}

TEST(Importer, DeclaredTypesComeFromWhereTheyAreSaidBest) {
  ModelProto proto = Parse(absl::StrCat(kHeader, R"(
g (float[N] x) => (float[N] y) <float h> { h = Relu (x) y = Relu (h) })"));
  const Imported imported = Import(proto);
  ASSERT_TRUE(imported.model.has_value());
  const Graph& graph = imported.model->graph;
  ASSERT_EQ(graph.values.size(), 3u);
  EXPECT_EQ(ToString(graph.values[ValueId(2)].declared.tensor, *graph.dims), "float32[N]");
  EXPECT_TRUE(graph.values[ValueId(2)].is_graph_output);
  EXPECT_FALSE(graph.values[ValueId(1)].is_graph_output);
}

}  // namespace
}  // namespace footprint
