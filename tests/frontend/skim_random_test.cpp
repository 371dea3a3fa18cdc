#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <random>
#include <string>

#include "gtest/gtest.h"
#include "onnx/onnx_pb.h"
#include "tests/frontend/skim_testing.h"

namespace footprint {
namespace {

using ONNX_NAMESPACE::AttributeProto;
using ONNX_NAMESPACE::GraphProto;
using ONNX_NAMESPACE::ModelProto;
using ONNX_NAMESPACE::NodeProto;
using ONNX_NAMESPACE::TensorProto;
using skim_testing::Bytes;
using skim_testing::Number;
using skim_testing::Result;
using skim_testing::SkimBytes;
using skim_testing::SkimModel;
using skim_testing::SkimPipe;
using skim_testing::Tag;
using skim_testing::Varint;

class RandomModels {
 public:
  explicit RandomModels(uint32_t seed) : random_(seed) {}

  ModelProto Model() {
    ModelProto model;
    model.set_ir_version(8);
    model.set_producer_name("p");
    model.add_opset_import()->set_version(Below(20));
    FillGraph(model.mutable_graph(), 3);
    for (int i = Below(2); i > 0; --i) FillNode(model.add_functions()->add_node(), 2);
    if (Below(4) == 0) FillGraph(model.add_training_info()->mutable_algorithm(), 1);
    return model;
  }
  int Below(int limit) { return static_cast<int>(random_() % static_cast<uint32_t>(limit)); }

 private:
  std::string Name() { return std::string(static_cast<size_t>(Below(12)), 'n'); }

  void FillTensor(TensorProto* tensor) {
    const int elements = Below(20);
    tensor->add_dims(elements);
    if (Below(2) == 0) tensor->add_dims(1);
    tensor->set_name(Name());
    switch (Below(5)) {
      case 0:
        tensor->set_data_type(TensorProto::FLOAT);
        tensor->set_raw_data(std::string(static_cast<size_t>(4 * elements), 'x'));
        break;
      case 1:
        tensor->set_data_type(TensorProto::INT64);
        for (int i = 0; i < elements; ++i) {
          tensor->add_int64_data(static_cast<int64_t>(random_()) << Below(40));
        }
        break;
      case 2:
        tensor->set_data_type(TensorProto::FLOAT16);
        for (int i = 0; i < elements; ++i) tensor->add_int32_data(-Below(70000));
        break;
      case 3:
        tensor->set_data_type(TensorProto::STRING);
        for (int i = 0; i < elements; ++i) tensor->add_string_data(Name());
        break;
      default:
        tensor->set_data_type(TensorProto::COMPLEX128);
        for (int i = 0; i < 2 * elements; ++i) tensor->add_double_data(i);
    }
    if (Below(3) == 0) tensor->add_metadata_props()->set_key(Name());
  }

  void FillAttribute(AttributeProto* attribute, int depth) {
    attribute->set_name(Name());
    switch (Below(depth > 0 ? 9 : 7)) {
      case 0:
        attribute->set_f(1.5F);
        break;
      case 1:
        for (int i = Below(20); i > 0; --i) attribute->add_floats(1.5F);
        break;
      case 2:
        for (int i = Below(20); i > 0; --i) attribute->add_ints(-i);
        break;
      case 3:
        for (int i = Below(20); i > 0; --i) attribute->add_strings(Name());
        break;
      case 4:
        FillTensor(attribute->mutable_t());
        break;
      case 5:
        attribute->set_s(Name());
        break;
      case 6:
        attribute->mutable_tp()->mutable_sequence_type()->mutable_elem_type()->set_denotation("d");
        break;
      case 7:
        FillGraph(attribute->mutable_g(), depth - 1);
        break;
      default:
        for (int i = Below(3); i > 0; --i) FillGraph(attribute->add_graphs(), depth - 1);
    }
  }

  void FillNode(NodeProto* node, int depth) {
    node->set_op_type("Op");
    node->set_name(Name());
    for (int i = Below(3); i > 0; --i) node->add_input(Name());
    node->add_output(Name());
    for (int i = Below(3); i > 0; --i) FillAttribute(node->add_attribute(), depth);
  }

  void FillGraph(GraphProto* graph, int depth) {
    graph->set_name(Name());
    for (int i = Below(4); i > 0; --i) FillNode(graph->add_node(), depth);
    for (int i = Below(3); i > 0; --i) FillTensor(graph->add_initializer());
    auto* dim =
        graph->add_input()->mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim();
    dim->set_dim_param(Name());
  }

