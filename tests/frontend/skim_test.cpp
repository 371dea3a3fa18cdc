#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "onnx/onnx_pb.h"
#include "tests/frontend/skim_testing.h"

namespace footprint {
namespace {

using ONNX_NAMESPACE::AttributeProto;
using ONNX_NAMESPACE::GraphProto;
using ONNX_NAMESPACE::ModelProto;
using ONNX_NAMESPACE::NodeProto;
using ONNX_NAMESPACE::SparseTensorProto;
using ONNX_NAMESPACE::TensorProto;
using skim_testing::Bytes;
using skim_testing::ModelWith;
using skim_testing::Number;
using skim_testing::RawTensor;
using skim_testing::Result;
using skim_testing::SkimBytes;
using skim_testing::SkimModel;
using skim_testing::SkimTensor;
using skim_testing::Tag;
using skim_testing::Tensor;
using skim_testing::Varint;

TEST(Skim, KeepsFloatsUpToAKibibyte) {
  const Result kept = SkimTensor(RawTensor(TensorProto::FLOAT, {256}, 1024));
  EXPECT_EQ(kept.tensor().raw_data().size(), 1024U);
  EXPECT_TRUE(kept.payload(0).kept);
  const Result left_out = SkimTensor(RawTensor(TensorProto::FLOAT, {257}, 1028));
  EXPECT_FALSE(left_out.tensor().has_raw_data());
  EXPECT_FALSE(left_out.payload(0).kept);
  EXPECT_TRUE(left_out.payload(0).verified);
  EXPECT_EQ(left_out.payload(0).field, PayloadField::kRawData);
  EXPECT_EQ(left_out.payload(0).stored_bytes, 1028);
  EXPECT_EQ(left_out.payload(0).entries, 257);
  EXPECT_EQ(left_out.tensor().name(), "w");
  EXPECT_EQ(left_out.tensor().dims(0), 257);
}

TEST(Skim, KeepsIntegersUpTo4096Elements) {
  const struct {
    int type;
    int bits;
  } integers[] = {{TensorProto::INT64, 64}, {TensorProto::UINT32, 32}, {TensorProto::INT16, 16},
                  {TensorProto::BOOL, 8},   {TensorProto::UINT8, 8},   {TensorProto::INT4, 4},
                  {TensorProto::UINT2, 2}};
  for (const auto& [type, bits] : integers) {
    for (const int64_t elements : {4096, 4104}) {
      const auto bytes = static_cast<size_t>(elements * bits / 8);
      const Result result = SkimTensor(RawTensor(type, {elements}, bytes));
      ASSERT_EQ(result.Error(), "");
      EXPECT_EQ(result.payload(0).kept, elements == 4096) << type;
      EXPECT_EQ(result.tensor().raw_data().size(), elements == 4096 ? bytes : 0) << type;
    }
  }
}

TEST(Skim, EveryFloatingTypeIsMeasuredInItsOwnWidth) {
  const struct {
    int type;
    size_t bytes;  // of 1,000 elements
  } floats[] = {{TensorProto::FLOAT, 4000},        {TensorProto::DOUBLE, 8000},
                {TensorProto::FLOAT16, 2000},      {TensorProto::BFLOAT16, 2000},
                {TensorProto::COMPLEX64, 8000},    {TensorProto::COMPLEX128, 16000},
                {TensorProto::FLOAT8E4M3FN, 1000}, {TensorProto::FLOAT8E8M0, 1000},
                {TensorProto::FLOAT4E2M1, 500},    {TensorProto::FLOAT6E2M3, 750}};
  for (const auto& [type, bytes] : floats) {
    EXPECT_EQ(SkimTensor(RawTensor(type, {10, 100}, bytes)).Error(), "") << type;
    EXPECT_NE(SkimTensor(RawTensor(type, {10, 100}, bytes - 1)).Error(), "") << type;
    EXPECT_NE(SkimTensor(RawTensor(type, {10, 100}, bytes + 1)).Error(), "") << type;
  }
}

TEST(Skim, EveryFieldCanHoldAPayload) {
  TensorProto floats = Tensor(TensorProto::FLOAT, {300});
  TensorProto complexes = Tensor(TensorProto::COMPLEX64, {150});
  TensorProto doubles = Tensor(TensorProto::DOUBLE, {300});
  TensorProto halves = Tensor(TensorProto::BFLOAT16, {600});
  TensorProto longs = Tensor(TensorProto::INT64, {5000});
  TensorProto unsigneds = Tensor(TensorProto::UINT32, {5000});
  TensorProto nibbles = Tensor(TensorProto::INT4, {9001});
  TensorProto strings = Tensor(TensorProto::STRING, {200});
  for (int i = 0; i < 300; ++i) {
    floats.add_float_data(1);
    complexes.add_float_data(1);
    doubles.add_double_data(1);
  }
  for (int i = 0; i < 600; ++i) halves.add_int32_data(300);
  for (int i = 0; i < 5000; ++i) {
    longs.add_int64_data(-1);
    unsigneds.add_uint64_data(1);
  }
  for (int i = 0; i < 4501; ++i) nibbles.add_int32_data(7);
  for (int i = 0; i < 200; ++i) strings.add_string_data("abcdefgh");
  const struct {
    TensorProto tensor;
    PayloadField field;
    int64_t stored_bytes;
    int64_t entries;
  } cases[] = {{floats, PayloadField::kFloatData, 1200, 300},
               {complexes, PayloadField::kFloatData, 1200, 300},
               {doubles, PayloadField::kDoubleData, 2400, 300},
               {halves, PayloadField::kInt32Data, 1200, -1},
               {longs, PayloadField::kInt64Data, 50000, -1},
               {unsigneds, PayloadField::kUint64Data, 5000, 5000},
               {nibbles, PayloadField::kInt32Data, 4501, 4501},
               {strings, PayloadField::kStringData, 1600, 200}};
  for (const auto& [tensor, field, stored_bytes, entries] : cases) {
    const Result result = SkimTensor(tensor);
    ASSERT_EQ(result.Error(), "");
    EXPECT_EQ(result.payload(0).field, field);
    EXPECT_EQ(result.payload(0).stored_bytes, stored_bytes) << static_cast<int>(field);
    EXPECT_EQ(result.payload(0).entries, entries) << static_cast<int>(field);
    EXPECT_FALSE(result.payload(0).kept);
    EXPECT_LT(result.tensor().ByteSizeLong(), 20U);
  }
}

TEST(Skim, LooksIntoEveryPlaceATensorCanBe) {
  const TensorProto tensor = RawTensor(TensorProto::FLOAT, {300}, 1200);
  const auto constant = [&](NodeProto* node) { *node->add_attribute()->mutable_t() = tensor; };
  ModelProto model;
  GraphProto* graph = model.mutable_graph();
  *graph->add_initializer() = tensor;
  SparseTensorProto* sparse = graph->add_sparse_initializer();
  *sparse->mutable_values() = tensor;
  *sparse->mutable_indices() = RawTensor(TensorProto::INT64, {300}, 2400);
  sparse->add_dims(1000);
  NodeProto* node = graph->add_node();
  constant(node);
  *node->add_attribute()->add_tensors() = tensor;
  *node->add_attribute()->mutable_sparse_tensor() = *sparse;
  *node->add_attribute()->add_sparse_tensors() = *sparse;
  constant(node->add_attribute()->mutable_g()->add_node());
  *node->add_attribute()->add_graphs()->add_initializer() = tensor;
  constant(model.add_functions()->add_node());
  *model.mutable_functions(0)->add_attribute_proto()->mutable_t() = tensor;
  *model.add_training_info()->mutable_algorithm()->add_initializer() = tensor;
  *model.mutable_training_info(0)->mutable_initialization()->add_initializer() = tensor;

  const Result result = SkimModel(model);
  ASSERT_EQ(result.Error(), "");
  EXPECT_EQ(result.skimmed->payloads.size(), 15U);
  int64_t left_out = 0;
  for (const Payload& payload : result.skimmed->payloads) left_out += !payload.kept;
  EXPECT_EQ(left_out, 12);
  EXPECT_EQ(result.skimmed->bytes.find(std::string(300, '\x01')),
            result.skimmed->bytes.find(
                std::string(2400, '\x01')));  // nothing but the indices is left of the payloads
}

TEST(Skim, EachTensorPointsToItsOwnPayload) {
  ModelProto model;
  for (int i = 0; i < 5; ++i) {
    const int64_t elements = 300 + i;
    *model.mutable_graph()->add_initializer() =
        RawTensor(TensorProto::FLOAT, {elements}, static_cast<size_t>(4 * elements));
  }
  const Result result = SkimModel(model);
  for (const TensorProto& tensor : result.model.graph().initializer()) {
    ASSERT_EQ(tensor.unknown_fields().field_count(), 1);
    const auto& field = tensor.unknown_fields().field(0);
    EXPECT_EQ(field.number(), kPayloadIndexField);
    EXPECT_EQ(result.payload(field.varint()).stored_bytes, 4 * tensor.dims(0));
  }
}

TEST(Skim, AFileCannotForgeThePayloadIndex) {
  const std::string tensor = Number(kPayloadIndexField, 17) + Number(1, 1) + Number(2, 1) +
                             Bytes(9, "abcd") + Number(kPayloadIndexField, 99);
  const Result result = SkimBytes(ModelWith(tensor));
  ASSERT_EQ(result.tensor().unknown_fields().field_count(), 1);
  EXPECT_EQ(result.tensor().unknown_fields().field(0).varint(), 0U);
}

TEST(Skim, FieldsMayComeInAnyOrder) {
  const std::string large(2048, 'x');
  const std::string name = Bytes(8, "w");
  const Result floats =
      SkimBytes(ModelWith(Bytes(9, large) + name + Number(2, 1) + Number(1, 512)));
  EXPECT_EQ(floats.Error(), "");
  EXPECT_FALSE(floats.payload(0).kept);
  EXPECT_FALSE(floats.tensor().has_raw_data());
  const Result integers =
      SkimBytes(ModelWith(Bytes(9, large) + name + Number(2, 7) + Number(1, 256)));
  EXPECT_TRUE(integers.payload(0).kept);
  EXPECT_EQ(integers.tensor().raw_data(), large);
}

TEST(Skim, PackedUnpackedAndMixedListsAreOneList) {
  const std::string header = Number(1, 5) + Number(2, 7);
  const std::string mixed = Number(7, 1) + Bytes(7, Varint(2) + Varint(300)) + Number(7, 4) +
                            Bytes(7, "") + Bytes(7, Varint(uint64_t{0} - 5));
  const Result result = SkimBytes(ModelWith(header + mixed));
  ASSERT_EQ(result.Error(), "");
  EXPECT_EQ(result.payload(0).entries, 5);
  EXPECT_EQ(result.payload(0).stored_bytes, 1 + 1 + 2 + 1 + 10);
  EXPECT_EQ(std::vector<int64_t>(result.tensor().int64_data().begin(),
                                 result.tensor().int64_data().end()),
            (std::vector<int64_t>{1, 2, 300, 4, -5}));
  std::string unpacked = Number(1, 5000) + Number(2, 1);
  for (int i = 0; i < 5000; ++i) unpacked += Tag(4, 5) + "abcd";
  const Result floats = SkimBytes(ModelWith(unpacked));
  ASSERT_EQ(floats.Error(), "");
  EXPECT_EQ(floats.payload(0).entries, 5000);
  EXPECT_EQ(floats.payload(0).stored_bytes, 20000);
  EXPECT_EQ(floats.tensor().float_data_size(), 0);
  EXPECT_LT(floats.skimmed->bytes.size(), 50U);
}

TEST(Skim, PackedDimsCount) {
  const Result result = SkimBytes(ModelWith(Bytes(1, Varint(2) + Varint(300)) + Number(2, 1) +
                                            Bytes(9, std::string(2400, 'x'))));
  EXPECT_EQ(result.Error(), "");
  EXPECT_EQ(result.payload(0).entries, 600);
}

TEST(Skim, LongListsOfAttributesAreLeftOutAndCounted) {
  ModelProto model;
  NodeProto* node = model.mutable_graph()->add_node();
  AttributeProto* floats = node->add_attribute();
  AttributeProto* ints = node->add_attribute();
  AttributeProto* strings = node->add_attribute();
  AttributeProto* blob = node->add_attribute();
  AttributeProto* small = node->add_attribute();
  for (int i = 0; i < 5000; ++i) {
    floats->add_floats(1);
    ints->add_ints(3);
    strings->add_strings("");
  }
  blob->set_s(std::string(100000, 'x'));
  for (int i = 0; i < 4096; ++i) small->add_ints(-1);
  const Result result = SkimModel(model);
  ASSERT_EQ(result.Error(), "");
  EXPECT_LT(result.skimmed->bytes.size(), small->ByteSizeLong() + 200);
  const NodeProto& left = result.model.graph().node(0);
  EXPECT_EQ(left.attribute(4).ints_size(), 4096);
  EXPECT_EQ(left.attribute(4).unknown_fields().field_count(), 0);
  ASSERT_EQ(result.skimmed->payloads.size(), 4U);
  EXPECT_EQ(result.payload(0).field, PayloadField::kAttributeFloats);
  EXPECT_EQ(result.payload(0).stored_bytes, 20000);
  EXPECT_EQ(result.payload(0).entries, 5000);
  EXPECT_EQ(result.payload(1).field, PayloadField::kAttributeInts);
  EXPECT_EQ(result.payload(1).entries, 5000);
  EXPECT_EQ(result.payload(2).field, PayloadField::kAttributeStrings);
  EXPECT_EQ(result.payload(2).entries, 5000);
  EXPECT_EQ(result.payload(2).stored_bytes, 0);
  EXPECT_EQ(result.payload(3).field, PayloadField::kAttributeString);
  EXPECT_EQ(result.payload(3).stored_bytes, 100000);
  EXPECT_EQ(left.attribute(3).unknown_fields().field(0).varint(), 3U);
}

TEST(Skim, FieldsThatOnnxDoesNotDefineAreLeftOut) {
  const std::string unknown = Bytes(31, std::string(5000, 'x')) + Number(2000, 1) + Tag(30, 1) +
                              "12345678" + Tag(30, 5) + "1234";
  const Result result = SkimBytes(Bytes(7, unknown + Bytes(2, "g")) + unknown);
  ASSERT_EQ(result.Error(), "");
  EXPECT_EQ(result.model.graph().name(), "g");
  EXPECT_LT(result.skimmed->bytes.size(), 20U);
}

TEST(Skim, TensorsWithoutContentsAreOneWarning) {
  ModelProto model;
  *model.mutable_graph()->add_initializer() = Tensor(TensorProto::FLOAT, {1000});
  *model.mutable_graph()->add_initializer() = Tensor(TensorProto::FLOAT, {1000});
  *model.mutable_graph()->add_initializer() = Tensor(TensorProto::FLOAT, {0});
  const Result result = SkimModel(model);
  ASSERT_EQ(result.diagnostics.size(), 1U);
  EXPECT_EQ(ToString(result.diagnostics[0]),
            "warning: initializer w: the file holds no values for this tensor and 1 more; bytes "
            "come from type and dims and are not verified");
  EXPECT_FALSE(result.payload(0).verified);
  EXPECT_FALSE(result.payload(0).kept);
  EXPECT_TRUE(result.payload(2).verified);
  EXPECT_TRUE(result.payload(2).kept);
}

}  // namespace
}  // namespace footprint
