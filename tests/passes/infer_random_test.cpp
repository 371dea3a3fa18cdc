// Random operators, twice: with sizes as numbers, and with names for them. Evaluated at these
// numbers the second answer must be the first, and what must hold must hold.
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "passes/infer_shapes.h"
#include "tests/support/graph_builder.h"

namespace footprint {
namespace {

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  int64_t Between(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine_);
  }
  bool Coin() { return Between(0, 1) == 1; }
  std::vector<int64_t> Shape(size_t rank, int64_t low = 1, int64_t high = 9) {
    std::vector<int64_t> shape(rank);
    for (int64_t& size : shape) size = Between(low, high);
    return shape;
  }

 private:
  std::mt19937 engine_;
};

// An operator with everything but the sizes of its tensor inputs.
struct Trial {
  std::string op;
  int opset = 13;
  std::vector<std::vector<int64_t>> shapes = {};  // of inputs that are not constant
  std::vector<Attribute> attributes = {};
  // Constant operands, after those; an empty optional is an omitted one.
  std::vector<std::optional<std::vector<int64_t>>> operands = {};
  size_t outputs = 1;
};

struct Answer {
  std::vector<TensorType> types;
  bool failed = false;
  bool holds = true;
};

// Names for sizes: equal sizes have equal names, some sizes stay numbers.
Dims WithNames(GraphBuilder& builder, const std::vector<int64_t>& shape, Random& random,
               DimBindings* bindings) {
  Dims dims;
  for (const int64_t size : shape) {
    if (size < 1 || random.Between(0, 3) == 0) {
      dims.push_back(size);
      continue;
    }
    const std::string name = absl::StrCat("s", size);
    dims.push_back(builder.Symbol(name));
    bindings->emplace_back(name, size);
  }
  return dims;
}

ValueId Operand(GraphBuilder& builder, const std::optional<std::vector<int64_t>>& operand) {
  return operand ? builder.Ints(*operand) : ValueId();
}

// Infers the trial with the given input shapes; sizes of the answer are numbers.
Answer Infer(const Trial& trial, Random* names) {
  GraphBuilder builder(trial.opset);
  DimBindings bindings;
  std::vector<ValueId> inputs;
  for (const std::vector<int64_t>& shape : trial.shapes) {
    const Dims dims = names == nullptr ? Dims(shape.begin(), shape.end())
                                       : WithNames(builder, shape, *names, &bindings);
    inputs.push_back(builder.Input(absl::StrCat("x", inputs.size()), dims));
  }
  for (const auto& operand : trial.operands) inputs.push_back(Operand(builder, operand));
  const std::vector<ValueId> outputs =
      builder.Nodes(trial.op, inputs, trial.outputs, trial.attributes);
  DiagnosticSink sink;
  const InferredTypes inferred = InferShapes(builder.graph(), {}, nullptr, sink);
  DimEvaluator evaluator(builder.dims(), bindings);
  Answer answer;
  answer.failed = sink.has_errors();
  DiagnosticSink violations;
  CheckConstraints(builder.graph(), inferred, evaluator, violations);
  answer.holds = violations.all().empty();
  for (const ValueId output : outputs) {
    TensorType type = inferred.types[output].tensor;
    for (Dim& dim : type.dims) {
      const std::optional<int64_t> value = evaluator.Evaluate(dim);
      dim = value ? Dim(*value) : Dim();
    }
    answer.types.push_back(type);
  }
  return answer;
}

std::string Show(const Answer& answer) {
  const DimTable none;
  std::string text = answer.failed ? "failed" : "";
  for (const TensorType& type : answer.types) absl::StrAppend(&text, " ", ToString(type, none));
  return text;
}

