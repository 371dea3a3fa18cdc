// Activations that exporters spell out: GELU by its error function or its tanh, SiLU.
#include <cmath>
#include <utility>

#include "backend/runtime/onnxruntime_rewrites.h"

namespace footprint {
namespace {

bool IsAbout(double value, double expected) { return std::abs(value - expected) < 1e-2 * expected; }

// A node `op` that alone reads `value` and combines it with the number.
int32_t ThenScalar(const Rewriter& rewriter, int32_t value, const char* op, double number) {
  const int32_t node = rewriter.OnlyReader(value, op);
  if (node < 0) return -1;
  const std::optional<Rewriter::ScalarOperand> scalar = rewriter.WithScalar(node);
  return scalar && scalar->other == value && IsAbout(scalar->scalar, number) ? node : -1;
}

int32_t OutputOf(const RuntimeGraph& graph, int32_t node) { return graph.node(node).outputs[0]; }

// (0.5 * x) * sum; of the error function also (x * sum) * 0.5, but not x * (0.5 * sum).
bool FinishGelu(Rewriter& rewriter, std::vector<int32_t> nodes, int32_t sum, int32_t x,
                const char* op) {
  RuntimeGraph& graph = rewriter.graph();
  const int32_t product = rewriter.OnlyReader(OutputOf(graph, sum), "Mul");
  if (product < 0) return false;
  nodes.push_back(product);
  const int32_t other = rewriter.OtherInput(product, OutputOf(graph, sum));
  const int32_t half = rewriter.MadeBy(other, "Mul");
  if (other == x && half >= 0) return false;  // which is then looked for there
  const std::optional<Rewriter::ScalarOperand> halved =
      half < 0 ? std::nullopt : rewriter.WithScalar(half);
  int32_t last = product;
  if (other == x && graph.node(nodes[1]).op_type == "Erf") {
    last = ThenScalar(rewriter, OutputOf(graph, product), "Mul", 0.5);
  } else if (halved && halved->other == x) {
    if (!IsAbout(halved->scalar, 0.5) || !rewriter.IsUsedOnce(other)) return false;
    nodes.push_back(half);
  } else {
    return false;
  }
  if (last < 0) return false;
  const bool is_handed_out = graph.value(OutputOf(graph, last)).output;
  if (is_handed_out && graph.node(nodes[1]).op_type != "Erf") return false;
  nodes.push_back(last);
  rewriter.Replace(
      nodes,
      Unary(op, std::string(kMicrosoftDomain), graph.node(sum).source, x, OutputOf(graph, last)),
      std::string("spelled-out activation -> ") + op);
  return true;
}

}  // namespace

void FuseErfActivations(Rewriter& rewriter) {
  RuntimeGraph& graph = rewriter.graph();
  for (const int32_t erf : rewriter.Order()) {
    if (!rewriter.Is(erf, "Erf")) continue;
    const int32_t scaled = graph.node(erf).inputs[0];
    if (!rewriter.IsUsedOnce(scaled)) continue;
    const int32_t scale = rewriter.MadeBy(scaled, "Div");
    const std::optional<Rewriter::ScalarOperand> scalar =
        scale < 0 ? std::nullopt : rewriter.WithScalar(scale);
    if (!scalar || !IsAbout(scalar->scalar, 1.41421356)) continue;
    const int32_t sum = ThenScalar(rewriter, OutputOf(graph, erf), "Add", 1);
    if (sum >= 0) FinishGelu(rewriter, {scale, erf, sum}, sum, scalar->other, "Gelu");
  }
}

namespace {

constexpr double kCubed = 0.044715;
constexpr double kRootOfTwoByPi = 0.7978845;

// What the tanh is computed from: its nodes, the last one last, and x; none: something else.
struct TanhOperand {
  std::vector<int32_t> nodes;
  int32_t x = -1;
};

// 0.7979 * (x + 0.044715 * x^3)
TanhOperand MatchPower(const Rewriter& rewriter, int32_t cube) {
  const RuntimeGraph& graph = rewriter.graph_view();
  const std::optional<Rewriter::ScalarOperand> power = rewriter.WithScalar(cube);
  if (!power || power->scalar != 3) return {};
  const int32_t small = ThenScalar(rewriter, OutputOf(graph, cube), "Mul", kCubed);
  if (small < 0) return {};
  const int32_t inner = rewriter.OnlyReader(OutputOf(graph, small), "Add");
  if (inner < 0 || rewriter.OtherInput(inner, OutputOf(graph, small)) != power->other) return {};
  const int32_t scale = ThenScalar(rewriter, OutputOf(graph, inner), "Mul", kRootOfTwoByPi);
  if (scale < 0) return {};
  return {{cube, small, inner, scale}, power->other};
}

// 0.7979 * x * (1 + 0.044715 * x * x)
TanhOperand MatchProducts(const Rewriter& rewriter, int32_t small) {
  const RuntimeGraph& graph = rewriter.graph_view();
  const std::optional<Rewriter::ScalarOperand> scalar = rewriter.WithScalar(small);
  if (!scalar || !IsAbout(scalar->scalar, kCubed)) return {};
  const int32_t square = rewriter.OnlyReader(OutputOf(graph, small), "Mul");
  if (square < 0 || rewriter.OtherInput(square, OutputOf(graph, small)) != scalar->other) return {};
  const int32_t inner = ThenScalar(rewriter, OutputOf(graph, square), "Add", 1);
  if (inner < 0) return {};
  const int32_t product = rewriter.OnlyReader(OutputOf(graph, inner), "Mul");
  if (product < 0) return {};
  const int32_t scaled = rewriter.OtherInput(product, OutputOf(graph, inner));
  const int32_t scale = rewriter.MadeBy(scaled, "Mul");
  if (scale < 0 || !rewriter.IsUsedOnce(scaled)) return {};
  const std::optional<Rewriter::ScalarOperand> factor = rewriter.WithScalar(scale);
  if (!factor || factor->other != scalar->other || !IsAbout(factor->scalar, kRootOfTwoByPi))
    return {};
  return {{small, square, inner, scale, product}, scalar->other};
}

// 0.5 * x * (1 + tanh(..))
void FuseFastGelu(Rewriter& rewriter) {
  const RuntimeGraph& graph = rewriter.graph_view();
  for (const int32_t node : rewriter.Order()) {
    TanhOperand operand;
    if (rewriter.Is(node, "Pow")) operand = MatchPower(rewriter, node);
    if (rewriter.Is(node, "Mul")) operand = MatchProducts(rewriter, node);
    if (operand.nodes.empty() || rewriter.IsDouble(operand.x)) continue;
    const int32_t tanh = rewriter.OnlyReader(OutputOf(graph, operand.nodes.back()), "Tanh");
    if (tanh < 0) continue;
    const int32_t sum = ThenScalar(rewriter, OutputOf(graph, tanh), "Add", 1);
    if (sum < 0) continue;
    operand.nodes.insert(operand.nodes.end(), {tanh, sum});
    FinishGelu(rewriter, operand.nodes, sum, operand.x, "FastGelu");
  }
}

// x * sigmoid(x), or of x scaled by a number.
void FuseQuickGelu(Rewriter& rewriter) {
  RuntimeGraph& graph = rewriter.graph();
  for (const int32_t sigmoid : rewriter.Order()) {
    if (!rewriter.Is(sigmoid, "Sigmoid")) continue;
    int32_t x = graph.node(sigmoid).inputs[0];
    if (rewriter.IsDouble(x)) continue;
    const int32_t product = rewriter.OnlyReader(OutputOf(graph, sigmoid), "Mul");
    if (product < 0) continue;
    const int32_t other = rewriter.OtherInput(product, OutputOf(graph, sigmoid));
    std::vector<int32_t> nodes = {sigmoid, product};
    if (other != x) {
      const int32_t scale = rewriter.MadeBy(x, "Mul");
      const std::optional<Rewriter::ScalarOperand> scalar =
          scale < 0 ? std::nullopt : rewriter.WithScalar(scale);
      if (!scalar || scalar->other != other || !rewriter.IsUsedOnce(x)) continue;
      nodes.push_back(scale);
      x = other;
    }
    rewriter.Replace(nodes,
                     Unary("QuickGelu", std::string(kMicrosoftDomain), graph.node(sigmoid).source,
                           x, OutputOf(graph, product)),
                     "spelled-out activation -> QuickGelu");
  }
}

}  // namespace

void FuseSigmoidAndTanhActivations(Rewriter& rewriter) {
  FuseFastGelu(rewriter);
  FuseQuickGelu(rewriter);
}

void FuseActivationBias(Rewriter& rewriter) {
  RuntimeGraph& graph = rewriter.graph();
  for (const int32_t id : rewriter.Order()) {
    const bool is_fast = rewriter.Is(id, "FastGelu", kMicrosoftDomain);
    if (!is_fast && !rewriter.Is(id, "Gelu", kMicrosoftDomain) && !rewriter.Is(id, "Gelu"))
      continue;
    RuntimeNode made = graph.node(id);
    const int32_t add = rewriter.MadeBy(made.inputs[0], "Add");
    if (add < 0 || made.inputs.size() != 1 || !rewriter.IsUsedOnce(made.inputs[0])) continue;
    for (size_t i = 0; i < 2; ++i) {
      const int32_t bias = graph.node(add).inputs[i];
      if (!rewriter.IsConstant(bias) || graph.value(bias).visible.dims.size() != 1) continue;
      made.inputs = {graph.node(add).inputs[1 - i], bias};
      made.op_type = is_fast ? "FastGelu" : "BiasGelu";
      made.domain = std::string(kMicrosoftDomain);
      rewriter.Replace({id, add}, made, "Add + Gelu -> " + made.op_type);
      break;
    }
  }
}

}  // namespace footprint
