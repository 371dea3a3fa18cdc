// Exporters tell modules in different words; all of them end up in one tree:
//
//   /m/layer1/layer1.0/conv1/Conv           name of a node (TorchScript)    m/layer1/layer1.0/conv1
//   model/block/conv/Conv2D                 name of a node (TensorFlow)     model/block/conv
//   ['', 'm', 'm.layer1', 'm.layer1.0' ..]  metadata of a node (dynamo)     m/layer1/0
//   layer1.0.conv1.weight                   name of a parameter             layer1/0/conv1
//
// Each scope also knows its module in PyTorch's spelling ("m.layer1.0"; TorchScript's components
// repeat the last word of the parent where the module is its indexed child), and that is how the
// names of parameters find the scopes that nodes made.
//
// A node that says nothing is placed by its parameters; failing that between the nodes before and
// after it: in the innermost scope that holds both, or with the one before if only the root does.
#include "frontend/scopes.h"

#include <algorithm>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "frontend/provenance.h"

namespace footprint {
namespace {

using ONNX_NAMESPACE::NodeProto;

// Every scope has its whole path: names that are made to be long must not be multiplied.
constexpr int kMaxDepth = 64;
constexpr size_t kMaxPathBytes = 64 << 20;
constexpr size_t kMaxModuleName = 512;
// What torch.export writes for operators that it added itself, sizes of inputs for instance.
constexpr absl::string_view kNoModule = "_empty_nn_module_stack_from_metadata_hook";

// "layer1.0.conv1" of "layer1.0.conv1.weight"; empty if the name is not of this form.
absl::string_view ModuleOf(absl::string_view parameter) {
  const size_t dot = parameter.rfind('.');
  if (dot == absl::string_view::npos || parameter.size() > kMaxModuleName) return {};
  char before = '.';
  for (const char c : parameter) {
    const bool word = absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
    if (!word && (c != '.' || before == '.')) return {};
    before = c;
  }
  const bool named =
      before != '.' && !absl::ascii_isdigit(static_cast<unsigned char>(parameter[0]));
  return named ? parameter.substr(0, dot) : absl::string_view();
}

bool IsInside(absl::string_view module, absl::string_view outer) {
  return outer.empty() || (module.size() > outer.size() && module[outer.size()] == '.' &&
                           absl::StartsWith(module, outer));
}

}  // namespace

ScopeBuilder::ScopeBuilder(Graph& graph) : graph_(graph) {
  graph_.scopes.Add(Scope());
  modules_.emplace_back();
  depths_.push_back(0);
  by_module_.emplace("", ScopeId(0));
}

bool ScopeBuilder::IsFull(ScopeId parent) const {
  return depths_[static_cast<size_t>(parent.index())] == kMaxDepth || path_bytes_ > kMaxPathBytes;
}

ScopeId ScopeBuilder::Child(ScopeId parent, absl::string_view component, std::string module) {
  if (IsFull(parent)) return parent;
  const auto [found, is_new] = children_.try_emplace({parent, std::string(component)});
  if (!is_new) return found->second;
  Scope scope;
  scope.name = std::string(component);
  const std::string& outer = graph_.scopes[parent].path;
  scope.path = outer.empty() ? scope.name : absl::StrCat(outer, "/", component);
  scope.parent = parent;
  path_bytes_ += scope.path.size();
  found->second = graph_.scopes.Add(std::move(scope));
  by_module_.try_emplace(module, found->second);
  modules_.push_back(std::move(module));
  depths_.push_back(depths_[static_cast<size_t>(parent.index())] + 1);
  return found->second;
}

ScopeId ScopeBuilder::ByName(absl::string_view path, ScopeId base) {
  const auto [found, is_new] = by_directory_.try_emplace({base, path});
  if (!is_new) return found->second;
  ScopeId scope = base;
  for (const absl::string_view component : absl::StrSplit(path, '/', absl::SkipEmpty())) {
    if (IsFull(scope)) break;
    std::string module = modules_[static_cast<size_t>(scope.index())];
    const std::string& last = graph_.scopes[scope].name;
    if (!last.empty() && IsInside(component, last) && absl::EndsWith(module, last)) {
      module.resize(module.size() - last.size());
    } else if (!module.empty()) {
      module += '.';
    }
    absl::StrAppend(&module, component);
    scope = Child(scope, component, std::move(module));
  }
  found->second = scope;
  return scope;
}

// The last item is the operator itself. An item that is not inside the one before it is a module
// used from elsewhere, such as an embedding that encoder and decoder share.
ScopeId ScopeBuilder::ByMetadata(const std::string& names, const std::string* classes) {
  const auto [found, is_new] = by_scope_list_.try_emplace(names);
  if (!is_new) return found->second;
  const std::optional<std::vector<std::string>> modules = ParseStringList(names);
  if (!modules.has_value() || modules->empty()) return ScopeId();
  std::vector<std::string> class_names;
  if (classes != nullptr) class_names = ParseStringList(*classes).value_or(class_names);
  ScopeId scope(0);
  for (size_t i = 0; i + 1 < modules->size(); ++i) {
    const std::string& module = (*modules)[i];
    if (module == kNoModule) continue;
    const auto current = [&]() -> const std::string& {
      return modules_[static_cast<size_t>(scope.index())];
    };
    while (scope != ScopeId(0) && module != current() && !IsInside(module, current())) {
      scope = graph_.scopes[scope].parent;
    }
    if (module != current()) {
      const size_t outer = current().empty() ? 0 : current().size() + 1;
      scope = Child(scope, absl::string_view(module).substr(outer), module);
    }
    std::string& class_name = graph_.scopes[scope].class_name;
    if (class_name.empty() && i < class_names.size()) class_name = class_names[i];
  }
  found->second = scope;
  return scope;
}

ScopeId ScopeBuilder::OfNode(const NodeProto& node, const Place& place) {
  if (!node.metadata_props().empty()) {
    if (const std::string* names = FindMetadata(node, kNameScopesKey)) {
      const ScopeId scope = ByMetadata(*names, FindMetadata(node, kClassHierarchyKey));
      if (scope.valid()) return scope;
    }
  }
  const absl::string_view name = node.name();
  const size_t slash = name.rfind('/');
  if (slash == absl::string_view::npos) return place.otherwise;
  return ByName(name.substr(0, slash), place.base);
}

ScopeId ScopeBuilder::OfCall(const NodeProto& node, const Place& place) {
  if (FindMetadata(node, kNameScopesKey) != nullptr) return OfNode(node, place);
  return ByName(node.name().empty() ? node.op_type() : node.name(), place.base);
}

void ScopeBuilder::Finish() {
  const bool all_placed = std::all_of(graph_.nodes.begin(), graph_.nodes.end(),
                                      [](const Node& node) { return node.scope.valid(); });
  if (!all_placed) {
    PlaceByParameters();
    PlaceByNeighbours();
  }
  PlaceConstants();
}

// The scope of a module. One that no node made is a new child of the module around it that some
// node did make, but not of the reader's own, which may well call it by another name; without any
// such module it is new from the root on, if the names of nodes make no paths in words of their
// own.
ScopeId ScopeBuilder::Module(absl::string_view module, ScopeId reader) {
  const auto found = by_module_.find(module);
  if (found != by_module_.end()) return found->second;
  ScopeId scope;
  absl::string_view known = module;
  while (!scope.valid() && !known.empty()) {
    const size_t dot = known.rfind('.');
    known = dot == absl::string_view::npos ? absl::string_view() : known.substr(0, dot);
    const auto outer = by_module_.find(known);
    if (outer != by_module_.end()) scope = outer->second;
  }
  const bool paths_differ = !by_directory_.empty() && graph_.scopes.size() > 1;
  if (known.empty() && paths_differ) return ScopeId();
  if (scope == reader && reader != ScopeId(0)) return scope;
  const absl::string_view rest = module.substr(known.empty() ? 0 : known.size() + 1);
  for (const absl::string_view component : absl::StrSplit(rest, '.')) {
    const std::string& outer = modules_[static_cast<size_t>(scope.index())];
    std::string inner =
        outer.empty() ? std::string(component) : absl::StrCat(outer, ".", component);
    scope = Child(scope, component, std::move(inner));
  }
  return scope;
}

ScopeId ScopeBuilder::OfParameter(const Constant& constant, ScopeId reader) {
  if (constant.origin != ConstantOrigin::kInitializer) return ScopeId();
  const absl::string_view module = ModuleOf(constant.name);
  return module.empty() ? ScopeId() : Module(module, reader);
}

// An output that bears a parameter's name, as exporters give to copies of merged parameters, says
// more than what it is a copy of.
void ScopeBuilder::PlaceByParameters() {
  for (Node& node : graph_.nodes) {
    if (node.scope.valid()) continue;
    if (node.output(0).valid()) {
      const absl::string_view module = ModuleOf(graph_.values[node.output(0)].name);
      const auto found = by_module_.find(module);
      if (!module.empty() && found != by_module_.end()) node.scope = found->second;
    }
    for (size_t i = 0; i < node.inputs.size() && !node.scope.valid(); ++i) {
      if (!node.inputs[i].valid()) continue;
      const Value& input = graph_.values[node.inputs[i]];
      if (input.kind != ValueKind::kConstant) continue;
      node.scope = OfParameter(graph_.constants[input.constant], ScopeId());
    }
  }
}

void ScopeBuilder::PlaceByNeighbours() {
  const auto count = static_cast<int32_t>(graph_.nodes.size());
  IdVector<NodeId, ScopeId> before(graph_.nodes.size());
  IdVector<NodeId, ScopeId> after(graph_.nodes.size());
  const auto producer = [&](ValueId input) {
    return input.valid() ? graph_.values[input].producer : NodeId();
  };
  for (NodeId id(0); id.index() < count; id = NodeId(id.index() + 1)) {
    const Node& node = graph_.nodes[id];
    before[id] = node.scope;
    for (size_t i = 0; i < node.inputs.size() && !before[id].valid(); ++i) {
      const NodeId from = producer(node.inputs[i]);
      if (from.valid()) before[id] = before[from];
    }
  }
  for (NodeId id(count - 1); id.valid(); id = NodeId(id.index() - 1)) {
    const Node& node = graph_.nodes[id];
    if (node.scope.valid()) after[id] = node.scope;
    if (!after[id].valid()) continue;
    for (const ValueId input : node.inputs) {
      const NodeId from = producer(input);
      if (from.valid()) after[from] = after[id];  // the earliest reader is the last to write
    }
  }
  for (NodeId id(0); id.index() < count; id = NodeId(id.index() + 1)) {
    Node& node = graph_.nodes[id];
    if (node.scope.valid()) continue;
    const NodeId owner = graph_.regions[node.region].owner;
    if (owner.valid()) {
      node.scope = graph_.nodes[owner].scope;
      continue;
    }
    if (before[id].valid() && after[id].valid()) {
      node.scope = CommonAncestor(before[id], after[id]);
      if (node.scope == ScopeId(0)) node.scope = before[id];
    } else {
      node.scope = before[id].valid() ? before[id] : after[id];
    }
    if (!node.scope.valid()) node.scope = ScopeId(0);
  }
}

ScopeId ScopeBuilder::CommonAncestor(ScopeId a, ScopeId b) const {
  while (a != b) {
    const bool a_is_deeper =
        depths_[static_cast<size_t>(a.index())] >= depths_[static_cast<size_t>(b.index())];
    ScopeId& deeper = a_is_deeper ? a : b;
    deeper = graph_.scopes[deeper].parent;
  }
  return a;
}

void ScopeBuilder::PlaceConstants() {
  IdVector<ConstantId, ScopeId> reader(graph_.constants.size());
  const auto read = [&](ConstantId constant, ScopeId scope) {
    if (!reader[constant].valid()) reader[constant] = scope;
  };
  for (const Node& node : graph_.nodes) {
    for (const ValueId input : node.inputs) {
      if (!input.valid()) continue;
      const Value& value = graph_.values[input];
      if (value.kind == ValueKind::kConstant) read(value.constant, node.scope);
    }
    for (const Attribute& attribute : node.attributes) {
      if (attribute.constant.valid()) read(attribute.constant, node.scope);
    }
  }
  for (size_t i = 0; i < graph_.constants.size(); ++i) {
    Constant& constant = graph_.constants[ConstantId(i)];
    constant.scope = OfParameter(constant, reader[ConstantId(i)]);
    if (!constant.scope.valid()) constant.scope = reader[ConstantId(i)];
    if (!constant.scope.valid()) constant.scope = ScopeId(0);
  }
}

}  // namespace footprint
