#include "frontend/model_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/support/case_runner.h"

namespace footprint {
namespace {

namespace fs = std::filesystem;
using ONNX_NAMESPACE::ModelProto;
using ONNX_NAMESPACE::TensorProto;

// --- Text cases: the payloads of the main graph's tensors ---

std::string Describe(const TensorProto& tensor, const ModelFile& file) {
  const Payload& payload = *file.PayloadOf(tensor);
  return absl::StrCat(tensor.name(), ": ", payload.stored_bytes, " bytes, ",
                      payload.entries < 0 ? "uncounted" : absl::StrCat(payload.entries), " values",
                      payload.kept ? ", kept" : "", payload.verified ? ", verified" : "", "\n");
}

std::string ReadAndPrint(const std::string& path, const std::vector<std::string>&) {
  DiagnosticSink sink;
  const auto file = ReadModelFile(path, sink);
  std::string text = PrintDiagnostics(sink.all());
  if (!file) return text;
  const auto& graph = file->model.graph();
  for (const TensorProto& tensor : graph.initializer()) text += Describe(tensor, *file);
  for (const auto& sparse : graph.sparse_initializer()) {
    text += Describe(sparse.values(), *file) + Describe(sparse.indices(), *file);
  }
  for (const auto& node : graph.node()) {
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_t()) text += Describe(attribute.t(), *file);
      const Payload* list = file->LeftOutOf(attribute);
      if (list == nullptr) continue;
      absl::StrAppend(&text, attribute.name(), ": ", list->stored_bytes, " bytes, ", list->entries,
                      " values left out\n");
    }
  }
  return text;
}

class ReadCases : public testing::TestWithParam<std::string> {};
TEST_P(ReadCases, PrintWhatTheyExpect) { EXPECT_TRUE(RunCase(GetParam(), ReadAndPrint)); }
INSTANTIATE_TEST_SUITE_P(, ReadCases, testing::ValuesIn(CasesOf(FOOTPRINT_SOURCE_DIR, "read")),
                         CaseName);

// --- Memory ---

TEST(ModelBytes, AreReadAsTheFileOfTheirName) {
  const std::string text = "<ir_version: 8, opset_import: [\"\" : 17]> g () => () {}";
  DiagnosticSink sink;
  const auto from_text = ReadModelBytes(text, "m.onnxtxt", sink);
  ASSERT_TRUE(from_text) << PrintDiagnostics(sink.all());
  const std::string binary = from_text->model.SerializeAsString();
  const auto from_binary = ReadModelBytes(binary, "-", sink);
  ASSERT_TRUE(from_binary) << PrintDiagnostics(sink.all());
  EXPECT_EQ(from_binary->model.SerializeAsString(), binary);
  EXPECT_EQ(from_binary->file_bytes, static_cast<int64_t>(binary.size()));
  EXPECT_EQ(from_binary->path, "-");
}

TEST(ModelBytes, ThatAreNoModel) {
  for (const auto& [bytes, message] : {std::pair("", "the file is empty"),
                                       std::pair("PK\x03\x04", "this is a zip archive")}) {
    DiagnosticSink sink;
    EXPECT_FALSE(ReadModelBytes(bytes, "-", sink));
    EXPECT_NE(PrintDiagnostics(sink.all()).find(message), std::string::npos);
  }
}

// --- Files ---

class ModelFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "footprint-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return (folder_ / name).string();
  }
  std::optional<ModelFile> Read(const std::string& path) {
    DiagnosticSink sink;
    auto file = ReadModelFile(path, sink);
    EXPECT_EQ(file.has_value(), !sink.has_errors());
    diagnostics_ = sink.Take();
    return file;
  }
  // The only diagnostic of reading `bytes`.
  std::string ErrorOf(const std::string& name, const std::string& bytes) {
    Read(Write(name, bytes));
    EXPECT_EQ(diagnostics_.size(), 1U);
    if (diagnostics_.empty()) return "";
    EXPECT_EQ(diagnostics_[0].blame, Blame::kModel);
    return ToString(diagnostics_[0]);
  }

  fs::path folder_;
  std::vector<Diagnostic> diagnostics_;
};

TensorProto* AddExternal(ModelProto* model, const std::string& name, int type,
                         const std::vector<int64_t>& dims, const std::string& location) {
  TensorProto* tensor = model->mutable_graph()->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(type);
  for (const int64_t dim : dims) tensor->add_dims(dim);
  tensor->set_data_location(TensorProto::EXTERNAL);
  auto* entry = tensor->add_external_data();
  entry->set_key("location");
  entry->set_value(location);
  return tensor;
}

TEST_F(ModelFileTest, WhatCannotBeOpenedIsTheUsersFault) {
  const struct {
    std::string path;
    std::string message;
  } cases[] = {
      {(folder_ / "absent.onnx").string(), "error: cannot be opened: No such file or directory"},
      {"", "error: cannot be opened: No such file or directory"},
      {folder_.string(), "error: is a folder; give a file in it"},
      {Write("file", "x") + "/model.onnx", "error: cannot be opened: Not a directory"}};
  for (const auto& [path, message] : cases) {
    Read(path);
    ASSERT_EQ(diagnostics_.size(), 1U);
    EXPECT_EQ(ToString(diagnostics_[0]), message);
    EXPECT_EQ(diagnostics_[0].blame, Blame::kUsage);
  }
}

