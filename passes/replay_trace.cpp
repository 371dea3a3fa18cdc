#include "passes/replay_trace.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace footprint {
namespace {

class TraceWriter {
 public:
  TraceWriter(ReplayMachine& machine, const ReplayNotes& notes)
      : machine_(machine), notes_(notes), program_(notes.program) {}

  MemoryTrace Write() {
    trace_.steps = std::move(machine_.steps());
    trace_.guards = std::move(machine_.guards());
    trace_.end_tick = machine_.tick() + 1;
    trace_.unified_bytes = notes_.unified_bytes;
    if (notes_.optimizer != nullptr) trace_.state_made = notes_.optimizer->state_made;
    std::copy(std::begin(notes_.phase_tick), std::end(notes_.phase_tick), trace_.phase_tick);
    const size_t count = machine_.storages().size();
    trace_.storages.reserve(count);
    trace_.saved_by.resize(count);
    saves_.resize(count);
    CollectSaves();
    for (size_t i = 0; i < count; ++i) trace_.storages.Add(Record(StorageId(i)));
    for (StorageId storage : saved_order_) {
      const Category category = trace_.storages[storage].category;
      if (category == Category::kParameter || category == Category::kBuffer ||
          category == Category::kOptimizerState) {
        continue;
      }
      trace_.saved.push_back(storage);
    }
    MapValues();
    return std::move(trace_);
  }

 private:
  void CollectSaves() {
    for (size_t i = 0; i < notes_.saves.size(); ++i) {
      const TapeSave& save = notes_.saves[i];
      std::vector<int32_t>& steps = trace_.saved_by[save.storage];
      if (steps.empty()) saved_order_.push_back(save.storage);
      if (steps.empty() || steps.back() != save.step) steps.push_back(save.step);
      saves_[save.storage].push_back(static_cast<int32_t>(i));
      if (save.read) trace_.reads.push_back({save.storage, save.instead, save.bytes});
    }
  }

  void MapValues() {
    trace_.storage_of.resize(program_.torch_of.size());
    for (size_t i = 0; i < program_.torch_of.size(); ++i) {
      const TorchValueId value = program_.torch_of[ValueId(i)];
      if (value.valid()) trace_.storage_of[ValueId(i)] = notes_.storage_of[value];
    }
  }

  const TorchCall* CallOf(int32_t step) const {
    if (step < 0 || static_cast<size_t>(step) >= notes_.call_of_step.size()) return nullptr;
    const int32_t call = notes_.call_of_step[static_cast<size_t>(step)];
    return call < 0 ? nullptr : &program_.calls[CallId(call)];
  }

  const std::string& StepName(int32_t step) const {
    static const std::string none = "the step";
    return step < 0 ? none : trace_.steps[static_cast<size_t>(step)].name;
  }

  bool EndsInsideItsStep(const ReplayStorage& storage) const {
    const size_t next = static_cast<size_t>(storage.step) + 1;
    return storage.step >= 0 && storage.end_tick >= 0 && next < trace_.steps.size() &&
           storage.end_tick <= trace_.steps[next].first_tick;
  }

  Category CategoryOf(StorageId id, const ReplayStorage& storage) const {
    if (storage.category == Category::kTransient && !saves_[id].empty()) {
      return Category::kSavedActivation;
    }
    const bool inside = storage.category == Category::kTransient ||
                        storage.category == Category::kActivationGradient;
    if (inside && !storage.what.empty() && !storage.value.valid() &&
        !storage.gradient_of.valid() && EndsInsideItsStep(storage)) {
      return Category::kWorkspace;
    }
    return storage.category;
  }

  std::string ValueName(TorchValueId value) const { return program_.values[value].name; }

  std::string NameOf(Category category, const ReplayStorage& storage) const {
    if (category == Category::kGradient || category == Category::kActivationGradient) {
      return storage.gradient_of.valid()
                 ? absl::StrCat("gradient of ", ValueName(storage.gradient_of))
                 : absl::StrCat("gradient in ", StepName(storage.step));
    }
    if (category == Category::kOptimizerState && !storage.gradient_of.valid()) {
      return std::string(storage.what);  // of the whole step
    }
    if (category == Category::kOptimizerState) {
      return absl::StrCat(storage.what, " of ", ValueName(storage.gradient_of));
    }
    if (storage.value.valid()) return ValueName(storage.value);
    return absl::StrCat(storage.what.empty() ? "result" : storage.what, " of ",
                        StepName(storage.step));
  }

