#include "frontend/provenance.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "frontend/read_graph.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

std::string Text(const FxArgument& argument) {
  switch (argument.kind) {
    case FxArgument::Kind::kNone:
      return "None";
    case FxArgument::Kind::kReference:
      return "%" + argument.text;
    case FxArgument::Kind::kInt:
      return absl::StrCat(argument.int_value);
    case FxArgument::Kind::kFloat:
      return absl::StrCat("float ", argument.float_value);
    case FxArgument::Kind::kBool:
      return argument.int_value != 0 ? "True" : "False";
    case FxArgument::Kind::kString:
      return absl::StrCat("'", argument.text, "'");
    case FxArgument::Kind::kOther:
      return absl::StrCat("<", argument.text, ">");
    case FxArgument::Kind::kList:
      break;
  }
  return absl::StrCat(
      "[",
      absl::StrJoin(argument.items, ", ",
                    [](std::string* out, const FxArgument& item) { *out += Text(item); }),
      "]");
}

std::string Text(const FxNode& node) {
  std::string text = absl::StrCat(node.name, " = ", node.target, "(");
  for (const FxArgument& argument : node.arguments) absl::StrAppend(&text, Text(argument), "; ");
  for (const auto& [key, value] : node.keyword_arguments) {
    absl::StrAppend(&text, key, "=", Text(value), "; ");
  }
  return text + ")";
}

std::string Call(const std::string& arguments) {
  return Text(ParseFxNode(absl::StrCat(
      "%n : [num_users=1] = call_function[target=torch.ops.aten.f.default](", arguments, ")")));
}

TEST(FxNode, HasNameTargetAndArguments) {
  EXPECT_EQ(Text(ParseFxNode("%conv2d : [num_users=1] = call_function[target=torch.ops.aten.conv2d."
                             "default](args = (%input, %p_w, None, [2, 2], [3, 3]), kwargs = {})")),
            "conv2d = aten.conv2d.default(%input; %p_w; None; [2, 2]; [3, 3]; )");
  EXPECT_EQ(Text(ParseFxNode("%mul_3 : [num_users=18] = call_function[target=operator.mul](args = "
                             "(%sym_size_int_5, 8), kwargs = {})")),
            "mul_3 = operator.mul(%sym_size_int_5; 8; )");
}

TEST(FxNode, KnowsNumbersWordsAndDtypes) {
  EXPECT_EQ(Call("args = (%x, -1, 9223372036854775807, 1e-05, -3.4e+38, True, constant), kwargs = "
                 "{scale: 0.125, dtype: torch.float32, device: cpu, pin_memory: False}"),
            "n = aten.f.default(%x; -1; 9223372036854775807; float 1e-05; float -3.4e+38; True; "
            "'constant'; scale=float 0.125; dtype=<torch.float32>; device='cpu'; "
            "pin_memory=False; )");
  EXPECT_EQ(Call("args = (inf, -inf, 99999999999999999999, 1+2j, s0), kwargs = {}"),
            "n = aten.f.default(float inf; float -inf; float 1e+20; '1+2j'; 's0'; )");
}

TEST(FxNode, EquationsHoldCommasAndBlanks) {
  EXPECT_EQ(Call("args = (b i d, b j d -> b i j, [%a, %b]), kwargs = {path: None}"),
            "n = aten.f.default('b i d, b j d -> b i j'; [%a, %b]; path=None; )");
  EXPECT_EQ(Call("args = (...hd,bhkd->bhqk, [%a, %b]), kwargs = {}"),
            "n = aten.f.default('...hd,bhkd->bhqk'; [%a, %b]; )");
}

TEST(FxNode, ListsNestAndTuplesOfOneEndWithAComma) {
  EXPECT_EQ(Call("args = ([[1, [2]], []], (%x,), [None, %y]), kwargs = {}"),
            "n = aten.f.default([[1, [2]], []]; [%x]; [None, %y]; )");
  EXPECT_EQ(Call("args = (%x, (slice(None, 3, None), 0)), kwargs = {sizes: [%n, 1], d: {a: 1}}"),
            "n = aten.f.default(%x; [<slice(None, 3, None)>, 0]; sizes=[%n, 1]; d=<{a: 1}>; )");
}

TEST(FxNode, KeepsWhatItDoesNotUnderstandAsWritten) {
  EXPECT_EQ(Text(ParseFxNode("some text")), " = (<some text>; )");
  EXPECT_EQ(Text(ParseFxNode("%x : [num_users=1] = placeholder[target=x]")), "x = x()");
  EXPECT_EQ(Call("args = (%x, kwargs = {"), "n = aten.f.default(<(args = (%x, kwargs = {)>; )");
  EXPECT_EQ(Call("args = (1), kwargs = {a}"), "n = aten.f.default(<(args = (1), kwargs = {a})>; )");
  EXPECT_EQ(Text(ParseFxNode("")), " = (<>; )");
  EXPECT_EQ(ParseFxNode("%").name, "");
}

