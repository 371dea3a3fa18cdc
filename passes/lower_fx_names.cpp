#include "passes/lower_fx_names.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "ir/ops/lowering/folded_tables.h"
#include "ir/ops/lowering/fx.h"
#include "ir/ops/lowering/habits.h"

namespace footprint {
namespace {

bool IsStoredKind(SignatureEntry::Kind kind) {
  return kind == SignatureEntry::Kind::kParameter || kind == SignatureEntry::Kind::kBuffer ||
         kind == SignatureEntry::Kind::kTensorConstant;
}

absl::string_view ModuleOf(absl::string_view target) {
  const size_t dot = target.rfind('.');
  return dot == absl::string_view::npos ? absl::string_view() : target.substr(0, dot);
}

}  // namespace

FxNames::FxNames(const LowerFacts& facts, const Provenance& provenance,
                 std::function<bool(const std::string&)> is_frozen, ProgramBuilder& builder)
    : facts_(facts),
      is_frozen_(std::move(is_frozen)),
      builder_(builder),
      in_training_mode_(provenance.says_training) {
  const Graph& graph = facts.graph();
  for (size_t i = 0; i < graph.values.size(); ++i) {
    values_.emplace(graph.values[ValueId(i)].name, ValueId(i));
  }
  for (const SignatureEntry& entry : provenance.signature) {
    if (entry.kind == SignatureEntry::Kind::kBufferMutation) in_training_mode_ = true;
    if (entry.is_output || !IsStoredKind(entry.kind)) continue;
    by_name_.emplace(entry.name, &entry);
    by_target_.emplace(entry.target, &entry);
    const absl::string_view module = ModuleOf(entry.target);
    by_module_[module].push_back(&entry);
    by_outer_module_[ModuleOf(module)].push_back(&entry);
    const bool is_buffer = entry.kind == SignatureEntry::Kind::kBuffer;
    if (is_buffer && absl::EndsWith(entry.target, kFrequenciesName)) frequencies_.push_back(&entry);
  }
  for (const FxNode& node : provenance.fx_nodes) {
    const bool is_item = FxStem(node.name) == kItemName;
    if (FindFxLowering(node.target).form == FxForm::kSize && !is_item) sizes_.insert(node.name);
    in_training_mode_ |= FxDrops(node);
    for (const FxArgument& argument : node.arguments) CollectReferences(argument);
    for (const auto& [keyword, argument] : node.keyword_arguments) CollectReferences(argument);
  }
  has_all_buffers_ = HasAllBuffers();
}

// Counters of norms are in no file; what frequencies went into is computed in each step.
bool FxNames::HasAllBuffers() const {
  for (const auto& [name, entry] : by_name_) {
    const bool is_buffer = entry->kind != SignatureEntry::Kind::kParameter;
    if (!is_buffer || absl::EndsWith(entry->target, kStepCounterName)) continue;
    if (IsFoldedAway(entry->target)) continue;
    if (!StoredValue(*entry).valid() && !IsRead(*entry) && !MergedBuffer(*entry).valid()) {
      return false;
    }
  }
  return true;
}

void FxNames::CollectReferences(const FxArgument& argument) {
  std::vector<const FxArgument*> open = {&argument};
  while (!open.empty()) {
    const FxArgument& next = *open.back();
    open.pop_back();
    if (next.kind == FxArgument::Kind::kReference) read_.insert(next.text);
    for (const FxArgument& item : next.items) open.push_back(&item);
  }
}

const SignatureEntry* FxNames::Stored(absl::string_view name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : it->second;
}

const SignatureEntry* FxNames::StoredAs(absl::string_view target) const {
  const auto it = by_target_.find(target);
  return it == by_target_.end() ? nullptr : it->second;
}

bool FxNames::IsUnread(const SignatureEntry& entry) const {
  return !IsRead(entry) && !tensors_.contains(entry.name) && !StoredValue(entry).valid();
}

const SignatureEntry* FxNames::Unread(absl::string_view target) const {
  const SignatureEntry* entry = StoredAs(target);
  return entry != nullptr && IsUnread(*entry) ? entry : nullptr;
}

const SignatureEntry* FxNames::UnreadParameterOf(absl::string_view module) const {
  return UnreadOf(module, SignatureEntry::Kind::kParameter);
}

const SignatureEntry* FxNames::UnreadBufferOf(absl::string_view module) const {
  return UnreadOf(module, SignatureEntry::Kind::kBuffer);
}

absl::string_view FxNames::OwnerOf(const SignatureEntry& entry) {
  return ModuleOf(entry.target);
}

const SignatureEntry* FxNames::UnreadOf(absl::string_view module,
                                        SignatureEntry::Kind kind) const {
  const auto it = by_module_.find(module);
  if (it == by_module_.end()) return nullptr;
  for (const SignatureEntry* entry : it->second) {
    if (entry->kind == kind && IsUnread(*entry)) return entry;
  }
  return nullptr;
}

const SignatureEntry* FxNames::MergedParameter(absl::string_view target) const {
  const absl::string_view module = ModuleOf(target);
  const absl::string_view name = target.substr(module.size());
  const auto it = by_outer_module_.find(ModuleOf(module));
  if (it == by_outer_module_.end()) return nullptr;
  for (const SignatureEntry* entry : it->second) {
    const absl::string_view target_beside = entry->target;
    const absl::string_view other = ModuleOf(target_beside);
    if (other == module || entry->kind != SignatureEntry::Kind::kParameter) continue;
    if (target_beside.substr(other.size()) == name && IsUnread(*entry)) return entry;
  }
  return nullptr;
}

const SignatureEntry* FxNames::BiasBeside(ValueId weight) const {
  return BiasBeside(facts_.graph().values[weight].name);
}

const SignatureEntry* FxNames::BiasBeside(absl::string_view weight) const {
  const SignatureEntry* entry = StoredAs(absl::StrCat(ModuleOf(weight), ".", kBiasName));
  return entry == nullptr || IsRead(*entry) ? nullptr : entry;
}

std::vector<const SignatureEntry*> FxNames::UnreadFrequencies() const {
  std::vector<const SignatureEntry*> unread;
  for (const SignatureEntry* entry : frequencies_) {
    if (IsUnread(*entry)) unread.push_back(entry);
  }
  return unread;
}

const SignatureEntry* FxNames::UnreadTableBelow(absl::string_view module) const {
  const auto it = by_outer_module_.find(module);
  if (it == by_outer_module_.end()) return nullptr;
  for (const SignatureEntry* entry : it->second) {
    const bool is_table = entry->kind == SignatureEntry::Kind::kParameter &&
                          absl::EndsWith(entry->target, kTableName);
    if (is_table && IsUnread(*entry)) return entry;
  }
  return nullptr;
}

ValueId FxNames::StoredValue(const SignatureEntry& entry) const {
  const auto it = values_.find(entry.target);
  if (it == values_.end()) return ValueId();
  return facts_.graph().values[it->second].kind == ValueKind::kConstant ? it->second : ValueId();
}

ValueId FxNames::MergedBuffer(const SignatureEntry& entry) const {
  const absl::string_view module = ModuleOf(entry.target);
  absl::string_view name = entry.target;
  if (!module.empty()) name.remove_prefix(module.size() + 1);
  if (!absl::ConsumePrefix(&name, kOriginalPrefix)) return ValueId();
  const SignatureEntry* other = StoredAs(absl::StrCat(module, module.empty() ? "" : ".", name));
  return other == nullptr ? ValueId() : StoredValue(*other);
}

bool FxNames::IsListed(ValueId value) const {
  return by_target_.contains(facts_.graph().values[value].name);
}

ValueId FxNames::FoldedConstant(absl::string_view name) const {
  const auto it = values_.find(name);
  if (it == values_.end() || IsListed(it->second)) return ValueId();
  const TensorType& type = facts_.types().types[it->second].tensor;
  const bool is_tensor = IsFloatingPoint(type.element) || type.rank() > 0;
  const bool is_constant = facts_.graph().values[it->second].kind == ValueKind::kConstant;
  const bool is_computed = !facts_.IsArithmetic(it->second) || !FxElementwise(name).empty();
  return is_tensor && is_constant && is_computed ? it->second : ValueId();
}

TorchValueId FxNames::Find(absl::string_view name) {
  const auto known = tensors_.find(name);
  if (known != tensors_.end()) return known->second;
  if (const SignatureEntry* entry = Stored(name)) {
    const ValueId value = StoredValue(*entry);
    return value.valid() ? builder_.TensorOf(value) : TorchValueId();
  }
  const auto it = values_.find(name);
  if (it == values_.end()) return TorchValueId();
  const ValueId value = facts_.Resolve(it->second);
  const bool is_constant = facts_.graph().values[value].kind == ValueKind::kConstant &&
                           !FoldedConstant(name).valid();
  return is_constant || builder_.IsBound(value) ? builder_.TensorOf(value) : TorchValueId();
}

TorchValueId FxNames::AddMissing(const SignatureEntry& entry, TensorType type, ValueId storage) {
  TorchValue value;
  value.name = entry.target;
  value.kind = entry.kind == SignatureEntry::Kind::kParameter ? TorchValueKind::kParameter
                                                              : TorchValueKind::kBuffer;
  value.type = std::move(type);
  value.trainable = value.kind == TorchValueKind::kParameter &&
                    IsFloatingPoint(value.type.element) && !is_frozen_(entry.target);
  value.scope = builder_.origin().scope;
  if (storage.valid()) {
    value.onnx_value = storage;
    value.constant = facts_.graph().values[storage].constant;
  }
  const TorchValueId id = builder_.AddValue(std::move(value));
  if (storage.valid()) builder_.Bind(storage, id);
  Set(entry.name, id);
  return id;
}

}  // namespace footprint
