// FxClasses: what the classes of modules add to the texts inside them, by class_facts. Follows the
// groups in order, puts casts around their calls, and notes each class it relied on.
#ifndef FOOTPRINT_PASSES_LOWER_FX_CLASSES_H_
#define FOOTPRINT_PASSES_LOWER_FX_CLASSES_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "ir/diagnostic.h"
#include "ir/ops/lowering/class_facts.h"
#include "ir/provenance.h"
#include "passes/lower_builder.h"
#include "passes/lower_facts.h"
#include "passes/lower_fx_groups.h"

namespace footprint {

class FxClasses {
 public:
  FxClasses(const LowerFacts& facts, const Provenance& provenance, ProgramBuilder& builder,
            DiagnosticSink& sink)
      : facts_(facts), provenance_(provenance), builder_(builder), sink_(sink) {}

  // From now on calls are those of groups[index]. Groups have a text.
  void Begin(const std::vector<FxGroup>& groups, size_t index);
  // The module is one call of its own; empty: it is what the texts say.
  absl::string_view function() const {
    return fact_ == nullptr ? absl::string_view() : fact_->function;
  }
  absl::string_view note() const { return fact_ == nullptr ? absl::string_view() : fact_->note; }
  bool starts_module() const { return starts_module_; }
  bool ends_module() const { return ends_module_; }
  // The tensor that the module was handed; invalid: none was read so far.
  TorchValueId handed() const { return handed_; }
  void SetHanded(TorchValueId tensor) { handed_ = tensor; }

  // Casts arguments of the call to come.
  void CastArguments(absl::string_view op, std::vector<TorchArgument>& arguments);
  // What the group's readers see of the result of the call just made.
  TorchValueId CastResult(TorchValueId result);
  // The fact was used.
  void Report();

 private:
  void CastLogits(std::vector<TorchArgument>& arguments);
  void CastForSubmodule(std::vector<TorchArgument>& arguments);
  void CastAttention(absl::string_view op, std::vector<TorchArgument>& arguments);
  void CastUp(absl::string_view op, TorchArgument& argument);
  void CastBeforeWeight(std::vector<TorchArgument>& arguments);
  bool HasShiftedTarget(TorchValueId target) const;
  bool LeavesModule() const;
  TorchValueId Cast(absl::string_view op, TorchValueId tensor, std::vector<TorchArgument> to,
                    absl::string_view suffix);
  void Report(const ClassFact& fact, const std::string& class_name);

  const LowerFacts& facts_;
  const Provenance& provenance_;
  ProgramBuilder& builder_;
  DiagnosticSink& sink_;

  const FxGroup* group_ = nullptr;
  const ClassFact* fact_ = nullptr;  // of the innermost module
  bool starts_module_ = false;
  bool ends_module_ = false;
  TorchValueId handed_;
  absl::flat_hash_map<TorchValueId, TorchValueId> floats_;  // float32 copies in this module
  absl::flat_hash_set<TorchValueId> made_;                  // by this module
  absl::flat_hash_set<std::string> scored_;  // modules whose scores are made
  absl::flat_hash_set<std::string> reported_;
};

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_LOWER_FX_CLASSES_H_