std::string Show(const Trial& trial) {
  std::string text = trial.op;
  for (const auto& shape : trial.shapes) {
    absl::StrAppend(&text, " [");
    for (const int64_t size : shape) absl::StrAppend(&text, size, " ");
    absl::StrAppend(&text, "]");
  }
  for (const auto& operand : trial.operands) {
    absl::StrAppend(&text, " (");
    for (const int64_t value : operand.value_or(std::vector<int64_t>())) {
      absl::StrAppend(&text, value, " ");
    }
    absl::StrAppend(&text, ")");
  }
  for (const Attribute& attribute : trial.attributes) {
    absl::StrAppend(&text, " ", attribute.name, "=", attribute.int_value, attribute.string_value);
    for (const int64_t value : attribute.ints) absl::StrAppend(&text, ",", value);
  }
  return text;
}

// What fails on numbers may pass with names, but then what must hold does not.
void Compare(const Trial& trial, Random& random) {
  const Answer numbers = Infer(trial, nullptr);
  const Answer names = Infer(trial, &random);
  SCOPED_TRACE(Show(trial));
  if (numbers.failed) return;
  EXPECT_FALSE(names.failed);
  EXPECT_TRUE(names.holds);
  ASSERT_EQ(numbers.types.size(), names.types.size());
  for (size_t i = 0; i < numbers.types.size(); ++i) {
    EXPECT_TRUE(numbers.types[i].AllDimsConstant()) << Show(numbers);
    EXPECT_EQ(numbers.types[i].dims, names.types[i].dims) << Show(numbers) << " / " << Show(names);
  }
}

using Generator = Trial (*)(Random&);

Trial Broadcast(Random& random) {
  const std::vector<int64_t> full = random.Shape(static_cast<size_t>(random.Between(0, 4)));
  Trial trial = {.op = "Add"};
  for (int i = 0; i < 2; ++i) {
    std::vector<int64_t> shape(full.begin() + random.Between(0, static_cast<int64_t>(full.size())),
                               full.end());
    for (int64_t& size : shape) size = random.Between(0, 3) == 0 ? 1 : size;
    trial.shapes.push_back(shape);
  }
  return trial;
}

Trial MatMul(Random& random) {
  const std::vector<int64_t> batch = random.Shape(static_cast<size_t>(random.Between(0, 2)));
  const std::vector<int64_t> sizes = random.Shape(3);
  std::vector<int64_t> a = batch;
  std::vector<int64_t> b = random.Coin() ? batch : std::vector<int64_t>();
  if (a.empty() && random.Coin()) {
    a = {sizes[1]};
  } else {
    a.insert(a.end(), {sizes[0], sizes[1]});
  }
  b.insert(b.end(), {sizes[1], sizes[2]});
  return {.op = "MatMul", .shapes = {a, b}};
}

std::vector<Attribute> WindowAttributes(Random& random, size_t rank, bool with_kernel) {
  std::vector<Attribute> attributes = {IntsAttribute("strides", random.Shape(rank, 1, 3)),
                                       IntsAttribute("dilations", random.Shape(rank, 1, 2))};
  if (with_kernel) attributes.push_back(IntsAttribute("kernel_shape", random.Shape(rank, 1, 3)));
  const int64_t mode = random.Between(0, 3);
  if (mode == 0) attributes.push_back(StringAttribute("auto_pad", "SAME_UPPER"));
  if (mode == 1) attributes.push_back(StringAttribute("auto_pad", "VALID"));
  if (mode >= 2) attributes.push_back(IntsAttribute("pads", random.Shape(2 * rank, 0, 2)));
  return attributes;
}

Trial Conv(Random& random) {
  const auto rank = static_cast<size_t>(random.Between(1, 3));
  const int64_t group = random.Between(1, 2);
  const std::vector<int64_t> sizes = random.Shape(3);
  std::vector<int64_t> x = {sizes[0], sizes[1] * group};
  std::vector<int64_t> w = {sizes[2] * group, sizes[1]};
  for (const int64_t size : random.Shape(rank, 5, 20)) x.push_back(size);
  for (const int64_t size : random.Shape(rank, 1, 3)) w.push_back(size);
  std::vector<Attribute> attributes = WindowAttributes(random, rank, false);
  attributes.push_back(IntAttribute("group", group));
  return {.op = "Conv", .shapes = {x, w}, .attributes = attributes};
}

