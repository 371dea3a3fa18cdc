// Reading alone: the walk, what protobuf needs for the rest, and both against the number of nodes.
#include <string>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "frontend/model_file.h"
#include "onnx/onnx_pb.h"

namespace footprint {
namespace {

using ONNX_NAMESPACE::ModelProto;

// A chain of `nodes` additions, each with a weight of 4 KiB.
std::string ChainModel(int64_t nodes) {
  ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  auto* graph = model.mutable_graph();
  for (int64_t i = 0; i < nodes; ++i) {
    auto* node = graph->add_node();
    node->set_op_type("Add");
    node->set_name(absl::StrCat("/encoder/layer.", i / 10, "/attention/Add_", i));
    node->add_input(absl::StrCat("h", i));
    node->add_input(absl::StrCat("encoder.layer.", i, ".weight"));
    node->add_output(absl::StrCat("h", i + 1));
    auto* weight = graph->add_initializer();
    weight->set_name(node->input(1));
    weight->set_data_type(ONNX_NAMESPACE::TensorProto::FLOAT);
    weight->add_dims(1024);
    weight->set_raw_data(std::string(4096, 'x'));
  }
  return model.SerializeAsString();
}

void BM_Skim(benchmark::State& state) {
  const std::string bytes = ChainModel(state.range(0));
  for (auto _ : state) {
    SkimInput input{absl::string_view(bytes)};
    ExternalData external(std::nullopt);
    DiagnosticSink sink;
    benchmark::DoNotOptimize(Skim(input, external, sink));
  }
  state.SetComplexityN(state.range(0));
}
BENCHMARK(BM_Skim)
    ->Arg(1000)
    ->Arg(10000)
    ->Arg(100000)
    ->Complexity(benchmark::oN)
    ->Unit(benchmark::kMillisecond);

// What is left after the walk, as ONNX's parser sees it.
void BM_ParseSkimmed(benchmark::State& state) {
  const std::string bytes = ChainModel(state.range(0));
  SkimInput input{absl::string_view(bytes)};
  ExternalData external(std::nullopt);
  DiagnosticSink sink;
  const auto skimmed = Skim(input, external, sink);
  for (auto _ : state) {
    ModelProto model;
    benchmark::DoNotOptimize(model.ParseFromString(skimmed->bytes));
  }
  state.SetComplexityN(state.range(0));
}
BENCHMARK(BM_ParseSkimmed)
    ->Arg(1000)
    ->Arg(10000)
    ->Arg(100000)
    ->Complexity(benchmark::oN)
    ->Unit(benchmark::kMillisecond);

void ReadFile(benchmark::State& state, const std::string& name) {
  const std::string path = absl::StrCat(FOOTPRINT_SOURCE_DIR, "/models/", name);
  for (auto _ : state) {
    DiagnosticSink sink;
    const auto file = ReadModelFile(path, sink);
    if (!file) {
      state.SkipWithError("cannot be read");
      return;
    }
  }
}
BENCHMARK_CAPTURE(ReadFile, resnet50, "resnet50.train_loss.onnx")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(ReadFile, gpt2_xl, "gpt2_xl.train_loss.onnx")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace footprint
