// Builds graphs by hand, for tests that want no file:
//
//   GraphBuilder b(/*opset=*/18);
//   const ValueId x = b.Input("x", ElementType::kFloat, {b.Symbol("N"), 3});
//   const ValueId y = b.Node("Reshape", {x, b.Ints({-1})});
//   b.Output(y);
#ifndef FOOTPRINT_TESTS_SUPPORT_GRAPH_BUILDER_H_
#define FOOTPRINT_TESTS_SUPPORT_GRAPH_BUILDER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/graph.h"

namespace footprint {

inline Attribute IntAttribute(std::string name, int64_t value) {
  Attribute attribute;
  attribute.name = std::move(name);
  attribute.kind = Attribute::Kind::kInt;
  attribute.int_value = value;
  return attribute;
}
inline Attribute IntsAttribute(std::string name, std::vector<int64_t> values) {
  Attribute attribute;
  attribute.name = std::move(name);
  attribute.kind = Attribute::Kind::kInts;
  attribute.ints = std::move(values);
  return attribute;
}
inline Attribute FloatsAttribute(std::string name, std::vector<double> values) {
  Attribute attribute;
  attribute.name = std::move(name);
  attribute.kind = Attribute::Kind::kFloats;
  attribute.floats = std::move(values);
  return attribute;
}
inline Attribute StringAttribute(std::string name, std::string value) {
  Attribute attribute;
  attribute.name = std::move(name);
  attribute.kind = Attribute::Kind::kString;
  attribute.string_value = std::move(value);
  return attribute;
}
inline Attribute RegionAttribute(std::string name, RegionId region) {
  Attribute attribute;
  attribute.name = std::move(name);
  attribute.kind = Attribute::Kind::kRegion;
  attribute.region = region;
  return attribute;
}

class GraphBuilder {
 public:
  explicit GraphBuilder(int opset, std::string domain = "")
      : domain_(std::move(domain)), opset_(opset) {
    graph_.scopes.Add(Scope());
    graph_.regions.Add(Region());
    graph_.opsets.push_back({domain_, opset});
  }

  Graph& graph() { return graph_; }
  DimTable& dims() { return *graph_.dims; }
  Dim Symbol(absl::string_view name) { return graph_.dims->Symbol(name); }

  ValueId Input(std::string name, TensorType type) {
    const ValueId id = AddValue(std::move(name), ValueKind::kInput);
    graph_.values[id].declared = ValueType::Tensor(std::move(type));
    graph_.regions[RegionId(0)].inputs.push_back(id);
    return id;
  }
  ValueId Input(std::string name, ElementType element, const Dims& dims) {
    return Input(std::move(name), TensorType::Make(element, dims));
  }
  ValueId Input(std::string name, const Dims& dims) {
    return Input(std::move(name), ElementType::kFloat, dims);
  }

  // Constants: of known contents, or of a shape alone.
  ValueId Ints(std::vector<int64_t> values, ElementType element = ElementType::kInt64) {
    const auto size = static_cast<int64_t>(values.size());
    return Ints(std::move(values), {size}, element);
  }
  ValueId Ints(std::vector<int64_t> values, const Dims& dims,
               ElementType element = ElementType::kInt64) {
    Constant constant;
    constant.type = TensorType::Make(element, dims);
    constant.has_integers = true;
    constant.integers = std::move(values);
    return AddConstant(std::move(constant), "");
  }
  ValueId Scalar(int64_t value) { return Ints({value}, Dims()); }
  ValueId Floats(std::vector<double> values, const Dims& dims) {
    Constant constant;
    constant.type = TensorType::Make(ElementType::kFloat, dims);
    constant.has_floats = true;
    constant.floats = std::move(values);
    return AddConstant(std::move(constant), "");
  }
  ValueId Floats(std::vector<double> values) {
    const auto size = static_cast<int64_t>(values.size());
    return Floats(std::move(values), {size});
  }
  ValueId Weight(std::string name, const Dims& dims, ElementType element = ElementType::kFloat) {
    Constant constant;
    constant.type = TensorType::Make(element, dims);
    return AddConstant(std::move(constant), std::move(name));
  }

  std::vector<ValueId> Nodes(const std::string& op_type, std::vector<ValueId> inputs,
                             size_t outputs, std::vector<Attribute> attributes = {}) {
    const NodeId id = AddNode(op_type, std::move(inputs), std::move(attributes));
    std::vector<ValueId> result;
    for (size_t i = 0; i < outputs; ++i) {
      const ValueId output =
          AddValue(absl::StrCat(op_type, id.index(), "_", i), ValueKind::kNodeOutput);
      graph_.values[output].producer = id;
      graph_.values[output].output_index = static_cast<int32_t>(i);
      graph_.nodes[id].outputs.push_back(output);
      result.push_back(output);
    }
    return result;
  }
  ValueId Node(const std::string& op_type, std::vector<ValueId> inputs,
               std::vector<Attribute> attributes = {}) {
    return Nodes(op_type, std::move(inputs), 1, std::move(attributes))[0];
  }

  // What is added until End() is in the new region.
  RegionId Begin() {
    const RegionId id = graph_.regions.Add(Region());
    open_.push_back(id);
    return id;
  }
  ValueId BodyInput(std::string name) {
    const ValueId id = AddValue(std::move(name), ValueKind::kRegionInput);
    graph_.regions[region()].inputs.push_back(id);
    return id;
  }
  void End(std::vector<ValueId> outputs) {
    graph_.regions[region()].outputs = std::move(outputs);
    open_.pop_back();
  }

  void Declare(ValueId value, TensorType type) {
    graph_.values[value].declared = ValueType::Tensor(std::move(type));
  }
  void Output(ValueId value) {
    graph_.values[value].is_graph_output = true;
    graph_.regions[RegionId(0)].outputs.push_back(value);
  }

 private:
  RegionId region() const { return open_.empty() ? RegionId(0) : open_.back(); }

  ValueId AddValue(std::string name, ValueKind kind) {
    Value value;
    value.name = std::move(name);
    value.kind = kind;
    value.region = region();
    return graph_.values.Add(std::move(value));
  }

  ValueId AddConstant(Constant constant, std::string name) {
    if (name.empty()) name = absl::StrCat("c", graph_.constants.size());
    constant.name = name;
    const ValueId id = AddValue(std::move(name), ValueKind::kConstant);
    graph_.values[id].constant = graph_.constants.Add(std::move(constant));
    return id;
  }

  NodeId AddNode(const std::string& op_type, std::vector<ValueId> inputs,
                 std::vector<Attribute> attributes) {
    footprint::Node node;
    node.op_type = op_type;
    node.domain = domain_;
    node.version = opset_;
    node.op = FindOnnxOp(domain_, op_type, opset_);
    node.inputs.assign(inputs.begin(), inputs.end());
    node.attributes = std::move(attributes);
    node.region = region();
    node.scope = ScopeId(0);
    const NodeId id = graph_.nodes.Add(std::move(node));
    for (const Attribute& attribute : graph_.nodes[id].attributes) {
      if (attribute.region.valid()) graph_.regions[attribute.region].owner = id;
    }
    graph_.regions[region()].nodes.push_back(id);
    return id;
  }

  Graph graph_;
  std::string domain_;
  int opset_;
  std::vector<RegionId> open_;
};

}  // namespace footprint

#endif  // FOOTPRINT_TESTS_SUPPORT_GRAPH_BUILDER_H_
