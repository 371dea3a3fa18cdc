#include "frontend/fallback.h"

#include "gtest/gtest.h"

namespace footprint {
namespace {

class Fallback : public testing::Test {
 protected:
  // The types of the outputs of `op` on inputs of these types, printed; "none" if it cannot tell.
  std::string Infer(const char* op, int version, const std::vector<ValueType>& inputs,
                    std::vector<Attribute> attributes = {}, size_t outputs = 1) {
    Node node;
    node.op_type = op;
    node.version = version;
    node.attributes = std::move(attributes);
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (i == graph_.values.size()) graph_.values.Add(Value());
      node.inputs.push_back(ValueId(i));
    }
    for (size_t i = 0; i < outputs; ++i) node.outputs.push_back(ValueId(0));
    std::vector<ValueType> types;
    if (!fallback_->InferTypes(graph_, node, inputs, &types)) return "none";
    std::string text;
    for (const ValueType& type : types) {
      text += type.kind == TypeKind::kUnknown ? "?" : ToString(type.tensor, *graph_.dims);
      text += type.kind == TypeKind::kSequence ? " sequence;" : ";";
    }
    return text;
  }

  ValueType Float(std::initializer_list<Dim> dims) {
    return ValueType::Tensor(TensorType::Make(ElementType::kFloat, dims));
  }

  Graph graph_;
  std::unique_ptr<OpFallback> fallback_ = MakeSchemaFallback();
};

TEST_F(Fallback, HandsSymbolicDimsOn) {
  const Dim n = graph_.dims->Symbol("odd name: -#0");
  const Dim twice = graph_.dims->Mul(graph_.dims->Symbol("batch"), 2);
  EXPECT_EQ(Infer("Transpose", 13, {Float({n, twice, 3})}), "float32[3, 2*batch, odd name: -#0];");
}

TEST_F(Fallback, UnknownStaysUnknown) {
  EXPECT_EQ(Infer("Relu", 13, {Float({Dim(), 3})}), "float32[?, 3];");
  EXPECT_EQ(Infer("Relu", 13, {ValueType()}), "none");
  EXPECT_EQ(Infer("Relu", 13, {ValueType::Tensor(TensorType::UnknownRank(ElementType::kFloat))}),
            "float32[...];");
}

TEST_F(Fallback, ReadsContentsOfConstants) {
  Constant shape;
  shape.type = TensorType::Make(ElementType::kInt64, {2});
  shape.has_integers = true;
  shape.integers = {-1, 6};
  Value value;
  graph_.values.Add(value);
  value.kind = ValueKind::kConstant;
  value.constant = graph_.constants.Add(shape);
  graph_.values.Add(value);
  EXPECT_EQ(Infer("Reshape", 14, {Float({3, 4}), ValueType::Tensor(shape.type)}), "float32[2, 6];");
}

TEST_F(Fallback, GivesAttributesToTheSchema) {
  Attribute axis;
  axis.name = "axis";
  axis.kind = Attribute::Kind::kInt;
  axis.int_value = 1;
  EXPECT_EQ(Infer("Flatten", 13, {Float({2, 3, 4})}, {axis}), "float32[2, 12];");
}

TEST_F(Fallback, InfersThroughFunctionBodies) {
  EXPECT_EQ(Infer("Softsign", 22, {Float({2, 3})}), "float32[2, 3];");
  EXPECT_EQ(Infer("HardSwish", 14, {Float({5})}), "float32[5];");
}

TEST_F(Fallback, SequencesGoThrough) {
  EXPECT_EQ(Infer("SequenceConstruct", 11, {Float({2, 3}), Float({2, 4})}),
            "float32[2, ?] sequence;");
}

TEST_F(Fallback, CannotTellWithoutSchemaOrAgainstIt) {
  EXPECT_EQ(Infer("NoSuchOperator", 17, {Float({2})}), "none");
  EXPECT_EQ(Infer("Transpose", 13, {}), "none");
  EXPECT_EQ(Infer("Concat", 13, {Float({2}), Float({2})}), "none");  // axis is required
}

TEST_F(Fallback, OutputsBeyondThoseOfTheNodeDoNotMatter) {
  EXPECT_EQ(Infer("Dropout", 13, {Float({2})}, {}, 1), "float32[2];");
}

}  // namespace
}  // namespace footprint