Trial ConvTranspose(Random& random) {
  Trial trial = Conv(random);
  trial.op = "ConvTranspose";
  std::swap(trial.shapes[1][0], trial.shapes[1][1]);
  trial.shapes[1][0] = trial.shapes[0][1];
  return trial;
}

Trial Pool(Random& random) {
  const auto rank = static_cast<size_t>(random.Between(1, 3));
  std::vector<int64_t> x = random.Shape(2);
  for (const int64_t size : random.Shape(rank, 5, 20)) x.push_back(size);
  std::vector<Attribute> attributes = WindowAttributes(random, rank, true);
  attributes.push_back(IntAttribute("ceil_mode", random.Between(0, 1)));
  return {.op = "MaxPool", .shapes = {x}, .attributes = attributes, .outputs = 2};
}

Trial Slice(Random& random) {
  const int64_t rank = random.Between(1, 4);
  std::vector<int64_t> axes;
  std::vector<int64_t> starts;
  std::vector<int64_t> ends;
  std::vector<int64_t> steps;
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (random.Coin()) continue;
    axes.push_back(random.Coin() ? axis : axis - rank);
    starts.push_back(random.Between(-10, 10));
    ends.push_back(random.Between(0, 4) == 0 ? INT64_MAX : random.Between(-10, 10));
    steps.push_back(random.Coin()   ? 1
                    : random.Coin() ? random.Between(1, 4)
                                    : -random.Between(1, 4));
  }
  return {.op = "Slice",
          .shapes = {random.Shape(static_cast<size_t>(rank))},
          .operands = {starts, ends, axes, steps}};
}

// A target that merges, splits and infers.
Trial Reshape(Random& random) {
  const std::vector<int64_t> shape = random.Shape(static_cast<size_t>(random.Between(1, 4)), 1, 6);
  std::vector<int64_t> target = shape;
  if (target.size() > 1 && random.Coin()) {
    const auto at = static_cast<size_t>(random.Between(0, static_cast<int64_t>(target.size()) - 2));
    target[at] *= target[at + 1];
    target.erase(target.begin() + static_cast<int64_t>(at) + 1);
  }
  const auto at = static_cast<size_t>(random.Between(0, static_cast<int64_t>(target.size()) - 1));
  if (random.Coin()) target[at] = -1;
  return {.op = "Reshape", .shapes = {shape}, .operands = {target}};
}

Trial Pad(Random& random) {
  const std::vector<int64_t> shape = random.Shape(static_cast<size_t>(random.Between(1, 4)), 3, 9);
  return {.op = "Pad", .shapes = {shape}, .operands = {random.Shape(2 * shape.size(), -1, 4)}};
}

Trial Concat(Random& random) {
  const std::vector<int64_t> shape = random.Shape(static_cast<size_t>(random.Between(1, 4)));
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t axis = random.Between(-rank, rank - 1);
  Trial trial = {.op = "Concat", .attributes = {IntAttribute("axis", axis)}};
  for (int64_t i = random.Between(1, 4); i > 0; --i) {
    trial.shapes.push_back(shape);
    trial.shapes.back()[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = random.Between(1, 9);
  }
  return trial;
}

Trial Split(Random& random) {
  const std::vector<int64_t> shape = random.Shape(static_cast<size_t>(random.Between(1, 4)), 2, 12);
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t axis = random.Between(-rank, rank - 1);
  const int64_t parts = random.Between(1, 4);
  return {.op = "Split",
          .opset = 18,
          .shapes = {shape},
          .attributes = {IntAttribute("axis", axis), IntAttribute("num_outputs", parts)},
          .outputs = static_cast<size_t>(parts)};
}

Trial Gather(Random& random) {
  const std::vector<int64_t> shape = random.Shape(static_cast<size_t>(random.Between(1, 4)));
  const auto rank = static_cast<int64_t>(shape.size());
  return {.op = "Gather",
          .shapes = {shape, random.Shape(static_cast<size_t>(random.Between(0, 3)))},
          .attributes = {IntAttribute("axis", random.Between(-rank, rank - 1))}};
}

Trial Reduce(Random& random) {
  const std::vector<int64_t> shape = random.Shape(static_cast<size_t>(random.Between(1, 4)));
  const auto rank = static_cast<int64_t>(shape.size());
  std::vector<int64_t> axes;
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (random.Coin()) axes.push_back(random.Coin() ? axis : axis - rank);
  }
  return {.op = "ReduceSum",
          .shapes = {shape},
          .attributes = {IntAttribute("keepdims", random.Between(0, 1)),
                         IntAttribute("noop_with_empty_axes", random.Between(0, 1))},
          .operands = {axes}};
}

