// Print: the one textual form of a graph, for people and for tests.
//
//   graph "resnet" ir_version 8, opsets "" 17
//   input %x: float32[batch, 3, 224, 224]
//   constant %w: float32[64, 3, 7, 7] external initializer scope "conv1"
//   %h: float32[batch, 64, 112, 112] = Conv(%x, %w) {strides=[2, 2]} name "a" scope "conv1"
//   %y = If(%c) {then_branch}
//     then_branch() -> (%t) {
//       %t = Neg(%h)
//     }
//   output %y
//
// An omitted operand is '_'. An operator of an opset version other than the model's is written
// Reshape@13, one of another domain with its domain in front.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "ir/graph.h"

namespace footprint {
namespace {

constexpr size_t kShownElements = 16;

std::string Quoted(absl::string_view text) {
  return absl::StrCat("\"", absl::Utf8SafeCEscape(text), "\"");
}

std::string Reference(absl::string_view name) {
  for (const char c : name) {
    const bool plain = absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                       absl::string_view("_./:-#").find(c) != absl::string_view::npos;
    if (!plain) return absl::StrCat("%", Quoted(name));
  }
  return absl::StrCat("%", name);
}

// The shortest form that reads back as the same number, of float32 if it is one.
std::string Number(double value) {
  const auto single = [](double wide) {
    constexpr double kLargest = std::numeric_limits<float>::max();
    return std::abs(wide) > kLargest ? wide : static_cast<double>(static_cast<float>(wide));
  };
  const bool is_single = single(value) == value;
  for (int digits = 6; digits < 17; ++digits) {
    std::string text = absl::StrFormat("%.*g", digits, value);
    double back = 0;
    if (!absl::SimpleAtod(text, &back)) break;
    if (back == value || (is_single && single(back) == value)) {
      return text;
    }
  }
  return absl::StrFormat("%.17g", value);
}

template <typename List, typename Format>
std::string Braced(const char* open, const List& list, const char* close, Format format) {
  std::string text = open;
  for (size_t i = 0; i < list.size() && i < kShownElements; ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", format(list[i]));
  }
  if (list.size() > kShownElements) absl::StrAppend(&text, ", ... ", list.size(), " in all");
  return text + close;
}

std::string Plain(int64_t value) { return absl::StrCat(value); }

class Printer {
 public:
  explicit Printer(const Graph& graph) : graph_(graph), constants_of_(graph.regions.size()) {
    for (size_t i = 0; i < graph.values.size(); ++i) {
      const Value& value = graph.values[ValueId(i)];
      if (value.kind == ValueKind::kConstant) constants_of_[value.region].push_back(ValueId(i));
    }
  }

  std::string Run() {
    Header();
    const Region& top = graph_.top();
    for (const ValueId input : top.inputs) Line("input ", Typed(input));
    Constants(RegionId(0));
    Nodes();
    for (const ValueId output : top.outputs) Line("output ", Name(output));
    return text_;
  }

 private:
  struct Frame {
    RegionId region;
    size_t next = 0;
    std::vector<const Attribute*> bodies;  // of the node printed last, in reverse
  };

  template <typename... Parts>
  void Line(const Parts&... parts) {
    absl::StrAppend(&text_, std::string(2 * static_cast<size_t>(indent_), ' '), parts..., "\n");
  }

  void Header() {
    std::string opsets;
    for (const OpsetImport& opset : graph_.opsets) {
      absl::StrAppend(&opsets, opsets.empty() ? "" : ", ", Quoted(opset.domain), " ",
                      opset.version);
    }
    Line("graph ", Quoted(graph_.name), " ir_version ", graph_.ir_version, ", opsets ", opsets);
    if (!graph_.producer_name.empty()) {
      Line("producer ", Quoted(graph_.producer_name), " ", Quoted(graph_.producer_version));
    }
  }

  std::string Name(ValueId value) const {
    return value.valid() ? Reference(graph_.values[value].name) : "_";
  }

  std::string Type(const ValueType& type) const {
    switch (type.kind) {
      case TypeKind::kUnknown:
        return {};
      case TypeKind::kTensor:
        return ToString(type.tensor, *graph_.dims);
      case TypeKind::kSparseTensor:
        return absl::StrCat("sparse ", ToString(type.tensor, *graph_.dims));
      default:
        break;
    }
    if (!type.spelling.empty()) return type.spelling;
    return absl::StrCat(type.kind == TypeKind::kSequence ? "sequence(" : "optional(",
                        ToString(type.tensor, *graph_.dims), ")");
  }

  std::string Typed(ValueId value) const {
    std::string type = value.valid() ? Type(graph_.values[value].declared) : "";
    return type.empty() ? Name(value) : absl::StrCat(Name(value), ": ", type);
  }

  std::string InScope(ScopeId scope) const {
    const std::string& path = graph_.scopes[scope].path;
    return path.empty() ? "" : absl::StrCat(" scope ", Quoted(path));
  }

  std::string Contents(const Constant& constant) const {
    if (constant.has_integers) return Braced(" {", constant.integers, "}", Plain);
    if (constant.has_floats) return Braced(" {", constant.floats, "}", Number);
    if (constant.is_all_zero) return " {0 ...}";
    if (constant.is_all_one) return " {1 ...}";
    return {};
  }

