#include <string>

#include "gtest/gtest.h"
#include "onnx/onnx_pb.h"
#include "tests/frontend/skim_testing.h"

namespace footprint {
namespace {

using ONNX_NAMESPACE::ModelProto;
using skim_testing::Bytes;
using skim_testing::ModelWith;
using skim_testing::Number;
using skim_testing::Result;
using skim_testing::SkimBytes;
using skim_testing::Tag;
using skim_testing::Varint;

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
       "values" +
           bad_end},
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

}  // namespace
}  // namespace footprint