TEST(FxNode, DepthAndLengthAreNoDanger) {
  const std::string deep = absl::StrCat("args = (", std::string(1'000'000, '['));
  EXPECT_EQ(ParseFxNode(absl::StrCat("%n = call_function[target=t](", deep)).arguments.size(), 1u);
  std::string wide = "args = (";
  for (int i = 0; i < 200'000; ++i) wide += "a,";
  const FxNode node =
      ParseFxNode(absl::StrCat("%n = call_function[target=t](", wide, "), kwargs = {})"));
  EXPECT_EQ(node.arguments.size(), 200'000u);
}

TEST(Signature, ListsInputsThenOutputs) {
  const std::vector<SignatureEntry> entries = ParseSignature(
      "\n# inputs\np_w: PARAMETER target='m.w'\n"
      "b_r: BUFFER target='m.r' persistent=True\nb_t: BUFFER target='m.t' persistent=False\n"
      "c_0: CONSTANT_TENSOR target='lifted'\nx: USER_INPUT\nhow: STRANGE target='\n\n# outputs\n"
      "getitem_3: BUFFER_MUTATION target='m.r'\nadd: USER_OUTPUT\nnonsense\n");
  using Kind = SignatureEntry::Kind;
  ASSERT_EQ(entries.size(), 8u);
  EXPECT_EQ(entries[0].kind, Kind::kParameter);
  EXPECT_EQ(entries[0].name, "p_w");
  EXPECT_EQ(entries[0].target, "m.w");
  EXPECT_FALSE(entries[0].is_output);
  EXPECT_EQ(entries[1].kind, Kind::kBuffer);
  EXPECT_TRUE(entries[1].persistent);
  EXPECT_FALSE(entries[2].persistent);
  EXPECT_EQ(entries[3].kind, Kind::kTensorConstant);
  EXPECT_EQ(entries[4].kind, Kind::kUserInput);
  EXPECT_EQ(entries[5].kind, Kind::kOther);
  EXPECT_EQ(entries[6].kind, Kind::kBufferMutation);
  EXPECT_TRUE(entries[6].is_output);
  EXPECT_EQ(entries[7].kind, Kind::kUserOutput);
}

TEST(StringList, ReadsPythonsSpelling) {
  EXPECT_EQ(ParseStringList("['', 'm', \"it's\", 'a\\'b']"),
            (std::vector<std::string>{"", "m", "it's", "a'b"}));
  EXPECT_EQ(ParseStringList("[]"), std::vector<std::string>());
  for (const char* wrong : {"", "['a", "['a' 'b']", "[a]", "'a'"}) {
    EXPECT_EQ(ParseStringList(wrong), std::nullopt) << wrong;
  }
}

TEST(Provenance, OfARealExportIsComplete) {
  DiagnosticSink sink;
  const auto model =
      ReadGraph(FOOTPRINT_SOURCE_DIR "/models/resnet50.train_loss_dynamo.onnx", sink);
  ASSERT_TRUE(model.has_value());
  const Provenance& provenance = model->provenance;
  ASSERT_EQ(provenance.fx_of_node.size(), model->graph.nodes.size());
  int without = 0;
  for (const int32_t fx : provenance.fx_of_node) without += fx < 0;
  EXPECT_EQ(without, 0);
  EXPECT_EQ(
      Text(provenance.fx_nodes[0]),
      "_native_batch_norm_legit_functional = aten._native_batch_norm_legit_functional.default("
      "%conv2d; %p_m_bn1_weight; %p_m_bn1_bias; %b_m_bn1_running_mean; "
      "%b_m_bn1_running_var; True; float 0.1; float 1e-05; )");
  EXPECT_EQ(provenance.fx_nodes[0].classes[2], "torch.nn.modules.batchnorm.BatchNorm2d");
  EXPECT_EQ(provenance.rewrite_rules[NodeId(0)],
            "RemoveOptionalBiasFromConv, FuseBatchNormIntoConv, RemoveOptionalBiasFromConv");
  int parameters = 0, mutations = 0;
  for (const SignatureEntry& entry : provenance.signature) {
    parameters += entry.kind == SignatureEntry::Kind::kParameter;
    mutations += entry.kind == SignatureEntry::Kind::kBufferMutation;
  }
  EXPECT_EQ(parameters, 161);
  EXPECT_EQ(mutations, 3 * 53);
}

}  // namespace
}  // namespace footprint
