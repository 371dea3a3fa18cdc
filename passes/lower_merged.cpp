#include "passes/lower_merged.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

// Exporters merge equal nodes. Layers that compute the same from what all of them are handed are
// left with one copy of it, in the first of them:
//
//   relative positions ---> layer.0/Clip -.---> layer.0/Gather
//                                         '---> layer.1/Gather     layer.1 has no Clip
//
// The module made it once a layer, and autograd keeps each. A value is taken for merged if layers
// of one list read it with the same operator at the same place, and nothing that the first layer
// owns went into it: neither its parameters nor what it was not handed. Fills and ranges are not
// copied: each layer asks for the shape of its own tensors, so equal nodes are one that was passed
// on (as T5 does with the bias of its cross attention).

namespace footprint {
namespace {

constexpr size_t kFarthest = 64;  // readers, or nodes, that a search looks at

// "layer.12" is "layer."; other names are no layers.
absl::string_view ListName(absl::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == absl::string_view::npos || dot + 1 == name.size()) return {};
  const absl::string_view index = name.substr(dot + 1);
  const bool digits = std::all_of(index.begin(), index.end(),
                                  [](char c) { return c >= '0' && c <= '9'; });
  return digits ? name.substr(0, dot + 1) : absl::string_view();
}

}  // namespace

MergedNodes::MergedNodes(const LowerFacts& facts, const IdVector<NodeId, PlannedNode>& nodes)
    : facts_(facts), graph_(facts.graph()), nodes_(nodes) {
  for (size_t i = 0; i < graph_.scopes.size(); ++i) {
    scope_of_path_.emplace(graph_.scopes[ScopeId(i)].path, ScopeId(i));
  }
}

std::vector<ScopeId> MergedNodes::Ancestors(ScopeId scope) const {
  std::vector<ScopeId> path;
  for (; scope.valid(); scope = graph_.scopes[scope].parent) path.push_back(scope);
  std::reverse(path.begin(), path.end());
  return path;
}

MergedNodes::Layers MergedNodes::Between(NodeId reader, ValueId value) const {
  const NodeId maker = graph_.values[value].producer;
  const absl::Span<const NodeId> readers = facts_.Readers(value);
  // The layer that made it reads it too.
  if (!maker.valid() || readers.size() < 2 || facts_.IsArithmetic(value)) return {};
  const auto is_arithmetic = [&](ValueId operand) { return facts_.IsArithmetic(operand); };
  if (absl::c_all_of(nodes_[maker].operands, is_arithmetic)) return {};
  const std::vector<ScopeId> made = Ancestors(graph_.nodes[maker].scope);
  const std::vector<ScopeId> read = Ancestors(graph_.nodes[reader].scope);
  size_t common = 0;
  while (common < made.size() && common < read.size() && made[common] == read[common]) ++common;
  if (common == made.size() || common == read.size()) return {};
  const Layers layers = {made[common], read[common]};
  const absl::string_view list = ListName(graph_.scopes[layers.made_in].name);
  if (list.empty() || list != ListName(graph_.scopes[layers.read_in].name)) return {};
  for (size_t i = 0; i < readers.size() && i < kFarthest; ++i) {
    const Node& other = graph_.nodes[readers[i]];
    if (facts_.IsWithin(other.scope, layers.made_in) &&
        other.op_type == graph_.nodes[reader].op_type &&
        Counterpart(other.scope, layers) == graph_.nodes[reader].scope) {
      return layers;
    }
  }
  return {};
}

std::vector<NodeId> MergedNodes::Makers(ValueId value, const Layers& layers) const {
  std::vector<NodeId> makers = {graph_.values[value].producer};
  for (size_t i = 0; i < makers.size(); ++i) {
    if (makers.size() > kFarthest || !nodes_[makers[i]].live) return {};
    for (ValueId operand : nodes_[makers[i]].operands) {
      if (!operand.valid() || facts_.IsArithmetic(operand)) continue;
      if (facts_.roles().IsParameter(operand)) return {};
      const NodeId producer = graph_.values[operand].producer;
      if (!producer.valid() || !facts_.IsWithin(graph_.nodes[producer].scope, layers.made_in)) {
        continue;
      }
      if (std::find(makers.begin(), makers.end(), producer) == makers.end()) {
        makers.push_back(producer);
      }
    }
  }
  std::sort(makers.begin(), makers.end());
  return makers;
}

std::string MergedNodes::NameIn(const std::string& name, const Layers& layers) const {
  const std::string& from = graph_.scopes[layers.made_in].path;
  const size_t at = name.find(from);
  const std::string& to = graph_.scopes[layers.read_in].path;
  if (at == std::string::npos) return absl::StrCat(to, "/", name);
  return absl::StrCat(name.substr(0, at), to, name.substr(at + from.size()));
}

ScopeId MergedNodes::Counterpart(ScopeId scope, const Layers& layers) const {
  if (!scope.valid()) return layers.read_in;
  const auto it = scope_of_path_.find(NameIn(graph_.scopes[scope].path, layers));
  return it == scope_of_path_.end() ? layers.read_in : it->second;
}

}  // namespace footprint
