#include "frontend/skim.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "onnx/onnx_pb.h"

namespace footprint {
namespace {

using ONNX_NAMESPACE::AttributeProto;
using ONNX_NAMESPACE::GraphProto;
using ONNX_NAMESPACE::ModelProto;
using ONNX_NAMESPACE::NodeProto;
using ONNX_NAMESPACE::SparseTensorProto;
using ONNX_NAMESPACE::TensorProto;

// --- Wire bytes by hand ----------------------------------------------------------------------------

std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
std::string Tag(int field, int wire) { return Varint(static_cast<uint64_t>(field) << 3 | wire); }
std::string Number(int field, uint64_t value) { return Tag(field, 0) + Varint(value); }
std::string Bytes(int field, const std::string& body) {
  return Tag(field, 2) + Varint(body.size()) + body;
}
// A model whose graph has one initializer with these bytes.
std::string ModelWith(const std::string& tensor) { return Bytes(7, Bytes(5, tensor)); }

// --- Skims and what they give ----------------------------------------------------------------------

struct Result {
  std::optional<Skimmed> skimmed;
  ModelProto model;
  std::vector<Diagnostic> diagnostics;

  std::string Error() const {
    for (const Diagnostic& diagnostic : diagnostics) {
      if (diagnostic.severity == Severity::kError) return ToString(diagnostic);
    }
    return "";
  }
  const Payload& payload(size_t i) const { return skimmed->payloads.at(i); }
  const TensorProto& tensor() const { return model.graph().initializer(0); }
};

Result SkimInputOf(SkimInput& input) {
  Result result;
  DiagnosticSink sink;
  ExternalData external(std::nullopt);
  result.skimmed = Skim(input, external, sink);
  EXPECT_EQ(result.skimmed.has_value(), !sink.has_errors());
  result.diagnostics = sink.Take();
  if (result.skimmed) {
    EXPECT_TRUE(result.model.ParseFromString(result.skimmed->bytes));
  }
  return result;
}

Result SkimBytes(const std::string& bytes) {
  SkimInput input{absl::string_view(bytes)};
  return SkimInputOf(input);
}
Result SkimModel(const ModelProto& model) { return SkimBytes(model.SerializeAsString()); }
Result SkimTensor(const TensorProto& tensor) {
  ModelProto model;
  *model.mutable_graph()->add_initializer() = tensor;
  return SkimModel(model);
}

// The bytes that `write` sends through a pipe.
Result SkimPipe(const std::function<void(int)>& write) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  std::thread writer([&] {
    write(ends[1]);
    close(ends[1]);
  });
  SkimInput input(ends[0]);
  Result result = SkimInputOf(input);
  writer.join();
  close(ends[0]);
  return result;
}

TensorProto Tensor(int type, const std::vector<int64_t>& dims) {
  TensorProto tensor;
  tensor.set_data_type(type);
  tensor.set_name("w");
  for (const int64_t dim : dims) tensor.add_dims(dim);
  return tensor;
}
TensorProto RawTensor(int type, const std::vector<int64_t>& dims, size_t bytes) {
  TensorProto tensor = Tensor(type, dims);
  tensor.set_raw_data(std::string(bytes, '\x01'));
  return tensor;
}

// --- What stays and what goes ----------------------------------------------------------------------

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
  EXPECT_EQ(result.skimmed->bytes.find(std::string(300, '\x01')), result.skimmed->bytes.find(
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
  const Result floats = SkimBytes(ModelWith(Bytes(9, large) + name + Number(2, 1) + Number(1, 512)));
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
  const Result result =
      SkimBytes(ModelWith(Bytes(1, Varint(2) + Varint(300)) + Number(2, 1) +
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
  const std::string unknown = Bytes(31, std::string(5000, 'x')) + Number(2000, 1) +
                              Tag(30, 1) + "12345678" + Tag(30, 5) + "1234";
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

// --- Contents that disagree with dims and type -----------------------------------------------------

TEST(SkimPayload, SizesThatDoNotMatchAreErrors) {
  EXPECT_EQ(SkimTensor(RawTensor(TensorProto::FLOAT, {1000000}, 4)).Error(),
            "error: initializer w: float32[1000000] needs 4000000 bytes, raw_data has 4: the file "
            "is damaged");
  EXPECT_EQ(SkimTensor(RawTensor(TensorProto::FLOAT, {2}, 9)).Error(),
            "error: initializer w: float32[2] needs 8 bytes, raw_data has 9: the file is damaged");
  TensorProto bytes = Tensor(TensorProto::INT8, {32});
  for (int i = 0; i < 4; ++i) bytes.add_int32_data(1);
  EXPECT_EQ(SkimTensor(bytes).Error(),
            "error: initializer w: int8[32] needs 32 values in int32_data, there are 4: the file is "
            "damaged");
  TensorProto halves = Tensor(TensorProto::BFLOAT16, {64, 16});
  for (int i = 0; i < 1024; ++i) halves.add_int32_data(0x3f80);
  const Result good = SkimTensor(halves);
  EXPECT_EQ(good.Error(), "");
  EXPECT_TRUE(good.payload(0).verified);
  EXPECT_EQ(good.payload(0).stored_bytes, 1024 * 2);
  for (int i = 0; i < 10000; ++i) halves.add_int32_data(-1);
  EXPECT_EQ(SkimTensor(halves).Error(),
            "error: initializer w: bfloat16[64, 16] needs 1024 values of 1 to 10 bytes, int32_data "
            "has 102048 bytes: the file is damaged");
}

TEST(SkimPayload, StringsCountByTheirLengths) {
  TensorProto strings = Tensor(TensorProto::STRING, {3});
  for (const char* text : {"a", "bc", ""}) strings.add_string_data(text);
  const Result result = SkimTensor(strings);
  EXPECT_EQ(result.Error(), "");
  EXPECT_EQ(result.payload(0).field, PayloadField::kStringData);
  EXPECT_EQ(result.payload(0).stored_bytes, 3);
  EXPECT_EQ(result.payload(0).entries, 3);
  strings.add_string_data("d");
  EXPECT_EQ(SkimTensor(strings).Error(),
            "error: initializer w: string[3] needs 3 values in string_data, there are 4: the file is "
            "damaged");
}

TEST(SkimPayload, AFieldMustSuitItsType) {
  TensorProto tensor = Tensor(TensorProto::INT64, {1});
  tensor.add_float_data(1);
  EXPECT_EQ(SkimTensor(tensor).Error(),
            "error: initializer w: the values of int64[1] cannot be in float_data: the file is "
            "damaged");
  tensor.add_int64_data(1);
  EXPECT_EQ(SkimTensor(tensor).Error(),
            "error: initializer w: has values in float_data and int64_data; one of them is allowed");
}

TEST(SkimPayload, DimsMustMultiply) {
  EXPECT_EQ(SkimTensor(RawTensor(TensorProto::FLOAT, {-1, 4}, 16)).Error(),
            "error: initializer w: float32[-1, 4] has a negative dimension or too many elements to "
            "count");
  const int64_t large = int64_t{1} << 40;
  EXPECT_NE(SkimTensor(RawTensor(TensorProto::FLOAT, {large, large}, 16)).Error(), "");
  EXPECT_NE(SkimTensor(RawTensor(TensorProto::DOUBLE, {large, large / 1024 / 1024}, 16)).Error(), "");
  EXPECT_EQ(SkimTensor(Tensor(TensorProto::FLOAT, {large, large, 0})).Error(), "");
}

TEST(SkimPayload, SegmentsAreRefused) {
  TensorProto tensor = RawTensor(TensorProto::FLOAT, {8}, 16);
  tensor.mutable_segment()->set_begin(0);
  EXPECT_EQ(SkimTensor(tensor).Error(),
            "error: initializer w: is one segment of a larger tensor, which no tool reads; store the "
            "tensor whole");
}

TEST(SkimPayload, UnknownTypesAreNotVerified) {
  const Result result = SkimTensor(RawTensor(99, {2000}, 5000));
  EXPECT_EQ(result.Error(), "");
  EXPECT_FALSE(result.payload(0).verified);
  EXPECT_EQ(result.payload(0).stored_bytes, 5000);
  EXPECT_FALSE(result.tensor().has_raw_data());
}

TEST(SkimPayload, SparsePartsMustAgree) {
  ModelProto model;
  SparseTensorProto* sparse = model.mutable_graph()->add_sparse_initializer();
  *sparse->mutable_values() = RawTensor(TensorProto::FLOAT, {500}, 2000);
  *sparse->mutable_indices() = RawTensor(TensorProto::INT64, {500}, 4000);
  sparse->add_dims(1000);
  sparse->add_dims(1000);
  const Result good = SkimModel(model);
  EXPECT_EQ(good.Error(), "");
  EXPECT_EQ(good.payload(0).stored_bytes + good.payload(1).stored_bytes, 6000);
  *sparse->mutable_indices() = RawTensor(TensorProto::INT64, {250, 2}, 4000);
  EXPECT_NE(SkimModel(model).Error(), "");
  *sparse->mutable_indices() = RawTensor(TensorProto::INT64, {500, 2}, 8000);
  EXPECT_EQ(SkimModel(model).Error(), "");
  *sparse->mutable_indices() = RawTensor(TensorProto::INT64, {499}, 499 * 8);
  EXPECT_EQ(SkimModel(model).Error(),
            "error: sparse_initializer: a sparse tensor of shape [1000, 1000] has values "
            "float32[500] and indices int64[499]; needed are n values, no more than elements, and "
            "int64 indices [n] or [n, 2]");
  *sparse->mutable_indices() = RawTensor(TensorProto::INT64, {500}, 499 * 8);
  EXPECT_EQ(SkimModel(model).Error(),
            "error: sparse_initializer, indices w: int64[500] needs 4000 bytes, raw_data has 3992: "
            "the file is damaged");
}

TEST(SkimPayload, PlacesAreNamedFromTheOutsideIn) {
  ModelProto model;
  NodeProto* branch = model.mutable_graph()->add_node();
  branch->set_op_type("If");
  branch->set_name("choice");
  branch->add_output("y");
  AttributeProto* body = branch->add_attribute();
  body->set_name("then_branch");
  *body->mutable_g()->add_initializer() = RawTensor(TensorProto::FLOAT, {2}, 9);
  EXPECT_EQ(SkimModel(model).Error(),
            "error: If 'choice' -> y, attribute then_branch, initializer w: float32[2] needs 8 "
            "bytes, raw_data has 9: the file is damaged");
}

TEST(SkimPayload, ManyErrorsEnd) {
  ModelProto model;
  for (int i = 0; i < 1000; ++i) {
    *model.mutable_graph()->add_initializer() = RawTensor(TensorProto::FLOAT, {2}, 9);
  }
  EXPECT_EQ(SkimModel(model).diagnostics.size(), 20U);
}

// --- Damaged and hostile bytes ---------------------------------------------------------------------

TEST(SkimDamage, EachHasAMessage) {
  const std::string bad_end = ": this is no ONNX model, or a damaged one";
  const std::string again = ": copy or download it again";
  const struct {
    std::string bytes;
    std::string message;
  } cases[] = {
      {Bytes(7, Tag(5, 2) + Varint(100) + "x"),
       "error: at byte 2: initializer claims 100 bytes, its GraphProto has 1 left" + bad_end},
      {Tag(7, 2) + Varint(100) + "x",
       "error: at byte 0: graph needs 100 bytes, the file has 1 left" + again},
      {Tag(7, 3), "error: at byte 0: a field of wire type 3, which ONNX does not use" + bad_end},
      {Tag(7, 7), "error: at byte 0: a field of wire type 7, which ONNX does not use" + bad_end},
      {std::string(1, '\0'), "error: at byte 0: a field without a valid number" + bad_end},
      {std::string(11, '\xff'), "error: at byte 0: a number of more than ten bytes" + bad_end},
      {Number(7, 1), "error: at byte 0: graph has wire type 0 instead of 2" + bad_end},
      {Bytes(7, "") + Bytes(7, ""),
       "error: at byte 2: graph occurs twice in one ModelProto" + bad_end},
      {ModelWith(Bytes(8, "w") + Bytes(4, "abc")),
       "error: initializer w: at byte 7: float_data has 3 bytes, which is no whole number of "
       "values" + bad_end},
      {ModelWith(Bytes(8, "w") + Bytes(7, "\x80")),
       "error: initializer w: at byte 7: int64_data has a number that does not end" + bad_end},
      {Bytes(7, Tag(2, 0)), "error: at byte 2: name has wire type 0 instead of 2" + bad_end},
      {ModelWith(Tag(2, 0)) + Number(1, 8),
       "error: initializer: at byte 4: the last value of this TensorProto runs beyond its end" +
           bad_end},
      {Tag(1, 0), "error: at byte 0: the input ends in the middle of the model" + again},
  };
  for (const auto& [bytes, message] : cases) EXPECT_EQ(SkimBytes(bytes).Error(), message);
}

TEST(SkimDamage, NestingEndsWhereProtobufsDoes) {
  int accepted = 0;
  for (int graphs = 1; graphs < 60; ++graphs) {
    std::string graph = Bytes(2, "g");
    for (int i = 0; i < graphs; ++i) graph = Bytes(1, Bytes(5, Bytes(6, graph)));
    const std::string bytes = Bytes(7, graph);
    ModelProto plain;
    const Result result = SkimBytes(bytes);
    EXPECT_EQ(result.Error().empty(), plain.ParseFromString(bytes)) << graphs;
    accepted += result.Error().empty();
  }
  EXPECT_EQ(accepted, 33);
}

TEST(SkimDamage, DeepNestingCostsLittle) {
  std::string graph;
  while (graph.size() < 100000) graph = Bytes(1, Bytes(5, Bytes(6, graph)));
  EXPECT_NE(SkimBytes(Bytes(7, graph)).Error().find("nested more than 100 deep"),
            std::string::npos);
}

// --- Against protobuf's own parser -----------------------------------------------------------------

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
    auto* dim = graph->add_input()->mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim();
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
      bytes[static_cast<size_t>(random.Below(static_cast<int>(bytes.size())))] ^=
          static_cast<char>(1 << random.Below(8));
    }
    ModelProto plain;
    const Result result = SkimBytes(bytes);  // checks that the result parses
    if (result.skimmed) {
      EXPECT_TRUE(plain.ParseFromString(bytes));
    }
  }
}

// --- Pipes -----------------------------------------------------------------------------------------

void WriteAll(int fd, const std::string& bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t part = write(fd, bytes.data() + done, bytes.size() - done);
    if (part <= 0) return;
    done += static_cast<size_t>(part);
  }
}

TEST(SkimPipe, GivesWhatMemoryGives) {
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

TEST(SkimPipe, TruncationSaysWhere) {
  const std::string tensor = Bytes(8, "w") + Tag(9, 2) + Varint(4000);
  const std::string graph = Tag(5, 2) + Varint(tensor.size() + 4000);
  EXPECT_EQ(SkimPipe([&](int fd) { WriteAll(fd, Tag(7, 2) + Varint(9000) + graph + tensor); })
                .Error(),
            "error: initializer w: at byte 9: the input ends in the middle of the model: copy or "
            "download it again");
}

TEST(SkimPipe, LargePayloadsTakeNoMemory) {
  constexpr int kMebibytes = 256;
  const std::string mebibyte(1 << 20, 'x');
  const std::string tensor = Number(1, kMebibytes << 18) + Number(2, 1) + Tag(9, 2) +
                             Varint(kMebibytes << 20);
  const uint64_t tensor_size = tensor.size() + (uint64_t{kMebibytes} << 20);
  const std::string graph = Tag(5, 2) + Varint(tensor_size);
  struct rusage before {};
  getrusage(RUSAGE_SELF, &before);
  const Result result = SkimPipe([&](int fd) {
    WriteAll(fd, Tag(7, 2) + Varint(graph.size() + tensor_size) + graph + tensor);
    for (int i = 0; i < kMebibytes; ++i) WriteAll(fd, mebibyte);
  });
  struct rusage after {};
  getrusage(RUSAGE_SELF, &after);
  ASSERT_EQ(result.Error(), "");
  EXPECT_EQ(result.payload(0).stored_bytes, int64_t{kMebibytes} << 20);
  EXPECT_LT(result.skimmed->bytes.size(), 50U);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 16 << 10) << "KiB";
}

}  // namespace
}  // namespace footprint
