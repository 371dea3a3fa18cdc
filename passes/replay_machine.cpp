#include "passes/replay_machine.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "ir/ops/torch/primitives.h"
#include "passes/replay_rows.h"

namespace footprint {

ReplayMachine::ReplayMachine(DimTable& dims, DimEvaluator& evaluator, EagerMode mode)
    : Eager(dims, mode),
      evaluator_(evaluator),
      autocasts_(mode.autocast != ElementType::kUndefined) {}

// Nodes hold tensors and tensors hold nodes; both point into the pools, which go together.
ReplayMachine::~ReplayMachine() {
  casts_.clear();
  releasing_nodes_ = true;
  for (GradientNode& node : nodes_) {
    node.saved.clear();
    node.incoming.clear();
  }
}

// --- Decisions -----------------------------------------------------------------------------------

bool ReplayMachine::Equal(Dim a, Dim b) {
  if (a.is_unknown() || b.is_unknown()) return false;
  if (a == b) return true;
  if (a.is_constant() && b.is_constant()) return false;
  const std::optional<int64_t> left = evaluator_.Evaluate(a);
  const std::optional<int64_t> right = evaluator_.Evaluate(b);
  const bool equal = left.has_value() && left == right;
  if (guarded_equal_.emplace(a, b).second) {
    guards_.push_back({a, b, equal ? Guard::Relation::kEqual : Guard::Relation::kNotEqual});
  }
  return equal;
}

bool ReplayMachine::Less(Dim a, Dim b) {
  if (a.is_unknown() || b.is_unknown() || a == b) return false;
  if (a.is_constant() && b.is_constant()) return a.value() < b.value();
  const std::optional<int64_t> left = evaluator_.Evaluate(a);
  const std::optional<int64_t> right = evaluator_.Evaluate(b);
  const bool less = left.has_value() && right.has_value() && *left < *right;
  if (guarded_less_.emplace(a, b).second) {
    guards_.push_back(less ? Guard{a, b, Guard::Relation::kLess}
                           : Guard{b, a, Guard::Relation::kLessEqual});
  }
  return less;
}

// --- Storages and tensors ------------------------------------------------------------------------

TensorData* ReplayMachine::NewTensorData(StorageId storage, const Dims& shape,
                                         const Dims& strides) {
  TensorData* data;
  if (free_tensors_.empty()) {
    data = &tensors_.emplace_back();
  } else {
    data = free_tensors_.back();
    free_tensors_.pop_back();
  }
  data->owner = this;
  data->storage = storage;
  data->requires_grad = false;
  data->output = 0;
  data->contiguous = TensorData::Answer::kUnasked;
  data->shape = shape;
  data->strides = strides;
  ++storages_[storage].references;
  return data;
}

Tensor ReplayMachine::New(const Dims& shape, ElementType element, absl::string_view what) {
  Tensor tensor = NewStrided(shape, ContiguousStrides(dims(), shape), element, what);
  tensor.data()->contiguous = TensorData::Answer::kYes;
  return tensor;
}

Dim ReplayMachine::ByteCount(Dim elements, ElementType element) {
  const int bits = BitsPerElement(element);
  if (bits == 0) return Dim();
  return bits % 8 == 0 ? dims().Mul(elements, bits / 8)
                       : dims().CeilDiv(dims().Mul(elements, bits), 8);
}

Tensor ReplayMachine::NewStrided(const Dims& shape, const Dims& strides, ElementType element,
                                 absl::string_view what) {
  const Dim count = dims().Product(shape);
  ReplayStorage storage;
  storage.bytes = ByteCount(count, element);
  storage.step = current_step();
  storage.first_tick = ++tick_;
  storage.element = element;
  storage.category = category_;
  storage.what = what;
  TensorData* data = NewTensorData(storages_.Add(storage), shape, strides);
  data->element = element;
  data->element_count = count;
  return Tensor(data);
}

Tensor ReplayMachine::Alias(const Tensor& of, const Dims& shape, const Dims& strides) {
  TensorData* data = NewTensorData(of.storage(), shape, strides);
  data->element = of.element();
  data->element_count = of.element_count();
  return Tensor(data);
}

Tensor ReplayMachine::View(const Tensor& of, const Dims& shape, const Dims& strides) {
  Tensor view = Alias(of, shape, strides);
  // A slice has fewer elements, an expanded tensor more.
  view.data()->element_count = dims().Product(shape);
  TensorData* base = of.data()->base == nullptr ? of.data() : of.data()->base;
  ++base->references;
  view.data()->base = base;
  return view;
}

int ReplayMachine::StorageReferences(const Tensor& tensor) const {
  return storages_[tensor.storage()].references;
}

void ReplayMachine::Release(TensorData* data) {
  ReplayStorage& storage = storages_[data->storage];
  if (--storage.references == 0) storage.end_tick = tick_ + 1;
  GradientNode* node = std::exchange(data->node, nullptr);
  GradientNode* accumulator = std::exchange(data->accumulator, nullptr);
  TensorData* base = std::exchange(data->base, nullptr);
  free_tensors_.push_back(data);
  if (base != nullptr && --base->references == 0) Release(base);
  if (node != nullptr) ReleaseNode(node);
  if (accumulator != nullptr) ReleaseNode(accumulator);
}

void ReplayMachine::NoteCopy(const Tensor& copy, const Tensor& of) {
  if (copy && of && copy.storage() != of.storage()) {
    storages_[copy.storage()].copy_of = of.storage();
  }
}

// --- The tape ------------------------------------------------------------------------------------

GradientNode* ReplayMachine::NewNode(absl::string_view name) {
  GradientNode* node;
  if (free_nodes_.empty()) {
    node = &nodes_.emplace_back();
  } else {
    node = free_nodes_.back();
    free_nodes_.pop_back();
  }
  node->name = name;
  node->variable = nullptr;
  node->step = current_step();
  return node;
}

// A chain of dead nodes is as long as the network: they are released one after the other, not one
// inside the other.
void ReplayMachine::ReleaseNode(GradientNode* node) {
  if (--node->references > 0) return;
  dying_nodes_.push_back(node);
  if (releasing_nodes_) return;
  releasing_nodes_ = true;
  while (!dying_nodes_.empty()) {
    GradientNode* dying = dying_nodes_.back();
    dying_nodes_.pop_back();
    dying->saved.clear();
    dying->incoming.clear();
    dying->backward = nullptr;
    for (const GradientNode::Edge& edge : dying->edges) {
      if (edge.node != nullptr) ReleaseNode(edge.node);
    }
    dying->edges.clear();
    free_nodes_.push_back(dying);
  }
  releasing_nodes_ = false;
}

GradientNode* ReplayMachine::TargetOf(const Tensor& input, int32_t* output) {
  TensorData* data = input.data();
  *output = data->output;
  if (data->node != nullptr) return data->node;
  if (data->accumulator == nullptr) {
    data->accumulator = NewNode("AccumulateGrad");
    data->accumulator->sequence = GradientNode::kAccumulator;
    data->accumulator->outputs = 1;
    data->accumulator->references = 1;
    data->accumulator->variable = data;
  }
  return data->accumulator;
}

void ReplayMachine::Record(absl::string_view name, absl::Span<const Tensor> inputs,
                           absl::Span<const Tensor> outputs, absl::Span<const SavedTensor> saved,
                           BackwardFunction backward) {
  const bool needed = std::any_of(inputs.begin(), inputs.end(),
                                  [](const Tensor& input) { return input.requires_grad(); });
  if (!needed) return;
  if (refilled_ != nullptr) return RefillNext(outputs, saved);
  GradientNode* node = NewNode(name);
  node->sequence = next_sequence_++;
  node->outputs = static_cast<int32_t>(outputs.size());
  node->backward = std::move(backward);
  for (const Tensor& input : inputs) {
    GradientNode::Edge edge;
    if (input.requires_grad()) {
      edge.node = TargetOf(input, &edge.output);
      edge.element = input.element();
      edge.shape = input.shape();
      ++edge.node->references;
    }
    node->edges.push_back(std::move(edge));
  }
  if (withheld_ == nullptr) {
    Save(saved, node);
  } else if (!saved.empty()) {
    ++node->references;
    withheld_->nodes.push_back(node);
    for (const SavedTensor& tensor : saved) {
      withheld_->saved_new |= tensor.tensor && tensor.tensor.storage() >= withheld_->first_new;
    }
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    TensorData* data = outputs[i].data();
    if (data == nullptr) continue;
    data->requires_grad = true;
    data->node = node;
    data->output = static_cast<int32_t>(i);
    ++node->references;
  }
}

// Saved tensors do not lead back to the node that made them.
void ReplayMachine::Save(absl::Span<const SavedTensor> saved, GradientNode* node) {
  node->saved.reserve(saved.size());
  for (const SavedTensor& tensor : saved) {
    Tensor kept;
    if (tensor.tensor) {
      kept = Alias(tensor.tensor, tensor.tensor.shape(), tensor.tensor.strides());
      kept.data()->contiguous = tensor.tensor.data()->contiguous;
    }
    SavedTensor& saved_tensor = node->saved.emplace_back(tensor);
    saved_tensor.tensor = std::move(kept);
  }
}

void ReplayMachine::RefillNext(absl::Span<const Tensor> outputs,
                               absl::Span<const SavedTensor> saved) {
  for (const Tensor& output : outputs) {
    if (output) output.data()->requires_grad = true;
  }
  if (saved.empty() || refilled_->refilled == refilled_->nodes.size()) return;
  Save(saved, refilled_->nodes[refilled_->refilled++]);
}

void ReplayMachine::EndFrame() {
  withheld_ = nullptr;
  CheckpointFrame* refilled = std::exchange(refilled_, nullptr);
  if (refilled == nullptr) return;
  for (GradientNode* node : refilled->nodes) ReleaseNode(node);
  ClearAutocastCache();
}

// --- Calls ---------------------------------------------------------------------------------------

Tensor ReplayMachine::Apply(const TorchOp& op, absl::Span<const Tensor> operands) {
  return ApplyRow(*this, op, operands, nullptr)[0];
}

// The type that autocast wants an argument in; its own if it is left alone.
ElementType ReplayMachine::CastTarget(const Tensor& tensor, Autocast rule,
                                      bool has_float32) const {
  const ElementType element = tensor.element();
  const bool is_float32 = element == ElementType::kFloat;
  if (!is_float32 && element != mode().autocast) return element;
  switch (rule) {
    case Autocast::kLow: return mode().autocast;
    case Autocast::kFloat32: return ElementType::kFloat;
    case Autocast::kPromote: return has_float32 ? ElementType::kFloat : element;
    default: return element;
  }
}

Tensor ReplayMachine::Autocasted(const Tensor& tensor, Autocast rule) {
  if (!autocasts_ || !tensor) return tensor;
  return To(*this, tensor, CastTarget(tensor, rule, false));
}

// Last argument first. Parameters are cast once and the copy kept until the end of the region;
// activations are cast for each use.
void ReplayMachine::CastArguments(CallArguments& arguments) {
  const Autocast rule = arguments.op.autocast;
  bool has_float32 = false;
  bool concerns_module = false;
  for (const auto& list : arguments.resolved) {
    for (const Tensor& tensor : list) {
      if (!tensor) continue;
      has_float32 |= tensor.element() == ElementType::kFloat;
      concerns_module |= tensor.requires_grad();
    }
  }
  // Position tables and the like: libraries compute them with autocast switched off.
  if (rule == Autocast::kLow && !concerns_module) return;
  if (rule == Autocast::kFloat32Result) {
    const Tensor& first = arguments.tensor(0);
    if (first && IsFloatingPoint(first.element())) arguments.autocast_result = ElementType::kFloat;
    return;
  }
  for (size_t i = arguments.resolved.size(); i-- > 0;) {
    for (size_t j = arguments.resolved[i].size(); j-- > 0;) {
      Tensor& tensor = arguments.resolved[i][j];
      if (!tensor) continue;
      const ElementType target = CastTarget(tensor, rule, has_float32);
      if (target == tensor.element()) continue;
      const bool is_parameter =
          tensor.is_leaf() && tensor.requires_grad() && tensor.data()->base == nullptr;
      if (rule != Autocast::kLow || !is_parameter) {
        tensor = To(*this, tensor, target);
        continue;
      }
      Tensor& cached = casts_[tensor.data()];
      if (!cached) cached = To(*this, tensor, target);
      tensor = cached;
    }
  }
}

// Products of tensors refuse operands of two types: where a float32 one meets the module's own type
// the module had cast it, which the float32 export does not show.
bool ReplayMachine::CastAlike(CallArguments& arguments) {
  const ElementType module = mode().module;
  if (arguments.op.autocast != Autocast::kLow || module == ElementType::kFloat) return false;
  bool has_float32 = false;
  bool has_module = false;
  for (const auto& list : arguments.resolved) {
    for (const Tensor& tensor : list) {
      if (!tensor) continue;
      has_float32 |= tensor.element() == ElementType::kFloat;
      has_module |= tensor.element() == module;
    }
  }
  if (!has_float32 || !has_module) return false;
  for (auto& list : arguments.resolved) {
    for (Tensor& tensor : list) {
      if (tensor && tensor.element() == ElementType::kFloat) tensor = To(*this, tensor, module);
    }
  }
  return true;
}

// The leading arguments of the row are tensors, or lists of them; arithmetic has at least one
// tensor.
bool HasOperands(const CallArguments& arguments) {
  const TorchOp& op = arguments.op;
  bool any = op.operands > 0 || !absl::StartsWith(op.arguments, "self");
  for (int i = 0; i < arguments.size() && !any; ++i) any = static_cast<bool>(arguments.tensor(i));
  if (!any) return false;
  for (int i = 0; i < op.operands; ++i) {
    const absl::Span<const Tensor> tensors = arguments.tensors(i);
    if (tensors.empty()) return false;
    for (const Tensor& tensor : tensors) {
      if (!tensor) return false;
    }
  }
  return true;
}

TensorList ReplayMachine::Call(CallArguments& arguments, bool* fits, bool* recast) {
  const TorchOp& op = arguments.op;
  const bool casts = autocasts_ && op.autocast != Autocast::kNone;
  if (casts) CastArguments(arguments);
  *recast = !casts && CastAlike(arguments);
  // Operators inside one that autocast has prepared run as they are.
  const bool outer = std::exchange(autocasts_, autocasts_ && !casts);
  TensorList results;
  std::vector<Tensor> operands;
  for (const auto& list : arguments.resolved) {
    operands.push_back(list.empty() ? Tensor() : list[0]);
  }
  if (HasOperands(arguments)) {
    results = op.run != nullptr ? op.run(*this, arguments)
                                : ApplyRow(*this, op, operands, &arguments);
  }
  *fits = !results.empty() || arguments.result_count() == 0;
  if (!*fits) results = DeclaredResults(*this, arguments, operands, {});
  autocasts_ = outer;
  return results;
}

void ReplayMachine::BeginStep(Step step) {
  step.first_tick = tick_ + 1;
  steps_.push_back(std::move(step));
}

void ReplayMachine::BeginPhase(std::string name, Phase phase) {
  Step step;
  step.name = std::move(name);
  step.phase = phase;
  BeginStep(std::move(step));
  ++tick_;
}

void ReplayMachine::StartClock(std::string name) {
  for (ReplayStorage& storage : storages_) storage.first_tick = 0;
  tick_ = -1;
  BeginPhase(std::move(name), Phase::kForward);
}

}  // namespace footprint
