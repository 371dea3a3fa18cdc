// Half precision: most kernels of the CPU have none. A node without one works on 32-bit numbers:
//
//   half x -> Add -> half y     becomes     Cast -> Add -> Cast
//
// Casts that undo each other are taken out, so that a row of such nodes is cast once.
#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "backend/runtime/onnxruntime.h"
#include "backend/runtime/rewriter.h"

namespace footprint {
namespace {

// Operators with a kernel for half precision.
constexpr absl::string_view kHalf[] = {"Attention",
                                       "BitCast",
                                       "BranchwiseRMSNorm",
                                       "Cast",
                                       "Celu",
                                       "Clip",
                                       "Compress",
                                       "Concat",
                                       "ConcatFromSequence",
                                       "ConstantOfShape",
                                       "DequantizeLinear",
                                       "Dropout",
                                       "EngramGate",
                                       "Expand",
                                       "ExpandDims",
                                       "Flatten",
                                       "GatedAdd",
                                       "GatedDeltaNet",
                                       "GatedRMSNorm",
                                       "Gather",
                                       "GatherBlockQuantized",
                                       "GatherElements",
                                       "GatherND",
                                       "GatherPacked",
                                       "GroupQueryAttention",
                                       "HyperConnectionPostMix",
                                       "HyperConnectionPreMix",
                                       "Identity",
                                       "If",
                                       "Inverse",
                                       "IsInf",
                                       "IsNaN",
                                       "LayerNormalization",
                                       "LinearAttentionGate",
                                       "Loop",
                                       "MRotaryEmbedding",
                                       "MatMulNBits",
                                       "Max",
                                       "Min",
                                       "MoEGroupRouter",
                                       "Mod",
                                       "Optional",
                                       "OptionalGetElement",
                                       "OptionalHasElement",
                                       "QMoE",
                                       "QuantizeLinear",
                                       "RMSNormalization",
                                       "RandomUniformLike",
                                       "Reshape",
                                       "ReverseSequence",
                                       "RotaryEmbedding",
                                       "Round",
                                       "ScaledSiLU",
                                       "Scan",
                                       "Scatter",
                                       "ScatterElements",
                                       "ScatterND",
                                       "SequenceAt",
                                       "SequenceConstruct",
                                       "SequenceEmpty",
                                       "SequenceErase",
                                       "SequenceInsert",
                                       "SequenceLength",
                                       "Shape",
                                       "Shrink",
                                       "Sign",
                                       "SimplifiedLayerNormalization",
                                       "SkipLayerNormalization",
                                       "SkipSimplifiedLayerNormalization",
                                       "Slice",
                                       "SparseAttention",
                                       "Split",
                                       "SplitToSequence",
                                       "Squeeze",
                                       "TensorScatter",
                                       "Transpose",
                                       "Unsqueeze",
                                       "VarlenCausalConvWithState"};

bool HasKernel(const RuntimeGraph& graph, const RuntimeNode& node) {
  if (node.op_type == "Attention" && !node.domain.empty()) return false;
  constexpr int kLastOfDropout = 11;
  if (node.op_type == "Dropout" && node.source.valid() &&
      graph.graph->nodes[node.source].version > kLastOfDropout) {
    return false;
  }
  return std::find(std::begin(kHalf), std::end(kHalf), node.op_type) != std::end(kHalf);
}

bool HasHalfAmong(const RuntimeGraph& graph, const std::vector<int32_t>& values) {
  return std::any_of(values.begin(), values.end(), [&](int32_t value) {
    return value >= 0 && graph.value(value).type.element == ElementType::kFloat16;
  });
}

class Caster {
 public:
  Caster(RuntimeGraph& graph, DimEvaluator& evaluator, bool optimize)
      : rewriter_(graph, evaluator), graph_(graph), optimize_(optimize) {}

  void Run() {
    first_inserted_ = static_cast<int32_t>(graph_.nodes.size());
    FindNodes();
    CountReaders();
    for (const int32_t node : rewriter_.Order()) {
      if (IsCast(node)) Surround(node);
    }
    RemovePairs();
  }

 private:
  bool IsHalf(int32_t value) const {
    return value >= 0 && graph_.value(value).type.element == ElementType::kFloat16;
  }
  bool IsCast(int32_t node) const {
    return node >= 0 && static_cast<size_t>(node) < casts_.size() &&
           casts_[static_cast<size_t>(node)];
  }
  bool ReadsHalf(const RuntimeNode& node) const { return HasHalfAmong(graph_, node.inputs); }

  void FindNodes() {
    casts_.assign(graph_.nodes.size(), false);
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const RuntimeNode& node = graph_.nodes[i];
      casts_[i] = !node.removed && !HasKernel(graph_, node) && ReadsHalf(node);
    }
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (!casts_[i] && IsAmongCasts(graph_.nodes[i])) casts_[i] = true;
    }
  }

