// FxNames: what the names in the exporter's texts stand for.
#ifndef FOOTPRINT_PASSES_LOWER_FX_NAMES_H_
#define FOOTPRINT_PASSES_LOWER_FX_NAMES_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "ir/provenance.h"
#include "passes/lower_builder.h"
#include "passes/lower_facts.h"

namespace footprint {

class FxNames {
 public:
  FxNames(const LowerFacts& facts, const Provenance& provenance,
          std::function<bool(const std::string&)> is_frozen, ProgramBuilder& builder);

  void Set(absl::string_view name, TorchValueId tensor) { tensors_[std::string(name)] = tensor; }

  // A tensor that the name is known to stand for; invalid: none.
  TorchValueId Find(absl::string_view name);
  // A floating-point constant under this name that the module does not list: the exporter computed
  // it. Invalid: none.
  ValueId FoldedConstant(absl::string_view name) const;
  bool IsSize(absl::string_view name) const { return sizes_.contains(name); }

  // The line of the signature that lists a stored tensor under this name; null: none.
  const SignatureEntry* Stored(absl::string_view name) const;
  // Of the module's own name; null: none.
  const SignatureEntry* StoredAs(absl::string_view target) const;
  // Some text reads it.
  bool IsRead(const SignatureEntry& entry) const { return read_.contains(entry.name); }
  // The parameter of this name, if no text reads it and the file has no tensor for it.
  const SignatureEntry* Unread(absl::string_view target) const;
  // A parameter of this very module ("m.conv1") that the file lacks and no text reads; null: none.
  const SignatureEntry* UnreadParameterOf(absl::string_view module) const;
  // The same of a buffer.
  const SignatureEntry* UnreadBufferOf(absl::string_view module) const;
  // All frequencies that the file lacks and no text reads.
  std::vector<const SignatureEntry*> UnreadFrequencies() const;
  // The table of a module inside this one ("m.embeddings.position_embeddings.weight") that the file
  // lacks and no text reads; null: none.
  const SignatureEntry* UnreadTableBelow(absl::string_view module) const;
  static absl::string_view OwnerOf(const SignatureEntry& entry);
  // The parameter that a call had when it was merged with an equal one, which reads the parameter
  // `target`: of the same name, in a module beside that one, as yet unaccounted for. Null: none.
  const SignatureEntry* MergedParameter(absl::string_view target) const;
  // The bias of the module whose weight this stored value is, if no text reads it; null: none.
  const SignatureEntry* BiasBeside(ValueId weight) const;
  const SignatureEntry* BiasBeside(absl::string_view weight) const;
  // A listed tensor for which the file has none under its name. `storage`: a stored tensor that
  // holds it under another name; may be invalid.
  TorchValueId AddMissing(const SignatureEntry& entry, TensorType type, ValueId storage);
  // The file's tensor for a listed name; invalid: none, so it is missing.
  ValueId StoredValue(const SignatureEntry& entry) const;
  // The stored value that holds a missing buffer too: the one it is the original of. Invalid: none.
  ValueId MergedBuffer(const SignatureEntry& entry) const;
  // Every buffer of the module is accounted for: a constant under another name is not one.
  bool has_all_buffers() const { return has_all_buffers_; }
  // The module gave this stored value its name.
  bool IsListed(ValueId value) const;
  // Training mode: norms wrote their running statistics, something is dropped, or the file says so.
  // Norms that do not train then are frozen.
  bool in_training_mode() const { return in_training_mode_; }

 private:
  bool HasAllBuffers() const;
  bool IsUnread(const SignatureEntry& entry) const;
  const SignatureEntry* UnreadOf(absl::string_view module, SignatureEntry::Kind kind) const;
  void CollectReferences(const FxArgument& argument);

  const LowerFacts& facts_;
  std::function<bool(const std::string&)> is_frozen_;
  ProgramBuilder& builder_;
  absl::flat_hash_map<std::string, TorchValueId> tensors_;
  absl::flat_hash_map<absl::string_view, ValueId> values_;  // of the graph, by name
  absl::flat_hash_map<absl::string_view, const SignatureEntry*> by_name_;
  absl::flat_hash_map<absl::string_view, const SignatureEntry*> by_target_;
  absl::flat_hash_map<absl::string_view, std::vector<const SignatureEntry*>> by_module_;
  // By the module around the entry's own, in the signature's order.
  absl::flat_hash_map<absl::string_view, std::vector<const SignatureEntry*>> by_outer_module_;
  std::vector<const SignatureEntry*> frequencies_;
  absl::flat_hash_set<absl::string_view> sizes_;
  absl::flat_hash_set<std::string> read_;
  bool in_training_mode_ = false;
  bool has_all_buffers_ = false;
};

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_LOWER_FX_NAMES_H_
