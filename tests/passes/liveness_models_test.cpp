// Whole networks against the naive simulation: those in models/, and those in the folders that
// FOOTPRINT_MODEL_FOLDERS names (separated by ':').
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "frontend/read_graph.h"
#include "gtest/gtest.h"
#include "passes/infer_shapes.h"
#include "passes/liveness.h"
#include "passes/roles.h"
#include "passes/timeline.h"
#include "tests/support/naive_liveness.h"

namespace footprint {
namespace {

std::vector<std::string> Models() {
  std::vector<std::string> folders = {FOOTPRINT_SOURCE_DIR "/models"};
  const char* more = std::getenv("FOOTPRINT_MODEL_FOLDERS");
  for (absl::string_view folder : absl::StrSplit(more == nullptr ? "" : more, ':')) {
    if (!folder.empty()) folders.emplace_back(folder);
  }
  std::vector<std::string> paths;
  for (const std::string& folder : folders) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const std::string extension = entry.path().extension();
      if (extension == ".onnx" || extension == ".onnxtxt") paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

class LivenessOfModels : public testing::TestWithParam<std::string> {};

TEST_P(LivenessOfModels, AgreesWithTheNaiveSimulation) {
  DiagnosticSink sink;
  const std::optional<LoadedModel> model = ReadGraph(GetParam(), sink);
  ASSERT_TRUE(model.has_value());
  const Graph& graph = model->graph;
  const InferredTypes inferred = InferShapes(graph, {}, model->fallback.get(), sink);
  const Roles roles = AssignRoles(graph, model->provenance, {}, sink);
  DimEvaluator evaluator(*graph.dims, {{"batch", 3}, {"sequence", 17}});
  for (bool in_place : {false, true}) {
    const MemoryTrace trace = ComputeLiveness(graph, inferred, roles, evaluator, {in_place});
    const Timeline timeline = ComputeTimeline(trace, evaluator, /*granularity=*/1);
    int64_t kept = 0;  // inputs and constants
    for (size_t i = 0; i < trace.storages.size(); ++i) {
      const bool computed = trace.storages[StorageId(i)].category == Category::kTransient;
      if (!computed) kept += timeline.bytes[StorageId(i)].value_or(0);
    }
    const int64_t tick = timeline.PeakTick(0, trace.end_tick);
    EXPECT_EQ(timeline.live_bytes[static_cast<size_t>(tick)] - kept,
              NaiveActivationPeak(graph, inferred, evaluator, in_place));
  }
}

INSTANTIATE_TEST_SUITE_P(, LivenessOfModels, testing::ValuesIn(Models()),
                         [](const testing::TestParamInfo<std::string>& each) {
                           std::string name = std::filesystem::path(each.param).stem();
                           for (char& c : name) c = std::isalnum(c) != 0 ? c : '_';
                           return name + "_" + std::to_string(each.index);
                         });

}  // namespace
}  // namespace footprint
