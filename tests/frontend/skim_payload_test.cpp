#include <string>

#include "gtest/gtest.h"
#include "onnx/onnx_pb.h"
#include "tests/frontend/skim_testing.h"

namespace footprint {
namespace {

using ONNX_NAMESPACE::AttributeProto;
using ONNX_NAMESPACE::ModelProto;
using ONNX_NAMESPACE::NodeProto;
using ONNX_NAMESPACE::SparseTensorProto;
using ONNX_NAMESPACE::TensorProto;
using skim_testing::RawTensor;
using skim_testing::Result;
using skim_testing::SkimModel;
using skim_testing::SkimTensor;
using skim_testing::Tensor;

TEST(SkimPayload, SizesThatDoNotMatchAreErrors) {
  EXPECT_EQ(SkimTensor(RawTensor(TensorProto::FLOAT, {1000000}, 4)).Error(),
            "error: initializer w: float32[1000000] needs 4000000 bytes, raw_data has 4: the file "
            "is damaged");
  EXPECT_EQ(SkimTensor(RawTensor(TensorProto::FLOAT, {2}, 9)).Error(),
            "error: initializer w: float32[2] needs 8 bytes, raw_data has 9: the file is damaged");
  TensorProto bytes = Tensor(TensorProto::INT8, {32});
  for (int i = 0; i < 4; ++i) bytes.add_int32_data(1);
  EXPECT_EQ(
      SkimTensor(bytes).Error(),
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
  EXPECT_EQ(
      SkimTensor(strings).Error(),
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
  EXPECT_EQ(
      SkimTensor(tensor).Error(),
      "error: initializer w: has values in float_data and int64_data; one of them is allowed");
}

TEST(SkimPayload, DimsMustMultiply) {
  EXPECT_EQ(SkimTensor(RawTensor(TensorProto::FLOAT, {-1, 4}, 16)).Error(),
            "error: initializer w: float32[-1, 4] has a negative dimension or too many elements to "
            "count");
  const int64_t large = int64_t{1} << 40;
  EXPECT_NE(SkimTensor(RawTensor(TensorProto::FLOAT, {large, large}, 16)).Error(), "");
  EXPECT_NE(SkimTensor(RawTensor(TensorProto::DOUBLE, {large, large / 1024 / 1024}, 16)).Error(),
            "");
  EXPECT_EQ(SkimTensor(Tensor(TensorProto::FLOAT, {large, large, 0})).Error(), "");
}

TEST(SkimPayload, SegmentsAreRefused) {
  TensorProto tensor = RawTensor(TensorProto::FLOAT, {8}, 16);
  tensor.mutable_segment()->set_begin(0);
  EXPECT_EQ(
      SkimTensor(tensor).Error(),
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
  *sparse->mutable_indices() = RawTensor(TensorProto::INT64, {499}, 3992);
  EXPECT_EQ(SkimModel(model).Error(),
            "error: sparse_initializer: a sparse tensor of shape [1000, 1000] has values "
            "float32[500] and indices int64[499]; needed are n values, no more than elements, and "
            "int64 indices [n] or [n, 2]");
  *sparse->mutable_indices() = RawTensor(TensorProto::INT64, {500}, 3992);
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

}  // namespace
}  // namespace footprint
