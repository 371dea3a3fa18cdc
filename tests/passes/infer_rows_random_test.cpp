// Every row with random attributes, operands and sizes, twice: with sizes as numbers, and with
// names for them. Where the node runs on numbers, the answer in names evaluated at these numbers
// must be the same, an open size no smaller, and what must hold must hold.
#include <algorithm>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "passes/infer_shapes.h"
#include "tests/support/graph_builder.h"

namespace footprint {
namespace {

constexpr const char* kInt[] = {
    "axis",     "keepdims",    "group",     "to",          "blocksize", "k",        "num_outputs",
    "layout",   "batch_dims",  "allowzero", "ceil_mode",   "transA",    "transB",   "hidden_size",
    "num_heads", "q_num_heads", "size",     "kv_num_heads", "onesided",  "dtype",    "largest",
    "noop_with_empty_axes", "start", "end", "exclusive", "N", "K", "bits", "block_size", "step",
    "n_targets", "sample_size", "upper", "stash_type", "stride", "direction", "inverse", "dim"};
constexpr const char* kInts[] = {"axes",  "perm",   "pads", "strides", "dilations", "kernel_shape",
                                 "split", "starts", "ends", "shape",   "repeats",   "block_shape",
                                 "output_padding", "pooled_shape", "classlabels_ints"};

struct RandomOperand {
  bool omitted = false;
  std::vector<int64_t> shape;     // of an input
  std::vector<int64_t> contents;  // of a constant, if any
  bool is_scalar = false;
  ElementType element = ElementType::kFloat;
};

struct RandomNode {
  std::vector<RandomOperand> operands;
  std::vector<Attribute> attributes;
  size_t outputs = 1;
  int version = 1;
};

class NodeMaker {
 public:
  explicit NodeMaker(uint32_t seed) : engine_(seed) {}

  int64_t Between(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine_);
  }

  RandomNode Make(const OnnxOp& op) {
    RandomNode node;
    const int newest = op.until == OnnxOp::kLatest ? std::max(op.since, 24) : op.until;
    node.version = static_cast<int>(Between(op.since, newest));
    // Sizes recur, so that operands often fit each other.
    for (int64_t& size : sizes_) size = std::vector<int64_t>{1, 2, 3, 4, 6, 8}[Between(0, 5)];
    rank_ = Between(1, 5);
    const Signature::Form& form = op.signature.At(node.version);
    const int64_t inputs = CountIn(form.inputs);
    for (int64_t i = 0; i < inputs; ++i) {
      node.operands.push_back(Operand());
      if (i < form.inputs.least) node.operands.back().omitted = false;
    }
    AddRequired(form, node);
    for (int64_t i = Between(0, 4); i > 0; --i) node.attributes.push_back(OneAttribute());
    node.outputs = static_cast<size_t>(std::max<int64_t>(CountIn(form.outputs), 1));
    return node;
  }

 private:
  int64_t CountIn(const Signature::Range& range) {
    return Between(range.least, std::min(range.most, range.least + 4));
  }

  // Those that are numbers.
  void AddRequired(const Signature::Form& form, RandomNode& node) {
    for (const absl::string_view name : absl::StrSplit(form.required, ' ')) {
      if (std::find(std::begin(kInts), std::end(kInts), name) != std::end(kInts)) {
        std::vector<int64_t> numbers(static_cast<size_t>(Between(1, 4)));
        for (int64_t& number : numbers) number = Between(0, 3);
        node.attributes.push_back(IntsAttribute(std::string(name), numbers));
      } else if (!name.empty()) {
        node.attributes.push_back(IntAttribute(std::string(name), Between(0, 4)));
      }
    }
  }

  RandomOperand Operand() {
    RandomOperand operand;
    const int64_t kind = Between(0, 9);
    operand.omitted = kind == 0;
    if (kind == 1 || kind == 2) {
      operand.contents.resize(static_cast<size_t>(Between(1, rank_)));
      for (int64_t& number : operand.contents) number = Between(-1, 4);
      operand.is_scalar = operand.contents.size() == 1 && Between(0, 1) == 1;
      return operand;
    }
    if (kind == 3) operand.element = ElementType::kInt64;
    const int64_t rank = Between(0, 3) == 0 ? Between(0, 5) : rank_;
    for (int64_t i = 0; i < rank; ++i) {
      operand.shape.push_back(sizes_[static_cast<size_t>(Between(0, 3) == 0 ? Between(0, 4) : i)]);
    }
    return operand;
  }

  Attribute OneAttribute() {
    if (Between(0, 2) == 0) {
      std::vector<int64_t> numbers(static_cast<size_t>(Between(1, 4)));
      for (int64_t& number : numbers) number = Between(0, 3);
      return IntsAttribute(kInts[Between(0, std::ssize(kInts) - 1)], numbers);
    }
    return IntAttribute(kInt[Between(0, std::ssize(kInt) - 1)], Between(-1, 4));
  }

