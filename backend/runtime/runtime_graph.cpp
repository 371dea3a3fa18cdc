#include "backend/runtime/runtime_graph.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

namespace footprint {
namespace {

class Builder {
 public:
  Builder(const Graph& graph, RegionId region, const InferredTypes& inferred,
          const InferredTypes& visible)
      : graph_(graph), region_(region), inferred_(inferred), visible_(visible) {
    result_.graph = &graph;
  }

  RuntimeGraph Run() {
    const Region& region = graph_.regions[region_];
    result_.nodes.reserve(region.nodes.size());
    result_.values.reserve(2 * region.nodes.size());
    for (const ValueId input : region.inputs) result_.value(Id(input)).input = true;
    std::vector<NodeId> nodes = region.nodes;
    const auto is_before = [&](NodeId a, NodeId b) {
      return graph_.nodes[a].position < graph_.nodes[b].position;
    };
    if (!std::is_sorted(nodes.begin(), nodes.end(), is_before)) {
      std::stable_sort(nodes.begin(), nodes.end(), is_before);
    }
    for (const NodeId id : nodes) AddNode(id);
    for (const ValueId output : region.outputs) {
      if (output.valid()) result_.value(Id(output)).output = true;
    }
    return std::move(result_);
  }

 private:
  int32_t Id(ValueId id) {
    if (!id.valid()) return -1;
    const auto [found, is_new] = ids_.emplace(id, static_cast<int32_t>(result_.values.size()));
    if (!is_new) return found->second;
    const Value& row = graph_.values[id];
    RuntimeValue& value = result_.values.emplace_back();
    value.name = row.name;
    value.value = id;
    value.origin = id;
    value.is_tensor = inferred_.types[id].is_tensor();
    value.type = inferred_.types[id].tensor;
    value.visible = visible_.types[id].tensor;
    value.contents = visible_.values[id];
    value.constant = row.kind == ValueKind::kConstant;
    value.input = !value.constant && (row.kind == ValueKind::kInput || row.region != region_);
    return found->second;
  }

  void AddNode(NodeId id) {
    const Node& row = graph_.nodes[id];
    const bool makes_nothing = std::none_of(row.outputs.begin(), row.outputs.end(),
                                            [](ValueId output) { return output.valid(); });
    if (makes_nothing) return;
    RuntimeNode node;
    node.op_type = row.op_type;
    node.domain = row.domain;
    node.source = id;
    node.inputs.reserve(row.inputs.size());
    node.outputs.reserve(row.outputs.size());
    for (const ValueId input : row.inputs) node.inputs.push_back(Id(input));
    for (const ValueId read : ReadByBodies(graph_, row)) {
      if (graph_.values[read].region == region_) node.captures.push_back(Id(read));
    }
    for (const ValueId output : row.outputs) node.outputs.push_back(Id(output));
    result_.nodes.push_back(std::move(node));
  }

  const Graph& graph_;
  const RegionId region_;
  const InferredTypes& inferred_;
  const InferredTypes& visible_;
  RuntimeGraph result_;
  absl::flat_hash_map<ValueId, int32_t> ids_;
};

// Nodes that make what this one reads, by number, each once.
std::vector<int32_t> SourcesOf(const RuntimeNode& node, const RuntimeUses& uses) {
  std::vector<int32_t> sources;
  const auto add = [&](int32_t value) {
    if (value < 0 || uses.producer[static_cast<size_t>(value)] < 0) return;
    sources.push_back(uses.producer[static_cast<size_t>(value)]);
  };
  for (const int32_t input : node.inputs) add(input);
  for (const int32_t capture : node.captures) add(capture);
  std::sort(sources.begin(), sources.end());
  sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
  return sources;
}

}  // namespace

std::vector<ValueId> ReadByBodies(const Graph& graph, const Node& node) {
  std::vector<ValueId> values;
  absl::flat_hash_set<ValueId> known;
  std::vector<RegionId> open;
  const auto enter = [&](const Node& row) {
    for (const Attribute& attribute : row.attributes) {
      if (attribute.region.valid()) open.push_back(attribute.region);
    }
  };
  const auto read = [&](ValueId value) {
    if (value.valid() && known.insert(value).second) values.push_back(value);
  };
  enter(node);
  while (!open.empty()) {
    const Region& region = graph.regions[open.back()];
    open.pop_back();
    for (const ValueId output : region.outputs) read(output);
    for (const NodeId id : region.nodes) {
      for (const ValueId input : graph.nodes[id].inputs) read(input);
      enter(graph.nodes[id]);
    }
  }
  return values;
}

int32_t RuntimeGraph::AddLike(int32_t like, std::string name) {
  RuntimeValue made;
  made.name = std::move(name);
  made.origin = value(like).origin;
  made.type = value(like).type;
  made.visible = value(like).visible;
  values.push_back(std::move(made));
  return static_cast<int32_t>(values.size()) - 1;
}

int32_t RuntimeGraph::AddStored(int32_t like, std::string name) {
  const int32_t made = AddLike(like, std::move(name));
  value(made).constant = true;
  return made;
}

int32_t RuntimeUses::OnlyReader(int32_t value) const {
  const std::vector<int32_t>& all = readers[static_cast<size_t>(value)];
  return all.size() == 1 ? all[0] : -1;
}

RuntimeUses FindUses(const RuntimeGraph& graph) {
  RuntimeUses uses;
  uses.producer.assign(graph.values.size(), -1);
  uses.readers.resize(graph.values.size());
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const RuntimeNode& node = graph.nodes[i];
    if (node.removed) continue;
    const auto id = static_cast<int32_t>(i);
    for (const int32_t output : node.outputs) {
      if (output >= 0) uses.producer[static_cast<size_t>(output)] = id;
    }
    for (const int32_t input : node.inputs) {
      if (input >= 0) uses.readers[static_cast<size_t>(input)].push_back(id);
    }
    for (const int32_t capture : node.captures) {
      uses.readers[static_cast<size_t>(capture)].push_back(id);
    }
  }
  return uses;
}

