// TextLowering: one walk over the texts of a dynamo file. lower_fx.cpp has the essay; convolutions,
// noise and norms are in lower_fx_folded.cpp, views in lower_fx_views.cpp.
#ifndef FOOTPRINT_PASSES_LOWER_FX_TEXTS_H_
#define FOOTPRINT_PASSES_LOWER_FX_TEXTS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "ir/ops/lowering/fx.h"
#include "passes/lower_fx.h"
#include "passes/lower_fx_arguments.h"
#include "passes/lower_fx_classes.h"
#include "passes/lower_fx_groups.h"
#include "passes/lower_fx_names.h"
#include "passes/lower_fx_sequences.h"

namespace footprint {

class TextLowering {
 public:
  TextLowering(const LowerFacts& facts, const Provenance& provenance,
               const std::function<bool(const std::string&)>& is_frozen, ProgramBuilder& builder,
               DiagnosticSink& sink)
      : facts_(facts),
        graph_(facts.graph()),
        provenance_(provenance),
        builder_(builder),
        names_(facts, provenance, is_frozen, builder),
        arguments_(facts, names_, builder, [this](const FxGroup& group, absl::string_view name) {
          return Repeat(group, name);
        }),
        classes_(facts, provenance, builder, sink) {}

  void Run() {
    const std::vector<FxGroup> groups = GroupNodes(facts_, provenance_);
    const auto sequences = FindSequences(groups, facts_, names_);
    for (size_t i = 0; i < groups.size(); ++i) {
      const auto sequence = sequences.find(i);
      if (sequence != sequences.end()) {
        LowerSequence(groups, sequence->second);
        i = sequence->second.end - 1;
        continue;
      }
      const FxGroup& group = groups[i];
      group_ = &group;
      SetOrigin(group);
      if (group.fx == nullptr) {
        LowerWithoutText();
      } else {
        classes_.Begin(groups, i);
        if (classes_.function().empty()) {
          LowerGroup();
        } else {
          LowerFunction();
        }
        arguments_.AddProducer(group);
      }
    }
    AddUnread();
  }

 private:
  void SetOrigin(const FxGroup& group);
  void LowerGroup();
  void LowerFunction();
  void LowerSequence(const std::vector<FxGroup>& groups, const FxSequenceMatch& match);
  void LowerView(const FxLowering& row, absl::string_view op);
  bool LowerMergedProduct();
  void LowerAxes(const FxLowering& row, absl::string_view op);
  void PutOrderBack(std::vector<TorchArgument>& arguments);
  void LowerConvolution(absl::string_view op, const FxLowering& row);
  ValueId FindPadded(const Node& conv) const;
  bool LowerMaskedBias(absl::string_view op, std::vector<TorchArgument>& arguments);
  bool IsReadByAttention(ValueId value) const;
  void LowerNoise(absl::string_view op, const FxLowering& row);
  void LowerIndex(absl::string_view op, const FxLowering& row);
  TorchValueId MetByNoise(ValueId noise) const;
  TorchValueId MakeNoise(absl::string_view name);
  void LowerBatchNorm();
  TorchValueId LowerSwallowedConvolution(NodeId id);
  void LowerWithoutText();
  bool IsReadAsItem(ValueId piece) const;
  TorchValueId CutTensor(const Node& node, ValueId input);
  void LowerCuts(const Node& node);
  void LowerNodeAlone(NodeId id);
  TorchValueId Repeat(const FxGroup& group, absl::string_view name);
  void AddUnread();

  // Appends the call whose results are those of the group.
  void Finish(absl::string_view op, std::vector<TorchArgument> arguments, bool several = false);
  void FinishSeveral(absl::string_view op, std::vector<TorchArgument> arguments);
  absl::InlinedVector<TorchValueId, 1> Items();
  void BindResult(TorchValueId tensor);
  void ReplaceParameters(std::vector<TorchArgument>& arguments);
  void CastBack();
  bool LeaveOut(int index, std::vector<TorchArgument>& arguments) const;
  void Unmerge(int count, std::vector<TorchArgument>& arguments);
  bool IsPadFolded(NodeId id) const {
    return static_cast<size_t>(id.index()) < provenance_.rewrite_rules.size() &&
           absl::StrContains(provenance_.rewrite_rules[id], kFoldedPadRule);
  }
  // The convolution among the group's nodes; invalid: none.
  NodeId FindConvolution() const;
  const TensorType& Type(ValueId value) const { return facts_.types().types[value].tensor; }

  const LowerFacts& facts_;
  const Graph& graph_;
  const Provenance& provenance_;
  ProgramBuilder& builder_;
  FxNames names_;
  FxArguments arguments_;
  FxClasses classes_;
  absl::flat_hash_set<TorchValueId> biases_;  // of attention, without a mask
  const FxGroup* group_ = nullptr;
  const FxGroup* reader_ = nullptr;  // for which it is made once more
  absl::string_view repeated_;  // the name under which the group is made once more; else empty
};

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_LOWER_FX_TEXTS_H_
