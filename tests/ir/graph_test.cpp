#include "ir/graph.h"

#include <functional>

#include "gtest/gtest.h"

namespace footprint {
namespace {

// x -> Relu 'a' -> h; If(c) with one body: t = Add(h, w) -> y.
struct Small {
  Graph graph;
  ValueId x, c, w, h, t, y;
  NodeId relu, branch, add;
  RegionId body;

  ValueId AddValue(const char* name, ValueKind kind, RegionId region) {
    Value value;
    value.name = name;
    value.kind = kind;
    value.region = region;
    return graph.values.Add(value);
  }

  ValueId AddOutput(const char* name, NodeId producer) {
    const ValueId id = AddValue(name, ValueKind::kNodeOutput, graph.nodes[producer].region);
    graph.values[id].producer = producer;
    graph.nodes[producer].outputs.push_back(id);
    return id;
  }

  NodeId AddNode(const char* op, const char* name, RegionId region,
                 std::initializer_list<ValueId> inputs) {
    Node node;
    node.op_type = op;
    node.name = name;
    node.region = region;
    node.scope = ScopeId(0);
    node.inputs.assign(inputs.begin(), inputs.end());
    const NodeId id = graph.nodes.Add(node);
    graph.regions[region].nodes.push_back(id);
    return id;
  }