  std::string Tensor(const Constant& constant) const {
    std::string text = ToString(constant.type, *graph_.dims);
    if (constant.is_sparse) absl::StrAppend(&text, " sparse");
    if (constant.is_sparse || constant.type.element == ElementType::kString) {
      absl::StrAppend(&text, " ", constant.stored_bytes, " bytes");
    }
    if (constant.is_external) absl::StrAppend(&text, " external");
    return text;
  }

  void Constants(RegionId region) {
    for (const ValueId id : constants_of_[region]) {
      const Value& value = graph_.values[id];
      const Constant& constant = graph_.constants[value.constant];
      const bool own_name = constant.name == value.name;
      Line("constant ", Name(id), ": ", Tensor(constant), Contents(constant),
           constant.origin == ConstantOrigin::kInitializer ? " initializer" : "",
           own_name ? "" : absl::StrCat(" stored as ", Quoted(constant.name)),
           InScope(constant.scope));
    }
  }

  std::string AttributeText(const Attribute& attribute) const {
    const std::string prefix = attribute.name + "=";
    if (attribute.dropped_elements > 0) {
      return absl::StrCat(prefix, "(", attribute.dropped_elements, " elements)");
    }
    switch (attribute.kind) {
      case Attribute::Kind::kInt:
        return absl::StrCat(prefix, attribute.int_value);
      case Attribute::Kind::kFloat:
        return absl::StrCat(prefix, Number(attribute.float_value));
      case Attribute::Kind::kString:
        return absl::StrCat(prefix, Quoted(attribute.string_value));
      case Attribute::Kind::kInts:
        return absl::StrCat(prefix, Braced("[", attribute.ints, "]", Plain));
      case Attribute::Kind::kFloats:
        return absl::StrCat(prefix, Braced("[", attribute.floats, "]", Number));
      case Attribute::Kind::kStrings:
        return absl::StrCat(prefix, Braced("[", attribute.strings, "]", Quoted));
      case Attribute::Kind::kTensor: {
        const Constant& constant = graph_.constants[attribute.constant];
        return absl::StrCat(prefix, Tensor(constant), Contents(constant));
      }
      case Attribute::Kind::kRegion:
        return attribute.name;
      case Attribute::Kind::kType:
        return absl::StrCat(prefix, Type(attribute.type));
      case Attribute::Kind::kOther:
        break;
    }
    return prefix + "?";
  }

  std::string Operator(const Node& node) const {
    std::string text = node.domain.empty() ? node.op_type : node.domain + "." + node.op_type;
    for (const OpsetImport& opset : graph_.opsets) {
      if (opset.domain == node.domain && opset.version == node.version) return text;
    }
    return absl::StrCat(text, "@", node.version);
  }

  void PrintNode(Frame& frame, const Node& node) {
    std::vector<std::string> results, operands, attributes;
    for (const ValueId output : node.outputs) results.push_back(Typed(output));
    for (const ValueId input : node.inputs) operands.push_back(Name(input));
    for (const Attribute& attribute : node.attributes) {
      attributes.push_back(AttributeText(attribute));
    }
    for (size_t i = node.attributes.size(); i-- > 0;) {
      if (node.attributes[i].kind == Attribute::Kind::kRegion) {
        frame.bodies.push_back(&node.attributes[i]);
      }
    }
    Line(absl::StrJoin(results, ", "), results.empty() ? "" : " = ", Operator(node), "(",
         absl::StrJoin(operands, ", "), ")",
         attributes.empty() ? "" : absl::StrCat(" {", absl::StrJoin(attributes, ", "), "}"),
         node.name.empty() ? "" : absl::StrCat(" name ", Quoted(node.name)), InScope(node.scope));
  }

  void OpenBody(const Attribute& attribute) {
    const Region& region = graph_.regions[attribute.region];
    std::vector<std::string> inputs, outputs;
    for (const ValueId input : region.inputs) inputs.push_back(Typed(input));
    for (const ValueId output : region.outputs) outputs.push_back(Name(output));
    ++indent_;
    Line(attribute.name, "(", absl::StrJoin(inputs, ", "), ") -> (", absl::StrJoin(outputs, ", "),
         ") {");
    ++indent_;
    Constants(attribute.region);
  }

  void Nodes() {
    std::vector<Frame> stack = {{RegionId(0), 0, {}}};
    while (!stack.empty()) {
      Frame& frame = stack.back();
      const std::vector<NodeId>& nodes = graph_.regions[frame.region].nodes;
      if (!frame.bodies.empty()) {
        const Attribute& body = *frame.bodies.back();
        frame.bodies.pop_back();
        OpenBody(body);
        stack.push_back({body.region, 0, {}});
      } else if (frame.next < nodes.size()) {
        PrintNode(frame, graph_.nodes[nodes[frame.next++]]);
      } else {
        stack.pop_back();
        if (stack.empty()) break;
        --indent_;
        Line("}");
        --indent_;
      }
    }
  }

  const Graph& graph_;
  IdVector<RegionId, std::vector<ValueId>> constants_of_;
  std::string text_;
  int indent_ = 0;
};

}  // namespace

std::string Print(const Graph& graph) { return Printer(graph).Run(); }

}  // namespace footprint
