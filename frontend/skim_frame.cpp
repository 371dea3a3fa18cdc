#include "frontend/skim_frame.h"

#include "absl/strings/str_cat.h"
#include "frontend/printable.h"

namespace footprint {
namespace {

std::string Describe(const Frame& frame, MessageKind around, absl::string_view output) {
  const auto text = [&](Extent extent) { return Printable(output.substr(extent.at, extent.size)); };
  const std::string name = text(frame.name);
  switch (frame.schema->kind) {
    case MessageKind::kGraph:  // named by what holds it
      return around == MessageKind::kTrainingInfo ? frame.as->name : "";
    case MessageKind::kFunction:
      return absl::StrCat("function ", name);
    case MessageKind::kNode: {
      std::string node = frame.op_type.size > 0 ? text(frame.op_type) : "node";
      if (!name.empty()) absl::StrAppend(&node, " '", name, "'");
      if (frame.output.size > 0) absl::StrAppend(&node, " -> ", text(frame.output));
      return node;
    }
    case MessageKind::kAttribute:
      return absl::StrCat("attribute ", name);
    case MessageKind::kTensor:
    case MessageKind::kSparseTensor: {
      const bool named = around == MessageKind::kAttribute;  // by the attribute
      return absl::StrCat(named ? "" : frame.as->name, named || name.empty() ? "" : " ", name);
    }
    default:
      return frame.as->name;
  }
}

}  // namespace

std::string PlaceOf(const std::vector<Frame>& frames, absl::string_view output) {
  std::string place;
  for (size_t depth = 1; depth < frames.size(); ++depth) {
    const std::string part = Describe(frames[depth], frames[depth - 1].schema->kind, output);
    if (!part.empty()) absl::StrAppend(&place, place.empty() ? "" : ", ", part);
  }
  return place;
}

}  // namespace footprint
