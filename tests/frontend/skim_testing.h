// Models made by hand, and what the reader makes of them.
#ifndef FOOTPRINT_TESTS_FRONTEND_SKIM_TESTING_H_
#define FOOTPRINT_TESTS_FRONTEND_SKIM_TESTING_H_

#include <unistd.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "frontend/skim.h"
#include "gtest/gtest.h"
#include "onnx/onnx_pb.h"

namespace footprint::skim_testing {

using ONNX_NAMESPACE::ModelProto;
using ONNX_NAMESPACE::TensorProto;

// --- Wire bytes by hand ---

inline std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
inline std::string Tag(int field, int wire) {
  return Varint(static_cast<uint64_t>(field) << 3 | wire);
}
inline std::string Number(int field, uint64_t value) { return Tag(field, 0) + Varint(value); }
inline std::string Bytes(int field, const std::string& body) {
  return Tag(field, 2) + Varint(body.size()) + body;
}
// A model whose graph has one initializer with these bytes.
inline std::string ModelWith(const std::string& tensor) { return Bytes(7, Bytes(5, tensor)); }

// --- Skims and what they give ---

struct Result {
  std::optional<Skimmed> skimmed;
  ModelProto model;
  std::vector<Diagnostic> diagnostics;

  std::string Error() const {
    for (const Diagnostic& diagnostic : diagnostics) {
      if (diagnostic.severity == Severity::kError) return ToString(diagnostic);
    }
    return "";
  }
  const Payload& payload(size_t i) const { return skimmed->payloads.at(i); }
  const TensorProto& tensor() const { return model.graph().initializer(0); }
};

inline Result SkimInputOf(SkimInput& input) {
  Result result;
  DiagnosticSink sink;
  ExternalData external(std::nullopt);
  result.skimmed = Skim(input, external, sink);
  EXPECT_EQ(result.skimmed.has_value(), !sink.has_errors());
  result.diagnostics = sink.Take();
  if (result.skimmed) {
    EXPECT_TRUE(result.model.ParseFromString(result.skimmed->bytes));
  }
  return result;
}

inline Result SkimBytes(const std::string& bytes) {
  SkimInput input{absl::string_view(bytes)};
  return SkimInputOf(input);
}
inline Result SkimModel(const ModelProto& model) { return SkimBytes(model.SerializeAsString()); }
inline Result SkimTensor(const TensorProto& tensor) {
  ModelProto model;
  *model.mutable_graph()->add_initializer() = tensor;
  return SkimModel(model);
}

// The bytes that `write` sends through a pipe.
inline Result SkimPipe(const std::function<void(int)>& write) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  std::thread writer([&] {
    write(ends[1]);
    close(ends[1]);
  });
  SkimInput input(ends[0]);
  Result result = SkimInputOf(input);
  writer.join();
  close(ends[0]);
  return result;
}

inline TensorProto Tensor(int type, const std::vector<int64_t>& dims) {
  TensorProto tensor;
  tensor.set_data_type(type);
  tensor.set_name("w");
  for (const int64_t dim : dims) tensor.add_dims(dim);
  return tensor;
}
inline TensorProto RawTensor(int type, const std::vector<int64_t>& dims, size_t bytes) {
  TensorProto tensor = Tensor(type, dims);
  tensor.set_raw_data(std::string(bytes, '\x01'));
  return tensor;
}

}  // namespace footprint::skim_testing

#endif  // FOOTPRINT_TESTS_FRONTEND_SKIM_TESTING_H_
