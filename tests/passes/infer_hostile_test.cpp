// Nonsense for every row: whatever a node says, inference ends with an answer or a complaint, with
// ranks and sizes in bounds, in little time.
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "passes/infer_shapes.h"
#include "tests/support/graph_builder.h"

namespace footprint {
namespace {

constexpr const char* kInts[] = {"axes",
                                 "perm",
                                 "pads",
                                 "strides",
                                 "dilations",
                                 "kernel_shape",
                                 "output_shape",
                                 "output_padding",
                                 "split",
                                 "starts",
                                 "ends",
                                 "shape",
                                 "scan_input_axes",
                                 "scan_output_axes",
                                 "ngram_indexes",
                                 "pooled_shape",
                                 "qkv_hidden_sizes",
                                 "classlabels_ints"};
constexpr const char* kInt[] = {"axis",
                                "keepdims",
                                "group",
                                "to",
                                "dtype",
                                "blocksize",
                                "k",
                                "num_outputs",
                                "batch_dims",
                                "allowzero",
                                "ceil_mode",
                                "transA",
                                "transB",
                                "hidden_size",
                                "layout",
                                "noop_with_empty_axes",
                                "start",
                                "end",
                                "num_heads",
                                "q_num_heads",
                                "kv_num_heads",
                                "num_scan_inputs",
                                "new_axis",
                                "sample_size",
                                "onesided",
                                "inverse",
                                "size",
                                "step",
                                "dim",
                                "N",
                                "K",
                                "bits",
                                "n_targets",
                                "output_dtype",
                                "state_window",
                                "router_size",
                                "num_branches"};
constexpr const char* kString[] = {"auto_pad",
                                   "direction",
                                   "equation",
                                   "mode",
                                   "reduction",
                                   "coordinate_transformation_mode",
                                   "keep_aspect_ratio_policy"};
constexpr const char* kStrings[] = {"SAME_UPPER", "VALID", "bidirectional", "...ij,jk",
                                    "->",         "",      "i,j->ijk",      "tf_crop_and_resize",
                                    "not_larger", "none"};
constexpr int64_t kNumbers[] = {0, 1,   -1,   2,         -2,        3,         4,
                                7, 100, -100, INT32_MAX, INT64_MAX, INT64_MIN, 1LL << 40};

class Fuzzer {
 public:
  explicit Fuzzer(uint32_t seed) : engine_(seed) {}

  int64_t Below(int64_t count) {
    return std::uniform_int_distribution<int64_t>(0, count - 1)(engine_);
  }
  template <size_t kCount>
  auto Pick(const auto (&items)[kCount]) {
    return items[Below(kCount)];
  }
  int64_t Number() { return Below(2) == 0 ? Below(5) : Pick(kNumbers); }
  std::vector<int64_t> Numbers() {
    std::vector<int64_t> numbers(static_cast<size_t>(Below(6)));
    for (int64_t& number : numbers) number = Number();
    return numbers;
  }

  std::vector<Attribute> Attributes() {
    std::vector<Attribute> result;
    for (int64_t i = Below(6); i > 0; --i) {
      const int64_t kind = Below(4);
      if (kind == 0) result.push_back(IntsAttribute(Pick(kInts), Numbers()));
      if (kind == 1) result.push_back(StringAttribute(Pick(kString), Pick(kStrings)));
      if (kind >= 2) result.push_back(IntAttribute(Pick(kInt), Number()));
    }
    if (Below(20) == 0) result.push_back(FloatsAttribute("scales", {-1, 0, 1e300}));
    return result;
  }

  Dims Shape(GraphBuilder& builder) {
    Dims dims(static_cast<size_t>(Below(6)));
    for (Dim& dim : dims) {
      const int64_t kind = Below(5);
      if (kind == 0) continue;
      dim = kind == 1 ? builder.Symbol(absl::StrCat("s", Below(3)))
                      : Dim(kind == 2 ? std::max<int64_t>(Number(), 0) : Below(6));
    }
    return dims;
  }

