#include "tests/conformance/onnx_oracle.h"

#include <fstream>

#include "onnx/defs/schema.h"
#include "onnx/onnx_pb.h"
#include "onnx/shape_inference/implementation.h"

namespace footprint {
namespace {

using ONNX_NAMESPACE::GraphProto;
using ONNX_NAMESPACE::ModelProto;
using ONNX_NAMESPACE::ValueInfoProto;

void Strip(GraphProto& graph) {
  graph.clear_value_info();
  for (ValueInfoProto& output : *graph.mutable_output()) {
    auto* type = output.mutable_type();
    if (type->has_tensor_type()) {
      type->mutable_tensor_type()->clear_shape();
    } else {
      output.clear_type();
    }
  }
}

}  // namespace

std::map<std::string, OracleType> InferWithOnnx(const std::string& path) {
  std::map<std::string, OracleType> result;
  ModelProto model;
  std::ifstream file(path, std::ios::binary);
  if (!model.ParseFromIstream(&file)) return result;
  Strip(*model.mutable_graph());
  try {
    ONNX_NAMESPACE::shape_inference::InferShapes(
        model, ONNX_NAMESPACE::OpSchemaRegistry::Instance(),
        ONNX_NAMESPACE::ShapeInferenceOptions(/*check_type_val=*/false, /*strict_mode_val=*/0,
                                              /*data_prop_val=*/true));
  } catch (const std::exception&) {
    return result;
  }
  const auto add = [&result](const ValueInfoProto& value) {
    if (!value.type().has_tensor_type()) return;
    const auto& tensor = value.type().tensor_type();
    OracleType type;
    type.element = tensor.elem_type();
    type.has_rank = tensor.has_shape();
    for (const auto& dim : tensor.shape().dim()) {
      type.dims.push_back(dim.has_dim_value() ? dim.dim_value() : -1);
    }
    result.emplace(value.name(), std::move(type));
  };
  for (const ValueInfoProto& value : model.graph().value_info()) add(value);
  for (const ValueInfoProto& value : model.graph().output()) add(value);
  return result;
}

}  // namespace footprint
