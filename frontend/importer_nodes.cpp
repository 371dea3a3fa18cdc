// Nodes and their attributes.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "frontend/importer_state.h"
#include "frontend/printable.h"

namespace footprint {

using ONNX_NAMESPACE::AttributeProto;
using ONNX_NAMESPACE::GraphProto;
using ONNX_NAMESPACE::NodeProto;
using ONNX_NAMESPACE::SparseTensorProto;
using ONNX_NAMESPACE::TensorProto;

namespace {

// Files of IR version 1 do not say the type: it is the field that is set.
AttributeProto::AttributeType TypeOf(const AttributeProto& attribute) {
  if (attribute.type() != AttributeProto::UNDEFINED) return attribute.type();
  if (attribute.has_f()) return AttributeProto::FLOAT;
  if (attribute.has_i()) return AttributeProto::INT;
  if (attribute.has_s()) return AttributeProto::STRING;
  if (attribute.has_t()) return AttributeProto::TENSOR;
  if (attribute.has_g()) return AttributeProto::GRAPH;
  if (attribute.has_tp()) return AttributeProto::TYPE_PROTO;
  if (attribute.has_sparse_tensor()) return AttributeProto::SPARSE_TENSOR;
  if (attribute.floats_size() > 0) return AttributeProto::FLOATS;
  if (attribute.ints_size() > 0) return AttributeProto::INTS;
  if (attribute.strings_size() > 0) return AttributeProto::STRINGS;
  if (attribute.tensors_size() > 0) return AttributeProto::TENSORS;
  if (attribute.graphs_size() > 0) return AttributeProto::GRAPHS;
  if (attribute.sparse_tensors_size() > 0) return AttributeProto::SPARSE_TENSORS;
  return AttributeProto::UNDEFINED;
}

// Everything but tensors, graphs and types.
void SetPlainValue(const AttributeProto& proto, AttributeProto::AttributeType type,
                   Attribute* attribute) {
  switch (type) {
    case AttributeProto::FLOAT:
      attribute->kind = Attribute::Kind::kFloat;
      attribute->float_value = proto.f();
      break;
    case AttributeProto::INT:
      attribute->kind = Attribute::Kind::kInt;
      attribute->int_value = proto.i();
      break;
    case AttributeProto::STRING:
      attribute->kind = Attribute::Kind::kString;
      attribute->string_value = proto.s();
      break;
    case AttributeProto::FLOATS:
      attribute->kind = Attribute::Kind::kFloats;
      attribute->floats.assign(proto.floats().begin(), proto.floats().end());
      break;
    case AttributeProto::INTS:
      attribute->kind = Attribute::Kind::kInts;
      attribute->ints.assign(proto.ints().begin(), proto.ints().end());
      break;
    case AttributeProto::STRINGS:
      attribute->kind = Attribute::Kind::kStrings;
      attribute->strings.assign(proto.strings().begin(), proto.strings().end());
      break;
    default:
      attribute->kind = Attribute::Kind::kOther;
      break;
  }
}

}  // namespace

void Importer::AddNode(ImportFrame& frame, const NodeProto& proto) {
  if (proto.op_type().empty()) {
    BindNothing(frame, proto);
    return Error("missing-operator", "",
                 absl::StrCat("node ", frame.index(), Where(frame), " has no operator (op_type)"));
  }
  if (frame.call != nullptr) Spend(sizeof(Node) + proto.ByteSizeLong());
  const absl::string_view domain = CanonicalDomain(proto.domain());
  if (const Function* function = functions_->Find(proto)) {
    return EnterCall(frame, proto, *function);
  }
  if (domain.empty() && proto.op_type() == "Constant") return AddConstantNode(frame, proto);

  Node node;
  node.name = proto.name().empty() ? "" : absl::StrCat(frame.prefix, proto.name());
  node.op_type = proto.op_type();
  node.domain = std::string(domain);
  node.version = VersionOf(frame, proto);
  node.op = FindOnnxOp(domain, proto.op_type(), node.version);
  node.region = frame.region;
  node.position = frame.position();
  node.scope = scopes_.OfNode(proto, frame.place);
  node.inputs.reserve(static_cast<size_t>(proto.input_size()));
  for (const std::string& input : proto.input()) node.inputs.push_back(Read(frame, input));
  node.attributes.reserve(static_cast<size_t>(proto.attribute_size()));
  for (const AttributeProto& attribute : proto.attribute()) {
    if (node.Find(attribute.name()) != nullptr) {
      Error("duplicate-attribute", DescribeProto(proto) + Where(frame),
            absl::StrCat("has attribute ", Printable(attribute.name()), " twice"));
    }
    if (const auto bound = Resolve(frame, attribute)) {
      AddAttribute(frame, attribute.name(), *bound, &node);
    }
  }
  std::reverse(frame.bodies.begin(), frame.bodies.end());
  const NodeId id = graph_.nodes.Add(std::move(node));
  graph_.regions[frame.region].nodes.push_back(id);
  const bool inherits = frame.call != nullptr && proto.metadata_props().empty();
  imported_.push_back({inherits ? frame.call->site : &proto, id});
  if (frame.bodies.empty()) {
    DefineOutputs(frame, id);
  } else {
    frame.open_node = id;
  }
}

void Importer::DefineOutputs(ImportFrame& frame, NodeId id) {
  const NodeProto& proto = frame.current();
  graph_.nodes[id].outputs.resize(static_cast<size_t>(proto.output_size()));
  for (int i = 0; i < proto.output_size(); ++i) {
    if (proto.output(i).empty()) continue;
    Value value;
    value.kind = ValueKind::kNodeOutput;
    value.producer = id;
    value.output_index = i;
    const ValueId output = AddValue(frame, proto.output(i), std::move(value));
    graph_.nodes[id].outputs[static_cast<size_t>(i)] = output;
    Bind(frame, proto.output(i), output);
  }
}

void Importer::AddConstantNode(ImportFrame& frame, const NodeProto& proto) {
  if (proto.output_size() == 0 || proto.output(0).empty()) return;
  const auto place = [&] { return DescribeProto(proto) + Where(frame); };
  for (const AttributeProto& attribute : proto.attribute()) {
    if (!ConstantReader::IsNodeValue(attribute.name())) continue;
    const auto bound = Resolve(frame, attribute);
    if (!bound.has_value()) continue;
    imported_.push_back({&proto, NodeId()});
    Value value;
    value.kind = ValueKind::kConstant;
    value.constant = AddConstant(
        frame, bound->proto, absl::StrCat(frame.constant_prefix, proto.output(0)),
        ConstantOrigin::kConstantNode,
        [&] { return constants_.ReadNodeValue(attribute.name(), *bound->proto, place); });
    return Define(frame, proto.output(0), std::move(value));
  }
  BindNothing(frame, proto);
  Error("constant-without-value", place(),
        "has no value; a Constant needs one of value, value_int, value_ints, value_float, "
        "value_floats, value_string, value_strings or sparse_value");
}

std::optional<int32_t> Importer::FindVersion(const ImportFrame& frame,
                                             absl::string_view domain) const {
  if (frame.call != nullptr) {
    const auto version = frame.call->function->opsets.Find(domain);
    if (version.has_value()) return version;
  }
  return opsets_.Find(domain);
}

int32_t Importer::VersionOf(const ImportFrame& frame, const NodeProto& proto) {
  const absl::string_view domain = CanonicalDomain(proto.domain());
  const std::optional<int32_t> version = FindVersion(frame, domain);
  if (!version.has_value() && missing_domains_.insert(std::string(domain)).second) {
    Error("missing-opset-import", DescribeProto(proto) + Where(frame),
          absl::StrCat("is of domain '", domain.empty() ? "ai.onnx" : Printable(domain),
                       "', which the model does not import; add it to opset_import"));
  }
  return version.value_or(0);
}

std::optional<BoundAttribute> Importer::Resolve(const ImportFrame& frame,
                                                const AttributeProto& attribute) {
  if (attribute.ref_attr_name().empty()) return BoundAttribute{&attribute, &frame};
  if (frame.call == nullptr) {
    Error("reference-outside-function", DescribeProto(frame.current()) + Where(frame),
          absl::StrCat("attribute ", Printable(attribute.name()), " refers to attribute ",
                       Printable(attribute.ref_attr_name()),
                       " of a function, but the node is in none"));
    return std::nullopt;
  }
  // One that the caller does not give and that has no default is absent.
  const auto found = frame.call->attributes.find(attribute.ref_attr_name());
  if (found == frame.call->attributes.end()) return std::nullopt;
  Spend(found->second.proto->ByteSizeLong());
  return found->second;
}

ConstantId Importer::AddConstant(const ImportFrame& frame, const void* key, std::string name,
                                 ConstantOrigin origin,
                                 absl::FunctionRef<std::optional<Constant>()> read) {
  if (frame.call != nullptr) {
    const auto known = shared_constants_.find(key);
    if (known != shared_constants_.end()) return known->second;
  }
  std::optional<Constant> constant = read();
  if (!constant.has_value()) constant.emplace();  // the sink has an error; go on to find more
  constant->name = std::move(name);
  constant->origin = origin;
  const ConstantId id = graph_.constants.Add(*std::move(constant));
  if (frame.call != nullptr) shared_constants_.emplace(key, id);
  return id;
}

void Importer::AddAttribute(ImportFrame& frame, absl::string_view name, const BoundAttribute& bound,
                            Node* node) {
  const AttributeProto& proto = *bound.proto;
  const AttributeProto::AttributeType type = TypeOf(proto);
  const auto add_all = [&](const auto& items, const auto& add) {
    for (int i = 0; i < items.size(); ++i) add(absl::StrCat(name, "[", i, "]"), items.Get(i));
  };
  const auto tensor = [&](std::string item_name, const auto& item) {
    AddTensor(frame, std::move(item_name), item, node);
  };
  const auto body = [&](std::string item_name, const GraphProto& item) {
    AddBody(frame, std::move(item_name), item, *bound.home, node);
  };
  switch (type) {
    case AttributeProto::TENSOR:
      return tensor(std::string(name), proto.t());
    case AttributeProto::SPARSE_TENSOR:
      return tensor(std::string(name), proto.sparse_tensor());
    case AttributeProto::GRAPH:
      return body(std::string(name), proto.g());
    case AttributeProto::TENSORS:
      return add_all(proto.tensors(), tensor);
    case AttributeProto::SPARSE_TENSORS:
      return add_all(proto.sparse_tensors(), tensor);
    case AttributeProto::GRAPHS:
      return add_all(proto.graphs(), body);
    default:
      break;
  }
  Attribute attribute;
  attribute.name = std::string(name);
  if (type == AttributeProto::TYPE_PROTO) {
    attribute.kind = Attribute::Kind::kType;
    attribute.type = types_.Read(proto.tp(), name, frame.call == nullptr);
  } else {
    SetPlainValue(proto, type, &attribute);
    const Payload* left_out = file_.LeftOutOf(proto);
    if (left_out != nullptr) attribute.dropped_elements = left_out->entries;
  }
  node->attributes.push_back(std::move(attribute));
}

template <typename Proto>
void Importer::AddTensor(ImportFrame& frame, std::string name, const Proto& tensor, Node* node) {
  const NodeProto& proto = frame.current();
  Attribute attribute;
  attribute.kind = Attribute::Kind::kTensor;
  attribute.constant = AddConstant(
      frame, &tensor, absl::StrCat(frame.constant_prefix, LabelOf(proto), ".", name),
      ConstantOrigin::kAttribute, [&] {
        return constants_.Read(tensor, [&] {
          return absl::StrCat(DescribeProto(proto), Where(frame), ", attribute ", Printable(name));
        });
      });
  attribute.name = std::move(name);
  node->attributes.push_back(std::move(attribute));
}

void Importer::AddBody(ImportFrame& frame, std::string name, const GraphProto& graph,
                       const ImportFrame& home, Node* node) {
  Region region;
  region.owner = NodeId(graph_.nodes.size());  // the node is added next
  region.name = name;
  Attribute attribute;
  attribute.kind = Attribute::Kind::kRegion;
  attribute.region = graph_.regions.Add(std::move(region));
  attribute.name = std::move(name);
  frame.bodies.push_back({attribute.region, &graph, &home});
  node->attributes.push_back(std::move(attribute));
}

}  // namespace footprint
