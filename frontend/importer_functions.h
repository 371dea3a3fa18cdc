// Opset versions and the functions that a model defines itself.
#ifndef FOOTPRINT_FRONTEND_IMPORTER_FUNCTIONS_H_
#define FOOTPRINT_FRONTEND_IMPORTER_FUNCTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "ir/diagnostic.h"
#include "ir/graph.h"
#include "onnx/onnx_pb.h"

namespace footprint {

// "ai.onnx" is another name of the default domain "".
absl::string_view CanonicalDomain(absl::string_view domain);

// The versions that a model or a function imports, in the order of the file, each domain once.
class OpsetVersions {
 public:
  void Add(absl::string_view domain, int64_t version);
  std::optional<int32_t> Find(absl::string_view domain) const;
  const std::vector<OpsetImport>& all() const { return imports_; }

 private:
  std::vector<OpsetImport> imports_;
  absl::flat_hash_map<std::string, size_t> index_;
};

struct Function {
  const ONNX_NAMESPACE::FunctionProto* proto = nullptr;
  OpsetVersions opsets;
};

class FunctionTable {
 public:
  FunctionTable(const ONNX_NAMESPACE::ModelProto& model, DiagnosticSink& sink);

  // The function that a node calls; null if it is no call of one.
  const Function* Find(const ONNX_NAMESPACE::NodeProto& node) const;

 private:
  using Key = std::tuple<absl::string_view, absl::string_view, absl::string_view>;
  absl::flat_hash_map<Key, Function> functions_;
};

}  // namespace footprint

#endif  // FOOTPRINT_FRONTEND_IMPORTER_FUNCTIONS_H_
