// One node at a time, ONNX's inference function of the operator is run on protos made from our
// types; operators that are functions are inferred through their bodies. Symbolic dims travel as
// names that are indices into a list, "#0", "#1" ..., and come back as what they were: ONNX either
// hands a dim on or forgets it.
//
// This is the border where ONNX's exceptions end. An operator that ONNX finds fault with is one it
// cannot tell about: the fault may lie in what is not known here.
#include "frontend/fallback.h"

#include <exception>
#include <optional>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "onnx/defs/schema.h"
#include "onnx/defs/shape_inference.h"
#include "onnx/shape_inference/implementation.h"

namespace footprint {
namespace {

using ONNX_NAMESPACE::AttributeProto;
using ONNX_NAMESPACE::OpSchema;
using ONNX_NAMESPACE::OpSchemaRegistry;
using ONNX_NAMESPACE::TensorProto;
using ONNX_NAMESPACE::TensorShapeProto;
using ONNX_NAMESPACE::TypeProto;

class DimNames {
 public:
  void Write(Dim dim, TensorShapeProto::Dimension* proto) {
    if (dim.is_unknown()) return;
    if (dim.is_constant()) return proto->set_dim_value(dim.value());
    size_t i = 0;
    while (i < dims_.size() && dims_[i] != dim) ++i;
    if (i == dims_.size()) dims_.push_back(dim);
    proto->set_dim_param(absl::StrCat("#", i));
  }

  Dim Read(const TensorShapeProto::Dimension& proto) const {
    if (proto.has_dim_value()) return proto.dim_value() < 0 ? Dim() : Dim(proto.dim_value());
    size_t i = 0;
    const bool ours = proto.has_dim_param() &&
                      absl::SimpleAtoi(absl::StripPrefix(proto.dim_param(), "#"), &i) &&
                      i < dims_.size();
    return ours ? dims_[i] : Dim();
  }

 private:
  std::vector<Dim> dims_;
};

template <typename Proto>
void WriteTensor(const TensorType& type, DimNames& names, Proto* proto) {
  proto->set_elem_type(static_cast<int32_t>(type.element));
  if (!type.has_rank) return;
  proto->mutable_shape();
  for (const Dim dim : type.dims) names.Write(dim, proto->mutable_shape()->add_dim());
}

template <typename Proto>
TensorType ReadTensor(const Proto& proto, const DimNames& names) {
  const bool known = IsKnownElementType(proto.elem_type());
  TensorType type = TensorType::UnknownRank(known ? static_cast<ElementType>(proto.elem_type())
                                                  : ElementType::kUndefined);
  type.has_rank = proto.has_shape();
  for (const auto& dim : proto.shape().dim()) type.dims.push_back(names.Read(dim));
  return type;
}

// False: the type cannot be said in the proto's words.
bool WriteType(const ValueType& type, DimNames& names, TypeProto* proto) {
  switch (type.kind) {
    case TypeKind::kTensor:
      WriteTensor(type.tensor, names, proto->mutable_tensor_type());
      return true;
    case TypeKind::kSparseTensor:
      WriteTensor(type.tensor, names, proto->mutable_sparse_tensor_type());
      return true;
    case TypeKind::kSequence:
    case TypeKind::kOptional: {
      if (!type.spelling.empty()) return false;
      TypeProto* element = type.kind == TypeKind::kSequence
                               ? proto->mutable_sequence_type()->mutable_elem_type()
                               : proto->mutable_optional_type()->mutable_elem_type();
      WriteTensor(type.tensor, names, element->mutable_tensor_type());
      return true;
    }
    default:
      return false;
  }
}

ValueType ReadType(const TypeProto& proto, const DimNames& names) {
  const auto element_of = [&](TypeKind kind, const TypeProto& element) -> ValueType {
    if (!element.has_tensor_type()) return {};
    return {kind, ReadTensor(element.tensor_type(), names), {}};
  };
  if (proto.has_tensor_type()) return ValueType::Tensor(ReadTensor(proto.tensor_type(), names));
  if (proto.has_sparse_tensor_type()) {
    return {TypeKind::kSparseTensor, ReadTensor(proto.sparse_tensor_type(), names), {}};
  }
  if (proto.has_sequence_type()) {
    return element_of(TypeKind::kSequence, proto.sequence_type().elem_type());
  }
  if (proto.has_optional_type()) {
    return element_of(TypeKind::kOptional, proto.optional_type().elem_type());
  }
  return {};
}

// Contents that were not kept are left out.
TensorProto WriteConstant(const Constant& constant) {
  TensorProto proto;
  proto.set_data_type(static_cast<int32_t>(constant.type.element));
  for (const Dim dim : constant.type.dims) proto.add_dims(dim.is_constant() ? dim.value() : 0);
  switch (constant.type.element) {
    case ElementType::kInt64:
      proto.mutable_int64_data()->Assign(constant.integers.begin(), constant.integers.end());
      break;
    case ElementType::kUint32:
    case ElementType::kUint64:
      for (const int64_t value : constant.integers) {
        proto.add_uint64_data(static_cast<uint64_t>(value));
      }
      break;
    case ElementType::kFloat:
      for (const double value : constant.floats) proto.add_float_data(static_cast<float>(value));
      break;
    case ElementType::kDouble:
      proto.mutable_double_data()->Assign(constant.floats.begin(), constant.floats.end());
      break;
    case ElementType::kInt32:
    case ElementType::kInt16:
    case ElementType::kInt8:
    case ElementType::kUint16:
    case ElementType::kUint8:
    case ElementType::kBool:
      for (const int64_t value : constant.integers) {
        proto.add_int32_data(static_cast<int32_t>(value));
      }
      break;
    default:
      break;
  }
  return proto;
}

bool HasContents(const Constant& constant) { return constant.has_integers || constant.has_floats; }

AttributeProto WriteAttribute(const Graph& graph, const Attribute& attribute) {
  AttributeProto proto;
  proto.set_name(attribute.name);
  switch (attribute.kind) {
    case Attribute::Kind::kInt:
      proto.set_type(AttributeProto::INT);
      proto.set_i(attribute.int_value);
      break;
    case Attribute::Kind::kFloat:
      proto.set_type(AttributeProto::FLOAT);
      proto.set_f(static_cast<float>(attribute.float_value));
      break;
    case Attribute::Kind::kString:
      proto.set_type(AttributeProto::STRING);
      proto.set_s(attribute.string_value);
      break;
    case Attribute::Kind::kInts:
      proto.set_type(AttributeProto::INTS);
      proto.mutable_ints()->Assign(attribute.ints.begin(), attribute.ints.end());
      break;
    case Attribute::Kind::kFloats:
      proto.set_type(AttributeProto::FLOATS);
      for (const double value : attribute.floats) proto.add_floats(static_cast<float>(value));
      break;
    case Attribute::Kind::kStrings:
      proto.set_type(AttributeProto::STRINGS);
      for (const std::string& value : attribute.strings) proto.add_strings(value);
      break;
    case Attribute::Kind::kTensor:
      proto.set_type(AttributeProto::TENSOR);
      *proto.mutable_t() = WriteConstant(graph.constants[attribute.constant]);
      break;
    case Attribute::Kind::kType: {
      DimNames no_names;
      proto.set_type(AttributeProto::TYPE_PROTO);
      WriteType(attribute.type, no_names, proto.mutable_tp());
      break;
    }
    case Attribute::Kind::kRegion:
    case Attribute::Kind::kOther:
      break;
  }
  return proto;
}

class NodeContext : public ONNX_NAMESPACE::InferenceContext {
 public:
  NodeContext(const Graph& graph, const Node& node, absl::Span<const ValueType> input_types)
      : node_(node),
        inputs_(node.inputs.size()),
        data_(node.inputs.size()),
        outputs_(node.outputs.size()) {
    for (const Attribute& attribute : node.attributes) {
      if (attribute.dropped_elements == 0) attributes_.push_back(WriteAttribute(graph, attribute));
    }
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId input = node.inputs[i];
      if (!input.valid()) continue;
      TypeProto type;
      if (i < input_types.size() && WriteType(input_types[i], names_, &type)) inputs_[i] = type;
      const Value& value = graph.values[input];
      if (value.kind == ValueKind::kConstant && HasContents(graph.constants[value.constant])) {
        data_[i] = WriteConstant(graph.constants[value.constant]);
      }
    }
  }

