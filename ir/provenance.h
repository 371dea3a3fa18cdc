// Provenance: what the exporter left in the file about the PyTorch program behind the graph. A
// table beside the graph, keyed by NodeId. Empty for files without such metadata.
#ifndef FOOTPRINT_IR_PROVENANCE_H_
#define FOOTPRINT_IR_PROVENANCE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ir/id.h"

namespace footprint {

// One argument in an fx node's text.
struct FxArgument {
  enum class Kind : uint8_t { kNone, kReference, kInt, kFloat, kBool, kString, kList, kOther };
  Kind kind = Kind::kNone;
  std::string
      text;  // kReference: the name without '%'; kString; kOther: as written ("torch.float32")
  int64_t int_value = 0;          // kInt, kBool
  double float_value = 0;         // kFloat
  std::vector<FxArgument> items;  // kList (tuples too)
};

// "%conv2d : [num_users=1] = call_function[target=torch.ops.aten.conv2d.default](args = (...),
// ...)"
struct FxNode {
  std::string name;    // "conv2d"
  std::string target;  // "aten.conv2d.default"
  std::vector<FxArgument> arguments;
  std::vector<std::pair<std::string, FxArgument>> keyword_arguments;
  std::vector<std::string> module_path;  // name_scopes: "", "m", "m.conv1", "conv2d"
  std::vector<std::string> classes;      // class_hierarchy, same length
};

// One line of the exported program's signature.
struct SignatureEntry {
  enum class Kind : uint8_t {
    kParameter,
    kBuffer,
    kTensorConstant,
    kUserInput,
    kUserOutput,
    kBufferMutation,
    kLossOutput,
    kOther
  };
  Kind kind = Kind::kOther;
  std::string name;    // the fx name: "p_m_bn1_weight"
  std::string target;  // the module's own name: "m.bn1.weight"; may be empty
  bool persistent = true;
  bool is_output = false;
};

struct Provenance {
  std::vector<FxNode> fx_nodes;          // in file order, each distinct text once
  IdVector<NodeId, int32_t> fx_of_node;  // index into fx_nodes, -1: none; empty table: no metadata
  // Rewrites that touched the node ("FuseBatchNormIntoConv"), comma-separated; "" for none.
  IdVector<NodeId, std::string> rewrite_rules;
  std::vector<SignatureEntry> signature;
  bool says_training = false;  // whoever exported the module noted that it was in training mode

  bool empty() const { return fx_nodes.empty(); }
};

}  // namespace footprint

#endif  // FOOTPRINT_IR_PROVENANCE_H_
