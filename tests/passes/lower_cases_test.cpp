// Text cases of lowering: what PyTorch program a small model becomes, call by call, with evidence.
#include <optional>
#include <string>
#include <vector>

#include "frontend/read_graph.h"
#include "gtest/gtest.h"
#include "passes/infer_shapes.h"
#include "passes/lower.h"
#include "passes/roles.h"
#include "tests/support/case_runner.h"

namespace footprint {
namespace {

// Arguments: --loss auto|none|cross-entropy|mse|sum, --as-exported, --fuse-attention, --freeze
// PATTERN.
std::string LowerAndPrint(const std::string& path, const std::vector<std::string>& arguments) {
  DiagnosticSink sink;
  LowerOptions options;
  std::vector<std::string> freeze;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--as-exported") options.recompose_modules = false;
    if (arguments[i] == "--fuse-attention") options.fuse_attention = true;
    if (i + 1 == arguments.size()) break;
    if (arguments[i] == "--freeze") freeze.push_back(arguments[i + 1]);
    if (arguments[i] != "--loss") continue;
    const std::string& loss = arguments[i + 1];
    if (loss == "none") options.loss = LossKind::kNone;
    if (loss == "cross-entropy") options.loss = LossKind::kCrossEntropy;
    if (loss == "mse") options.loss = LossKind::kMse;
    if (loss == "sum") options.loss = LossKind::kSum;
  }
  const std::optional<LoadedModel> model = ReadGraph(path, sink);
  if (!model.has_value()) return PrintDiagnostics(sink.all());
  DiagnosticSink others;  // of the steps before: their own cases show them
  const InferredTypes types = InferShapes(model->graph, {}, model->fallback.get(), others);
  const Roles roles = AssignRoles(model->graph, model->provenance, freeze, others);
  DiagnosticSink lowering;
  const TorchProgram program =
      Lower(model->graph, types, roles, model->provenance, options, lowering);
  return Print(program, *model->graph.dims) + PrintDiagnostics(lowering.all());
}

class LowerCases : public testing::TestWithParam<std::string> {};
TEST_P(LowerCases, PrintWhatTheyExpect) { EXPECT_TRUE(RunCase(GetParam(), LowerAndPrint)); }
INSTANTIATE_TEST_SUITE_P(, LowerCases, testing::ValuesIn(CasesOf(FOOTPRINT_SOURCE_DIR, "lower")),
                         CaseName);

}  // namespace
}  // namespace footprint
