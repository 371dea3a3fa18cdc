// Frames and what names mean in them.
#include <utility>

#include "absl/strings/str_cat.h"
#include "frontend/importer_state.h"
#include "frontend/printable.h"

namespace footprint {

using ONNX_NAMESPACE::GraphProto;
using ONNX_NAMESPACE::NodeProto;
using ONNX_NAMESPACE::SparseTensorProto;
using ONNX_NAMESPACE::TensorProto;
using ONNX_NAMESPACE::ValueInfoProto;

namespace {

bool HasShape(const ONNX_NAMESPACE::TypeProto& type) {
  return type.has_tensor_type() && type.tensor_type().has_shape();
}

}  // namespace

ImportFrame& Importer::Push(const ImportFrame* outer, const ImportCall* call) {
  auto frame = std::make_unique<ImportFrame>();
  frame->outer = outer;
  frame->call = call;
  stack_.push_back(std::move(frame));
  return *stack_.back();
}

void Importer::OpenNodes(ImportFrame& frame, const NodeList& nodes) {
  frame.nodes = &nodes;
  const auto order = orders_.find(&nodes);
  if (order != orders_.end()) frame.order = &order->second;
}

void Importer::OpenGraph(ImportFrame& frame, const GraphProto& graph) {
  frame.graph = &graph;
  OpenNodes(frame, graph.node());
  frame.names.reserve(static_cast<size_t>(graph.node_size()) +
                      static_cast<size_t>(graph.initializer_size()));
  const auto declare = [&](const ValueInfoProto& info) {
    if (!info.has_type()) return;
    const auto [known, is_new] = frame.declared.try_emplace(info.name(), &info.type());
    if (!is_new && HasShape(info.type())) known->second = &info.type();
  };
  for (const ValueInfoProto& info : graph.value_info()) declare(info);
  for (const ValueInfoProto& info : graph.output()) declare(info);

  absl::flat_hash_set<absl::string_view> stored;
  for (const TensorProto& tensor : graph.initializer()) stored.insert(tensor.name());
  for (const SparseTensorProto& tensor : graph.sparse_initializer()) {
    stored.insert(tensor.values().name());
  }
  std::vector<absl::string_view> overridable;
  for (const ValueInfoProto& input : graph.input()) {
    if (TooManyErrors()) return;
    if (!input.name().empty() && stored.contains(input.name())) {
      overridable.push_back(input.name());
      declare(input);
    } else {
      DefineInput(frame, input);
    }
  }
  if (frame.region == RegionId(0)) graph_.dims->EndInputSymbols();
  if (!overridable.empty() && graph_.ir_version >= 4 && frame.region == RegionId(0)) {
    sink_.Note("overridable-initializer", absl::StrCat("initializer ", Printable(overridable[0])),
               absl::StrCat("is also listed as a graph input (", overridable.size(),
                            " in all): a caller may replace it; counted once, as stored"));
  }
  DefineInitializers(frame, graph);
}

void Importer::DefineInput(ImportFrame& frame, const ValueInfoProto& input) {
  const bool top = frame.region == RegionId(0);
  if (input.name().empty()) {
    Error("missing-name", "", absl::StrCat("an input", Where(frame), " has no name"));
    return;
  }
  Value value;
  value.kind = top ? ValueKind::kInput : ValueKind::kRegionInput;
  if (input.has_type()) {
    value.declared = types_.Read(input.type(), input.name(), frame.call == nullptr);
  }
  const ValueId id = AddValue(frame, input.name(), std::move(value));
  graph_.regions[frame.region].inputs.push_back(id);
  Bind(frame, input.name(), id);
}

void Importer::DefineInitializers(ImportFrame& frame, const GraphProto& graph) {
  const auto define = [&](const std::string& name, const auto& tensor) {
    if (name.empty()) {
      return Error("missing-name", "",
                   absl::StrCat("an initializer", Where(frame), " has no name"));
    }
    Value value;
    value.kind = ValueKind::kConstant;
    const auto place = [&] { return absl::StrCat("initializer ", Printable(name), Where(frame)); };
    value.constant =
        AddConstant(frame, &tensor, absl::StrCat(frame.constant_prefix, name),
                    ConstantOrigin::kInitializer, [&] { return constants_.Read(tensor, place); });
    Define(frame, name, std::move(value));
  };
  for (const TensorProto& tensor : graph.initializer()) {
    if (TooManyErrors()) return;
    define(tensor.name(), tensor);
  }
  for (const SparseTensorProto& tensor : graph.sparse_initializer()) {
    if (TooManyErrors()) return;
    define(tensor.values().name(), tensor);
  }
}

NamedValue Importer::NameOf(const ImportFrame& frame, absl::string_view name) const {
  if (frame.own_call != nullptr) {
    const auto result = frame.own_call->results.find(name);
    if (result != frame.own_call->results.end()) return result->second;
  }
  NamedValue named;
  named.name = absl::StrCat(frame.prefix, name);
  named.is_qualified = !frame.prefix.empty();
  if (!frame.declared.empty()) {
    const auto declared = frame.declared.find(name);
    if (declared != frame.declared.end()) named.declared = declared->second;
  }
  named.model_symbols = frame.call == nullptr;
  return named;
}

// What a file says of a constant beside its contents.
void Importer::CompareDeclared(const TensorType& declared, const TensorType& stored,
                               absl::string_view name) {
  bool differs = declared.element != ElementType::kUndefined && declared.element != stored.element;
  if (declared.has_rank) {
    differs |=
        !std::equal(declared.dims.begin(), declared.dims.end(), stored.dims.begin(),
                    stored.dims.end(), [](Dim a, Dim b) { return !a.is_constant() || a == b; });
  }
  if (!differs) return;
  sink_.Warning("declared-shape-mismatch", absl::StrCat("initializer ", Printable(name)),
                absl::StrCat("the file declares ", ToString(declared, *graph_.dims), ", but it is ",
                             ToString(stored, *graph_.dims), "; that is used"));
}

ValueId Importer::AddValue(ImportFrame& frame, absl::string_view name, Value&& value) {
  NamedValue named = NameOf(frame, name);
  std::vector<SizeSpelling> spellings;
  value.region = frame.region;
  if (value.kind == ValueKind::kConstant) {
    value.declared = ValueType::Tensor(graph_.constants[value.constant].type);
    if (named.declared != nullptr) {
      CompareDeclared(types_.Read(*named.declared, name, named.model_symbols).tensor,
                      value.declared.tensor, named.name);
    }
  } else if (value.kind == ValueKind::kNodeOutput && named.declared != nullptr) {
    types_.TakeSpellings();
    value.declared = types_.Read(*named.declared, name, named.model_symbols);
    spellings = types_.TakeSpellings();
  }
  value.name = std::move(named.name);
  if (named.is_qualified) Spend(sizeof(Value) + value.name.size());
  const ValueId id = graph_.values.Add(std::move(value));
  if (!spellings.empty()) graph_.spellings.emplace(id, std::move(spellings));
  if (named.is_qualified) qualified_.push_back(id);
  return id;
}

void Importer::Bind(ImportFrame& frame, absl::string_view name, ValueId value) {
  const auto [known, is_new] = frame.names.try_emplace(name, value);
  if (!is_new) return ReportDuplicate(frame, name, known->second, value);
  for (const ImportFrame* outer = frame.outer; outer != nullptr; outer = outer->outer) {
    if (outer->names.contains(name)) return ReportShadowing(frame, name, *outer);
  }
}

void Importer::Define(ImportFrame& frame, absl::string_view name, Value&& value) {
  Bind(frame, name, AddValue(frame, name, std::move(value)));
}

void Importer::BindNothing(ImportFrame& frame, const NodeProto& proto) {
  for (const std::string& output : proto.output()) frame.names.try_emplace(output, ValueId());
}

std::optional<ValueId> Importer::Lookup(const ImportFrame& frame, absl::string_view name) const {
  for (const ImportFrame* at = &frame; at != nullptr; at = at->outer) {
    const auto found = at->names.find(name);
    if (found != at->names.end()) return found->second;
  }
  return std::nullopt;
}

ValueId Importer::Read(const ImportFrame& frame, absl::string_view name) {
  if (name.empty()) return ValueId();
  const std::optional<ValueId> value = Lookup(frame, name);
  if (!value.has_value()) ReportUndefined(frame, name);
  return value.value_or(ValueId());
}

ValueId Importer::ReadOutput(const ImportFrame& frame, absl::string_view name, size_t position) {
  const std::optional<ValueId> value = name.empty() ? std::nullopt : Lookup(frame, name);
  if (value.has_value() && (value->valid() || errors_ > 0)) return *value;
  Error("undefined-output", "",
        absl::StrCat("output ", position, Where(frame),
                     name.empty() ? " has no name"
                                  : absl::StrCat(" is called ", Printable(name),
                                                 ", which no input, initializer or node defines")));
  return ValueId();
}

}  // namespace footprint
