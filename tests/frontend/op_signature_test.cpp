// The counts and attributes that rows state, against the schemas of the ONNX in use, at every
// version. Those of com.microsoft were taken from the schemas that ONNX Runtime lists.
#include <climits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "ir/ops/onnx/node_check.h"
#include "onnx/defs/schema.h"

namespace footprint {
namespace {

using ONNX_NAMESPACE::AttributeProto;
using ONNX_NAMESPACE::OpSchema;
using ONNX_NAMESPACE::OpSchemaRegistry;

std::string Text(const Signature::Range& range) {
  return absl::StrCat(range.least, "-",
                      range.most == Signature::kAny ? "*" : absl::StrCat(range.most));
}
std::string Text(int least, int most) {
  return absl::StrCat(least, "-", most == INT_MAX ? "*" : absl::StrCat(most));
}

const OnnxOp* RowOf(const OpSchema& schema) {
  if (schema.deprecated()) return nullptr;
  return FindOnnxOp(schema.domain(), schema.Name(), schema.since_version());
}

std::string PlaceOf(const OpSchema& schema) {
  return absl::StrCat(schema.domain(), ".", schema.Name(), " ", schema.since_version());
}

Attribute::Kind KindOf(AttributeProto::AttributeType type) {
  switch (type) {
    case AttributeProto::INT: return Attribute::Kind::kInt;
    case AttributeProto::FLOAT: return Attribute::Kind::kFloat;
    case AttributeProto::STRING: return Attribute::Kind::kString;
    case AttributeProto::INTS: return Attribute::Kind::kInts;
    case AttributeProto::FLOATS: return Attribute::Kind::kFloats;
    case AttributeProto::STRINGS: return Attribute::Kind::kStrings;
    case AttributeProto::TENSOR:
    case AttributeProto::SPARSE_TENSOR: return Attribute::Kind::kTensor;
    case AttributeProto::GRAPH: return Attribute::Kind::kRegion;
    case AttributeProto::TYPE_PROTO: return Attribute::Kind::kType;
    default: return Attribute::Kind::kOther;
  }
}

TEST(OpSignature, CountsAreThoseOfTheSchemas) {
  int checked = 0;
  for (const OpSchema& schema : OpSchemaRegistry::get_all_schemas_with_history()) {
    const OnnxOp* row = RowOf(schema);
    if (row == nullptr) continue;
    ++checked;
    const Signature::Form& form = row->signature.At(schema.since_version());
    EXPECT_EQ(Text(form.inputs), Text(schema.min_input(), schema.max_input())) << PlaceOf(schema);
    EXPECT_EQ(Text(form.outputs), Text(schema.min_output(), schema.max_output()))
        << PlaceOf(schema);
    std::set<std::string> required;
    for (const auto& [name, attribute] : schema.attributes()) {
      // A hint to old runtimes, which exporters left out.
      if (attribute.required && name != "consumed_inputs") required.insert(name);
    }
    std::set<std::string> stated;
    if (!form.required.empty()) stated = absl::StrSplit(form.required, ' ');
    EXPECT_EQ(stated, required) << PlaceOf(schema);
  }
  EXPECT_GT(checked, 500);
}

// A node with as many operands as it must have, and all attributes of the schema.
Node Complete(const OpSchema& schema, const OnnxOp* row) {
  Node node;
  node.op = row;
  node.op_type = schema.Name();
  node.domain = schema.domain();
  node.version = schema.since_version();
  node.inputs.resize(static_cast<size_t>(schema.min_input()), ValueId(0));
  node.outputs.resize(static_cast<size_t>(schema.min_output()), ValueId(0));
  for (const auto& [name, attribute] : schema.attributes()) {
    Attribute& added = node.attributes.emplace_back();
    added.name = name;
    added.kind = KindOf(attribute.type);
  }
  return node;
}

TEST(OpSignature, AttributesHaveTheTypesOfTheSchemas) {
  for (const OpSchema& schema : OpSchemaRegistry::get_all_schemas_with_history()) {
    const OnnxOp* row = RowOf(schema);
    if (row == nullptr) continue;
    Node node = Complete(schema, row);
    EXPECT_EQ(CheckNode(node), "") << PlaceOf(schema);
    for (Attribute& attribute : node.attributes) {
      const Attribute::Kind kind = std::exchange(attribute.kind, Attribute::Kind::kType);
      if (kind == Attribute::Kind::kType) attribute.kind = Attribute::Kind::kInt;
      EXPECT_NE(CheckNode(node), "") << PlaceOf(schema) << ", attribute " << attribute.name;
      attribute.kind = kind;
    }
  }
}

}  // namespace
}  // namespace footprint
