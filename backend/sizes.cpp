#include "backend/sizes.h"

#include "absl/strings/str_cat.h"

namespace footprint {

void CheckSizes(const Analysis& analysis, const MemoryTrace& trace, const Timeline& timeline,
                DiagnosticSink& sink) {
  for (size_t i = 0; i < trace.storages.size(); ++i) {
    const StorageRecord& storage = trace.storages[StorageId(i)];
    if (timeline.bytes[StorageId(i)].has_value() || storage.bytes.is_unknown() ||
        analysis.dims().IsDataDependent(storage.bytes)) {
      continue;
    }
    sink.UsageError("overflow", storage.name,
                    absl::StrCat("its size, ", analysis.dims().ToString(storage.bytes),
                                 " bytes, does not fit 64 bits at these bindings"));
    return;
  }
  if (!timeline.overflow) return;
  if (analysis.bindings.empty()) {
    sink.Error("overflow", "", "the sum of all sizes does not fit 64 bits");
  } else {
    sink.UsageError("overflow", "", "the sum of all sizes does not fit 64 bits at these bindings");
  }
}

}  // namespace footprint