TEST_F(ModelFileTest, OtherFilesAreRecognized) {
  EXPECT_EQ(ErrorOf("m.onnx", ""), "error: the file is empty");
  EXPECT_EQ(ErrorOf("m.onnx", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n"),
            "error: this is a Git LFS pointer, not the model: run 'git lfs pull'");
  EXPECT_EQ(ErrorOf("m.onnx", "<!DOCTYPE html><html></html>"),
            "error: this is an HTML page: the download got a web page instead of the file");
  EXPECT_EQ(ErrorOf("m.onnx", std::string("PK\x03\x04\x14\0\0\0", 8)),
            "error: this is a zip archive (PyTorch's .pt and .npz are such): export the model to "
            "ONNX, or unpack it");
  EXPECT_EQ(ErrorOf("m.onnx", std::string("\x10\x01\0\0\0\0\0\0{\"a\":{}}", 16)),
            "error: this is a safetensors file: it has weights and no graph; export the model to "
            "ONNX");
  EXPECT_EQ(ErrorOf("m.onnx", "{\"a\": 1}"), "error: this is JSON");
}

TEST_F(ModelFileTest, AModelThatOnlyLooksLikeSomethingElseIsRead) {
  ModelProto model;
  model.set_ir_version(8);
  model.set_producer_name("TFL3");  // at byte 4, where TensorFlow Lite has its mark
  model.mutable_graph()->set_name("g");
  EXPECT_TRUE(Read(Write("m.onnx", model.SerializeAsString())));
}

TEST_F(ModelFileTest, AModelNeedsAGraph) {
  ModelProto model;
  model.set_ir_version(8);
  EXPECT_EQ(ErrorOf("m.onnx", model.SerializeAsString()),
            "error: there is no graph: this is no ONNX model, or an empty one");
  TensorProto tensor;
  tensor.add_dims(2);
  tensor.set_data_type(TensorProto::FLOAT);
  tensor.set_raw_data("12345678");
  EXPECT_EQ(
      ErrorOf("input_0.pb", tensor.SerializeAsString()),
      "error: at byte 2: producer_name has wire type 0 instead of 2: this is no ONNX model, or "
      "a damaged one");
}

TEST_F(ModelFileTest, TextIsHeldToTheSameRules) {
  const std::string text = R"(<ir_version: 8, opset_import: ["": 17]>
agraph (float[N] x) => (float[N] y) <int64[3] s = {1, 2, 3}> { y = Relu(x) })";
  const auto file = Read(Write("m.onnxtxt", text));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->model.graph().initializer(0).int64_data_size(), 3);
  EXPECT_EQ(file->PayloadOf(file->model.graph().initializer(0))->entries, 3);
  EXPECT_EQ(file->file_bytes, static_cast<int64_t>(text.size()));
  EXPECT_EQ(
      ErrorOf("m.onnxtxt", "agraph (float[N] x) => (float[N] y) { y = Relu(x }"),
      "error: line 1, column 50: Expected character ) not found.");
  EXPECT_EQ(ErrorOf("m.onnxtxt", text + "\n}"),
            "error: line 3, column 1: Identifier expected but not found.");

  const auto proto = Read(Write("m.textproto",
                                "graph { initializer { name: 'w' data_type: 1 "
                                "dims: 2 float_data: [1, 2] } }"));
  ASSERT_TRUE(proto);
  EXPECT_EQ(proto->PayloadOf(proto->model.graph().initializer(0))->stored_bytes, 8);
  EXPECT_EQ(ErrorOf("m.pbtxt", "graph {\n  nodes { }\n}"),
            "error: line 2, column 9: Message type \"onnx.GraphProto\" has no field named "
            "\"nodes\".");
  EXPECT_EQ(ErrorOf("m.txtpb", "graph { initializer { data_type: 1 dims: 2 float_data: 1 } }"),
            "error: initializer: float32[2] needs 2 values in float_data, there are 1: the file is "
            "damaged");
}

TEST_F(ModelFileTest, DeeplyNestedTextIsRefused) {
  std::string onnx = "agraph () => () {";
  std::string proto = "graph {";
  for (int i = 0; i < 100000; ++i) {
    onnx += "y = If (x) <then_branch = g () => () {";
    proto += "node { attribute { g {";
  }
  EXPECT_EQ(ErrorOf("m.onnxtxt", onnx), "error: brackets are nested more than 100 deep");
  EXPECT_NE(ErrorOf("m.textproto", proto).find("too deep"), std::string::npos);
  // Brackets that the parser does not see do not count.
  EXPECT_TRUE(Read(Write("m.onnxtxt", "agraph () => () { # " + std::string(200, '(') +
                                          "\n y = Constant <value_string = \"\\\"" +
                                          std::string(200, '{') + "\"> () }")));
  EXPECT_EQ(ErrorOf("m.onnxtxt", "agraph () => () { y = Constant <value_string = \"" +
                                     std::string(200, '}') + "\", a = " + std::string(101, '[')),
            "error: brackets are nested more than 100 deep");
}

