// Forward calls the program's operators one after the other. A value's tensor lives until the last
// call that reads it, or longer where Python still refers to it (TorchValue::held_until); what
// autograd saved and the views of it live on regardless. When the step's function returns, only
// the loss is left, and with it the tape. Then backward, then the optimizer.
//
// A checkpointed run of calls saves nothing but what it was given. The first of its nodes that
// backward reaches has the run computed again, up to the last tensor that a node needs.
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
#include "absl/strings/str_cat.h"
#include "ir/ops/torch/primitives.h"
#include "passes/optimizer_step.h"
#include "passes/replay_backward.h"
#include "passes/replay_machine.h"
#include "passes/replay_trace.h"

namespace footprint {
namespace {

bool IsComputed(const TorchValue& value) { return value.kind == TorchValueKind::kComputed; }

// A checkpointed run of calls while it is acted out.
struct Checkpoint {
  const CheckpointSegment* segment = nullptr;
  CheckpointFrame frame;
  std::vector<std::pair<TorchValueId, Tensor>> given;  // from before the run
  CallId last;            // the last call that saves something: what follows is not computed again
  bool last_saves_new = false;  // else it stops there before it allocates
};

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

// Will a gradient be computed whose mathematics reads the numbers of a saved tensor?
bool IsRead(const SavedTensor& saved, const GradientNode& node) {
  if (saved.read_by == SavedOperand::kReadByAll) return true;
  for (size_t i = 0; i < node.edges.size() && i < 32; ++i) {
    if ((saved.read_by >> i & 1) != 0 && node.edges[i].node != nullptr) return true;
  }
  return false;
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
                           [this](const GradientNode& node) { EndNode(node); },
                           [this](const Tensor& gradient, const GradientNode& node, int output) {
                             NameGradient(gradient, node, output);
                           }}),
        tensors_(program.values.size()),
        notes_(program, options.optimizer) {
    notes_.assumed_optimizer = options.optimizer != nullptr &&
                               (!options.optimizer->measured || options.master_weights);
    notes_.storage_of.resize(program.values.size());
  }

  TrainingReplay Run() {
    MakePersistent();
    MakeOptimizerState();
    MakeScaler();
    if (options_.accumulates) MakeGradients();
    RunForward();
    ScaleLoss();
    NoteSaves();
    RunBackward();
    RunOptimizer();
    return {WriteTrace(machine_, notes_), engine_.in_place_additions(), std::move(misfits_),
            std::move(recast_)};
  }

 private:
  void MakePersistent();
  void MakeTensor(TorchValueId id, bool reached);
  void MakeOptimizerState();
  void MakeScaler();
  void MakeGradients();
  void FindDyingValues();
  void RunForward();
  void ScaleLoss();
  void RunCall(CallId id);
  TensorList Act(CallId id);
  void BeginCheckpoint(const CheckpointSegment& segment);
  void RunInCheckpoint(CallId id);
  void ComputeAgain(Checkpoint& checkpoint);
  TapeSave& NoteSave(const Tensor& tensor, int32_t step) {
    TapeSave& save = notes_.saves.emplace_back();
    save.storage = tensor.storage();
    save.step = step;
    save.bytes = machine_.ByteCount(tensor.element_count(), tensor.element());
    return save;
  }
  bool HasDeclaredShape(const CallArguments& arguments, const TensorList& results);
  void Resolve(const TorchCall& call, CallArguments& arguments) const;
  void NoteSaves();
  void BeginNode(const GradientNode& node);
  void EndNode(const GradientNode& node);
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
  Tensor scale_;  // of GradScaler; empty: there is none
  Tensor root_;   // what backward starts from, until it is over
  std::vector<std::vector<TorchValueId>> dying_;  // by call: what nothing refers to after it
  std::vector<Checkpoint> checkpoints_;
  absl::flat_hash_map<const GradientNode*, size_t> checkpoint_of_;
  ReplayNotes notes_;
  std::vector<CallId> misfits_;
  std::vector<CallId> recast_;
};

