#include "ir/ops/lowering/casts.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace footprint {
namespace {

constexpr int kFarthest = 40;  // nodes that a search looks at

template <size_t N>
bool IsOneOf(const Node& node, const absl::string_view (&names)[N]) {
  return node.domain.empty() && std::find(names, names + N, node.op_type) != names + N;
}

constexpr absl::string_view kSameNumbers[] = {"Reshape",   "Transpose", "Unsqueeze", "Squeeze",
                                              "Slice",     "Expand",    "Flatten",   "Identity",
                                              "Gather",    "Concat",    "Neg"};
// Element by element, or within rows.
constexpr absl::string_view kElementwise[] = {
    "Reshape", "Transpose", "Unsqueeze",  "Squeeze", "Slice",      "Expand", "Concat",
    "Neg",     "Add",       "Sub",        "Mul",     "Div",        "Pow",    "ReduceMean",
    "Sqrt",    "Split",     "Reciprocal", "Sigmoid", "Tanh",       "Erf",    "Clip",
    "ReduceSum", "LayerNormalization"};
// What libraries compute in float32.
constexpr absl::string_view kFloat32[] = {"Pow", "ReduceMean", "ReduceL2", "Exp", "Log", "Sqrt",
                                          "Cos", "Sin", "Softmax", "LogSoftmax",
                                          "SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss"};
constexpr absl::string_view kScores[] = {"Softmax", "LogSoftmax"};
constexpr absl::string_view kScaling[] = {"Mul", "Div"};
constexpr absl::string_view kSums[] = {"Add", "Sub", "Where", "Max"};
constexpr absl::string_view kProduct[] = {"MatMul"};
constexpr absl::string_view kDropout[] = {"Dropout"};

bool IsCast(const Node& node) { return node.domain.empty() && node.op_type == "Cast"; }

// The search from one cast through the graph around it.
class CastSearch {
 public:
  explicit CastSearch(const LowerContext& ctx)
      : ctx_(ctx), graph_(ctx.graph()), scope_(ctx.node().scope) {}

  const Node* Producer(ValueId value) const {
    const NodeId producer = graph_.values[ctx_.Resolve(value)].producer;
    return producer.valid() ? &graph_.nodes[producer] : nullptr;
  }
  bool IsIdle(const Node* node) const {
    return node != nullptr && IsIdleCast(*node, ctx_.TypeOf(node->input(0)).element);
  }

  // `from_float32`: what is cast was float32 already, so casts of both factors of a product are no
  // sign that it goes up.
  bool ReachesFloat32(ValueId value, bool from_float32) const;
  bool ReachesIdleCast(ValueId value) const;
  ValueId WentUp(ValueId value) const;
  ValueId Query(const Node& softmax) const;
  ValueId ProductOf(ValueId probabilities) const;

 private:
  bool IsProductOfCasts(const Node& node) const;

