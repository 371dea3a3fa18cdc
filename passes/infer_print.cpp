#include "passes/infer_print.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace footprint {
namespace {

std::string OneLine(const std::string& name) {
  return absl::StrReplaceAll(name, {{"\n", "\\n"}});
}

std::string PrintValue(const Graph& graph, const KnownValue& value) {
  constexpr size_t kShown = 16;
  std::string text = " = (";
  const size_t count =
      std::max({value.integers.size(), value.floats.size(), value.elements.size()});
  for (size_t i = 0; i < count && i < kShown; ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ");
    if (value.is_sequence) {
      absl::StrAppend(&text, ToString(value.elements[i].tensor, *graph.dims));
    } else if (!value.floats.empty()) {
      absl::StrAppend(&text, value.floats[i]);
    } else {
      absl::StrAppend(&text, graph.dims->ToString(value.integers[i]));
    }
    if (value.denominator != 1) absl::StrAppend(&text, " / ", value.denominator);
  }
  return absl::StrCat(text, count > kShown ? ", ..." : "", ")");
}

std::string PrintType(const Graph& graph, const ValueType& type) {
  static constexpr const char* kKinds[] = {"unknown",   "",     "sparse ", "sequence ",
                                           "optional ", "map ", "opaque "};
  std::string kind = kKinds[static_cast<int>(type.kind)];
  if (type.kind == TypeKind::kUnknown) return kind;
  if (!type.spelling.empty()) return type.spelling;
  std::string text = absl::StrCat(kind, ToString(type.tensor, *graph.dims));
  if (!type.tensor.AllDimsKnown() && !type.tensor.element_count.is_unknown()) {
    absl::StrAppend(&text, " of ", graph.dims->ToString(type.tensor.element_count), " elements");
  }
  return text;
}

std::string PrintConstraint(const Graph& graph, const DimConstraint& constraint) {
  static constexpr const char* kRelations[] = {" == ", " <= ", " broadcasts with "};
  return absl::StrCat("requires ", graph.dims->ToString(constraint.left),
                      kRelations[static_cast<int>(constraint.relation)],
                      graph.dims->ToString(constraint.right), " (",
                      Describe(graph, constraint.node), ": ", constraint.what, ")\n");
}

}  // namespace

std::string Print(const Graph& graph, const InferredTypes& inferred, DimEvaluator* evaluator) {
  std::string text;
  for (const Node& node : graph.nodes) {
    for (const ValueId id : node.outputs) {
      if (!id.valid()) continue;
      const ValueType& type = inferred.types[id];
      absl::StrAppend(&text, OneLine(graph.values[id].name), ": ", PrintType(graph, type));
      if (inferred.values[id] != nullptr) {
        absl::StrAppend(&text, PrintValue(graph, *inferred.values[id]));
      }
      if (evaluator != nullptr && type.is_tensor()) {
        const auto bytes = evaluator->Evaluate(ByteCount(type.tensor, *graph.dims));
        absl::StrAppend(&text, "  ", bytes ? absl::StrCat(*bytes) : "?", " bytes");
      }
      absl::StrAppend(&text, "\n");
    }
  }
  for (const DimConstraint& constraint : inferred.constraints) {
    absl::StrAppend(&text, PrintConstraint(graph, constraint));
  }
  return text;
}

}  // namespace footprint
