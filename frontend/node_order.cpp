#include "frontend/node_order.h"

#include <cstddef>
#include <utility>

#include "absl/strings/string_view.h"

namespace footprint {
namespace {

using ONNX_NAMESPACE::AttributeProto;
using ONNX_NAMESPACE::GraphProto;
using ONNX_NAMESPACE::NodeProto;

void AddBodies(const NodeProto& node, std::vector<const GraphProto*>& bodies) {
  for (const AttributeProto& attribute : node.attribute()) {
    if (attribute.has_g()) bodies.push_back(&attribute.g());
    for (const GraphProto& graph : attribute.graphs()) bodies.push_back(&graph);
  }
}

// All names that the node and its bodies, at any depth, read.
std::vector<absl::string_view> NamesReadBy(const NodeProto& node) {
  std::vector<absl::string_view> names(node.input().begin(), node.input().end());
  std::vector<const GraphProto*> open;
  AddBodies(node, open);
  while (!open.empty()) {
    const GraphProto& body = *open.back();
    open.pop_back();
    for (const auto& output : body.output()) names.push_back(output.name());
    for (const NodeProto& inner : body.node()) {
      names.insert(names.end(), inner.input().begin(), inner.input().end());
      AddBodies(inner, open);
    }
  }
  return names;
}

// By node: the nodes whose outputs it reads.
std::vector<std::vector<int>> SourcesOf(const NodeList& nodes) {
  absl::flat_hash_map<absl::string_view, int> producers;
  for (int i = 0; i < nodes.size(); ++i) {
    for (const std::string& output : nodes.Get(i).output()) producers.try_emplace(output, i);
  }
  producers.erase("");
  std::vector<std::vector<int>> sources;
  for (const NodeProto& node : nodes) {
    std::vector<int>& list = sources.emplace_back();
    for (const absl::string_view name : NamesReadBy(node)) {
      const auto found = producers.find(name);
      if (found != producers.end()) list.push_back(found->second);
    }
  }
  return sources;
}

std::optional<std::vector<int>> Ordered(const NodeList& nodes) {
  enum class State : char { kNew, kOpen, kDone };
  const std::vector<std::vector<int>> sources = SourcesOf(nodes);
  std::vector<State> states(sources.size(), State::kNew);
  std::vector<int> order;
  std::vector<std::pair<int, size_t>> open;  // with the source to look at next
  for (int first = 0; first < nodes.size(); ++first) {
    if (states[static_cast<size_t>(first)] == State::kNew) open.push_back({first, 0});
    while (!open.empty()) {
      auto& [node, next] = open.back();
      State& state = states[static_cast<size_t>(node)];
      state = State::kOpen;
      if (next == sources[static_cast<size_t>(node)].size()) {
        state = State::kDone;
        order.push_back(node);
        open.pop_back();
        continue;
      }
      const int source = sources[static_cast<size_t>(node)][next++];
      if (states[static_cast<size_t>(source)] == State::kOpen) return std::nullopt;
      if (states[static_cast<size_t>(source)] == State::kNew) open.push_back({source, 0});
    }
  }
  return order;
}

}  // namespace

std::optional<NodeOrders> OrderNodes(const ONNX_NAMESPACE::ModelProto& model) {
  std::vector<const NodeList*> open = {&model.graph().node()};
  for (const auto& function : model.functions()) open.push_back(&function.node());
  NodeOrders orders;
  while (!open.empty()) {
    const NodeList& nodes = *open.back();
    open.pop_back();
    std::optional<std::vector<int>> order = Ordered(nodes);
    if (!order.has_value()) return std::nullopt;
    orders.emplace(&nodes, *std::move(order));
    std::vector<const GraphProto*> bodies;
    for (const NodeProto& node : nodes) AddBodies(node, bodies);
    for (const GraphProto* body : bodies) open.push_back(&body->node());
  }
  return orders;
}

}  // namespace footprint