  const LowerContext& ctx_;
  const Graph& graph_;
  ScopeId scope_;
};

// Both factors went up on purpose.
bool CastSearch::IsProductOfCasts(const Node& node) const {
  for (ValueId input : node.inputs) {
    const Node* producer = Producer(input);
    while (producer != nullptr && IsOneOf(*producer, kSameNumbers)) {
      producer = Producer(producer->input(0));
    }
    if (producer == nullptr || !IsCast(*producer)) return false;
  }
  return true;
}

bool CastSearch::ReachesFloat32(ValueId value, bool from_float32) const {
  struct Place {
    ValueId value;
    bool summed;  // with something else: only scores are followed that far
  };
  std::vector<Place> open = {{value, false}};
  for (size_t i = 0; i < open.size() && i < kFarthest; ++i) {
    for (NodeId reader : ctx_.Readers(open[i].value)) {
      const Node& node = graph_.nodes[reader];
      if (open[i].summed ? IsOneOf(node, kScores) : IsOneOf(node, kFloat32)) return true;
      const bool product =
          !from_float32 && IsOneOf(node, kProduct) && IsProductOfCasts(node);
      if (product) return true;
      const bool squared = IsOneOf(node, kScaling) && node.input(0) == node.input(1);
      if (squared) return true;
      if (!node.output(0).valid()) continue;
      if (IsOneOf(node, kSameNumbers) || (IsOneOf(node, kScaling) && ctx_.HasNumber(node))) {
        open.push_back({node.output(0), open[i].summed});
      } else if (IsOneOf(node, kSums)) {
        open.push_back({node.output(0), true});
      }
    }
  }
  return false;
}

// A cast further on, in the same call of a module: there it comes down again.
bool CastSearch::ReachesIdleCast(ValueId value) const {
  std::vector<ValueId> open = {value};
  for (size_t i = 0; i < open.size() && i < kFarthest; ++i) {
    for (NodeId reader : ctx_.Readers(open[i])) {
      const Node& node = graph_.nodes[reader];
      if (node.scope != scope_) continue;
      if (i > 0 && IsIdle(&node)) return true;
      if (!IsOneOf(node, kElementwise)) continue;
      for (ValueId output : node.outputs) {
        if (output.valid()) open.push_back(output);
      }
    }
  }
  return false;
}

// What was cast where this computation began; invalid: it did not begin with a cast.
ValueId CastSearch::WentUp(ValueId value) const {
  std::vector<ValueId> open = {value};
  for (size_t i = 0; i < open.size() && i < kFarthest; ++i) {
    const Node* node = Producer(open[i]);
    if (node == nullptr || node->scope != scope_) continue;
    if (i > 0 && IsIdle(node)) return ctx_.Resolve(node->input(0));
    if (!IsOneOf(*node, kElementwise)) continue;
    for (ValueId input : node->inputs) {
      if (input.valid()) open.push_back(input);
    }
  }
  return ValueId();
}

// The first factor of the product whose scores the softmax is of.
ValueId CastSearch::Query(const Node& softmax) const {
  std::vector<ValueId> open = {softmax.input(0)};
  for (size_t i = 0; i < open.size() && i < kFarthest; ++i) {
    const Node* node = open[i].valid() ? Producer(open[i]) : nullptr;
    if (node == nullptr) continue;
    if (IsOneOf(*node, kProduct)) return ctx_.Resolve(node->input(0));
    if (!IsOneOf(*node, kElementwise) && !IsOneOf(*node, kSums) && !IsCast(*node)) continue;
    open.insert(open.end(), node->inputs.begin(), node->inputs.end());
  }
  return ValueId();
}

// What the probabilities are multiplied with.
ValueId CastSearch::ProductOf(ValueId probabilities) const {
  for (int i = 0; i < kFarthest; ++i) {
    const absl::Span<const NodeId> readers = ctx_.Readers(probabilities);
    if (readers.empty()) return ValueId();
    const Node& node = graph_.nodes[readers[0]];
    if (IsOneOf(node, kProduct)) return ctx_.Resolve(node.input(1));
    if (!IsOneOf(node, kSameNumbers) && !IsOneOf(node, kDropout) && !IsCast(node)) return ValueId();
    probabilities = node.output(0);
  }
  return ValueId();
}

bool IsSoftmax(const Node* node) { return node != nullptr && IsOneOf(*node, kScores); }

// The cast behind this softmax belongs to it if another one follows.
bool AsksForFloat32(const CastSearch& search, const LowerContext& ctx, ValueId probabilities) {
  const absl::Span<const NodeId> casts = ctx.Readers(probabilities);
  if (casts.size() != 1) return false;
  const Node& cast = ctx.graph().nodes[casts[0]];
  if (!search.IsIdle(&cast)) return false;
  const absl::Span<const NodeId> readers = ctx.Readers(cast.output(0));
  return !readers.empty() && std::all_of(readers.begin(), readers.end(), [&](NodeId reader) {
    return search.IsIdle(&ctx.graph().nodes[reader]);
  });
}

void LowerToTypeOf(LowerContext& ctx, ValueId model) {
  const TorchValueId tensor = model.valid() ? ctx.TensorOf(model) : TorchValueId();
  if (tensor.valid()) {
    ctx.Result("aten::type_as", {ctx.Tensor(0), TorchArgument::Tensor(tensor)});
  } else {
    ctx.Result("footprint::to_module_type", {ctx.Tensor(0)});
  }
}

// Of what was float32 already.
void LowerIdleCast(LowerContext& ctx) {
  const CastSearch search(ctx);
  const Node* producer = ctx.Producer(0);
  if (IsSoftmax(producer)) {
    if (AsksForFloat32(search, ctx, ctx.operand(0))) {
      ctx.Alias(0, ctx.TensorId(0));
    } else {
      LowerToTypeOf(ctx, search.ProductOf(ctx.node().output(0)));
    }
    return;
  }
  if (search.IsIdle(producer) && IsSoftmax(search.Producer(producer->input(0)))) {
    LowerToTypeOf(ctx, search.Query(*search.Producer(producer->input(0))));
    return;
  }
  const ValueId result = ctx.node().output(0);
  const ValueId low = search.WentUp(ctx.operand(0));
  if (search.ReachesFloat32(result, low.valid()) || search.ReachesIdleCast(result)) {
    ctx.Result("aten::to", {ctx.Tensor(0), TorchArgument::Element(ElementType::kFloat)});
  } else {
    LowerToTypeOf(ctx, low);
  }
}

bool LowerCast(LowerContext& ctx) {
  if (ctx.FromPyTorch() && IsIdleCast(ctx.node(), ctx.Type(0).element)) {
    LowerIdleCast(ctx);
  } else {
    ctx.Result("aten::to", {ctx.Tensor(0), TorchArgument::Element(ctx.ResultType().element)});
  }
  return true;
}

bool LowerCastLike(LowerContext& ctx) {
  ctx.Result("aten::type_as", {ctx.Tensor(0), ctx.Tensor(1)});
  return true;
}

// A root mean square norm whose way down the file does not show, as type_as leaves no trace in
// float32. Operands: weight, x, the inverse root, x gone up.
//
// T5 takes the root in float32 and scales the x that did not go up: the file has one cast for both.
// Others take x up a second time and come down before the weight.
bool LowerRmsNorm(LowerContext& ctx) {
  const bool once = ctx.Readers(ctx.operand(3)).size() > 1;
  const TorchArgument float32 = TorchArgument::Element(ElementType::kFloat);
  TorchArgument x = ctx.Tensor(1);
  if (!once) x = TorchArgument::Tensor(ctx.Call("aten::to", {x, float32}, ctx.Type(1)));
  const TorchArgument scaled =
      TorchArgument::Tensor(ctx.Call("aten::mul", {x, ctx.Tensor(2)}, ctx.ResultType()));
  const TorchValueId low =
      once ? ctx.Call("footprint::to_module_type", {scaled}, ctx.ResultType())
           : ctx.Call("aten::type_as", {scaled, ctx.Tensor(1)}, ctx.ResultType());
  ctx.Result("aten::mul", {ctx.Tensor(0), TorchArgument::Tensor(low)});
  return true;
}

// Gemma's: the weight goes up too, and is counted from one. Operands: weight, x, the inverse root,
// x gone up, one.
bool LowerRmsNormInFloat32(LowerContext& ctx) {
  const TorchArgument float32 = TorchArgument::Element(ElementType::kFloat);
  const auto call = [&](absl::string_view op, std::vector<TorchArgument> arguments,
                        const TensorType& type) {
    return TorchArgument::Tensor(ctx.Call(op, std::move(arguments), type));
  };
  const TorchArgument scaled = call("aten::mul", {ctx.Tensor(3), ctx.Tensor(2)}, ctx.ResultType());
  const TorchArgument up = call("aten::to", {ctx.Tensor(0), float32}, ctx.Type(0));
  const TorchArgument weight = call("aten::add", {up, ctx.Argument(4)}, ctx.Type(0));
  const TorchArgument result = call("aten::mul", {scaled, weight}, ctx.ResultType());
  ctx.Result("aten::type_as", {result, ctx.Tensor(1)});
  return true;
}

bool IsInverseRoot(const LowerContext& ctx, int operand) {
  const Node* inverse = ctx.Producer(operand);
  if (inverse == nullptr) return false;
  const bool divides = inverse->op_type == "Div" || inverse->op_type == "Reciprocal";
  const ValueId root = inverse->inputs.back();
  const NodeId producer = root.valid() ? ctx.graph().values[root].producer : NodeId();
  return divides && producer.valid() && ctx.graph().nodes[producer].op_type == "Sqrt";
}

bool IsScaledByInverseRoot(const LowerContext& ctx) {
  return ctx.IsParameter(0) && IsFloatingPoint(ctx.Type(1).element) && IsInverseRoot(ctx, 2);
}

// Olmo's comes down behind the weight, as the file says itself.
bool ComesDownBehind(const LowerContext& ctx) {
  const absl::Span<const NodeId> readers = ctx.Readers(ctx.node().output(0));
  return !readers.empty() && std::all_of(readers.begin(), readers.end(), [&ctx](NodeId reader) {
    const Node& node = ctx.graph().nodes[reader];
    return IsCast(node) && node.scope == ctx.node().scope;
  });
}

bool IsRmsNorm(const LowerContext& ctx) {
  return IsScaledByInverseRoot(ctx) && !ComesDownBehind(ctx);
}

// Without a weight the result itself comes down, unless a cast behind it says so.
bool LowerPlainRmsNorm(LowerContext& ctx) {
  const TorchValueId scaled =
      ctx.Call("aten::mul", {ctx.Tensor(2), ctx.Tensor(1)}, ctx.ResultType());
  ctx.Result("aten::type_as", {TorchArgument::Tensor(scaled), ctx.Tensor(0)});
  return true;
}

// Operands: x, the inverse root, x gone up.
bool IsPlainRmsNorm(const LowerContext& ctx) {
  if (!ctx.FromPyTorch() || !IsFloatingPoint(ctx.Type(0).element) || !IsInverseRoot(ctx, 1)) {
    return false;
  }
  const absl::Span<const NodeId> readers = ctx.Readers(ctx.node().output(0));
  return std::none_of(readers.begin(), readers.end(), [&ctx](NodeId reader) {
    const Node& node = ctx.graph().nodes[reader];
    return IsCast(node) || node.scope == ctx.node().scope;
  });
}

constexpr Lowering kRows[] = {
    {.onnx = "Mul(weight, Mul(&Cast:up(x), inverse))",
     .operands = "weight x inverse up",
     .lower = LowerRmsNorm,
     .when = IsRmsNorm,
     .note = "root mean square norm"},
    {.onnx = "Mul(Mul(&Cast:up(x), inverse), Add(Cast(weight), #one))",
     .operands = "weight x inverse up one",
     .lower = LowerRmsNormInFloat32,
     .when = IsScaledByInverseRoot,
     .note = "root mean square norm in float32 throughout"},
    {.onnx = "Mul(&Cast:up(x), inverse)",
     .operands = "x inverse up",
     .lower = LowerPlainRmsNorm,
     .when = IsPlainRmsNorm,
     .note = "root mean square norm without a weight"},
    {.onnx = "Cast", .lower = LowerCast},
    {.onnx = "CastLike", .lower = LowerCastLike},
};

}  // namespace

bool IsIdleCast(const Node& node, ElementType source) {
  return IsCast(node) && source == ElementType::kFloat &&
         node.Int("to", 0) == static_cast<int64_t>(ElementType::kFloat);
}

bool IsFloat32Softmax(const LowerContext& ctx) {
  return ctx.FromPyTorch() && AsksForFloat32(CastSearch(ctx), ctx, ctx.node().output(0));
}

absl::Span<const Lowering> CastLowerings() { return kRows; }

}  // namespace footprint
