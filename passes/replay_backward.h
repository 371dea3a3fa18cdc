// Backward: autograd's engine on the tape that a ReplayMachine recorded.
#ifndef FOOTPRINT_PASSES_REPLAY_BACKWARD_H_
#define FOOTPRINT_PASSES_REPLAY_BACKWARD_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "ir/eager.h"
#include "passes/replay_machine.h"

namespace footprint {

class BackwardEngine {
 public:
  // `on_node` is called before each node runs, `on_done` once it has dropped what it saved,
  // `on_gradient` for each gradient that is delivered,
  // with the node it goes to and the output of that node whose gradient it is.
  struct Observer {
    std::function<void(const GradientNode&)> on_node;
    std::function<void(const GradientNode&)> on_done;
    std::function<void(const Tensor&, const GradientNode&, int output)> on_gradient;
  };
  BackwardEngine(ReplayMachine& machine, Observer observer)
      : machine_(machine), observer_(std::move(observer)) {}

  // From a tensor that requires a gradient; the gradients of leaves are added to gradients().
  void Run(const Tensor& root);

  // A gradient that the leaf has from before; later ones are added to it in place.
  void SetGradient(const Tensor& leaf, Tensor gradient) {
    gradients_[leaf.data()] = std::move(gradient);
  }
  const absl::flat_hash_map<const TensorData*, Tensor>& gradients() const { return gradients_; }
  int64_t in_place_additions() const { return in_place_additions_; }

 private:
  // Highest sequence first; accumulators before everything, in the order they became ready.
  struct Ready {
    GradientNode* node = nullptr;
    int64_t order = 0;
    friend bool operator<(const Ready& a, const Ready& b) {
      if (a.node->sequence != b.node->sequence) return a.node->sequence < b.node->sequence;
      return a.order > b.order;
    }
  };
  void CountDependencies(GradientNode* root);
  void Push(GradientNode* node);
  void RunNode(GradientNode* node);
  void FitToInput(const GradientNode::Edge& edge, Tensor& gradient);
  void Add(Tensor& buffer, Tensor gradient);
  void Accumulate(GradientNode* accumulator);

  ReplayMachine& machine_;
  Observer observer_;
  std::vector<Ready> ready_;  // a heap
  int64_t pushed_ = 0;
  absl::flat_hash_map<const TensorData*, Tensor> gradients_;
  int64_t in_place_additions_ = 0;
};

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_REPLAY_BACKWARD_H_
