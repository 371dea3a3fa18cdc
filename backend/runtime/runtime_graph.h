// RuntimeGraph: the top graph, or a body, as a runtime holds it while it rewrites and plans. The
// file's graph is never changed; this is a list of nodes and values of its own.
#ifndef FOOTPRINT_BACKEND_RUNTIME_RUNTIME_GRAPH_H_
#define FOOTPRINT_BACKEND_RUNTIME_RUNTIME_GRAPH_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph.h"
#include "passes/infer_shapes.h"

namespace footprint {

struct RuntimeValue {
  std::string name;
  ValueId value;   // in the file; invalid: a rewrite made it
  ValueId origin;  // in the file: itself, or what it is a copy of in another layout
  bool is_tensor = true;
  TensorType type;         // as it is
  TensorType visible;      // as the runtime's own inference sees it
  KnownValuePtr contents;  // as that inference knows them; may be null
  bool constant = false;
  bool input = false;  // the caller's, or of the surroundings of a body
  bool output = false;
};

struct RuntimeGraph;

struct RuntimeNode {
  std::string op_type;
  std::string domain;
  NodeId source;                // has its attributes, name and scope; invalid: none
  std::vector<int32_t> inputs;  // -1: omitted
  std::vector<int32_t> outputs;
  std::vector<int32_t> captures;  // of its bodies
  // Constants of a function that was expanded into this node and others, which read them in parts.
  std::vector<int32_t> held_constants;
  std::shared_ptr<const RuntimeGraph> body;  // of a Scan that is not in the file; one state
  // Attributes that a rewrite gave it.
  std::vector<int64_t> permutation;  // of a Transpose; empty: as in the file
  std::optional<int64_t> axis;
  std::optional<std::vector<int64_t>> axes;
  bool removed = false;
};

inline RuntimeNode Unary(std::string op_type, std::string domain, NodeId source, int32_t from,
                         int32_t to) {
  RuntimeNode node;
  node.op_type = std::move(op_type);
  node.domain = std::move(domain);
  node.source = source;
  node.inputs = {from};
  node.outputs = {to};
  return node;
}

// Nodes stand in the order in which the runtime numbers them.
struct RuntimeGraph {
  const Graph* graph = nullptr;
  std::vector<RuntimeValue> values;
  std::vector<RuntimeNode> nodes;

  const RuntimeValue& value(int32_t id) const { return values[static_cast<size_t>(id)]; }
  RuntimeValue& value(int32_t id) { return values[static_cast<size_t>(id)]; }
  const RuntimeNode& node(int32_t id) const { return nodes[static_cast<size_t>(id)]; }
  RuntimeNode& node(int32_t id) { return nodes[static_cast<size_t>(id)]; }
  // A new value of the types of `like`.
  int32_t AddLike(int32_t like, std::string name);
  // The same, stored.
  int32_t AddStored(int32_t like, std::string name);
};

// By value: the node that makes it, -1: none; and those that read it, once for each operand.
struct RuntimeUses {
  std::vector<int32_t> producer;
  std::vector<std::vector<int32_t>> readers;

  int32_t OnlyReader(int32_t value) const;  // -1: none or several
};
RuntimeUses FindUses(const RuntimeGraph& graph);

// What nodes of the node's bodies read, at any depth, each once: values of the bodies too.
std::vector<ValueId> ReadByBodies(const Graph& graph, const Node& node);

// Of the nodes of `region`. `visible` has what the runtime's inference sees.
RuntimeGraph MakeRuntimeGraph(const Graph& graph, RegionId region, const InferredTypes& inferred,
                              const InferredTypes& visible);

// What is declared of a result is lost with its name. Of the sizes that the runtime sees, numbers
// and those of an operand of the node that makes it are left.
void ForgetDeclared(RuntimeGraph& graph, const RuntimeNode& maker, int32_t result);

// The order in which the nodes run: depth first from the results back, of several sources the one
// with the highest number first.
std::vector<int32_t> ExecutionOrder(const RuntimeGraph& graph, const RuntimeUses& uses);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_RUNTIME_RUNTIME_GRAPH_H_