TEST_F(ModelFileTest, StandardInputHasNoFolder) {
  ModelProto model;
  AddExternal(&model, "w", TensorProto::FLOAT, {4}, "w.bin");
  Write("w.bin", std::string(16, 'x'));
  const std::string path = Write("m.onnx", model.SerializeAsString());
  const int saved = dup(STDIN_FILENO);
  const int file = open(path.c_str(), O_RDONLY);
  dup2(file, STDIN_FILENO);
  const auto read = Read("-");
  if (saved >= 0) dup2(saved, STDIN_FILENO);
  close(saved);
  close(file);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->path, "-");
  ASSERT_EQ(diagnostics_.size(), 1U);
  EXPECT_EQ(diagnostics_[0].kind, "external-data-missing");
  EXPECT_FALSE(read->PayloadOf(read->model.graph().initializer(0))->verified);
}

TEST_F(ModelFileTest, SmallExternalIntegersAreReadIntoTheModel) {
  ModelProto model;
  AddExternal(&model, "sizes", TensorProto::INT64, {3}, "data.bin");
  TensorProto* weight = AddExternal(&model, "w", TensorProto::FLOAT, {2}, "data.bin");
  auto* offset = weight->add_external_data();
  offset->set_key("offset");
  offset->set_value("24");
  const std::string path = Write("m.onnx", model.SerializeAsString());
  const std::string sizes = std::string("\x20\0\0\0\0\0\0\0", 8) +
                            std::string("\x20\0\0\0\0\0\0\0", 8) +
                            std::string("\x80\0\0\0\0\0\0\0", 8);
  {
    const auto file = Read(path);
    ASSERT_TRUE(file);
    EXPECT_EQ(diagnostics_.size(), 1U);
    const TensorProto& tensor = file->model.graph().initializer(0);
    EXPECT_EQ(tensor.data_location(), TensorProto::EXTERNAL);
    EXPECT_FALSE(file->PayloadOf(tensor)->kept);
    EXPECT_FALSE(file->PayloadOf(tensor)->verified);
    EXPECT_EQ(file->PayloadOf(tensor)->stored_bytes, 24);
  }
  Write("data.bin", sizes + "12345678");
  const auto file = Read(path);
  ASSERT_TRUE(file);
  EXPECT_TRUE(diagnostics_.empty());
  const TensorProto& tensor = file->model.graph().initializer(0);
  EXPECT_EQ(tensor.raw_data(), sizes);
  EXPECT_EQ(tensor.data_location(), TensorProto::DEFAULT);
  EXPECT_EQ(file->PayloadOf(tensor)->field, PayloadField::kExternal);
  EXPECT_TRUE(file->PayloadOf(tensor)->kept);
  const Payload* kept_out = file->PayloadOf(file->model.graph().initializer(1));
  EXPECT_FALSE(kept_out->kept);
  EXPECT_TRUE(kept_out->verified);
}

TEST_F(ModelFileTest, BeyondTwoGibibytes) {
  ModelProto model;
  AddExternal(&model, "w", TensorProto::FLOAT, {1, 536871424}, "w.bin");
  const std::string path = Write("m.onnx", model.SerializeAsString());
  for (const bool present : {false, true}) {
    if (present) fs::resize_file(Write("w.bin", ""), 2147485696);
    const auto file = Read(path);
    ASSERT_TRUE(file);
    const Payload* payload = file->PayloadOf(file->model.graph().initializer(0));
    EXPECT_EQ(payload->stored_bytes, 2147485696);
    EXPECT_EQ(payload->verified, present);
  }
}

// 12 GiB of weights in a file that has holes in their place.
TEST_F(ModelFileTest, InlineWeightsMayBeLargerThanMemory) {
  const uint64_t bytes = uint64_t{12} << 30;
  const auto varint = [](uint64_t value) {
    std::string text;
    for (; value >= 0x80; value >>= 7) text += static_cast<char>(value | 0x80);
    return text + static_cast<char>(value);
  };
  const std::string dims = "\x08" + varint(bytes / 4);
  // dims, data_type: FLOAT, name: "w", raw_data
  const std::string tensor = dims + "\x10\x01\x42\x01w\x4a" + varint(bytes);
  const std::string graph = "\x2a" + varint(tensor.size() + bytes);
  const std::string start = "\x3a" + varint(graph.size() + tensor.size() + bytes) + graph + tensor;
  const std::string path = Write("m.onnx", start);
  fs::resize_file(path, start.size() + bytes);
  const auto file = Read(path);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->payloads[0].stored_bytes, static_cast<int64_t>(bytes));
  EXPECT_EQ(file->file_bytes, static_cast<int64_t>(start.size() + bytes));
  fs::resize_file(path, start.size() + bytes - 1);
  EXPECT_FALSE(Read(path));
  EXPECT_EQ(
      ToString(diagnostics_.at(0)),
      "error: at byte 0: graph needs 12884901911 bytes, the file has 12884901910 left: copy or "
      "download it again");
}

}  // namespace
}  // namespace footprint
