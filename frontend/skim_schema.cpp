#include "frontend/skim_schema.h"

#include <algorithm>
#include <utility>

#include "onnx/onnx_pb.h"

namespace footprint {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

constexpr std::pair<MessageKind, const char*> kKinds[] = {
    {MessageKind::kEntry, "StringStringEntryProto"},
    {MessageKind::kModel, "ModelProto"},
    {MessageKind::kGraph, "GraphProto"},
    {MessageKind::kNode, "NodeProto"},
    {MessageKind::kAttribute, "AttributeProto"},
    {MessageKind::kTensor, "TensorProto"},
    {MessageKind::kSparseTensor, "SparseTensorProto"},
    {MessageKind::kFunction, "FunctionProto"},
    {MessageKind::kTrainingInfo, "TrainingInfoProto"},
};

struct PayloadName {
  PayloadField field;
  MessageKind message;
  const char* name;
};
constexpr PayloadName kPayloads[] = {
    {PayloadField::kRawData, MessageKind::kTensor, "raw_data"},
    {PayloadField::kFloatData, MessageKind::kTensor, "float_data"},
    {PayloadField::kInt32Data, MessageKind::kTensor, "int32_data"},
    {PayloadField::kStringData, MessageKind::kTensor, "string_data"},
    {PayloadField::kInt64Data, MessageKind::kTensor, "int64_data"},
    {PayloadField::kDoubleData, MessageKind::kTensor, "double_data"},
    {PayloadField::kUint64Data, MessageKind::kTensor, "uint64_data"},
    {PayloadField::kAttributeString, MessageKind::kAttribute, "s"},
    {PayloadField::kAttributeFloats, MessageKind::kAttribute, "floats"},
    {PayloadField::kAttributeInts, MessageKind::kAttribute, "ints"},
    {PayloadField::kAttributeStrings, MessageKind::kAttribute, "strings"},
};

Wire WireOf(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_FLOAT:
      return Wire::kFixed32;
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return Wire::kFixed64;
    case FieldDescriptor::CPPTYPE_STRING:
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return Wire::kBytes;
    default:  // ONNX has no integers of fixed width
      return Wire::kVarint;
  }
}

PayloadField PayloadOf(MessageKind kind, const std::string& field) {
  for (const PayloadName& row : kPayloads) {
    if (row.message == kind && field == row.name) return row.field;
  }
  return PayloadField::kNone;
}

MessageKind KindOf(const Descriptor& message) {
  for (const auto& [kind, name] : kKinds) {
    if (message.name() == name) return kind;
  }
  return MessageKind::kOther;
}

std::vector<MessageSchema> MakeSchema() {
  std::vector<const Descriptor*> found = {ONNX_NAMESPACE::ModelProto::descriptor()};
  std::vector<MessageSchema> schema;
  for (size_t i = 0; i < found.size(); ++i) {
    MessageSchema message;
    message.kind = KindOf(*found[i]);
    message.name = found[i]->name();
    for (int f = 0; f < found[i]->field_count(); ++f) {
      const FieldDescriptor& field = *found[i]->field(f);
      FieldSchema& row = message.fields.at(static_cast<size_t>(field.number()));
      row = {.known = true,
             .repeated = field.is_repeated(),
             .wire = WireOf(field),
             .payload = PayloadOf(message.kind, field.name()),
             .name = field.name()};
      if (field.message_type() == nullptr) continue;
      const auto at = std::find(found.begin(), found.end(), field.message_type());
      row.message = static_cast<int>(at - found.begin());
      if (at == found.end()) found.push_back(field.message_type());
    }
    schema.push_back(std::move(message));
  }
  return schema;
}

}  // namespace

const std::vector<MessageSchema>& OnnxSchema() {
  static const std::vector<MessageSchema>& schema = *new std::vector(MakeSchema());
  return schema;
}

const char* FieldName(PayloadField field) {
  for (const PayloadName& row : kPayloads) {
    if (row.field == field) return row.name;
  }
  return field == PayloadField::kExternal ? "external_data" : "contents";
}

}  // namespace footprint
