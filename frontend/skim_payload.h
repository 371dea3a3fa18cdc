// The contents of one tensor, or one list of an attribute, as they pass by: measured, and held back
// until it is known whether they stay.
#ifndef FOOTPRINT_FRONTEND_SKIM_PAYLOAD_H_
#define FOOTPRINT_FRONTEND_SKIM_PAYLOAD_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/types/span.h"
#include "frontend/skim.h"
#include "frontend/skim_input.h"
#include "frontend/skim_schema.h"

namespace footprint {

// Integers decide shapes, anything else does not.
inline constexpr int64_t kMaxKeptIntegers = 4096;
inline constexpr int64_t kMaxKeptBytes = 1024;

inline void AppendVarint(uint64_t value, std::string* out) {
  while (value >= 0x80) {
    out->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out->push_back(static_cast<char>(value));
}
inline void AppendTag(uint32_t field_number, Wire wire, std::string* out) {
  AppendVarint(field_number << 3 | static_cast<uint32_t>(wire), out);
}

struct PayloadScan {
  PayloadField field = PayloadField::kNone;
  int64_t bytes = 0;    // as Payload::stored_bytes
  int64_t entries = 0;  // values of the field (raw_data and s: one); -1: not counted
  bool kept = true;
  std::string held;  // the field as on the wire, tags included; empty once it is too large to keep

  bool empty() const { return bytes == 0 && entries == 0; }
};

// A field of the wire: its number, how it came, and the length if it came as bytes.
struct WireField {
  uint32_t number = 0;
  Wire wire = Wire::kVarint;
  int64_t length = 0;
};

enum class ScanStatus { kOk, kEnded, kBadVarint, kBadLength };

// Reads what follows the tag (and length) of a payload field. `data_type` is the tensor's, as far
// as it is known by then; attributes have none.
ScanStatus ScanPayload(SkimInput& input, const FieldSchema& schema, const WireField& field,
                       std::optional<int32_t> data_type, PayloadScan* scan);

// True for integers and bool of any width.
bool IsIntegerData(int32_t data_type);

// The product of `dims`; nullopt if one is negative or it overflows.
std::optional<int64_t> ElementsOf(absl::Span<const int64_t> dims);

// What a tensor says of itself.
struct TensorSpec {
  int32_t data_type = 0;
  absl::Span<const int64_t> dims;
};

// "float32[64, 16]"
std::string TensorText(const TensorSpec& tensor);

// Compares the parts of a sparse tensor: n values [n], and int64 indices [n] or [n, rank]. Says
// what disagrees, or nothing.
std::string CheckSparse(const TensorSpec& values, const TensorSpec& indices,
                        absl::Span<const int64_t> dims);

// Compares contents with what a tensor of a known type and `elements` elements needs. Says what
// disagrees, or nothing.
std::string CheckPayload(const PayloadScan& scan, const TensorSpec& tensor, int64_t elements);

}  // namespace footprint

#endif  // FOOTPRINT_FRONTEND_SKIM_PAYLOAD_H_
