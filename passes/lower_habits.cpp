#include "passes/lower_habits.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "ir/ops/lowering/habits.h"

namespace footprint {
namespace {

std::vector<TorchValueId> TensorsOf(const TorchCall& call) {
  std::vector<TorchValueId> tensors;
  ForEachTensor(call, [&](TorchValueId tensor) { tensors.push_back(tensor); });
  return tensors;
}

IdVector<TorchValueId, CallId> LastReaders(const TorchProgram& program) {
  IdVector<TorchValueId, CallId> last(program.values.size());
  for (size_t i = 0; i < program.calls.size(); ++i) {
    ForEachTensor(program.calls[CallId(i)],
                  [&](TorchValueId tensor) { last[tensor] = CallId(i); });
  }
  return last;
}

bool SameDims(const TensorType& a, const TensorType& b) {
  return a.has_rank && b.has_rank && a.dims == b.dims;
}

// The other operand, if any, must be a tensor that fits.
bool Fits(const TorchProgram& program, const TorchCall& call) {
  const TensorType& first = program.values[call.arguments[0].tensor].type;
  if (call.arguments.size() > 1 && call.arguments[1].kind == TorchArgument::Kind::kTensor) {
    return SameDims(first, program.values[call.arguments[1].tensor].type);
  }
  return call.arguments.size() == 1;
}

bool ReadsFractions(const TorchProgram& program) {
  for (const TorchValue& value : program.values) {
    const bool is_input = value.kind == TorchValueKind::kInput;
    if (is_input && IsFloatingPoint(value.type.element)) return true;
  }
  return false;
}

absl::string_view NameOf(const Graph& graph, ScopeId scope) {
  return scope.valid() ? absl::string_view(graph.scopes[scope].name) : absl::string_view();
}

// Where the file names the classes of modules, one around the call must have the habit.
bool MayHaveHabit(const Graph& graph, ScopeId scope) {
  bool has_classes = false;
  while (scope.valid() && static_cast<size_t>(scope.index()) < graph.scopes.size()) {
    const std::string& class_name = graph.scopes[scope].class_name;
    if (HasInPlaceHabits(class_name)) return true;
    has_classes |= !class_name.empty();
    scope = graph.scopes[scope].parent;
  }
  return !has_classes;
}

// A module inside the one of the norm before it: as timm makes them, always in place.
bool IsPartOfNorm(const Graph& graph, const TorchCall& call, const TorchCall* maker) {
  return maker != nullptr && CountsSteps(*maker->op) && maker->scope.valid() &&
         call.scope.valid() && graph.scopes[call.scope].parent == maker->scope;
}

// The branches of residual networks, which sums join again.
class Branches {
 public:
  Branches(const Graph& graph, const TorchProgram& program)
      : graph_(graph), program_(program), maker_(FindProducers(program)) {}

  const TorchCall* MakerOf(TorchValueId value) const {
    return maker_[value].valid() ? &program_.calls[maker_[value]] : nullptr;
  }
  bool IsComputed(TorchValueId value) const { return maker_[value].valid(); }
  bool EndsIn(TorchValueId value) const {
    if (!value.valid() || !IsComputed(value)) return false;
    const TorchCall& maker = program_.calls[maker_[value]];
    return EndsBranch(*maker.op, NameOf(graph_, maker.scope));
  }
  // Some sum is `x + branch(x)`: its author would write `shortcut(x) + branch(x)` too, where both
  // are branches, and not `out += shortcut(x)`.
  bool AddsIdentityFirst() const {
    const auto adds_branch = [this](const TorchCall& call) {
      return IsSum(*call.op) && call.arguments.size() > 1 && call.arguments[0].tensor.valid() &&
             Fits(program_, call) && !EndsIn(call.arguments[0].tensor) &&
             EndsIn(call.arguments[1].tensor);
    };
    return std::any_of(program_.calls.begin(), program_.calls.end(), adds_branch);
  }

