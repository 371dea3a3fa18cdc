// Forward calls the program's operators one after the other. A value's tensor lives until the last
// call that reads it, or longer where Python still refers to it (TorchValue::held_until); what
// autograd saved and the views of it live on regardless. When the step's function returns, only
// the loss is left, and with it the tape. Then backward, then the optimizer.
//
//   tick 0                 parameters, buffers, optimizer state, inputs
//   forward                one tick for each allocation; frees fall between ticks
//   phase_tick[kBackward]  a tick of its own: what is alive after forward
//   phase_tick[kOptimizer] likewise: what is alive after backward
#include "passes/replay.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "passes/optimizer_step.h"
#include "passes/replay_backward.h"
#include "passes/replay_machine.h"
#include "passes/replay_trace.h"

namespace footprint {
namespace {

bool IsComputed(const TorchValue& value) { return value.kind == TorchValueKind::kComputed; }

template <typename Visit>
void ForEachTensor(const TorchCall& call, Visit visit) {
  for (const TorchArgument& argument : call.arguments) {
    if (argument.tensor.valid()) visit(argument.tensor);
    for (TorchValueId tensor : argument.tensors) {
      if (tensor.valid()) visit(tensor);
    }
  }
}

// Values that the loss is computed from.
IdVector<TorchValueId, bool> FindReached(const TorchProgram& program) {
  IdVector<TorchValueId, bool> reached(program.values.size(), false);
  if (program.loss.valid()) reached[program.loss] = true;
  for (size_t i = program.calls.size(); i-- > 0;) {
    const TorchCall& call = program.calls[CallId(i)];
    const bool reads = std::any_of(call.results.begin(), call.results.end(), [&](TorchValueId id) {
      return id.valid() && reached[id];
    });
    if (reads) ForEachTensor(call, [&](TorchValueId id) { reached[id] = true; });
  }
  return reached;
}

class Replayer {
 public:
  Replayer(const TorchProgram& program, DimTable& dims, DimEvaluator& evaluator,
           const ReplayOptions& options)
      : program_(program),
        options_(options),
        evaluator_(evaluator),
        machine_(dims, evaluator, {options.module, options.autocast, options.attention}),
        engine_(machine_, {[this](const GradientNode& node) { BeginNode(node); },
                           [this](const Tensor& gradient, const GradientNode& node, int output) {
                             NameGradient(gradient, node, output);
                           }}),
        tensors_(program.values.size()),
        notes_(program, options.optimizer) {
    notes_.storage_of.resize(program.values.size());
  }

  TrainingReplay Run() {
    MakePersistent();
    MakeOptimizerState();
    RunForward();
    NoteSaves();
    RunBackward();
    RunOptimizer();
    return {WriteTrace(machine_, notes_), engine_.in_place_additions(), std::move(misfits_)};
  }

 private:
  void MakePersistent();
  void MakeTensor(TorchValueId id, bool reached);
  void MakeOptimizerState();
  std::vector<std::vector<TorchValueId>> FindDyingValues() const;
  void RunForward();
  void RunCall(CallId id);
  bool HasDeclaredShape(const CallArguments& arguments, const TensorList& results);
  void Resolve(const TorchCall& call, CallArguments& arguments) const;
  void NoteSaves();
  void BeginNode(const GradientNode& node);
  void NameGradient(const Tensor& gradient, const GradientNode& node, int output);
  void RunBackward();
  void RunOptimizer();

