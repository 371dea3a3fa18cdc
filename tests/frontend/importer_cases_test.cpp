#include "absl/strings/str_cat.h"
#include "frontend/read_graph.h"
#include "gtest/gtest.h"
#include "tests/support/case_runner.h"

namespace footprint {
namespace {

std::string ImportAndPrint(const std::string& path, const std::vector<std::string>&) {
  DiagnosticSink sink;
  const std::optional<LoadedModel> model = ReadGraph(path, sink);
  std::string text = PrintDiagnostics(sink.all());
  if (!model.has_value()) return text;
  if (const std::string wrong = Verify(model->graph); !wrong.empty()) return wrong;
  return absl::StrCat(text, Print(model->graph));
}

class ImportCases : public testing::TestWithParam<std::string> {};

TEST_P(ImportCases, PrintWhatTheyExpect) { EXPECT_TRUE(RunCase(GetParam(), ImportAndPrint)); }

INSTANTIATE_TEST_SUITE_P(, ImportCases, testing::ValuesIn(CasesOf(FOOTPRINT_SOURCE_DIR, "import")),
                         CaseName);

}  // namespace
}  // namespace footprint