Trial Einsum(Random& random) {
  const std::vector<int64_t> sizes = random.Shape(4);
  const std::vector<int64_t> more = random.Shape(static_cast<size_t>(random.Between(0, 2)));
  std::vector<int64_t> a = more;
  std::vector<int64_t> b = more;
  a.insert(a.end(), {sizes[0], sizes[1]});
  b.insert(b.end(), {sizes[1], sizes[2]});
  const char* equation = random.Coin() ? "...ij,...jk->...ik" : "...ij,...jk->k...";
  return {.op = "Einsum", .shapes = {a, b}, .attributes = {StringAttribute("equation", equation)}};
}

Trial Transpose(Random& random) {
  const std::vector<int64_t> shape = random.Shape(static_cast<size_t>(random.Between(1, 5)));
  std::vector<int64_t> perm;
  for (size_t i = 0; i < shape.size(); ++i) {
    perm.insert(perm.begin() + random.Between(0, static_cast<int64_t>(i)), static_cast<int64_t>(i));
  }
  return {.op = "Transpose", .shapes = {shape}, .attributes = {IntsAttribute("perm", perm)}};
}

Trial Expand(Random& random) {
  Trial trial = Broadcast(random);
  trial.op = "Expand";
  trial.operands = {trial.shapes[1]};
  trial.shapes.pop_back();
  return trial;
}

Trial Tile(Random& random) {
  const std::vector<int64_t> shape = random.Shape(static_cast<size_t>(random.Between(1, 4)));
  return {.op = "Tile", .shapes = {shape}, .operands = {random.Shape(shape.size(), 0, 4)}};
}

Trial Flatten(Random& random) {
  const std::vector<int64_t> shape = random.Shape(static_cast<size_t>(random.Between(0, 4)));
  const auto rank = static_cast<int64_t>(shape.size());
  return {.op = "Flatten",
          .shapes = {shape},
          .attributes = {IntAttribute("axis", random.Between(-rank, rank))}};
}

Trial Unsqueeze(Random& random) {
  const std::vector<int64_t> shape = random.Shape(static_cast<size_t>(random.Between(0, 3)));
  const auto rank = static_cast<int64_t>(shape.size());
  return {.op = "Unsqueeze",
          .shapes = {shape},
          .operands = {std::vector<int64_t>{0, -random.Between(1, rank + 1)}}};
}

Trial DepthToSpace(Random& random) {
  std::vector<int64_t> shape = random.Shape(4);
  const int64_t block = random.Between(1, 3);
  shape[1] *= block * block;
  return {
      .op = "DepthToSpace", .shapes = {shape}, .attributes = {IntAttribute("blocksize", block)}};
}

struct NamedGenerator {
  const char* name;
  Generator generator;
};

class RandomOperators : public testing::TestWithParam<NamedGenerator> {};

TEST_P(RandomOperators, NamesAgreeWithNumbers) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    Compare(GetParam().generator(random), random);
    if (HasFailure()) return;
  }
}

