// The order of backward decides its peak. Nodes carry the number of their creation; of those whose
// gradients have all arrived, the one with the highest number runs:
//
//   forward    x --conv 1--> --norm 2--> --relu 3--> y --+-- add 5 --> loss
//                \------------conv 4-------------------/
//   backward   add 5, conv 4, relu 3, norm 2, conv 1 (adds to the gradient that conv 4 left for x)
//
// While a node runs, its incoming gradients, its saved tensors and all gradients it computes are
// alive. Then the incoming gradients go, then what was saved, and only then are the new gradients
// delivered: added to one that waits there, in place if nothing else refers to it, else into a
// third tensor. A parameter's gradient is taken over as it is if it has the parameter's layout.
#include "passes/replay_backward.h"

#include <algorithm>
#include <array>
#include <utility>

#include "ir/ops/torch/primitives.h"

namespace footprint {

void BackwardEngine::CountDependencies(GradientNode* root) {
  root->dependencies = 0;
  std::vector<GradientNode*> pending = {root};
  absl::flat_hash_set<GradientNode*> seen = {root};
  while (!pending.empty()) {
    GradientNode* node = pending.back();
    pending.pop_back();
    for (const GradientNode::Edge& edge : node->edges) {
      if (edge.node == nullptr) continue;
      if (seen.insert(edge.node).second) {
        edge.node->dependencies = 0;
        edge.node->incoming.assign(static_cast<size_t>(edge.node->outputs), Tensor());
        pending.push_back(edge.node);
      }
      ++edge.node->dependencies;
    }
  }
}

void BackwardEngine::Push(GradientNode* node) {
  ready_.push_back({node, pushed_++});
  std::push_heap(ready_.begin(), ready_.end());
}

void BackwardEngine::Run(const Tensor& root) {
  GradientNode* node = root.data()->node;
  if (node == nullptr) return;
  CountDependencies(node);
  // The caller holds the first gradient until backward is over.
  const Tensor first = machine_.New(root.shape(), root.element(), "gradient of the loss");
  node->incoming.assign(static_cast<size_t>(node->outputs), Tensor());
  node->incoming[static_cast<size_t>(root.data()->output)] = first;
  Push(node);
  while (!ready_.empty()) {
    std::pop_heap(ready_.begin(), ready_.end());
    GradientNode* next = ready_.back().node;
    ready_.pop_back();
    if (next->variable != nullptr) {
      Accumulate(next);
    } else {
      RunNode(next);
    }
  }
}

void BackwardEngine::RunNode(GradientNode* node) {
  if (observer_.on_node) observer_.on_node(*node);
  std::vector<Tensor> given(node->edges.size());
  {
    std::vector<Tensor> incoming = std::move(node->incoming);
    const bool reached = !std::all_of(incoming.begin(), incoming.end(),
                                      [](const Tensor& gradient) { return !gradient; });
    Backward backward(machine_, *node, absl::MakeSpan(incoming), absl::MakeSpan(given));
    if (reached) node->backward(backward);
    for (size_t i = 0; i < given.size(); ++i) {
      if (node->edges[i].node == nullptr) {
        given[i] = Tensor();
      } else if (given[i]) {
        FitToInput(node->edges[i], given[i]);
      }
    }
  }
  node->incoming.clear();
  node->saved.clear();
  node->backward = nullptr;
  if (observer_.on_done) observer_.on_done(*node);
  for (size_t i = 0; i < given.size(); ++i) {
    const GradientNode::Edge& edge = node->edges[i];
    if (edge.node == nullptr) continue;
    if (given[i]) {
      if (observer_.on_gradient) observer_.on_gradient(given[i], *edge.node, edge.output);
      Add(edge.node->incoming[static_cast<size_t>(edge.output)], std::move(given[i]));
    }
    if (--edge.node->dependencies == 0) Push(edge.node);
  }
}

// Summed to the input's shape first, then cast to its type.
void BackwardEngine::FitToInput(const GradientNode::Edge& edge, Tensor& gradient) {
  if (!SameShape(machine_, gradient.shape(), edge.shape)) {
    gradient = SumTo(machine_, gradient, edge.shape);
  }
  if (gradient.element() != edge.element) gradient = To(machine_, gradient, edge.element);
}

void BackwardEngine::Add(Tensor& buffer, Tensor gradient) {
  if (!buffer) {
    buffer = std::move(gradient);
    return;
  }
  const bool alone =
      buffer.data()->references == 1 && machine_.StorageReferences(buffer) == 1;
  if (alone && IsDense(machine_, buffer)) {
    ++in_place_additions_;
    return;
  }
  const std::array<Tensor, 2> operands = {std::move(buffer), std::move(gradient)};
  buffer = NewPointwise(machine_, operands, PromotedElement(operands), "sum of two gradients");
}

void BackwardEngine::Accumulate(GradientNode* accumulator) {
  Tensor gradient = std::move(accumulator->incoming[0]);
  if (!gradient) return;
  const TensorData* leaf = accumulator->variable;
  Tensor& total = gradients_[leaf];
  if (total) {  // added in place
    machine_.storages()[gradient.storage()].added_to = total.storage();
    return;
  }
  bool same_layout = true;
  for (size_t i = 0; i < leaf->shape.size(); ++i) {
    same_layout &= machine_.Equal(gradient.strides()[i], leaf->strides[i]) ||
                   machine_.Equal(leaf->shape[i], 1);
  }
  if (gradient.data()->references == 1 && same_layout) {
    total = machine_.Alias(gradient, gradient.shape(), gradient.strides());
  } else {
    total = machine_.NewStrided(leaf->shape, leaf->strides, gradient.element(),
                                "gradient in the parameter's layout");
  }
}

}  // namespace footprint