  ValueId Operand(GraphBuilder& builder, int index) {
    const auto element = static_cast<ElementType>(1 + Below(26));
    switch (Below(7)) {
      case 0:
        return ValueId();
      case 1:
        return builder.Ints(Numbers());
      case 2:
        return builder.Scalar(Number());
      case 3: {
        std::vector<double> floats;
        for (const int64_t number : Numbers()) floats.push_back(static_cast<double>(number) / 3);
        return builder.Floats(std::move(floats));
      }
      case 4:
        return builder.Input(absl::StrCat("x", index), TensorType::UnknownRank(element));
      default:
        return builder.Input(absl::StrCat("x", index), element, Shape(builder));
    }
  }

 private:
  std::mt19937 engine_;
};

TEST(HostileNodes, EndWithAnAnswer) {
  for (const OnnxOp* op : AllOnnxOps()) {
    for (uint32_t seed = 0; seed < 150; ++seed) {
      SCOPED_TRACE(absl::StrCat(op->domain, " ", op->name, " ", seed));
      Fuzzer fuzzer(seed);
      const int newest = op->until == OnnxOp::kLatest ? 30 : op->until;
      const auto version = static_cast<int>(op->since + fuzzer.Below(newest - op->since + 1));
      GraphBuilder builder(version, std::string(op->domain));
      std::vector<ValueId> inputs;
      for (int64_t i = fuzzer.Below(9); i > 0; --i) {
        inputs.push_back(fuzzer.Operand(builder, static_cast<int>(i)));
      }
      std::vector<Attribute> attributes = fuzzer.Attributes();
      if (op->control != Control::kNone && fuzzer.Below(4) != 0) {
        const RegionId body = builder.Begin();
        std::vector<ValueId> values;
        for (int64_t i = fuzzer.Below(5); i > 0; --i) values.push_back(builder.BodyInput("b"));
        builder.End(values);
        attributes.push_back(RegionAttribute("body", body));
        attributes.push_back(RegionAttribute("then_branch", body));
        attributes.push_back(RegionAttribute("else_branch", body));
      }
      const std::vector<ValueId> outputs =
          builder.Nodes(std::string(op->name), inputs, static_cast<size_t>(fuzzer.Below(6)),
                        std::move(attributes));
      ASSERT_NE(builder.graph().nodes[NodeId(0)].op, nullptr);
      DiagnosticSink sink;
      const InferredTypes inferred = InferShapes(builder.graph(), {}, nullptr, sink);
      for (const ValueId output : outputs) {
        const TensorType& type = inferred.types[output].tensor;
        EXPECT_LE(type.dims.size(), 600U);
        for (const Dim& dim : type.dims) {
          EXPECT_FALSE(dim.is_constant() && dim.value() < 0) << ToString(type, builder.dims());
        }
      }
    }
  }
}

TEST(HostileNodes, DoNotDescendForever) {
  GraphBuilder builder(17);
  const ValueId x = builder.Input("x", {4});
  const ValueId yes = builder.Ints({1}, Dims(), ElementType::kBool);
  const ValueId trips = builder.Scalar(1000);
  constexpr int kDepth = 40;
  std::vector<RegionId> bodies;
  std::vector<ValueId> go_on;
  std::vector<ValueId> state = {x};
  for (int i = 0; i < kDepth; ++i) {
    bodies.push_back(builder.Begin());
    builder.BodyInput("i");
    go_on.push_back(builder.BodyInput("go"));
    state.push_back(builder.BodyInput("s"));
  }
  ValueId inner = builder.Node("Relu", {state.back()});
  for (int i = kDepth; i-- > 0;) {
    builder.End({go_on[static_cast<size_t>(i)], inner});
    inner = builder.Node("Loop", {trips, yes, state[static_cast<size_t>(i)]},
                         {RegionAttribute("body", bodies[static_cast<size_t>(i)])});
  }
  builder.Output(inner);
  DiagnosticSink sink;
  const InferredTypes inferred = InferShapes(builder.graph(), {}, nullptr, sink);
  // Beyond the budget of visits shapes are given up, element types are not.
  EXPECT_EQ(inferred.types[inner].tensor.element, ElementType::kFloat);
}

}  // namespace
}  // namespace footprint
