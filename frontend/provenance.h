// What PyTorch's dynamo exporter leaves in metadata_props -> ir::Provenance. Total on any text:
// what is not understood is kept as written, in arguments of kind kOther.
#ifndef FOOTPRINT_FRONTEND_PROVENANCE_H_
#define FOOTPRINT_FRONTEND_PROVENANCE_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "ir/provenance.h"
#include "onnx/onnx_pb.h"

namespace footprint {

// A node of the file and what it became; an invalid id for nodes that became constants.
struct ImportedNode {
  const ONNX_NAMESPACE::NodeProto* proto = nullptr;
  NodeId id;
};

// `nodes` in the order of the file; `node_count` is the size of the graph's table.
Provenance ReadProvenance(const ONNX_NAMESPACE::ModelProto& model,
                          const std::vector<ImportedNode>& nodes, size_t node_count);

// "%relu : [num_users=1] = call_function[target=torch.ops.aten.relu.default](args = (%x,), ...)"
FxNode ParseFxNode(absl::string_view text);

// The lines of "pkg.torch.export.ExportedProgram.graph_signature".
std::vector<SignatureEntry> ParseSignature(absl::string_view text);

// "['', 'm', 'm.conv1']"; nullopt if it is no list of strings.
std::optional<std::vector<std::string>> ParseStringList(absl::string_view text);

// The value of a metadata key of a node; null if it has none.
const std::string* FindMetadata(const ONNX_NAMESPACE::NodeProto& node, absl::string_view key);

inline constexpr absl::string_view kNameScopesKey = "pkg.torch.onnx.name_scopes";
inline constexpr absl::string_view kClassHierarchyKey = "pkg.torch.onnx.class_hierarchy";

}  // namespace footprint

#endif  // FOOTPRINT_FRONTEND_PROVENANCE_H_