// --- Before the step -----------------------------------------------------------------------------

void Replayer::MakePersistent() {
  const IdVector<TorchValueId, bool> reached = FindReached(program_);
  for (size_t i = 0; i < program_.values.size(); ++i) {
    if (program_.values[TorchValueId(i)].kind == TorchValueKind::kInput) {
      MakeTensor(TorchValueId(i), false);
    }
  }
  // Parameters that share a constant of the file are one tensor.
  absl::flat_hash_map<ConstantId, bool> reached_constants;
  for (TorchValueId id : program_.stored) {
    reached_constants[program_.values[id].constant] |= reached[id];
  }
  absl::flat_hash_map<ConstantId, TorchValueId> shared;
  for (TorchValueId id : program_.stored) {
    const ConstantId constant = program_.values[id].constant;
    if (!constant.valid()) {
      MakeTensor(id, reached[id]);
      continue;
    }
    const auto [first, is_new] = shared.emplace(constant, id);
    if (is_new) {
      MakeTensor(id, reached_constants[constant]);
    } else {
      tensors_[id] = tensors_[first->second];
      notes_.storage_of[id] = tensors_[id].storage();
    }
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
    const auto add = [&](const Dims& shape, ElementType element, absl::string_view name) {
      state_.push_back(machine_.New(shape, element, name));
      machine_.storages()[state_.back().storage()].gradient_of = trained_[parameter.data()];
    };
    const ElementType own = parameter.element();
    const ElementType kept = options_.master_weights ? ElementType::kFloat : own;
    if (kept != own) add(parameter.shape(), kept, "master weight");
    for (const OptimizerState& state : options_.optimizer->states) {
      Dims shape;
      ElementType element;
      if (!StateTensor(state, parameter.shape(), kept, machine_.dims(), &shape, &element)) continue;
      if (IsPaged(*options_.optimizer, state, parameter.element_count())) {
        const Dim bytes = machine_.ByteCount(machine_.dims().Product(shape), element);
        notes_.unified_bytes = machine_.dims().Add(notes_.unified_bytes, bytes);
      } else {
        add(shape, element, state.name);
      }
    }
  }
  for (int i = 0; i < options_.optimizer->code_tables; ++i) {
    state_.push_back(machine_.New({Dim(256)}, ElementType::kFloat, "quantization table"));
  }
}

void Replayer::MakeScaler() {
  if (!options_.scales_loss) return;
  machine_.SetCategory(Category::kOptimizerState);
  scale_ = machine_.New({}, ElementType::kFloat, "scale of GradScaler");
  state_.push_back(machine_.New({}, ElementType::kInt32, "growth tracker of GradScaler"));
}

void Replayer::MakeGradients() {
  machine_.SetCategory(Category::kGradient);
  for (const Tensor& parameter : trained_order_) {
    Tensor gradient =
        machine_.NewStrided(parameter.shape(), parameter.strides(), parameter.element());
    machine_.storages()[gradient.storage()].gradient_of = trained_[parameter.data()];
    engine_.SetGradient(parameter, std::move(gradient));
  }
}

// --- Forward -------------------------------------------------------------------------------------

void Replayer::FindDyingValues() {
  IdVector<TorchValueId, CallId> last(program_.values.size());
  for (size_t i = 0; i < program_.calls.size(); ++i) {
    const CallId id(i);
    const TorchCall& call = program_.calls[id];
    for (TorchValueId result : call.results) {
      if (result.valid()) last[result] = id;
    }
    ForEachTensor(call, [&](TorchValueId tensor) { last[tensor] = id; });
  }
  dying_.resize(program_.calls.size());
  for (size_t i = 0; i < program_.values.size(); ++i) {
    const TorchValueId id(i);
    const TorchValue& value = program_.values[id];
    if (!IsComputed(value) || id == program_.loss) continue;
    const CallId end = std::max(last[id], value.held_until);
    if (end.valid()) dying_[static_cast<size_t>(end.index())].push_back(id);
  }
}