  const TorchProgram& program_;
  const ReplayOptions& options_;
  DimEvaluator& evaluator_;
  ReplayMachine machine_;
  BackwardEngine engine_;
  IdVector<TorchValueId, Tensor> tensors_;
  absl::flat_hash_map<const TensorData*, TorchValueId> trained_;
  std::vector<Tensor> trained_order_;
  // By sequence number and output of the node that made it.
  absl::flat_hash_map<std::pair<int64_t, int32_t>, TorchValueId> value_of_node_;
  std::vector<Tensor> state_;
  ReplayNotes notes_;
  std::vector<CallId> misfits_;
};

// --- Before the step -----------------------------------------------------------------------------

void Replayer::MakePersistent() {
  const IdVector<TorchValueId, bool> reached = FindReached(program_);
  // Parameters that share a constant of the file are one tensor.
  absl::flat_hash_map<ConstantId, TorchValueId> shared;
  for (size_t i = 0; i < program_.values.size(); ++i) {
    const TorchValueId id(i);
    const TorchValue& value = program_.values[id];
    if (IsComputed(value)) continue;
    if (value.constant.valid()) {
      const auto [first, is_new] = shared.emplace(value.constant, id);
      if (!is_new) {
        tensors_[id] = tensors_[first->second];
        notes_.storage_of[id] = tensors_[id].storage();
        continue;
      }
    }
    MakeTensor(id, reached[id]);
  }
}

void Replayer::MakeTensor(TorchValueId id, bool reached) {
  const TorchValue& value = program_.values[id];
  switch (value.kind) {
    case TorchValueKind::kParameter: machine_.SetCategory(Category::kParameter); break;
    case TorchValueKind::kBuffer: machine_.SetCategory(Category::kBuffer); break;
    default: machine_.SetCategory(Category::kInput); break;
  }
  const ElementType element =
      value.type.element == ElementType::kFloat ? options_.module : value.type.element;
  const Dims shape = value.type.has_rank ? value.type.dims : Dims{value.type.element_count};
  const Tensor tensor = machine_.New(shape, element);
  machine_.storages()[tensor.storage()].value = id;
  notes_.storage_of[id] = tensor.storage();
  tensors_[id] = tensor;
  const bool trains = value.kind == TorchValueKind::kParameter && value.trainable && reached &&
                      IsFloatingPoint(element);
  if (!trains) return;
  machine_.RequireGradient(tensor);
  trained_.emplace(tensor.data(), id);
  trained_order_.push_back(tensor);
}

void Replayer::MakeOptimizerState() {
  if (options_.optimizer == nullptr) return;
  machine_.SetCategory(Category::kOptimizerState);
  for (const Tensor& parameter : trained_order_) {
    for (const OptimizerState& state : options_.optimizer->states) {
      Dims shape;
      ElementType element;
      if (!StateTensor(state, parameter.shape(), parameter.element(), machine_.dims(), &shape,
                       &element)) {
        continue;
      }
      state_.push_back(machine_.New(shape, element, state.name));
      machine_.storages()[state_.back().storage()].gradient_of = trained_[parameter.data()];
    }
  }
}

// --- Forward -------------------------------------------------------------------------------------

// By call, the values that nothing refers to once it has returned.
std::vector<std::vector<TorchValueId>> Replayer::FindDyingValues() const {
  IdVector<TorchValueId, CallId> last(program_.values.size());
  for (size_t i = 0; i < program_.calls.size(); ++i) {
    const CallId id(i);
    const TorchCall& call = program_.calls[id];
    for (TorchValueId result : call.results) {
      if (result.valid()) last[result] = id;
    }
    ForEachTensor(call, [&](TorchValueId tensor) { last[tensor] = id; });
  }
  std::vector<std::vector<TorchValueId>> dying(program_.calls.size());
  for (size_t i = 0; i < program_.values.size(); ++i) {
    const TorchValueId id(i);
    const TorchValue& value = program_.values[id];
    if (!IsComputed(value) || id == program_.loss) continue;
    const CallId end = std::max(last[id], value.held_until);
    if (end.valid()) dying[static_cast<size_t>(end.index())].push_back(id);
  }
  return dying;
}

void Replayer::RunForward() {
  machine_.StartClock("inputs");
  notes_.call_of_step.push_back(-1);
  machine_.SetCategory(Category::kTransient);
  const std::vector<std::vector<TorchValueId>> dying = FindDyingValues();
  for (size_t i = 0; i < program_.calls.size(); ++i) {
    RunCall(CallId(i));
    for (TorchValueId value : dying[i]) tensors_[value] = Tensor();
  }
  machine_.ClearAutocastCache();
}

void Replayer::Resolve(const TorchCall& call, CallArguments& arguments) const {
  arguments.resolved.resize(call.arguments.size());
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const TorchArgument& argument = call.arguments[i];
    if (argument.kind == TorchArgument::Kind::kTensor) {
      arguments.resolved[i].push_back(tensors_[argument.tensor]);
    }
    for (TorchValueId tensor : argument.tensors) {
      arguments.resolved[i].push_back(tensor.valid() ? tensors_[tensor] : Tensor());
    }
  }
}

// The operators derive their shapes again; where they and inference differ, one is wrong.
bool Replayer::HasDeclaredShape(const CallArguments& arguments, const TensorList& results) {
  const TensorType* declared = arguments.declared();
  if (declared == nullptr || results.empty()) return true;
  const Dims& shape = results[0].shape();
  if (shape.size() != declared->dims.size()) return false;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == declared->dims[i] || declared->dims[i].is_unknown()) continue;
    if (evaluator_.Evaluate(shape[i]) != evaluator_.Evaluate(declared->dims[i])) return false;
  }
  return true;
}

