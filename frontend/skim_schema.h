// What a walk over a serialized ModelProto must know of each message and field, made from ONNX's
// own descriptors: which fields exist, how they are encoded, which of them hold payloads.
#ifndef FOOTPRINT_FRONTEND_SKIM_SCHEMA_H_
#define FOOTPRINT_FRONTEND_SKIM_SCHEMA_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "frontend/skim.h"

namespace footprint {

// Protobuf's wire types.
enum class Wire : uint8_t {
  kVarint = 0,
  kFixed64 = 1,
  kBytes = 2,
  kGroupStart = 3,
  kGroupEnd = 4,
  kFixed32 = 5,
};

enum class MessageKind : uint8_t {
  kOther,  // no payloads below
  kEntry,  // StringStringEntryProto
  kModel,
  kGraph,
  kNode,
  kAttribute,
  kTensor,
  kSparseTensor,
  kFunction,
  kTrainingInfo,
};

struct FieldSchema {
  bool known = false;
  bool repeated = false;
  Wire wire = Wire::kVarint;  // of one value; repeated numbers may come packed, as kBytes
  PayloadField payload = PayloadField::kNone;
  int message = -1;  // index into the schema, for fields that are messages
  std::string name;
};

struct MessageSchema {
  MessageKind kind = MessageKind::kOther;
  std::string name;
  std::array<FieldSchema, 32> fields;  // by field number; ONNX has none above

  const FieldSchema& Field(uint32_t number) const {
    return fields[number < fields.size() ? number : 0];
  }
  // Its size can change when payloads are left out of it.
  bool CanHoldPayloads() const { return kind >= MessageKind::kModel; }
};

// All messages that a ModelProto can hold; it is the first.
const std::vector<MessageSchema>& OnnxSchema();

// "raw_data", "floats", ...
const char* FieldName(PayloadField field);

}  // namespace footprint

#endif  // FOOTPRINT_FRONTEND_SKIM_SCHEMA_H_