  // All that makes what it reads and all that reads its results works on 32-bit numbers; of a list
  // of operands or results, the first one counts.
  bool IsAmongCasts(const RuntimeNode& node) const {
    if (node.removed || !node.captures.empty() || !ReadsHalf(node)) return false;
    const bool is_list = node.op_type == "Concat" || node.op_type == "Max" || node.op_type == "Min";
    const size_t operands = is_list ? 1 : node.inputs.size();
    const size_t results = node.op_type == "Split" ? 1 : node.outputs.size();
    bool reads_computed = false;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const int32_t input = node.inputs[i];
      const int32_t maker = input < 0 ? -1 : rewriter_.uses().producer[static_cast<size_t>(input)];
      reads_computed = reads_computed || maker >= 0;
      if (i < operands && IsHalf(input) && maker >= 0 && !IsCast(maker)) return false;
    }
    if (!reads_computed) return false;
    bool makes_half = false;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const int32_t output = node.outputs[i];
      if (output < 0) continue;
      if (graph_.value(output).output) return false;
      if (i >= results || !IsHalf(output)) continue;
      makes_half = true;
      for (const int32_t reader : rewriter_.uses().readers[static_cast<size_t>(output)]) {
        if (!IsCast(reader)) return false;
      }
    }
    return makes_half;
  }

  void CountReaders() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (!casts_[i]) continue;
      for (const int32_t input : graph_.nodes[i].inputs) {
        if (IsHalf(input)) ++readers_[input];
      }
    }
  }

  int32_t AddFloat(int32_t value) {
    const int32_t made = graph_.AddLike(value, absl::StrCat(graph_.value(value).name, "/float"));
    graph_.value(made).type.element = graph_.value(made).visible.element = ElementType::kFloat;
    return made;
  }

  void AddCast(NodeId source, int32_t from, int32_t to) {
    rewriter_.Replace({}, Unary("Cast", "", source, from, to), "");
  }

  // What is stored for one node alone is cast beforehand where the graph is optimized.
  int32_t FloatOf(int32_t value, NodeId source) {
    const auto [found, is_new] = floats_.emplace(value, -1);
    if (!is_new) return found->second;
    const int32_t made = AddFloat(value);
    floats_[value] = made;
    const RuntimeValue& half = graph_.value(value);
    if (half.constant && optimize_ && readers_[value] == 1) {
      graph_.value(made).constant = true;
    } else {
      AddCast(source, value, made);
    }
    return made;
  }

  void Surround(int32_t node) {
    RuntimeNode changed = graph_.node(node);
    for (int32_t& input : changed.inputs) {
      if (IsHalf(input)) input = FloatOf(input, changed.source);
    }
    std::vector<std::pair<int32_t, int32_t>> results;
    for (int32_t& output : changed.outputs) {
      if (!IsHalf(output)) continue;
      const int32_t made = AddFloat(output);
      ForgetDeclared(graph_, changed, made);
      results.emplace_back(made, output);
      output = made;
    }
    const NodeId source = changed.source;
    rewriter_.Change(node, std::move(changed));
    for (const auto& [from, to] : results) AddCast(source, from, to);
  }

  // Cast to half and on to another type, where one of both was inserted. A cast that nobody reads
  // stays.
  void RemovePairs() {
    for (const int32_t node : rewriter_.Order()) {
      if (!rewriter_.Is(node, "Cast")) continue;
      const int32_t from = graph_.node(node).inputs[0];
      const int32_t middle = graph_.node(node).outputs[0];
      if (from < 0 || IsHalf(from) || !IsHalf(middle)) continue;
      const bool is_float = graph_.value(from).type.element == ElementType::kFloat;
      const std::vector<int32_t> readers = rewriter_.uses().readers[static_cast<size_t>(middle)];
      for (const int32_t reader : readers) {
        if (!rewriter_.Is(reader, "Cast")) continue;
        if (node < first_inserted_ && reader < first_inserted_) continue;
        const int32_t to = graph_.node(reader).outputs[0];
        if (IsHalf(to)) continue;
        const bool is_back = graph_.value(to).type.element == ElementType::kFloat;
        if (is_float && is_back && rewriter_.Forward(reader, from, "")) continue;
        RuntimeNode direct = graph_.node(reader);
        direct.inputs[0] = from;
        rewriter_.Change(reader, std::move(direct));
      }
      const bool is_read = !rewriter_.uses().readers[static_cast<size_t>(middle)].empty();
      if (!readers.empty() && !is_read && !graph_.value(middle).output) rewriter_.Remove(node);
    }
  }

  Rewriter rewriter_;
  RuntimeGraph& graph_;
  const bool optimize_;
  int32_t first_inserted_ = 0;
  std::vector<bool> casts_;  // by node
  absl::flat_hash_map<int32_t, int32_t> floats_;
  absl::flat_hash_map<int32_t, int32_t> readers_;  // operands that are cast, by value
};

}  // namespace

bool LacksHalfKernel(const RuntimeGraph& graph, const RuntimeNode& node) {
  return (HasHalfAmong(graph, node.inputs) || HasHalfAmong(graph, node.outputs)) &&
         !HasKernel(graph, node);
}

bool HasHalf(const RuntimeGraph& graph) {
  return std::any_of(graph.values.begin(), graph.values.end(), [](const RuntimeValue& value) {
    return value.type.element == ElementType::kFloat16;
  });
}

void CastHalf(RuntimeGraph& graph, DimEvaluator& evaluator, bool optimize) {
  Caster(graph, evaluator, optimize).Run();
}

}  // namespace footprint
