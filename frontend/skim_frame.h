// The messages that a walk over a model has open, and how to tell a user where that is.
#ifndef FOOTPRINT_FRONTEND_SKIM_FRAME_H_
#define FOOTPRINT_FRONTEND_SKIM_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "frontend/skim_payload.h"
#include "frontend/skim_schema.h"

namespace footprint {

// A part of the output.
struct Extent {
  size_t at = 0;
  size_t size = 0;
};

struct Frame {
  const MessageSchema* schema = nullptr;
  const FieldSchema* as = nullptr;  // the field of the message around it; null for the model
  uint32_t number = 0;
  int64_t end = 0;  // in the input
  size_t body_at = 0;
  int length_width = 0;
  uint32_t seen = 0;  // single messages by field number
  Extent name;        // entries: the key
  Extent op_type;
  Extent output;  // the first one; entries: the value
  PayloadScan scan;
  PayloadField clash = PayloadField::kNone;  // another field that had values, too
};

// "If 'cond' -> y, attribute then_branch, initializer w": the open messages that a user knows by
// name, from the outermost on. The frames' extents are in `output`.
std::string PlaceOf(const std::vector<Frame>& frames, absl::string_view output);

}  // namespace footprint

#endif  // FOOTPRINT_FRONTEND_SKIM_FRAME_H_