  // "saved by aten::conv2d for the gradients of input and weight"
  std::string SavedReason(const TapeSave& save) const {
    if (!save.checkpoint.empty()) {
      return absl::StrCat("kept by a checkpoint to compute ", save.checkpoint, " again");
    }
    std::string text = absl::StrCat("saved by ", StepName(save.step));
    const TorchCall* call = CallOf(save.step);
    if (call == nullptr || call->op->run != nullptr) return absl::StrCat(text, " for ", save.node);
    std::vector<absl::string_view> names;
    for (const ArgumentGradient& gradient : call->op->gradients) {
      const int argument = gradient.argument;
      if (save.needed_by == 0 || (save.needed_by >> argument & 1) != 0) {
        names.push_back(ArgumentName(*call->op, argument));
      }
    }
    if (names.empty()) return text;
    absl::StrAppend(&text, names.size() == 1 ? " for the gradient of " : " for the gradients of ");
    for (size_t i = 0; i < names.size(); ++i) {
      absl::StrAppend(&text, i == 0 ? "" : i + 1 == names.size() ? " and " : ", ", names[i]);
    }
    return text;
  }

  std::string ReasonOf(StorageId id, Category category, const ReplayStorage& storage) const {
    switch (category) {
      case Category::kParameter:
        return program_.values[storage.value].trainable ? "parameter" : "frozen parameter";
      case Category::kBuffer: return "buffer of the module";
      case Category::kConstant: return "constant";
      case Category::kInput: return "input of the step";
      case Category::kSavedActivation: {
        const std::vector<int32_t>& saves = saves_[id];
        std::string text = SavedReason(notes_.saves[static_cast<size_t>(saves[0])]);
        if (saves.size() > 1) absl::StrAppend(&text, ", and ", saves.size() - 1, " more");
        return text;
      }
      case Category::kTransient:
        if (storage.first_tick >= notes_.phase_tick[1]) {
          return absl::StrCat("made again for backward by ", StepName(storage.step));
        }
        return absl::StrCat("made by ", StepName(storage.step), ", not kept for backward");
      case Category::kGradient: return "gradient of a parameter, until zero_grad";
      case Category::kActivationGradient:
        return absl::StrCat("made by ", StepName(storage.step), ", until its last reader");
      case Category::kOptimizerState:
        if (!storage.gradient_of.valid()) return "kept from step to step";
        return absl::StrCat("state of ", notes_.optimizer->name);
      case Category::kWorkspace: return absl::StrCat("inside ", StepName(storage.step));
    }
    return {};
  }

  Certainty CertaintyOf(Category category, const ReplayStorage& storage) const {
    if (storage.bytes.is_unknown()) return Certainty::kUnknown;
    const bool of_optimizer = category == Category::kOptimizerState ||
                              (category == Category::kWorkspace &&
                               storage.first_tick >= notes_.phase_tick[2]);
    if (of_optimizer && notes_.assumed_optimizer) return Certainty::kAssumed;
    if (machine_.dims().IsDataDependent(storage.bytes)) return Certainty::kBounded;
    if (category == Category::kBuffer && !program_.values[storage.value].constant.valid()) {
      return Certainty::kAssumed;
    }
    const TorchCall* call = CallOf(storage.step);
    const bool guessed = call != nullptr && (call->evidence == Evidence::kGeneric ||
                                             call->evidence == Evidence::kName ||
                                             call->evidence == Evidence::kAssumption);
    return guessed ? Certainty::kAssumed : Certainty::kExact;
  }

  StorageRecord Record(StorageId id) const {
    const ReplayStorage& storage = machine_.storages()[id];
    StorageRecord record;
    record.bytes = storage.bytes;
    record.category = CategoryOf(id, storage);
    record.certainty = CertaintyOf(record.category, storage);
    record.name = NameOf(record.category, storage);
    record.reason = ReasonOf(id, record.category, storage);
    record.element = storage.element;
    if (storage.step >= 0) record.scope = trace_.steps[static_cast<size_t>(storage.step)].scope;
    const TorchValueId owner = storage.value.valid() ? storage.value : storage.gradient_of;
    if (!record.scope.valid() && owner.valid()) record.scope = program_.values[owner].scope;
    if (storage.value.valid()) record.value = program_.values[storage.value].onnx_value;
    record.added_to = storage.added_to;
    record.copy_of = storage.copy_of;
    record.first_tick = storage.first_tick;
    record.end_tick = storage.end_tick < 0 ? trace_.end_tick : storage.end_tick;
    return record;
  }

  ReplayMachine& machine_;
  const ReplayNotes& notes_;
  const TorchProgram& program_;
  MemoryTrace trace_;
  IdVector<StorageId, std::vector<int32_t>> saves_;          // indices into notes_.saves
  std::vector<StorageId> saved_order_;                       // each once, in the order of the tape
};

}  // namespace

MemoryTrace WriteTrace(ReplayMachine& machine, const ReplayNotes& notes) {
  return TraceWriter(machine, notes).Write();
}

}  // namespace footprint
