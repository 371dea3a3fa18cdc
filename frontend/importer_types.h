// TypeProto -> ValueType.
#ifndef FOOTPRINT_FRONTEND_IMPORTER_TYPES_H_
#define FOOTPRINT_FRONTEND_IMPORTER_TYPES_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "ir/diagnostic.h"
#include "ir/dim.h"
#include "ir/graph.h"
#include "ir/tensor_type.h"
#include "onnx/onnx_pb.h"

namespace footprint {

class TypeReader {
 public:
  TypeReader(DimTable& dims, DiagnosticSink& sink) : dims_(dims), sink_(sink) {}

  // `name` is the value's, for messages. Without `model_symbols` dimension names are unknown dims:
  // inside a function they are not the model's names.
  ValueType Read(const ONNX_NAMESPACE::TypeProto& type, absl::string_view name,
                 bool model_symbols = true);
  // Of the tensor that was read last.
  std::vector<SizeSpelling> TakeSpellings() { return std::exchange(spellings_, {}); }

 private:
  Dim ReadDim(const ONNX_NAMESPACE::TensorShapeProto::Dimension& dim, absl::string_view name,
              bool model_symbols);
  Dim ReadSymbol(const std::string& text);
  TensorType ReadTensor(int32_t element, const ONNX_NAMESPACE::TensorShapeProto* shape,
                        absl::string_view name, bool model_symbols);
  std::string Spell(const ONNX_NAMESPACE::TypeProto& type, absl::string_view name);
  ElementType ReadElement(int32_t element, absl::string_view name);

  DimTable& dims_;
  DiagnosticSink& sink_;
  absl::flat_hash_map<std::string, Dim> symbols_;
  absl::flat_hash_map<Dim, std::string> first_texts_;
  std::vector<SizeSpelling> spellings_;
  bool warned_of_negative_ = false;
};

}  // namespace footprint

#endif  // FOOTPRINT_FRONTEND_IMPORTER_TYPES_H_