  Small() {
    graph.scopes.Add(Scope());
    const RegionId top = graph.regions.Add(Region());
    x = AddValue("x", ValueKind::kInput, top);
    c = AddValue("c", ValueKind::kInput, top);
    graph.regions[top].inputs = {x, c};
    Constant constant;
    constant.name = "w";
    constant.type = TensorType::Make(ElementType::kFloat, {2});
    constant.scope = ScopeId(0);
    w = AddValue("w", ValueKind::kConstant, top);
    graph.values[w].constant = graph.constants.Add(constant);
    relu = AddNode("Relu", "a", top, {x});
    h = AddOutput("h", relu);
    branch = AddNode("If", "", top, {c});
    body = graph.regions.Add(Region());
    graph.regions[body].owner = branch;
    Attribute attribute;
    attribute.name = "then_branch";
    attribute.kind = Attribute::Kind::kRegion;
    attribute.region = body;
    graph.nodes[branch].attributes.push_back(attribute);
    add = AddNode("Add", "", body, {h, w});
    graph.nodes[add].domain = "my";
    t = AddOutput("t", add);
    graph.regions[body].outputs = {t};
    y = AddOutput("y", branch);
    graph.regions[top].outputs = {y};
  }
};

TEST(Describe, NamesNodesAndValuesInTheUsersWords) {
  const Small small;
  EXPECT_EQ(Describe(small.graph, small.relu), "Relu 'a' -> h");
  EXPECT_EQ(Describe(small.graph, small.branch), "If -> y");
  EXPECT_EQ(Describe(small.graph, small.add), "my.Add -> t");
  EXPECT_EQ(Describe(small.graph, small.x), "input x");
  EXPECT_EQ(Describe(small.graph, small.w), "initializer w");
  EXPECT_EQ(Describe(small.graph, small.h), "h (output of Relu 'a')");
  EXPECT_EQ(Describe(small.graph, small.y), "y (output of If)");
}

TEST(Node, AttributesHaveDefaultsAndKinds) {
  Node node;
  Attribute attribute;
  attribute.name = "axis";
  attribute.kind = Attribute::Kind::kInt;
  attribute.int_value = -1;
  node.attributes.push_back(attribute);
  attribute = Attribute();
  attribute.name = "mode";
  attribute.kind = Attribute::Kind::kString;
  attribute.string_value = "linear";
  node.attributes.push_back(attribute);
  attribute = Attribute();
  attribute.name = "pads";
  attribute.kind = Attribute::Kind::kInts;
  attribute.ints = {1, 2};
  node.attributes.push_back(attribute);
  EXPECT_EQ(node.Int("axis", 7), -1);
  EXPECT_EQ(node.Int("mode", 7), 7);
  EXPECT_EQ(node.Float("axis", 0.5), 0.5);
  EXPECT_EQ(node.String("mode", ""), "linear");
  EXPECT_EQ(node.String("axis", "none"), "none");
  EXPECT_EQ(node.Ints("pads").size(), 2u);
  EXPECT_TRUE(node.Ints("none").empty());
  EXPECT_TRUE(node.Floats("pads").empty());
  EXPECT_TRUE(node.Has("pads"));
  EXPECT_FALSE(node.Has("none"));
  EXPECT_FALSE(node.input(3).valid());
}

TEST(Print, ShowsBodiesInsideTheirNodes) {
  EXPECT_EQ(Print(Small().graph), R"(graph "" ir_version 0, opsets 
input %x
input %c
constant %w: float32[2] initializer
%h = Relu@0(%x) name "a"
%y = If@0(%c) {then_branch}
  then_branch() -> (%t) {
    %t = my.Add@0(%h, %w)
  }
output %y
)");
}

TEST(Verify, AcceptsWhatIsRight) { EXPECT_EQ(Verify(Small().graph), ""); }

TEST(Verify, FindsWhatIsWrong) {
  struct Damage {
    const char* expected;
    std::function<void(Small&)> apply;
  };
  const Damage damages[] = {
      {"no root scope", [](Small& s) { s.graph.scopes = {}; }},
      {"scope 1 does not follow its parent",
       [](Small& s) {
         Scope scope;
         scope.parent = ScopeId(1);
         s.graph.scopes.Add(scope);
       }},
      {"value 3 has no name", [](Small& s) { s.graph.values[s.h].name = ""; }},
      {"two values are called x", [](Small& s) { s.graph.values[s.c].name = "x"; }},
      {"h is in no region", [](Small& s) { s.graph.values[s.h].region = RegionId(9); }},
      {"w has no contents", [](Small& s) { s.graph.values[s.w].constant = ConstantId(); }},
      {"h is no output of its producer", [](Small& s) { s.graph.values[s.h].output_index = 1; }},
      {"x: wrong kind", [](Small& s) { s.graph.values[s.x].kind = ValueKind::kRegionInput; }},
      {"node 0 is in no scope", [](Small& s) { s.graph.nodes[s.relu].scope = ScopeId(3); }},
      {"node 0 reads nothing", [](Small& s) { s.graph.nodes[s.relu].inputs[0] = ValueId(77); }},
      {"h is defined by two nodes, or elsewhere than its node",
       [](Small& s) { s.graph.nodes[s.branch].outputs.push_back(s.h); }},
      {"node 1, attribute then_branch: a body that it does not own",
       [](Small& s) { s.graph.regions[s.body].owner = s.relu; }},
      {"region 0 lists a node that is elsewhere",
       [](Small& s) { s.graph.regions[RegionId(0)].nodes.push_back(s.add); }},
      {"node 0 is listed twice",
       [](Small& s) { s.graph.regions[RegionId(0)].nodes.push_back(s.relu); }},
      {"Relu 'a' -> h reads y too early", [](Small& s) { s.graph.nodes[s.relu].inputs[0] = s.y; }},
      {"my.Add -> t reads y too early", [](Small& s) { s.graph.nodes[s.add].inputs[0] = s.y; }},
      {"y is not defined at the end", [](Small& s) { s.graph.regions[s.body].outputs = {s.y}; }},
      {"t is not defined at the end",
       [](Small& s) { s.graph.regions[RegionId(0)].outputs = {s.t}; }},
      {"node 0 is in no region that is reached",
       [](Small& s) {
         s.graph.regions[RegionId(0)].nodes = {s.branch};
         s.graph.nodes[s.add].inputs[0] = s.w;
       }},
  };
  for (const Damage& damage : damages) {
    Small small;
    damage.apply(small);
    EXPECT_EQ(Verify(small.graph), damage.expected);
  }
}

}  // namespace
}  // namespace footprint
