// Scopes (layers): which module of the program a node and a constant belong to.
#ifndef FOOTPRINT_FRONTEND_SCOPES_H_
#define FOOTPRINT_FRONTEND_SCOPES_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "ir/graph.h"
#include "onnx/onnx_pb.h"

namespace footprint {

class ScopeBuilder {
 public:
  // Adds the root scope.
  explicit ScopeBuilder(Graph& graph);

  // Where a node stands: names in a function's body are relative to the scope of the call.
  struct Place {
    ScopeId base = ScopeId(0);
    ScopeId otherwise;  // for nodes that say nothing themselves; may be invalid
  };
  // The scope that the node's metadata or name says; `place.otherwise` if they say nothing. The
  // proto must outlive this object.
  ScopeId OfNode(const ONNX_NAMESPACE::NodeProto& node, const Place& place);
  // The scope of the body of a function called by `node`.
  ScopeId OfCall(const ONNX_NAMESPACE::NodeProto& node, const Place& place);

  // Gives a scope to every constant, and to the nodes that were left without a valid one.
  void Finish();

 private:
  bool IsFull(ScopeId parent) const;
  ScopeId Child(ScopeId parent, absl::string_view component, std::string module);
  ScopeId ByName(absl::string_view path, ScopeId base);
  ScopeId ByMetadata(const std::string& names, const std::string* classes);
  ScopeId Module(absl::string_view module, ScopeId reader);
  ScopeId OfParameter(const Constant& constant, ScopeId reader);
  ScopeId CommonAncestor(ScopeId a, ScopeId b) const;
  void PlaceByParameters();
  void PlaceByNeighbours();
  void PlaceConstants();

  Graph& graph_;
  // The names of modules, "m.layer1.0", by scope; and back.
  std::vector<std::string> modules_;
  std::vector<int> depths_;
  size_t path_bytes_ = 0;
  absl::flat_hash_map<std::string, ScopeId> by_module_;
  absl::flat_hash_map<std::pair<ScopeId, std::string>, ScopeId> children_;
  // Answers by a node's text: the directory of its name, or its list of scopes.
  absl::flat_hash_map<std::pair<ScopeId, absl::string_view>, ScopeId> by_directory_;
  absl::flat_hash_map<absl::string_view, ScopeId> by_scope_list_;
};

}  // namespace footprint

#endif  // FOOTPRINT_FRONTEND_SCOPES_H_