RuntimeGraph MakeRuntimeGraph(const Graph& graph, RegionId region, const InferredTypes& inferred,
                              const InferredTypes& visible) {
  return Builder(graph, region, inferred, visible).Run();
}

namespace {

// Results of one size with their operands, which may be broadcast.
constexpr absl::string_view kElementwise[] = {
    "Abs",      "Add",   "Ceil", "Clip",    "Cos",   "Div",         "Elu",  "Erf",
    "Exp",      "Floor", "Gelu", "Log",     "Max",   "HardSigmoid", "Mean", "LeakyRelu",
    "Min",      "Mish",  "Mod",  "Mul",     "Neg",   "PRelu",       "Pow",  "Reciprocal",
    "Relu",     "Round", "Selu", "Sigmoid", "Sin",   "Softmax",     "Sqrt", "LogSoftmax",
    "Softplus", "Sub",   "Sum",  "Tanh",    "Where", "HardSwish"};

// Results whose first size is that of the first operand.
constexpr absl::string_view kByBatch[] = {
    "AveragePool",   "BatchNormalization",    "Conv", "ConvTranspose", "GlobalAveragePool",
    "GlobalMaxPool", "InstanceNormalization", "LRN",  "MaxPool"};

// What operands agree on at a place counted from the end; unknown where they do not.
Dim AgreedSize(const RuntimeGraph& graph, const RuntimeNode& node, size_t from_end) {
  std::optional<Dim> name;
  Dim number = 1;
  for (const int32_t input : node.inputs) {
    if (input < 0) continue;
    const TensorType& type = graph.value(input).visible;
    if (!type.has_rank) return Dim();
    if (from_end >= type.dims.size()) continue;
    const Dim dim = type.dims[type.dims.size() - 1 - from_end];
    if (dim.is_constant()) {
      if (!dim.Is(1)) number = dim;
      continue;
    }
    if (name && !SameSize(*name, dim)) name = Dim();
    if (!name) name = dim;
  }
  return number.Is(1) ? name.value_or(number) : number;
}

}  // namespace

void ForgetDeclared(RuntimeGraph& graph, const RuntimeNode& maker, int32_t result) {
  const auto is_of_operand = [&](const Dim& dim) {
    return std::any_of(maker.inputs.begin(), maker.inputs.end(), [&](int32_t input) {
      if (input < 0) return false;
      const Dims& dims = graph.value(input).visible.dims;
      return std::find(dims.begin(), dims.end(), dim) != dims.end();
    });
  };
  // Computed sizes and scales are not followed.
  const bool is_resized = maker.op_type == "Resize" || maker.op_type == "Upsample";
  const bool is_computed =
      is_resized && std::any_of(maker.inputs.begin() + 1, maker.inputs.end(), [&](int32_t input) {
        return input >= 0 && !graph.value(input).constant;
      });
  const bool is_product = maker.op_type == "MatMul";
  const bool is_elementwise = std::find(std::begin(kElementwise), std::end(kElementwise),
                                        maker.op_type) != std::end(kElementwise);
  const bool is_by_batch =
      std::find(std::begin(kByBatch), std::end(kByBatch), maker.op_type) != std::end(kByBatch);
  Dims& dims = graph.value(result).visible.dims;
  const int32_t image = maker.inputs.empty() ? -1 : maker.inputs[0];
  if (is_by_batch && image >= 0 && !dims.empty()) {
    const Dims& sizes = graph.value(image).visible.dims;
    dims[0] = sizes.empty() ? Dim() : sizes[0];
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    const size_t from_end = dims.size() - 1 - i;
    if (is_elementwise || (is_product && from_end > 1)) {
      dims[i] = AgreedSize(graph, maker, from_end);
    } else if (is_computed || (!dims[i].is_constant() && !is_of_operand(dims[i]))) {
      dims[i] = Dim();
    }
  }
}

std::vector<int32_t> ExecutionOrder(const RuntimeGraph& graph, const RuntimeUses& uses) {
  struct Entry {
    int32_t node;
    bool leave;
  };
  std::vector<Entry> stack;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const RuntimeNode& node = graph.nodes[i];
    const bool is_read = std::any_of(node.outputs.begin(), node.outputs.end(), [&](int32_t value) {
      return value >= 0 && !uses.readers[static_cast<size_t>(value)].empty();
    });
    if (!node.removed && !is_read) stack.push_back({static_cast<int32_t>(i), false});
  }
  std::vector<bool> visited(graph.nodes.size(), false);
  std::vector<int32_t> order;
  while (!stack.empty()) {
    const Entry entry = stack.back();
    stack.pop_back();
    if (entry.leave) {
      order.push_back(entry.node);
      continue;
    }
    if (visited[static_cast<size_t>(entry.node)]) continue;
    visited[static_cast<size_t>(entry.node)] = true;
    stack.push_back({entry.node, true});
    for (const int32_t source : SourcesOf(graph.node(entry.node), uses)) {
      if (!visited[static_cast<size_t>(source)]) stack.push_back({source, false});
    }
  }
  return order;
}

}  // namespace footprint