  std::mt19937 random_;
};

// The text of a model without the payload indices.
std::string TextWithout(ModelProto model) {
  model.DiscardUnknownFields();
  return model.DebugString();
}

TEST(SkimRandom, SmallModelsComeThroughUnchanged) {
  RandomModels random(1);
  for (int i = 0; i < 400; ++i) {
    const ModelProto model = random.Model();
    const Result result = SkimModel(model);
    ASSERT_EQ(result.Error(), "");
    ASSERT_EQ(TextWithout(result.model), model.DebugString());
  }
}

TEST(SkimRandom, PrefixesEitherParseOrFailWithOneMessage) {
  RandomModels random(2);
  for (int i = 0; i < 10; ++i) {
    const std::string bytes = random.Model().SerializeAsString();
    for (size_t size = 0; size < bytes.size(); ++size) {
      const std::string prefix = bytes.substr(0, size);
      ModelProto plain;
      const Result result = SkimBytes(prefix);
      EXPECT_EQ(result.skimmed.has_value(), plain.ParseFromString(prefix));
      if (!result.skimmed) {
        EXPECT_EQ(result.diagnostics.size(), 1U);
      }
    }
  }
}

TEST(SkimRandom, FlippedBitsNeverGiveWhatProtobufRefuses) {
  RandomModels random(3);
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = random.Model().SerializeAsString();
    for (int flips = 1 + random.Below(4); flips > 0; --flips) {
      char& byte = bytes[static_cast<size_t>(random.Below(static_cast<int>(bytes.size())))];
      byte = static_cast<char>(byte ^ (1 << random.Below(8)));
    }
    ModelProto plain;
    const Result result = SkimBytes(bytes);  // checks that the result parses
    if (result.skimmed) {
      EXPECT_TRUE(plain.ParseFromString(bytes));
    }
  }
}

// --- Pipes ---

void WriteAll(int fd, const std::string& bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t part = write(fd, bytes.data() + done, bytes.size() - done);
    if (part <= 0) return;
    done += static_cast<size_t>(part);
  }
}

TEST(SkimPipes, GivesWhatMemoryGives) {
  RandomModels random(4);
  for (int i = 0; i < 50; ++i) {
    const std::string bytes = random.Model().SerializeAsString();
    const Result piped = SkimPipe([&](int fd) {
      for (const char byte : bytes) WriteAll(fd, std::string(1, byte));
    });
    ASSERT_TRUE(piped.skimmed.has_value());
    EXPECT_EQ(piped.skimmed->bytes, SkimBytes(bytes).skimmed->bytes);
  }
}

TEST(SkimPipes, TruncationSaysWhere) {
  const std::string tensor = Bytes(8, "w") + Tag(9, 2) + Varint(4000);
  const std::string graph = Tag(5, 2) + Varint(tensor.size() + 4000);
  EXPECT_EQ(
      SkimPipe([&](int fd) { WriteAll(fd, Tag(7, 2) + Varint(9000) + graph + tensor); }).Error(),
      "error: initializer w: at byte 9: the input ends in the middle of the model: copy or "
      "download it again");
}

TEST(SkimPipes, LargePayloadsTakeNoMemory) {
  constexpr int kMebibytes = 256;
  const std::string mebibyte(1 << 20, 'x');
  const std::string tensor =
      Number(1, kMebibytes << 18) + Number(2, 1) + Tag(9, 2) + Varint(kMebibytes << 20);
  const uint64_t tensor_size = tensor.size() + (uint64_t{kMebibytes} << 20);
  const std::string graph = Tag(5, 2) + Varint(tensor_size);
  struct rusage before{};
  getrusage(RUSAGE_SELF, &before);
  const Result result = SkimPipe([&](int fd) {
    WriteAll(fd, Tag(7, 2) + Varint(graph.size() + tensor_size) + graph + tensor);
    for (int i = 0; i < kMebibytes; ++i) WriteAll(fd, mebibyte);
  });
  struct rusage after{};
  getrusage(RUSAGE_SELF, &after);
  ASSERT_EQ(result.Error(), "");
  EXPECT_EQ(result.payload(0).stored_bytes, int64_t{kMebibytes} << 20);
  EXPECT_LT(result.skimmed->bytes.size(), 50U);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 16 << 10) << "KiB";
}

}  // namespace
}  // namespace footprint
