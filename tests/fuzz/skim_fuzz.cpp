// Any bytes: the reader ends with a model or with an error, and its model is one for protobuf.
#include <cstdint>
#include <cstdlib>

#include "absl/strings/string_view.h"
#include "frontend/external_data.h"
#include "frontend/skim.h"
#include "ir/diagnostic.h"
#include "onnx/onnx_pb.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using footprint::Payload;
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  footprint::SkimInput input(bytes);
  footprint::ExternalData external(std::nullopt);
  footprint::DiagnosticSink sink;
  const auto skimmed = footprint::Skim(input, external, sink);
  if (skimmed.has_value() == sink.has_errors()) std::abort();
  if (!skimmed) return 0;
  ONNX_NAMESPACE::ModelProto model;
  if (!model.ParseFromString(skimmed->bytes)) std::abort();
  // Each length grows to five bytes at most, each tensor by an index.
  if (skimmed->bytes.size() > 4 * size + 16) std::abort();
  for (const Payload& payload : skimmed->payloads) {
    if (payload.stored_bytes < 0 || payload.entries < -1) std::abort();
  }
  return 0;
}
