// Text cases of shape inference: tests/cases/infer and whatever else says "RUN: infer". Printed are
// the type of each node's outputs, its contents where they are known, what must hold, and what is
// wrong. Arguments:
//
//   --dim NAME=VALUE     checks what must hold at this size and prints each type's bytes
//   --value NAME=1,2,3   contents of an input, as long as its declared shape says
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "frontend/read_graph.h"
#include "gtest/gtest.h"
#include "passes/infer_shapes.h"
#include "tests/support/case_runner.h"

namespace footprint {
namespace {

struct Arguments {
  InferOptions options;
  DimBindings bindings;
};

KnownValuePtr ParseValue(absl::string_view text, ElementType element) {
  auto value = std::make_shared<KnownValue>();
  value->is_float = IsFloatingPoint(element);
  for (const absl::string_view part : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    double number = 0;
    if (!absl::SimpleAtod(part, &number)) return nullptr;
    if (value->is_float) {
      value->floats.push_back(number);
    } else {
      value->integers.emplace_back(static_cast<int64_t>(number));
    }
  }
  return value;
}

Arguments ParseArguments(const Graph& graph, const std::vector<std::string>& words) {
  Arguments result;
  for (size_t i = 0; i + 1 < words.size(); i += 2) {
    const std::vector<std::string> sides = absl::StrSplit(words[i + 1], absl::MaxSplits('=', 1));
    if (sides.size() != 2) continue;
    int64_t number = 0;
    if (words[i] == "--dim" && absl::SimpleAtoi(sides[1], &number)) {
      result.bindings.emplace_back(sides[0], number);
    }
    for (const ValueId id : graph.top().inputs) {
      const Value& input = graph.values[id];
      if (words[i] != "--value" || input.name != sides[0]) continue;
      result.options.input_values.emplace_back(id,
                                               ParseValue(sides[1], input.declared.tensor.element));
    }
  }
  return result;
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
  const std::string kind = kKinds[static_cast<int>(type.kind)];
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

std::string InferAndPrint(const std::string& path, const std::vector<std::string>& words) {
  DiagnosticSink sink;
  std::optional<LoadedModel> model = ReadGraph(path, sink);
  if (!model) return PrintDiagnostics(sink.all());
  const Graph& graph = model->graph;
  const Arguments arguments = ParseArguments(graph, words);
  const InferredTypes inferred = InferShapes(graph, arguments.options, model->fallback.get(), sink);
  DimEvaluator evaluator(*graph.dims, arguments.bindings);
  if (!arguments.bindings.empty()) CheckConstraints(graph, inferred, evaluator, sink);
  std::string text;
  for (const Node& node : graph.nodes) {
    for (const ValueId id : node.outputs) {
      if (!id.valid()) continue;
      const ValueType& type = inferred.types[id];
      absl::StrAppend(&text, graph.values[id].name, ": ", PrintType(graph, type));
      if (inferred.values[id] != nullptr) {
        absl::StrAppend(&text, PrintValue(graph, *inferred.values[id]));
      }
      if (!arguments.bindings.empty() && type.is_tensor()) {
        const auto bytes = evaluator.Evaluate(ByteCount(type.tensor, *graph.dims));
        absl::StrAppend(&text, "  ", bytes ? absl::StrCat(*bytes) : "?", " bytes");
      }
      absl::StrAppend(&text, "\n");
    }
  }
  for (const DimConstraint& constraint : inferred.constraints) {
    absl::StrAppend(&text, PrintConstraint(graph, constraint));
  }
  return text + PrintDiagnostics(sink.all());
}

class InferCases : public testing::TestWithParam<std::string> {};

TEST_P(InferCases, PrintWhatTheyExpect) { EXPECT_TRUE(RunCase(GetParam(), InferAndPrint)); }

INSTANTIATE_TEST_SUITE_P(, InferCases, testing::ValuesIn(CasesOf(FOOTPRINT_SOURCE_DIR, "infer")),
                         CaseName);

}  // namespace
}  // namespace footprint
