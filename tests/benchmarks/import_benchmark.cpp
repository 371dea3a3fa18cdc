// From the parsed model to the graph: real models, and against the number of nodes.
#include <string>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "frontend/importer.h"
#include "frontend/read_graph.h"

namespace footprint {
namespace {

// A chain of `nodes` operators in nested scopes, each with a parameter and a declared type.
ModelFile ChainModel(int64_t nodes) {
  ModelFile file;
  file.model.set_ir_version(8);
  file.model.add_opset_import()->set_version(17);
  auto* graph = file.model.mutable_graph();
  graph->add_input()->set_name("h0");
  for (int64_t i = 0; i < nodes; ++i) {
    auto* node = graph->add_node();
    node->set_op_type("Add");
    node->set_name(absl::StrCat("/encoder/layer.", i / 10, "/attention/Add_", i));
    node->add_input(absl::StrCat("h", i));
    node->add_input(absl::StrCat("encoder.layer.", i / 10, ".attention.w", i));
    node->add_output(absl::StrCat("h", i + 1));
    auto* weight = graph->add_initializer();
    weight->set_name(node->input(1));
    weight->set_data_type(ONNX_NAMESPACE::TensorProto::FLOAT);
    weight->add_dims(1024);
    auto* info = graph->add_value_info();
    info->set_name(node->output(0));
    auto* type = info->mutable_type()->mutable_tensor_type();
    type->set_elem_type(ONNX_NAMESPACE::TensorProto::FLOAT);
    type->mutable_shape()->add_dim()->set_dim_param("batch");
    type->mutable_shape()->add_dim()->set_dim_value(1024);
  }
  graph->add_output()->set_name(absl::StrCat("h", nodes));
  return file;
}

void BM_Import(benchmark::State& state) {
  const ModelFile file = ChainModel(state.range(0));
  for (auto _ : state) {
    DiagnosticSink sink;
    const auto imported = ImportModel(file, sink);
    if (!imported.has_value()) return state.SkipWithError("cannot be imported");
  }
  state.SetComplexityN(state.range(0));
}
BENCHMARK(BM_Import)
    ->Arg(1000)
    ->Arg(10000)
    ->Arg(100000)
    ->Complexity(benchmark::oN)
    ->Unit(benchmark::kMillisecond);

void ReadGraphOf(benchmark::State& state, const std::string& name) {
  const std::string path = absl::StrCat(FOOTPRINT_SOURCE_DIR, "/models/", name);
  for (auto _ : state) {
    DiagnosticSink sink;
    if (!ReadGraph(path, sink).has_value()) return state.SkipWithError("cannot be read");
  }
}
BENCHMARK_CAPTURE(ReadGraphOf, resnet50_dynamo, "resnet50.train_loss_dynamo.onnx")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(ReadGraphOf, gpt2_xl, "gpt2_xl.train_loss.onnx")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace footprint
