// Reads the protobuf wire format of an ONNX model and leaves the weights out.
#ifndef FOOTPRINT_FRONTEND_SKIM_H_
#define FOOTPRINT_FRONTEND_SKIM_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "frontend/external_data.h"
#include "frontend/skim_input.h"
#include "ir/diagnostic.h"

namespace footprint {

// The field of a TensorProto or AttributeProto that holds its contents.
enum class PayloadField : uint8_t {
  kNone,      // no contents: no elements, or taken out of the file by somebody else
  kExternal,  // external_data: the contents are, or should be, in another file
  kRawData,
  kFloatData,
  kInt32Data,
  kStringData,
  kInt64Data,
  kDoubleData,
  kUint64Data,
  kAttributeString,  // AttributeProto.s
  kAttributeFloats,
  kAttributeInts,
  kAttributeStrings,
};

// What the file stores as the contents of one TensorProto, or as one list of an AttributeProto.
struct Payload {
  PayloadField field = PayloadField::kNone;
  // Bytes of the values as they are stored: fixed-width values and varints without tags and
  // lengths, strings by the sum of their lengths. External: what dims and type say (0 for unknown
  // types).
  int64_t stored_bytes = 0;
  // Entries of the field (strings, varints, floats); raw_data and external data: elements of the
  // tensor. -1 where large packed varints were only bounded.
  int64_t entries = 0;
  // The contents are in the message, as they were in the file; small external integers as raw_data.
  bool kept = false;
  // dims and type agree with what is stored: exactly, or within the bounds of varints. False for
  // external data that is missing, for contents taken out, and for types that are not known.
  bool verified = false;
};

// The number of a field that ONNX cannot have (protobuf reserves it): its value, in a TensorProto
// or an AttributeProto that Skim wrote, is an index into Skimmed::payloads.
inline constexpr int kPayloadIndexField = 19000;

struct Skimmed {
  // A serialized ModelProto: all of the model but payloads and fields that ONNX does not define.
  // Each TensorProto, and each AttributeProto that lost contents, has its kPayloadIndexField.
  std::string bytes;
  std::vector<Payload> payloads;
};

// Kept are payloads of integers and booleans up to 4,096 elements (they decide shapes), and of
// everything else up to 1 KiB. nullopt if `sink` got an error.
std::optional<Skimmed> Skim(SkimInput& input, ExternalData& external, DiagnosticSink& sink);

}  // namespace footprint

#endif  // FOOTPRINT_FRONTEND_SKIM_H_
