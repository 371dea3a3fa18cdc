#include "backend/report_json.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "backend/report_json_writer.h"

namespace footprint {
namespace {

using nlohmann::json;

Report Example() {
  Report report;
  report.model_path = "m.onnx";
  report.opsets = {{"", 17}};
  report.bindings = {{"batch", 32, false}, {"seq", 1, true}};
  report.parameter_count = 10;
  report.parameter_bytes = 40;
  report.widths = {{"fp32", 40}, {"int4", 5}};
  TrainingReport training;
  training.parameter_bytes = 40;
  training.saved_bytes = 1000;
  training.saved_excluding_inputs_bytes = 900;
  training.after_forward_bytes = 2048;
  training.phases = {{"forward", 2048}, {"backward", 4096}, {"optimizer", std::nullopt}};
  training.peak.live_bytes = 4096;
  training.peak.phase = "backward";
  training.peak.step = "MmBackward0";
  training.peak.live = {{"h", 900, "saved_activation", "fc", "saved by aten::mm", "s1"}};
  report.training = training;
  ReportTensor tensor;
  tensor.name = "h";
  tensor.dtype = "float32";
  tensor.has_shape = true;
  tensor.shape = {32, std::nullopt};
  tensor.shape_expression = "[batch, u]";
  tensor.category = "saved_activation";
  tensor.certainty = "unknown";
  report.tensors = {tensor};
  ReportStorage storage;
  storage.id = "s1";
  storage.bytes = std::numeric_limits<int64_t>::max();
  storage.first_step = 0;
  report.storages = {storage};
  ReportLayer layer;
  layer.path = "fc";
  layer.class_name = "Linear";
  layer.own.parameter = 40;
  layer.total.parameter = 44;
  report.layers = {layer};
  report.operators = {{"MatMul", 2, true}, {"com.x::Odd", 1, false}};
  report.diagnostics = {{"warning", "kind", "place", "message"}};
  report.unknown = {{"u", "NonZero n", "depends on contents"}};
  return report;
}

TEST(ReportJson, KeysThatScriptsRelyOn) {
  const json doc = json::parse(ReportJson(Example()));
  EXPECT_EQ(doc["schema"], "footprint-report/1");
  EXPECT_EQ(doc["model"], "m.onnx");
  EXPECT_EQ(doc["bindings"], json({{"batch", 32}, {"seq", 1}}));
  EXPECT_EQ(doc["assumed_bindings"], json::array({"seq"}));
  EXPECT_EQ(doc["parameters"]["count"], 10);
  EXPECT_EQ(doc["parameters"]["bytes"], 40);
  const json& training = doc["training"];
  EXPECT_EQ(training["saved_bytes"], 1000);
  EXPECT_EQ(training["saved_excluding_inputs_bytes"], 900);
  EXPECT_EQ(training["after_forward_bytes"], 2048);
  EXPECT_EQ(training["phases"]["backward"]["peak_bytes"], 4096);
  EXPECT_EQ(training["peak"]["live_bytes"], 4096);
  EXPECT_EQ(training["peak"]["phase"], "backward");
  EXPECT_EQ(training["peak"]["live"][0]["storage"], "s1");
  EXPECT_EQ(doc["operators"]["counts"]["MatMul"], 2);
  EXPECT_EQ(doc["operators"]["without_row"], json::array({"com.x::Odd"}));
  EXPECT_EQ(doc["layers"][0]["class"], "Linear");
  EXPECT_EQ(doc["layers"][0]["bytes"]["parameter"], 40);
  EXPECT_EQ(doc["layers"][0]["bytes_with_children"]["parameter"], 44);
  EXPECT_EQ(doc["diagnostics"][0]["severity"], "warning");
  EXPECT_EQ(doc["unknown"][0]["name"], "u");
}

TEST(ReportJson, UnknownIsNullNeverZero) {
  const json doc = json::parse(ReportJson(Example()));
  EXPECT_TRUE(doc["training"]["gradient_bytes"].is_null());
  EXPECT_TRUE(doc["training"]["phases"]["optimizer"]["peak_bytes"].is_null());
  EXPECT_TRUE(doc["training"]["peak"]["allocated_bytes"].is_null());
  EXPECT_EQ(doc["tensors"][0]["shape"], json::array({32, nullptr}));
  EXPECT_TRUE(doc["tensors"][0]["bytes"].is_null());
  EXPECT_TRUE(doc["tensors"][0]["storage"].is_null());
  EXPECT_TRUE(doc["storages"][0]["last_step"].is_null());
  EXPECT_TRUE(doc["inference"].is_null());
  EXPECT_TRUE(doc["textbook"].is_null());
}

TEST(ReportJson, ShapeOfUnknownRankIsNullAndOfAScalarEmpty) {
  Report report = Example();
  report.tensors[0].shape.clear();
  EXPECT_EQ(json::parse(ReportJson(report))["tensors"][0]["shape"], json::array());
  report.tensors[0].has_shape = false;
  EXPECT_TRUE(json::parse(ReportJson(report))["tensors"][0]["shape"].is_null());
}

TEST(ReportJson, IntegersAreExact) {
  const json doc = json::parse(ReportJson(Example()));
  EXPECT_EQ(doc["storages"][0]["bytes"].get<int64_t>(), std::numeric_limits<int64_t>::max());
}

TEST(ReportJson, NamesOfAnySortAreKept) {
  Report report = Example();
  const std::string name = "a\"b\\c\n\x1b\x7f 层 \xFF";
  report.tensors[0].name = name;
  const json doc = json::parse(ReportJson(report));
  EXPECT_EQ(doc["tensors"][0]["name"], "a\"b\\c\n\x1b\x7f 层 \uFFFD");
}

TEST(ReportJson, TheSameReportGivesTheSameBytes) {
  EXPECT_EQ(ReportJson(Example()), ReportJson(Example()));
  EXPECT_EQ(ReportJson(Example()).back(), '\n');
}

TEST(FailureJson, HoldsTheFirstErrorAndAllDiagnostics) {
  const Failure failure{2,
                        {{"warning", "w", "input x", "doubtful"},
                         {"error", "duplicate-name", "value y", "made twice"},
                         {"error", "other", "", "also wrong"}}};
  const json doc = json::parse(FailureJson(failure, "m.onnx"));
  EXPECT_EQ(doc["schema"], "footprint-report/1");
  EXPECT_EQ(doc["model"], "m.onnx");
  EXPECT_EQ(doc["error"]["kind"], "duplicate-name");
  EXPECT_EQ(doc["error"]["place"], "value y");
  EXPECT_EQ(doc["error"]["message"], "made twice");
  EXPECT_EQ(doc["error"]["exit_code"], 2);
  EXPECT_EQ(doc["diagnostics"].size(), 3u);
  EXPECT_TRUE(json::parse(FailureJson(failure, ""))["model"].is_null());
}

TEST(JsonWriter, LayoutsOfNestedContainers) {
  JsonWriter writer;
  writer.BeginObject(JsonWriter::Layout::kLines);
  writer.Key("empty");
  writer.BeginArray(JsonWriter::Layout::kLines);
  writer.EndArray();
  writer.Key("rows");
  writer.BeginArray(JsonWriter::Layout::kLines);
  for (int i = 0; i < 2; ++i) {
    writer.BeginObject(JsonWriter::Layout::kOneLine);
    writer.Field("i", i);
    writer.Field("even", i % 2 == 0);
    writer.EndObject();
  }
  writer.EndArray();
  writer.EndObject();
  EXPECT_EQ(writer.Take(),
            "{\n"
            " \"empty\": [],\n"
            " \"rows\": [\n"
            "  {\"i\":0,\"even\":true},\n"
            "  {\"i\":1,\"even\":false}\n"
            " ]\n"
            "}\n");
}

}  // namespace
}  // namespace footprint
