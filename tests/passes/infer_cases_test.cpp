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
#include "passes/infer_print.h"
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

std::string InferAndPrint(const std::string& path, const std::vector<std::string>& words) {
  DiagnosticSink sink;
  std::optional<LoadedModel> model = ReadGraph(path, sink);
  if (!model) return PrintDiagnostics(sink.all());
  const Graph& graph = model->graph;
  const Arguments arguments = ParseArguments(graph, words);
  const InferredTypes inferred = InferShapes(graph, arguments.options, model->fallback.get(), sink);
  DimEvaluator evaluator(*graph.dims, arguments.bindings);
  if (!arguments.bindings.empty()) CheckConstraints(graph, inferred, evaluator, sink);
  return Print(graph, inferred, arguments.bindings.empty() ? nullptr : &evaluator) +
         PrintDiagnostics(sink.all());
}

class InferCases : public testing::TestWithParam<std::string> {};

TEST_P(InferCases, PrintWhatTheyExpect) { EXPECT_TRUE(RunCase(GetParam(), InferAndPrint)); }

INSTANTIATE_TEST_SUITE_P(, InferCases, testing::ValuesIn(CasesOf(FOOTPRINT_SOURCE_DIR, "infer")),
                         CaseName);

}  // namespace
}  // namespace footprint
