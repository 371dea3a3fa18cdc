// Stored tensors -> Constant: initializers, tensor attributes and the attribute of a Constant node.
#ifndef FOOTPRINT_FRONTEND_IMPORTER_CONSTANTS_H_
#define FOOTPRINT_FRONTEND_IMPORTER_CONSTANTS_H_

#include <optional>
#include <string>

#include "absl/functional/function_ref.h"
#include "frontend/model_file.h"
#include "ir/diagnostic.h"
#include "ir/graph.h"
#include "onnx/onnx_pb.h"

namespace footprint {

class ConstantReader {
 public:
  // Says where a tensor is, for messages; only asked when something is wrong.
  using Place = absl::FunctionRef<std::string()>;

  ConstantReader(const ModelFile& file, DiagnosticSink& sink) : file_(file), sink_(sink) {}

  // Name, origin and scope are left to the caller. nullopt: `sink` got an error at `place`.
  std::optional<Constant> Read(const ONNX_NAMESPACE::TensorProto& tensor, Place place) const;
  std::optional<Constant> Read(const ONNX_NAMESPACE::SparseTensorProto& tensor, Place place) const;
  // What an attribute called `name` (value, value_int, value_floats, sparse_value ...) gives a
  // Constant node.
  std::optional<Constant> ReadNodeValue(absl::string_view name,
                                        const ONNX_NAMESPACE::AttributeProto& attribute,
                                        Place place) const;
  // True for the names that ReadNodeValue knows.
  static bool IsNodeValue(absl::string_view name);

 private:
  std::optional<Constant> Typed(ElementType element, absl::Span<const Dim> dims, Place place) const;
  void ReadContents(const ONNX_NAMESPACE::TensorProto& tensor, int64_t elements,
                    Constant* constant) const;

  const ModelFile& file_;
  DiagnosticSink& sink_;
};

}  // namespace footprint

#endif  // FOOTPRINT_FRONTEND_IMPORTER_CONSTANTS_H_