void Replayer::RunCall(CallId id) {
  const TorchCall& call = program_.calls[id];
  machine_.BeginStep({.name = std::string(call.op->name), .phase = Phase::kForward,
                      .node = call.node, .scope = call.scope});
  notes_.call_of_step.push_back(id.index());
  CallArguments arguments(*call.op, call, program_);
  Resolve(call, arguments);
  bool fits = true;
  const TensorList results = machine_.Call(arguments, &fits);
  if (!fits || !HasDeclaredShape(arguments, results)) misfits_.push_back(id);
  for (size_t i = 0; i < call.results.size() && i < results.size(); ++i) {
    const TorchValueId value = call.results[i];
    if (!value.valid() || !results[i]) continue;
    tensors_[value] = results[i];
    if (const GradientNode* node = results[i].data()->node) {
      value_of_node_.emplace(std::pair(node->sequence, results[i].data()->output), value);
    }
    notes_.storage_of[value] = results[i].storage();
    ReplayStorage& storage = machine_.storages()[results[i].storage()];
    if (!storage.value.valid()) storage.value = value;
  }
}

// What the tape keeps, in the order in which its nodes were made.
void Replayer::NoteSaves() {
  if (!program_.loss.valid() || !tensors_[program_.loss]) return;
  const GradientNode* root = tensors_[program_.loss].data()->node;
  if (root == nullptr) return;
  std::vector<const GradientNode*> nodes = {root};
  absl::flat_hash_set<const GradientNode*> seen = {root};
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const GradientNode::Edge& edge : nodes[i]->edges) {
      if (edge.node != nullptr && seen.insert(edge.node).second) nodes.push_back(edge.node);
    }
  }
  std::sort(nodes.begin(), nodes.end(), [](const GradientNode* a, const GradientNode* b) {
    return a->sequence < b->sequence;
  });
  for (const GradientNode* node : nodes) {
    for (const SavedTensor& saved : node->saved) {
      if (!saved.tensor) continue;
      notes_.saves.push_back({saved.tensor.storage(), node->step, node->name, saved.needed_by});
    }
  }
}

// --- Backward and optimizer ----------------------------------------------------------------------

void Replayer::BeginNode(const GradientNode& node) {
  const Step& call = machine_.steps()[static_cast<size_t>(node.step)];
  Step step = {.name = std::string(node.name), .phase = Phase::kBackward, .node = call.node,
               .scope = call.scope};
  machine_.BeginStep(std::move(step));
}

void Replayer::NameGradient(const Tensor& gradient, const GradientNode& node, int output) {
  TorchValueId& name = machine_.storages()[gradient.storage()].gradient_of;
  if (name.valid()) return;
  if (node.variable != nullptr) {
    const auto parameter = trained_.find(node.variable);
    if (parameter != trained_.end()) name = parameter->second;
    return;
  }
  const auto value = value_of_node_.find({node.sequence, output});
  if (value != value_of_node_.end()) name = value->second;
}

void Replayer::RunBackward() {
  machine_.SetCategory(Category::kActivationGradient);
  machine_.BeginPhase("loss.backward()", Phase::kBackward);
  notes_.phase_tick[1] = machine_.tick();
  if (program_.loss.valid() && tensors_[program_.loss].requires_grad()) {
    engine_.Run(tensors_[program_.loss]);
  }
  for (const auto& [leaf, gradient] : engine_.gradients()) {
    ReplayStorage& storage = machine_.storages()[gradient.storage()];
    storage.category = Category::kGradient;
    storage.gradient_of = trained_[leaf];
  }
}

void Replayer::RunOptimizer() {
  if (options_.drop_inputs_before_optimizer) {
    for (size_t i = 0; i < program_.values.size(); ++i) {
      const TorchValueId id(i);
      const bool goes = program_.values[id].kind == TorchValueKind::kInput || id == program_.loss;
      if (goes) tensors_[id] = Tensor();
    }
  }
  const Optimizer* optimizer = options_.optimizer;
  machine_.SetCategory(Category::kWorkspace);
  machine_.BeginPhase(optimizer == nullptr ? "optimizer" : std::string(optimizer->name),
                      Phase::kOptimizer);
  notes_.phase_tick[2] = machine_.tick();
  if (optimizer == nullptr) return;
  std::vector<Tensor> parameters;
  for (const Tensor& parameter : trained_order_) {
    if (engine_.gradients().contains(parameter.data())) parameters.push_back(parameter);
  }
  RunOptimizerStep(machine_, *optimizer, parameters);
}

}  // namespace

TrainingReplay Replay(const TorchProgram& program, DimTable& dims, DimEvaluator& evaluator,
                      const ReplayOptions& options) {
  return Replayer(program, dims, evaluator, options).Run();
}

}  // namespace footprint