void Replayer::RunForward() {
  machine_.StartClock("inputs");
  notes_.call_of_step.push_back(-1);
  machine_.SetCategory(Category::kTransient);
  FindDyingValues();
  auto next = options_.checkpoints.begin();
  bool inside = false;
  for (size_t i = 0; i < program_.calls.size(); ++i) {
    const CallId id(i);
    if (next != options_.checkpoints.end() && next->begin == id) {
      BeginCheckpoint(*next++);
      inside = true;
    }
    if (inside) {
      RunInCheckpoint(id);
    } else {
      RunCall(id);
    }
    for (TorchValueId value : dying_[i]) tensors_[value] = Tensor();
    if (inside) inside = checkpoints_.back().segment->end != CallId(i + 1);
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

// Runs the operator of a call and binds its results.
TensorList Replayer::Act(CallId id) {
  const TorchCall& call = program_.calls[id];
  CallArguments arguments(*call.op, call, program_);
  Resolve(call, arguments);
  bool fits = true;
  bool recast = false;
  TensorList results = machine_.Call(arguments, &fits, &recast);
  if (recast) recast_.push_back(id);
  if (!fits || !HasDeclaredShape(arguments, results)) misfits_.push_back(id);
  results.resize(std::min(results.size(), call.results.size()));
  for (size_t i = 0; i < results.size(); ++i) {
    const TorchValueId value = call.results[i];
    if (!value.valid() || !results[i]) continue;
    tensors_[value] = results[i];
    ReplayStorage& storage = machine_.storages()[results[i].storage()];
    if (!storage.value.valid()) storage.value = value;
  }
  return results;
}

void Replayer::RunCall(CallId id) {
  const TorchCall& call = program_.calls[id];
  machine_.BeginStep({.name = std::string(call.op->name), .phase = Phase::kForward,
                      .node = call.node, .scope = call.scope});
  notes_.call_of_step.push_back(id.index());
  const TensorList results = Act(id);
  for (size_t i = 0; i < results.size(); ++i) {
    const TorchValueId value = call.results[i];
    if (!value.valid() || !results[i]) continue;
    if (const GradientNode* node = results[i].data()->node) {
      value_of_node_.emplace(std::pair(node->sequence, results[i].data()->output), value);
    }
    notes_.storage_of[value] = results[i].storage();
  }
}

void Replayer::ScaleLoss() {
  if (program_.loss.valid()) root_ = tensors_[program_.loss];
  if (!root_ || !scale_) return;
  machine_.SetCategory(Category::kTransient);
  machine_.BeginStep({.name = "GradScaler.scale", .node = {}, .scope = {}});
  notes_.call_of_step.push_back(-1);
  root_ = Mul(machine_, root_, scale_);
}

// --- Checkpoints ---------------------------------------------------------------------------------

void Replayer::BeginCheckpoint(const CheckpointSegment& segment) {
  Checkpoint& checkpoint = checkpoints_.emplace_back();
  checkpoint.segment = &segment;
  absl::flat_hash_set<TorchValueId> seen;
  for (CallId id = segment.begin; id < segment.end; id = CallId(id.index() + 1)) {
    ForEachTensor(program_.calls[id], [&](TorchValueId value) {
      const TorchValueKind kind = program_.values[value].kind;
      const bool passed = kind == TorchValueKind::kComputed || kind == TorchValueKind::kInput;
      if (passed && tensors_[value] && seen.insert(value).second) {
        checkpoint.given.emplace_back(value, tensors_[value]);
      }
    });
  }
}

void Replayer::RunInCheckpoint(CallId id) {
  Checkpoint& checkpoint = checkpoints_.back();
  CheckpointFrame& frame = checkpoint.frame;
  const size_t before = frame.nodes.size();
  frame.first_new = StorageId(machine_.storages().size());
  frame.saved_new = false;
  machine_.Withhold(&frame);
  RunCall(id);
  machine_.EndFrame();
  if (frame.nodes.size() > before) {
    checkpoint.last = id;
    checkpoint.last_saves_new = frame.saved_new;
  }
  for (size_t i = before; i < frame.nodes.size(); ++i) {
    checkpoint_of_.emplace(frame.nodes[i], checkpoints_.size() - 1);
  }
}

// The call after which there is nothing left to save is not finished: what it makes is not counted
// unless a node saves it.
void Replayer::ComputeAgain(Checkpoint& checkpoint) {
  std::vector<std::pair<TorchValueId, Tensor>> outer;
  for (const auto& [value, tensor] : checkpoint.given) {
    outer.emplace_back(value, std::exchange(tensors_[value], tensor));
  }
  machine_.SetCategory(Category::kTransient);
  machine_.Refill(&checkpoint.frame);
  size_t made = 0;
  for (CallId id = checkpoint.segment->begin; id <= checkpoint.last; id = CallId(id.index() + 1)) {
    const TorchCall& call = program_.calls[id];
    machine_.BeginStep({.name = absl::StrCat("recompute ", call.op->name),
                        .phase = Phase::kBackward, .node = call.node, .scope = call.scope});
    for (TorchValueId result : call.results) {
      if (result.valid()) outer.emplace_back(result, std::move(tensors_[result]));
    }
    made = machine_.storages().size();
    Act(id);
    for (TorchValueId value : dying_[static_cast<size_t>(id.index())]) tensors_[value] = Tensor();
  }
  for (auto& [value, tensor] : outer) tensors_[value] = std::move(tensor);
  machine_.EndFrame();
  machine_.SetCategory(Category::kActivationGradient);
  if (checkpoint.last_saves_new) return;
  for (; made < machine_.storages().size(); ++made) {
    ReplayStorage& storage = machine_.storages()[StorageId(made)];
    storage.end_tick = storage.first_tick;
  }
}

// What the tape keeps, in the order in which its nodes were made.
void Replayer::NoteSaves() {
  if (!root_) return;
  const GradientNode* root = root_.data()->node;
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
      TapeSave& save = NoteSave(saved.tensor, node->step);
      save.node = node->name;
      save.needed_by = saved.needed_by;
      save.read = IsRead(saved, *node);
      save.instead = saved.instead;
    }
  }
  for (Checkpoint& checkpoint : checkpoints_) {
    if (checkpoint.frame.nodes.empty()) checkpoint.given.clear();
    for (const auto& [value, tensor] : checkpoint.given) {
      NoteSave(tensor, checkpoint.frame.nodes[0]->step).checkpoint = checkpoint.segment->name;
    }
  }
}

