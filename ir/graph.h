// The graph: values, nodes, regions (subgraph bodies) and scopes (layers), each in a table of its
// own. Built once by the frontend and never changed: passes return tables keyed by these ids.
#ifndef FOOTPRINT_IR_GRAPH_H_
#define FOOTPRINT_IR_GRAPH_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ir/dim.h"
#include "ir/id.h"
#include "ir/onnx_op.h"
#include "ir/tensor_type.h"

namespace footprint {

enum class ValueKind : uint8_t {
  kInput,     // of the top graph: what the caller supplies
  kConstant,  // an initializer or the output of a Constant node: see Value::constant
  kNodeOutput,
  kRegionInput,  // what a Loop, Scan ... hands to its body
};

struct Value {
  std::string name;  // unique within the model: names inside regions and functions are qualified
  ValueKind kind = ValueKind::kNodeOutput;
  RegionId region;  // where it is defined
  NodeId producer;  // for kNodeOutput
  int32_t output_index = 0;
  ConstantId constant;  // for kConstant
  ValueType declared;   // what the file says (inputs, value_info, outputs); may be unknown
  bool is_graph_output = false;
};

enum class ConstantOrigin : uint8_t { kInitializer, kConstantNode, kAttribute };

// A stored constant. Payloads are never loaded; only small integer tensors (up to 4,096 elements)
// and small float vectors keep their contents, because they decide shapes.
struct Constant {
  std::string name;  // the name in the file
  TensorType type;   // dims are constants
  int64_t stored_bytes =
      0;  // in the file or beside it; strings: their payload; sparse: values + indices
  bool is_sparse = false;
  bool is_external = false;
  ConstantOrigin origin = ConstantOrigin::kInitializer;
  ScopeId scope;
  bool has_integers = false;  // `integers` holds the contents (also for bool)
  bool has_floats = false;    // `floats` holds the contents
  std::vector<int64_t> integers;
  std::vector<double> floats;
  // Tensors whose whole payload was small enough to look at and is one repeated element.
  bool is_all_zero = false;
  bool is_all_one = false;
};

struct Attribute {
  enum class Kind : uint8_t {
    kInt,
    kFloat,
    kString,
    kInts,
    kFloats,
    kStrings,
    kTensor,
    kRegion,
    kType,
    kOther
  };
  std::string name;
  Kind kind = Kind::kOther;
  int64_t int_value = 0;
  double float_value = 0;
  std::string string_value;
  std::vector<int64_t> ints;
  std::vector<double> floats;
  std::vector<std::string> strings;
  ConstantId constant;  // kTensor
  RegionId region;  // kRegion (kOther with several regions is not expressible in ONNX's operators)
  ValueType type;   // kType
  // Elements the list had in the file when it was too long to keep (tree ensembles): then empty
  // above.
  int64_t dropped_elements = 0;
};

struct Node {
  std::string name;  // may be empty
  std::string op_type;
  std::string domain;   // "" for ai.onnx
  int32_t version = 0;  // opset version of its domain in force here (functions have their own)
  const OnnxOp* op = nullptr;               // its row, or null
  absl::InlinedVector<ValueId, 4> inputs;   // an invalid id is an omitted optional input
  absl::InlinedVector<ValueId, 2> outputs;  // likewise
  std::vector<Attribute> attributes;
  RegionId region;       // where it stands
  int32_t position = 0;  // among the nodes there in the file; of a function's: of the call
  ScopeId scope;

  const Attribute* Find(absl::string_view attribute_name) const;
  int64_t Int(absl::string_view attribute_name, int64_t default_value) const;
  double Float(absl::string_view attribute_name, double default_value) const;
  absl::string_view String(absl::string_view attribute_name, absl::string_view default_value) const;
  // Empty if absent.
  absl::Span<const int64_t> Ints(absl::string_view attribute_name) const;
  absl::Span<const double> Floats(absl::string_view attribute_name) const;
  bool Has(absl::string_view attribute_name) const { return Find(attribute_name) != nullptr; }
  ValueId input(size_t i) const { return i < inputs.size() ? inputs[i] : ValueId(); }
  ValueId output(size_t i) const { return i < outputs.size() ? outputs[i] : ValueId(); }
};

// A list of nodes in execution order with its own inputs and outputs: the top graph, or the body of
// an If, Loop, Scan ... Nodes may read values of enclosing regions (captures).
struct Region {
  NodeId owner;  // invalid for the top graph
  std::string name;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;  // may be constants, inputs or captures
  std::vector<NodeId> nodes;
};

// A layer: one component of a module path.
struct Scope {
  std::string name;        // its own component: "attention"
  std::string path;        // "encoder/layer.0/attention"; "" for the root
  std::string class_name;  // "torch.nn.modules.conv.Conv2d" where the exporter says; else ""
  ScopeId parent;          // invalid for the root
};

// A declared size in the file's words, where an equal one was spelled in other words before:
// "((sequence**2)//sequence)" for sequence. Some runtimes compare the words.
struct SizeSpelling {
  size_t axis = 0;
  std::string text;
};

struct OpsetImport {
  std::string domain;
  int64_t version = 0;
};

struct Graph {
  std::string name;
  std::string producer_name;
  std::string producer_version;
  int64_t ir_version = 0;
  std::vector<OpsetImport> opsets;
  std::vector<std::pair<std::string, std::string>> metadata;  // of the graph and the model

  // Append-only interning table: passes that compute sizes of a const Graph add expressions to it.
  std::unique_ptr<DimTable> dims = std::make_unique<DimTable>();
  IdVector<ValueId, Value> values;
  IdVector<NodeId, Node> nodes;
  IdVector<RegionId, Region> regions;  // the top graph is RegionId(0)
  IdVector<ScopeId, Scope> scopes;     // the root is ScopeId(0)
  IdVector<ConstantId, Constant> constants;
  absl::flat_hash_map<ValueId, std::vector<SizeSpelling>> spellings;  // few, if any

  const Region& top() const { return regions[RegionId(0)]; }
};

// "MatMul 'dense' -> h": how messages name a node.
std::string Describe(const Graph& graph, NodeId node);
// "input x", "initializer w", "h (output of MatMul 'dense')".
std::string Describe(const Graph& graph, ValueId value);

// Ids in range, definitions before uses, one definition per value, regions owned once, acyclic.
// Returns an empty string, or what is wrong (an importer's bug, not the user's).
std::string Verify(const Graph& graph);

// The one textual form used by tests and --dump.
std::string Print(const Graph& graph);

}  // namespace footprint

#endif  // FOOTPRINT_IR_GRAPH_H_
