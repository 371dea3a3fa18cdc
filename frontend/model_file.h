// From a path, standard input, memory or text to an onnx::ModelProto without weights.
#ifndef FOOTPRINT_FRONTEND_MODEL_FILE_H_
#define FOOTPRINT_FRONTEND_MODEL_FILE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "frontend/skim.h"
#include "google/protobuf/arena.h"
#include "ir/diagnostic.h"
#include "onnx/onnx_pb.h"

namespace footprint {

struct ModelFile {
  // Tens of thousands of small messages, made and freed together.
  std::unique_ptr<google::protobuf::Arena> arena = std::make_unique<google::protobuf::Arena>();
  // Has a graph; nested no deeper than protobuf allows (100 messages). Payloads beyond a few KiB
  // are gone, every payload that is left agrees with dims and type.
  ONNX_NAMESPACE::ModelProto& model =
      *google::protobuf::Arena::CreateMessage<ONNX_NAMESPACE::ModelProto>(arena.get());
  std::vector<Payload> payloads;
  // As the user gave it; "-" for standard input. A name only, if the model came from memory.
  std::string path;
  // Bytes of the model file itself, payloads included.
  int64_t file_bytes = 0;

  // What the file stored for `tensor`: a TensorProto of `model` or a copy of one. Copies of one
  // tensor (a function that is called twice) share their payload. nullptr only for tensors that
  // were not read from this file.
  const Payload* PayloadOf(const ONNX_NAMESPACE::TensorProto& tensor) const;
  // What was left out of floats, ints, strings or s. nullptr if nothing was: the list is complete.
  const Payload* LeftOutOf(const ONNX_NAMESPACE::AttributeProto& attribute) const;
};

// Reads `path`, or standard input for "-". The ending decides the format: .onnxtxt (ONNX's own
// text), .textproto .pbtxt .txtpb .prototxt (protobuf text), else binary. nullopt if `sink` got an
// error; what is wrong with the contents is the model's fault, what cannot be opened the user's.
std::optional<ModelFile> ReadModelFile(const std::string& path, DiagnosticSink& sink);
// Reads a model that is in memory already: `bytes` are what the file would hold, the ending of
// `name` decides their format. There is no folder to look for external data in.
std::optional<ModelFile> ReadModelBytes(absl::string_view bytes, const std::string& name,
                                        DiagnosticSink& sink);

}  // namespace footprint

#endif  // FOOTPRINT_FRONTEND_MODEL_FILE_H_