  bool Result(std::vector<ValueType>* output_types) const {
    bool any = false;
    output_types->clear();
    for (const TypeProto& output : outputs_) {
      output_types->push_back(ReadType(output, names_));
      any |= output_types->back().kind != TypeKind::kUnknown;
    }
    return any;
  }

  const AttributeProto* getAttribute(const std::string& name) const override {
    for (const AttributeProto& attribute : attributes_) {
      if (attribute.name() == name) return &attribute;
    }
    return nullptr;
  }
  size_t getNumInputs() const override { return inputs_.size(); }
  const TypeProto* getInputType(size_t index) const override {
    return index < inputs_.size() && inputs_[index].has_value() ? &*inputs_[index] : nullptr;
  }
  bool hasInput(size_t index) const override { return node_.input(index).valid(); }
  const TensorProto* getInputData(size_t index) const override {
    return index < data_.size() && data_[index].has_value() ? &*data_[index] : nullptr;
  }
  size_t getNumOutputs() const override { return outputs_.size(); }
  TypeProto* getOutputType(size_t index) override {
    return index < outputs_.size() ? &outputs_[index] : &beyond_;
  }
  bool hasOutput(size_t index) override { return node_.output(index).valid(); }
  ONNX_NAMESPACE::GraphInferencer* getGraphAttributeInferencer(const std::string&) override {
    return nullptr;
  }
  const ONNX_NAMESPACE::SparseTensorProto* getInputSparseData(size_t) const override {
    return nullptr;
  }
  const TensorShapeProto* getSymbolicInput(size_t) const override { return nullptr; }

 private:
  const Node& node_;
  DimNames names_;
  std::vector<AttributeProto> attributes_;
  std::vector<std::optional<TypeProto>> inputs_;
  std::vector<std::optional<TensorProto>> data_;
  std::vector<TypeProto> outputs_;
  TypeProto beyond_;  // for functions that set outputs which the node does not have
};

class SchemaFallback : public OpFallback {
 public:
  bool InferTypes(const Graph& graph, const Node& node, absl::Span<const ValueType> input_types,
                  std::vector<ValueType>* output_types) override {
    for (const Attribute& attribute : node.attributes) {
      if (attribute.kind == Attribute::Kind::kRegion) return false;
    }
    try {
      const OpSchema* schema = OpSchemaRegistry::Schema(node.op_type, node.version, node.domain);
      if (schema == nullptr) return false;
      NodeContext context(graph, node, input_types);
      if (schema->has_type_and_shape_inference_function()) {
        schema->GetTypeAndShapeInferenceFunction()(context);
      } else if (const auto* body = schema->GetFunction(node.version)) {
        ONNX_NAMESPACE::shape_inference::InferShapeForFunctionNode(
            *body, OpSchemaRegistry::Instance(), context);
      }
      return context.Result(output_types);
    } catch (const std::exception&) {
      return false;
    }
  }
};

}  // namespace

std::unique_ptr<OpFallback> MakeSchemaFallback() { return std::make_unique<SchemaFallback>(); }

}  // namespace footprint
