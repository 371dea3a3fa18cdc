#include "tests/support/naive_liveness.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace footprint {
namespace {

struct Buffer {
  int64_t bytes = 0;
  std::set<ValueId> members;
  size_t created_at = 0;
};

class Simulation {
 public:
  Simulation(const Graph& graph, const InferredTypes& inferred, DimEvaluator& evaluator,
             bool in_place)
      : graph_(graph), inferred_(inferred), evaluator_(evaluator), in_place_(in_place) {
    const std::vector<NodeId>& nodes = graph.top().nodes;
    for (size_t k = 0; k < nodes.size(); ++k) {
      for (ValueId input : graph.nodes[nodes[k]].inputs) {
        if (input.valid()) last_reader_[input] = k;
      }
    }
    for (ValueId output : graph.top().outputs) last_reader_[output] = nodes.size();
  }

  int64_t Run() {
    const std::vector<NodeId>& nodes = graph_.top().nodes;
    int64_t peak = 0;
    for (size_t k = 0; k < nodes.size(); ++k) {
      Execute(graph_.nodes[nodes[k]], k);
      int64_t live = 0;
      for (const Buffer& buffer : buffers_) {
        if (buffer.created_at == k || LastUse(buffer) >= k) live += buffer.bytes;
      }
      peak = std::max(peak, live);
    }
    return peak;
  }

 private:
  int64_t BytesOfValue(ValueId id) {
    const ValueType& type = inferred_.types[id];
    if (!type.is_tensor()) return 0;
    return evaluator_.Evaluate(ByteCount(type.tensor, *graph_.dims)).value_or(0);
  }

  // Index of the node that reads it last; the number of nodes for what the graph returns.
  size_t LastUse(const Buffer& buffer) const {
    size_t last = buffer.created_at;
    for (ValueId member : buffer.members) {
      const auto found = last_reader_.find(member);
      if (found != last_reader_.end()) last = std::max(last, found->second);
    }
    return last;
  }

  Buffer* BufferOf(ValueId id) {
    for (Buffer& buffer : buffers_) {
      if (buffer.members.contains(id)) return &buffer;
    }
    return nullptr;
  }

  bool IsGiven(ValueId id) const {
    return given_.contains(id) || graph_.values[id].kind != ValueKind::kNodeOutput;
  }

  bool Shares(const Node& node, size_t k) {
    if (node.op == nullptr) return false;
    if (node.op->alias >= 0) {
      const ValueId source = node.input(static_cast<size_t>(node.op->alias));
      if (source.valid() && IsGiven(source)) return given_.insert(node.outputs[0]).second;
      if (source.valid()) return BufferOf(source)->members.insert(node.outputs[0]).second;
    }
    size_t outputs = 0;
    for (ValueId output : node.outputs) outputs += output.valid();
    for (size_t i = 0; in_place_ && outputs == 1 && i < node.inputs.size() && i < 32; ++i) {
      const ValueId operand = node.inputs[i];
      if ((node.op->inplace >> i & 1) == 0 || !operand.valid() || IsGiven(operand)) continue;
      Buffer* buffer = BufferOf(operand);
      if (LastUse(*buffer) > k || buffer->bytes != BytesOfValue(node.outputs[0])) continue;
      if (inferred_.types[node.outputs[0]].is_tensor()) {
        return buffer->members.insert(node.outputs[0]).second;
      }
    }
    return false;
  }

  void Execute(const Node& node, size_t k) {
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId output = node.outputs[i];
      if (!output.valid() || (i == 0 && Shares(node, k))) continue;
      buffers_.push_back({BytesOfValue(output), {output}, k});
    }
  }

  const Graph& graph_;
  const InferredTypes& inferred_;
  DimEvaluator& evaluator_;
  const bool in_place_;
  std::map<ValueId, size_t> last_reader_;
  std::vector<Buffer> buffers_;
  std::set<ValueId> given_;  // views of inputs and constants
};

}  // namespace

int64_t NaiveActivationPeak(const Graph& graph, const InferredTypes& inferred,
                            DimEvaluator& evaluator, bool in_place) {
  return Simulation(graph, inferred, evaluator, in_place).Run();
}

}  // namespace footprint
