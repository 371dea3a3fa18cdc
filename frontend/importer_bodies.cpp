// Bodies of control flow, and calls of functions.
#include <utility>

#include "absl/strings/str_cat.h"
#include "frontend/importer_state.h"
#include "frontend/printable.h"

namespace footprint {

using ONNX_NAMESPACE::AttributeProto;
using ONNX_NAMESPACE::FunctionProto;
using ONNX_NAMESPACE::NodeProto;

namespace {

// Bodies alone cannot nest as deep: protobuf stops them at 33.
constexpr size_t kMaxNesting = 200;

}  // namespace

void Importer::Spend(size_t cost) {
  if (budget_ < 0) return;
  budget_ -= static_cast<int64_t>(cost);
  if (budget_ >= 0) return;
  Error("too-large", "",
        "the model's functions and bodies expand to more than can be held; is a function called "
        "twice by a function that is called twice, and so on?");
  errors_ = kMaxErrors;
}

void Importer::EnterBody(ImportFrame& owner) {
  const PendingBody body = owner.bodies.back();
  owner.bodies.pop_back();
  const std::string path =
      absl::StrCat(LabelOf(owner.current()), "/", graph_.regions[body.region].name, "/");
  ImportFrame& frame = Push(body.home, body.home->call);
  frame.region = body.region;
  frame.prefix = absl::StrCat(owner.prefix, path);
  frame.constant_prefix = absl::StrCat(owner.constant_prefix, path);
  frame.place = {owner.place.base, graph_.nodes[owner.open_node].scope};
  OpenGraph(frame, *body.graph);
}

void Importer::LeaveBody(ImportFrame& frame) {
  for (int i = 0; i < frame.graph->output_size() && !TooManyErrors(); ++i) {
    const ValueId output = ReadOutput(frame, frame.graph->output(i).name(), static_cast<size_t>(i));
    if (output.valid()) graph_.regions[frame.region].outputs.push_back(output);
  }
}

bool Importer::CanCall(const ImportFrame& frame, const NodeProto& proto, const Function& function) {
  const FunctionProto& definition = *function.proto;
  const auto fail = [&](const char* kind, std::string message) {
    Error(kind, DescribeProto(proto) + Where(frame), std::move(message));
    return false;
  };
  for (const ImportCall* call = frame.call; call != nullptr; call = call->caller) {
    if (call->function == &function) {
      return fail("recursive-function",
                  absl::StrCat("calls function ", Printable(definition.name()),
                               " from within itself; functions must not be recursive"));
    }
  }
  if (stack_.size() >= kMaxNesting) {
    return fail("nested-too-deep",
                absl::StrCat("functions call functions more than ", kMaxNesting, " deep"));
  }
  if (proto.input_size() > definition.input_size() ||
      proto.output_size() > definition.output_size()) {
    return fail("function-arguments",
                absl::StrCat("has ", proto.input_size(), " inputs and ", proto.output_size(),
                             " outputs, but function ", Printable(definition.name()), " takes ",
                             definition.input_size(), " and gives ", definition.output_size()));
  }
  absl::flat_hash_set<absl::string_view> inputs;
  for (const std::string& input : definition.input()) {
    if (!inputs.insert(input).second) {
      return fail("duplicate-name", absl::StrCat("input ", Printable(input), " of function ",
                                                 Printable(definition.name()),
                                                 " is defined twice; rename one of the two"));
    }
  }
  return true;
}

void Importer::EnterCall(ImportFrame& frame, const NodeProto& proto, const Function& function) {
  if (!CanCall(frame, proto, function)) return BindNothing(frame, proto);
  const FunctionProto& definition = *function.proto;
  Spend(sizeof(ImportFrame) + sizeof(ImportCall));
  auto call = std::make_unique<ImportCall>();
  call->function = &function;
  call->caller = frame.call;
  const bool inherits = frame.call != nullptr && proto.metadata_props().empty();
  call->site = inherits ? frame.call->site : &proto;
  for (int i = 0; i < proto.output_size(); ++i) {
    if (proto.output(i).empty()) continue;
    call->results.try_emplace(definition.output(i), NameOf(frame, proto.output(i)));
  }
  absl::flat_hash_map<absl::string_view, ValueId> names;
  for (int i = 0; i < definition.input_size(); ++i) {
    names[definition.input(i)] = i < proto.input_size() ? Read(frame, proto.input(i)) : ValueId();
  }
  const ScopeId scope = scopes_.OfCall(proto, frame.place);
  ImportFrame& body = Push(nullptr, call.get());
  body.region = frame.region;
  body.call_position = frame.position();
  OpenNodes(body, definition.node());
  body.names = std::move(names);
  body.prefix = absl::StrCat(frame.prefix, LabelOf(proto), "/");
  body.constant_prefix = absl::StrCat(definition.name(), "/");
  body.place = {scope, scope};
  for (const auto& info : definition.value_info()) {
    if (info.has_type()) body.declared.try_emplace(info.name(), &info.type());
  }
  BindCallAttributes(frame, proto, body, call.get());
  body.own_call = std::move(call);
}

void Importer::BindCallAttributes(const ImportFrame& frame, const NodeProto& proto,
                                  const ImportFrame& body, ImportCall* call) {
  for (const AttributeProto& attribute : proto.attribute()) {
    if (const auto bound = Resolve(frame, attribute)) {
      call->attributes.try_emplace(attribute.name(), *bound);
    }
  }
  for (const AttributeProto& attribute : call->function->proto->attribute_proto()) {
    call->attributes.try_emplace(attribute.name(), BoundAttribute{&attribute, &body});
  }
}

// An output that the function did not compute itself, but handed on from an input or gave out
// before, needs a node of its own to have the caller's name.
void Importer::LeaveCall(ImportFrame& frame) {
  ImportFrame& caller = *stack_.back();
  const NodeProto& proto = caller.current();
  const FunctionProto& definition = *frame.own_call->function->proto;
  for (int i = 0; i < proto.output_size(); ++i) {
    const std::string& name = proto.output(i);
    if (name.empty()) continue;
    const auto inside = frame.names.find(definition.output(i));
    if (inside == frame.names.end()) {
      Error("undefined-output", DescribeProto(proto) + Where(caller),
            absl::StrCat("output ", i, " of function ", Printable(definition.name()), " is called ",
                         Printable(definition.output(i)),
                         ", which none of its inputs and nodes defines"));
      caller.names.try_emplace(name, ValueId());
      continue;
    }
    const ValueId value = inside->second;
    const bool computed = value.valid() && graph_.values[value].name == NameOf(caller, name).name;
    Bind(caller, name, computed || !value.valid() ? value : AddIdentity(caller, name, value));
  }
}

ValueId Importer::AddIdentity(ImportFrame& frame, absl::string_view name, ValueId value) {
  Node node;
  node.op_type = "Identity";
  node.version = FindVersion(frame, "").value_or(1);
  node.op = FindOnnxOp("", node.op_type, node.version);
  node.inputs.push_back(value);
  node.region = frame.region;
  node.position = frame.position();
  node.scope = frame.place.otherwise;
  const NodeId id = graph_.nodes.Add(std::move(node));
  graph_.regions[frame.region].nodes.push_back(id);
  imported_.push_back({&frame.current(), id});
  Value output;
  output.kind = ValueKind::kNodeOutput;
  output.producer = id;
  const ValueId output_id = AddValue(frame, name, std::move(output));
  graph_.nodes[id].outputs.push_back(output_id);
  return output_id;
}

}  // namespace footprint