// --- Backward and optimizer ----------------------------------------------------------------------

void Replayer::BeginNode(const GradientNode& node) {
  const auto found = checkpoint_of_.find(&node);
  if (found != checkpoint_of_.end()) {
    Checkpoint& checkpoint = checkpoints_[found->second];
    if (checkpoint.frame.refilled == 0) ComputeAgain(checkpoint);
  }
  const Step& call = machine_.steps()[static_cast<size_t>(node.step)];
  Step step = {.name = std::string(node.name), .phase = Phase::kBackward, .node = call.node,
               .scope = call.scope};
  machine_.BeginStep(std::move(step));
}

// The last node of a run that saved something drops what the run was computed from.
void Replayer::EndNode(const GradientNode& node) {
  const auto found = checkpoint_of_.find(&node);
  if (found == checkpoint_of_.end()) return;
  Checkpoint& checkpoint = checkpoints_[found->second];
  if (checkpoint.frame.nodes[0] == &node) checkpoint.given.clear();
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
  if (root_.requires_grad()) engine_.Run(root_);
  root_ = Tensor();
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
  const std::vector<Tensor> scaler =
      scale_ ? UnscaleGradients(machine_, optimizer->takes_scale) : std::vector<Tensor>();
  RunOptimizerStep(machine_, *optimizer, options_.master_weights, parameters);
}

}  // namespace

TrainingReplay Replay(const TorchProgram& program, DimTable& dims, DimEvaluator& evaluator,
                      const ReplayOptions& options) {
  return Replayer(program, dims, evaluator, options).Run();
}

}  // namespace footprint