  std::mt19937 engine_;
  int64_t sizes_[5] = {};
  int64_t rank_ = 1;
};

struct RowAnswer {
  std::vector<ValueType> types;
  std::vector<std::vector<std::optional<int64_t>>> sizes;  // evaluated
  std::vector<std::vector<bool>> open;
  bool failed = false;
  bool holds = true;
};

RowAnswer Infer(const OnnxOp& op, const RandomNode& node, bool with_names) {
  GraphBuilder builder(node.version, std::string(op.domain));
  DimBindings bindings;
  std::vector<ValueId> inputs;
  for (const RandomOperand& operand : node.operands) {
    const std::string name = absl::StrCat("x", inputs.size());
    if (operand.omitted) {
      inputs.emplace_back();
    } else if (!operand.contents.empty()) {
      inputs.push_back(operand.is_scalar ? builder.Scalar(operand.contents[0])
                                         : builder.Ints(operand.contents));
    } else {
      Dims dims;
      for (size_t i = 0; i < operand.shape.size(); ++i) {
        // Some sizes stay numbers.
        const bool named = with_names && (i + inputs.size()) % 3 != 0;
        const std::string symbol = absl::StrCat("s", operand.shape[i]);
        if (named) bindings.emplace_back(symbol, operand.shape[i]);
        dims.push_back(named ? builder.Symbol(symbol) : Dim(operand.shape[i]));
      }
      inputs.push_back(builder.Input(name, operand.element, dims));
    }
  }
  const std::vector<ValueId> outputs =
      builder.Nodes(std::string(op.name), inputs, node.outputs, node.attributes);
  DiagnosticSink sink;
  const InferredTypes inferred = InferShapes(builder.graph(), {}, nullptr, sink);
  DimEvaluator evaluator(builder.dims(), bindings);
  RowAnswer answer;
  answer.failed = sink.has_errors();
  DiagnosticSink violations;
  CheckConstraints(builder.graph(), inferred, evaluator, violations);
  answer.holds = violations.all().empty();
  for (const ValueId output : outputs) {
    const ValueType& type = inferred.types[output];
    answer.types.push_back(type);
    answer.sizes.emplace_back();
    answer.open.emplace_back();
    for (const Dim dim : type.tensor.dims) {
      answer.sizes.back().push_back(evaluator.Evaluate(dim));
      answer.open.back().push_back(dim.is_unknown() || builder.dims().IsDataDependent(dim));
    }
  }
  return answer;
}

// Whether the node ran on numbers.
bool Compare(const OnnxOp& op, const RandomNode& node) {
  const RowAnswer numbers = Infer(op, node, false);
  if (numbers.failed) return false;
  const RowAnswer names = Infer(op, node, true);
  EXPECT_FALSE(names.failed);
  EXPECT_TRUE(names.holds);
  for (size_t i = 0; i < numbers.types.size(); ++i) {
    if (names.types[i].kind != TypeKind::kUnknown) {
      EXPECT_EQ(numbers.types[i].kind, names.types[i].kind);
    }
    const bool ranked = names.types[i].tensor.has_rank && numbers.types[i].tensor.has_rank;
    if (!ranked) continue;
    EXPECT_EQ(numbers.sizes[i].size(), names.sizes[i].size());
    if (numbers.sizes[i].size() != names.sizes[i].size()) continue;
    for (size_t d = 0; d < names.sizes[i].size(); ++d) {
      const std::optional<int64_t> number = numbers.sizes[i][d];
      const std::optional<int64_t> name = names.sizes[i][d];
      if (!number || numbers.open[i][d]) continue;
      if (names.open[i][d]) {
        EXPECT_GE(name.value_or(INT64_MAX), *number) << "output " << i << " axis " << d;
      } else {
        EXPECT_EQ(name, number) << "output " << i << " axis " << d;
      }
    }
  }
  return true;
}

std::string Show(const OnnxOp& op, const RandomNode& node) {
  std::string text = absl::StrCat(op.domain, " ", op.name, " ", node.version, ":");
  for (const RandomOperand& operand : node.operands) {
    absl::StrAppend(&text, operand.omitted ? " none" : operand.contents.empty() ? " [" : " (");
    for (const int64_t number : operand.contents.empty() ? operand.shape : operand.contents) {
      absl::StrAppend(&text, number, " ");
    }
  }
  for (const Attribute& attribute : node.attributes) {
    absl::StrAppend(&text, " ", attribute.name, "=", attribute.int_value);
    for (const int64_t number : attribute.ints) absl::StrAppend(&text, ",", number);
  }
  return text;
}

TEST(RandomRows, NamesAgreeWithNumbers) {
  std::set<std::string> ran;
  for (const OnnxOp* op : AllOnnxOps()) {
    if (op->control != Control::kNone) continue;
    for (uint32_t seed = 0; seed < 200; ++seed) {
      const RandomNode node = NodeMaker(seed).Make(*op);
      SCOPED_TRACE(Show(*op, node));
      if (Compare(*op, node)) ran.insert(absl::StrCat(op->domain, op->name));
      if (HasFailure()) return;
    }
  }
  // Some need attributes or contents that chance does not hit upon.
  EXPECT_GT(ran.size(), 300U);
}

}  // namespace
}  // namespace footprint