 private:
  const Graph& graph_;
  const TorchProgram& program_;
  IdVector<TorchValueId, CallId> maker_;
};

}  // namespace

void AssumeInPlace(const Graph& graph, TorchProgram& program) {
  if (!ReadsFractions(program)) return;  // the libraries with the habit are of images
  const IdVector<TorchValueId, CallId> last_reader = LastReaders(program);
  const Branches branches(graph, program);
  const bool adds_identity_first = branches.AddsIdentityFirst();
  for (size_t i = 0; i < program.calls.size(); ++i) {
    const CallId id(i);
    TorchCall& call = program.calls[id];
    const InPlaceHabit* habit = FindInPlaceHabit(*call.op);
    if (habit == nullptr || call.arguments.empty()) continue;
    const TorchValueId operand = call.arguments[0].tensor;
    if (!operand.valid() || last_reader[operand] != id || !branches.IsComputed(operand)) continue;
    if (habit->in_norm && !IsPartOfNorm(graph, call, branches.MakerOf(operand))) continue;
    if (!habit->in_norm && !Fits(program, call)) continue;
    if (!MayHaveHabit(graph, call.scope)) continue;
    if (habit->after_branch) {
      if (!branches.EndsIn(operand)) continue;
      if (adds_identity_first && branches.EndsIn(call.arguments.back().tensor)) continue;
    }
    call.in_place = InPlace::kIfUnsaved;
    call.evidence = Evidence::kAssumption;
    call.note = std::string(habit->note);
  }
}

void AddFrequencyCopies(TorchProgram& program) {
  // The float buffer that a value is computed from, positions aside; invalid: none, or more.
  IdVector<TorchValueId, TorchValueId> source(program.values.size());
  IdVector<TorchValueId, bool> copied(program.values.size(), false);
  const auto source_of = [&](const TorchCall& call) {
    TorchValueId found;
    for (TorchValueId tensor : TensorsOf(call)) {
      const TorchValue& value = program.values[tensor];
      if (!IsFloatingPoint(value.type.element)) continue;
      const bool computed = value.kind == TorchValueKind::kComputed;
      if (!computed && value.kind != TorchValueKind::kBuffer) return TorchValueId();
      const TorchValueId from = computed ? source[tensor] : tensor;
      if (from.valid()) found = from;
    }
    return found;
  };
  std::vector<TorchValueId> frequencies;
  for (const TorchCall& call : program.calls) {
    const TorchValueId from = source_of(call);
    if (!from.valid()) continue;
    for (TorchValueId result : call.results) {
      if (result.valid()) source[result] = from;
    }
    if (!IsRotation(*call.op) || copied[from]) continue;
    copied[from] = true;
    frequencies.push_back(from);
  }
  for (TorchValueId original : frequencies) {
    TorchValue copy = program.values[original];
    copy.name = absl::StrCat(copy.name, "/", kFrequenciesCopyName);
    copy.onnx_value = ValueId();
    copy.constant = ConstantId();
    program.values.Add(std::move(copy));
  }
}

void AddIndexCopies(TorchProgram& program) {
  absl::flat_hash_map<TorchValueId, std::vector<std::string>> owners;
  std::vector<TorchValue> copies;
  for (const TorchCall& call : program.calls) {
    if (!LooksUp(*call.op)) continue;
    const std::vector<TorchValueId> tensors = TensorsOf(call);
    if (tensors.size() < 2 || program.values[tensors[1]].kind != TorchValueKind::kBuffer) continue;
    const TorchValue& table = program.values[tensors[0]];
    const size_t dot = table.name.rfind('.');
    if (table.kind != TorchValueKind::kParameter || dot == std::string::npos) continue;
    const std::string owner = table.name.substr(0, dot);
    std::vector<std::string>& known = owners[tensors[1]];
    if (std::find(known.begin(), known.end(), owner) != known.end()) continue;
    known.push_back(owner);
    if (known.size() == 1) continue;
    TorchValue copy = program.values[tensors[1]];
    copy.name = absl::StrCat(owner, ".", kIndexCopyName);
    copy.onnx_value = ValueId();
    copy.constant = ConstantId();
    copy.scope = table.scope;
    copies.push_back(std::move(copy));
  }
  for (TorchValue& copy : copies) program.values.Add(std::move(copy));
}

void AddStepCounters(TorchProgram& program) {
  absl::flat_hash_set<TorchValueId> counted;
  for (const TorchCall& call : program.calls) {
    if (!CountsSteps(*call.op) || call.arguments.size() <= kRunningMean) continue;
    const TorchValueId mean = call.arguments[kRunningMean].tensor;
    if (!mean.valid() || !counted.insert(mean).second) continue;
    // A norm that is called again reads what the first call made of its statistics.
    if (program.values[mean].kind != TorchValueKind::kBuffer) continue;
    absl::string_view name = program.values[mean].name;
    TorchValue counter;
    counter.name = absl::ConsumeSuffix(&name, kRunningMeanName)
                       ? absl::StrCat(name, kStepCounterName)
                       : absl::StrCat(name, "/", kStepCounterName);
    counter.kind = TorchValueKind::kBuffer;
    counter.type = TensorType::Make(ElementType::kInt64, {});
    counter.scope = program.values[mean].scope;
    program.values.Add(std::move(counter));
  }
}

}  // namespace footprint
