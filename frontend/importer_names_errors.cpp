// What is wrong with a name, in the words of the file. Slow: only reached when something is wrong.
#include "absl/strings/str_cat.h"
#include "frontend/importer_state.h"
#include "frontend/printable.h"

namespace footprint {
namespace {

using ONNX_NAMESPACE::NodeProto;

bool Outputs(const NodeProto& node, absl::string_view name) {
  for (const std::string& output : node.output()) {
    if (output == name) return true;
  }
  return false;
}

// "node 3 (Relu 'a')"; nodes count from 0, Constant nodes included.
std::string NodeText(const NodeProto& node, int index) {
  return absl::StrCat("node ", index, " (", Printable(node.op_type()),
                      node.name().empty() ? "" : absl::StrCat(" '", Printable(node.name()), "'"),
                      ")");
}

// The first node from `start` on that has the output; -1: none.
int FindProducer(const ImportFrame& frame, absl::string_view name, int start) {
  for (int i = start; i < frame.nodes->size(); ++i) {
    if (Outputs(frame.nodes->Get(i), name)) return i;
  }
  return -1;
}

}  // namespace

std::string DescribeProto(const NodeProto& proto) {
  std::string text = Printable(proto.op_type());
  const absl::string_view domain = CanonicalDomain(proto.domain());
  if (!domain.empty()) text = absl::StrCat(Printable(domain), ".", text);
  if (!proto.name().empty()) absl::StrAppend(&text, " '", Printable(proto.name()), "'");
  for (const std::string& output : proto.output()) {
    if (!output.empty()) return absl::StrCat(text, " -> ", Printable(output));
  }
  return text;
}

const std::string& LabelOf(const NodeProto& proto) {
  if (!proto.name().empty()) return proto.name();
  for (const std::string& output : proto.output()) {
    if (!output.empty()) return output;
  }
  return proto.op_type();
}

std::string Importer::Where(const ImportFrame& frame) const {
  if (frame.own_call != nullptr) {
    return absl::StrCat(" in function ", Printable(frame.own_call->function->proto->name()));
  }
  const Region& region = graph_.regions[frame.region];
  if (!region.owner.valid()) return "";
  const Node& owner = graph_.nodes[region.owner];
  const std::string name = owner.name.empty() ? "" : absl::StrCat(" '", Printable(owner.name), "'");
  return absl::StrCat(" in ", Printable(region.name), " of ", Printable(owner.op_type), name);
}

std::string Importer::Origin(const ImportFrame& frame, absl::string_view name,
                             ValueId value) const {
  if (frame.own_call != nullptr) {
    for (const std::string& input : frame.own_call->function->proto->input()) {
      if (input == name) return "the inputs";
    }
  }
  if (value.valid()) {
    const Value& row = graph_.values[value];
    if (row.kind == ValueKind::kInput || row.kind == ValueKind::kRegionInput) {
      return "the inputs";
    }
    if (row.kind == ValueKind::kConstant &&
        graph_.constants[row.constant].origin == ConstantOrigin::kInitializer) {
      return "the initializers";
    }
  }
  const int index = FindProducer(frame, name, 0);
  return index < 0 ? "a node" : NodeText(frame.nodes->Get(index), index);
}

void Importer::ReportUndefined(const ImportFrame& frame, absl::string_view name) {
  const std::string place = DescribeProto(frame.current()) + Where(frame);
  for (const ImportFrame* at = &frame; at != nullptr; at = at->outer) {
    const int index = FindProducer(*at, name, at->index());
    if (index < 0) continue;
    const bool itself = index == at->index();
    return Error(kNotSorted, place,
                 absl::StrCat("reads ", Printable(name),
                              itself ? ", its own output" : ", which comes later, from ",
                              itself ? "" : NodeText(at->nodes->Get(index), index),
                              "; a node must stand after the nodes whose outputs it reads, and "
                              "cycles are not allowed"));
  }
  Error("undefined-name", place,
        absl::StrCat("reads ", Printable(name), ", which no input, initializer or node defines",
                     frame.call == nullptr ? "" : "; a function sees no names but its own"));
}

void Importer::ReportDuplicate(const ImportFrame& frame, absl::string_view name, ValueId old,
                               ValueId value) {
  const std::string first = Origin(frame, name, old);
  const Value& row = graph_.values[value];
  const bool by_node = row.kind == ValueKind::kNodeOutput ||
                       (row.kind == ValueKind::kConstant &&
                        graph_.constants[row.constant].origin == ConstantOrigin::kConstantNode);
  const std::string second =
      by_node ? NodeText(frame.current(), frame.index()) : Origin(frame, name, value);
  Error("duplicate-name", Printable(name),
        absl::StrCat("is defined twice", Where(frame), first == second ? " by " : ": by ", first,
                     first == second ? "" : absl::StrCat(" and by ", second),
                     "; rename one of the two"));
}

void Importer::ReportShadowing(const ImportFrame& frame, absl::string_view name,
                               const ImportFrame& outer) {
  const auto inside = frame.names.find(name);
  const auto outside = outer.names.find(name);
  Error("shadowed-name", Printable(name),
        absl::StrCat("is defined by ", Origin(frame, name, inside->second), Where(frame),
                     ", and already outside of it by ", Origin(outer, name, outside->second),
                     "; names in a body must differ from those around it"));
}

}  // namespace footprint
