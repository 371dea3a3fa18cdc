#include "ir/graph.h"

#include "absl/strings/str_cat.h"

namespace footprint {

const Attribute* Node::Find(absl::string_view attribute_name) const {
  for (const Attribute& attribute : attributes) {
    if (attribute.name == attribute_name) return &attribute;
  }
  return nullptr;
}

int64_t Node::Int(absl::string_view attribute_name, int64_t default_value) const {
  const Attribute* found = Find(attribute_name);
  return found != nullptr && found->kind == Attribute::Kind::kInt ? found->int_value
                                                                  : default_value;
}

double Node::Float(absl::string_view attribute_name, double default_value) const {
  const Attribute* found = Find(attribute_name);
  return found != nullptr && found->kind == Attribute::Kind::kFloat ? found->float_value
                                                                    : default_value;
}

absl::string_view Node::String(absl::string_view attribute_name,
                               absl::string_view default_value) const {
  const Attribute* found = Find(attribute_name);
  if (found == nullptr || found->kind != Attribute::Kind::kString) return default_value;
  return found->string_value;
}

absl::Span<const int64_t> Node::Ints(absl::string_view attribute_name) const {
  const Attribute* found = Find(attribute_name);
  if (found == nullptr) return {};
  return found->ints;
}

absl::Span<const double> Node::Floats(absl::string_view attribute_name) const {
  const Attribute* found = Find(attribute_name);
  if (found == nullptr) return {};
  return found->floats;
}

std::string Describe(const Graph& graph, NodeId node_id) {
  const Node& node = graph.nodes[node_id];
  std::string text = node.domain.empty() ? node.op_type : node.domain + "." + node.op_type;
  if (!node.name.empty()) absl::StrAppend(&text, " '", node.name, "'");
  for (const ValueId output : node.outputs) {
    if (output.valid()) return absl::StrCat(text, " -> ", graph.values[output].name);
  }
  return text;
}

std::string Describe(const Graph& graph, ValueId value_id) {
  const Value& value = graph.values[value_id];
  switch (value.kind) {
    case ValueKind::kInput:
      return absl::StrCat("input ", value.name);
    case ValueKind::kConstant: {
      const bool stored_alone =
          graph.constants[value.constant].origin == ConstantOrigin::kInitializer;
      return absl::StrCat(stored_alone ? "initializer " : "constant ", value.name);
    }
    case ValueKind::kRegionInput: {
      const Node& owner = graph.nodes[graph.regions[value.region].owner];
      return absl::StrCat(value.name, " (input of a body of ", owner.op_type, ")");
    }
    case ValueKind::kNodeOutput:
      break;
  }
  const Node& producer = graph.nodes[value.producer];
  std::string text = absl::StrCat(value.name, " (output of ", producer.op_type);
  if (!producer.name.empty()) absl::StrAppend(&text, " '", producer.name, "'");
  return text + ")";
}

}  // namespace footprint