constexpr NamedGenerator kGenerators[] = {
    {"Broadcast", Broadcast},
    {"MatMul", MatMul},
    {"Conv", Conv},
    {"ConvTranspose", ConvTranspose},
    {"Pool", Pool},
    {"Slice", Slice},
    {"Reshape", Reshape},
    {"Pad", Pad},
    {"Concat", Concat},
    {"Split", Split},
    {"Gather", Gather},
    {"Reduce", Reduce},
    {"Einsum", Einsum},
    {"Transpose", Transpose},
    {"Expand", Expand},
    {"Tile", Tile},
    {"Flatten", Flatten},
    {"Unsqueeze", Unsqueeze},
    {"DepthToSpace", DepthToSpace},
};

INSTANTIATE_TEST_SUITE_P(, RandomOperators, testing::ValuesIn(kGenerators),
                         [](const auto& each) { return std::string(each.param.name); });

// Slices against walking along the axis.
TEST(RandomSlices, AgreeWithWalking) {
  for (uint32_t seed = 0; seed < 500; ++seed) {
    Random random(seed);
    const int64_t size = random.Between(0, 9);
    const int64_t start = random.Between(-12, 12);
    const int64_t end = random.Between(-12, 12);
    const int64_t step = random.Coin() ? random.Between(1, 4) : -random.Between(1, 4);
    const auto inside = [size](int64_t at, int64_t low, int64_t high) {
      return std::clamp(at < 0 ? at + size : at, low, high);
    };
    int64_t count = 0;
    if (step > 0) {
      for (int64_t at = inside(start, 0, size); at < inside(end, 0, size); at += step) ++count;
    } else {
      const int64_t last = inside(end, -1, size - 1);
      for (int64_t at = inside(start, 0, std::max<int64_t>(size - 1, 0)); size > 0 && at > last;
           at += step) {
        ++count;
      }
    }
    const Trial trial = {.op = "Slice",
                         .shapes = {{size}},
                         .operands = {std::vector<int64_t>{start}, std::vector<int64_t>{end},
                                      std::vector<int64_t>{0}, std::vector<int64_t>{step}}};
    EXPECT_EQ(Infer(trial, nullptr).types[0].dims[0], Dim(count)) << Show(trial);
  }
}

// Windows against sliding them: each begins in the axis or its left padding and, unless ceil_mode
// lets the last one reach over, ends inside the padded axis.
TEST(RandomPools, AgreeWithSliding) {
  for (uint32_t seed = 0; seed < 500; ++seed) {
    Random random(seed);
    const int64_t size = random.Between(4, 20);
    const int64_t kernel = random.Between(1, 4);
    const int64_t stride = random.Between(1, 4);
    const int64_t dilation = random.Between(1, 2);
    const int64_t begin = random.Between(0, kernel - 1);
    const int64_t end = random.Between(0, kernel - 1);
    const bool ceil = random.Coin();
    const int64_t extent = dilation * (kernel - 1) + 1;
    if (size + begin + end < extent) continue;
    int64_t count = 0;
    for (int64_t at = 0;; at += stride) {
      const bool fits = at + extent <= size + begin + end;
      const bool reaches = ceil && at + extent - stride < size + begin + end;
      if (!(fits || (reaches && at < size + begin))) break;
      ++count;
    }
    const Trial trial = {
        .op = "MaxPool",
        .shapes = {{1, 1, size}},
        .attributes = {IntsAttribute("kernel_shape", {kernel}), IntsAttribute("strides", {stride}),
                       IntsAttribute("dilations", {dilation}), IntsAttribute("pads", {begin, end}),
                       IntAttribute("ceil_mode", ceil ? 1 : 0)}};
    EXPECT_EQ(Infer(trial, nullptr).types[0].dims[2], Dim(count)) << Show(trial);
  }
}

}  // namespace
}  // namespace footprint
