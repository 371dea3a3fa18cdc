// FxArguments: the arguments of one text as tensors and numbers of the program; what removed texts
// stood for is repaired here.
#ifndef FOOTPRINT_PASSES_LOWER_FX_ARGUMENTS_H_
#define FOOTPRINT_PASSES_LOWER_FX_ARGUMENTS_H_

#include <functional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "ir/ops/lowering/folded_tables.h"
#include "ir/ops/lowering/fx.h"
#include "passes/lower_builder.h"
#include "passes/lower_facts.h"
#include "passes/lower_fx_groups.h"
#include "passes/lower_fx_names.h"

namespace footprint {

class FxArguments {
 public:
  // `repeat`: makes the call of a group once more and returns its result; see Repair.
  using Repeat = std::function<TorchValueId(const FxGroup& group, absl::string_view name)>;
  FxArguments(const LowerFacts& facts, FxNames& names, ProgramBuilder& builder, Repeat repeat)
      : facts_(facts), graph_(facts.graph()), names_(names), builder_(builder),
        repeat_(std::move(repeat)) {}

  // From now on arguments are those of `group`.
  void Begin(const FxGroup& group);
  // All arguments in the order of the operator's schema. `op` may be null.
  std::vector<TorchArgument> All(const FxLowering& row, const TorchOp* op);
  // The tensor that argument `position` is; invalid: none.
  TorchValueId Tensor(size_t position);
  // The first tensor among the arguments converted so far.
  TorchValueId first() const { return now_.first; }
  // It stands for a view or a no-op whose text is gone: what that did is in the ONNX node too.
  bool first_is_merged() const { return now_.first.valid() && now_.first == now_.merged; }
  // What the result of a removed call was computed from; invalid: it is none.
  TorchValueId StoodFor(TorchValueId tensor) const {
    const auto it = stood_for_.find(tensor);
    return it == stood_for_.end() ? TorchValueId() : it->second;
  }
  // What Begin() set up, to come back to after another group.
  struct GroupState {
    const FxGroup* group = nullptr;
    TorchValueId first;
    TorchValueId merged;  // the last tensor that stands for a removed view
    absl::flat_hash_set<TorchValueId> known;  // tensors that some argument names
    absl::flat_hash_set<ValueId> named;       // constants that some argument names
    std::vector<ValueId> operands;            // inputs that none accounts for
    size_t next_operand = 0;
    int float_operands = 0;
    bool indexes = false;  // a list is of indices
    int own_operand = -1;  // the argument that shares no operand with another
  };
  GroupState Pause() { return std::move(now_); }
  void Resume(GroupState state) { now_ = std::move(state); }
  // What `group` makes is known from here on.
  void AddProducer(const FxGroup& group);

 private:
  ValueId SourceInGroup(ValueId value) const;
  void OrderByProducts();
  void AddSharedSources();
  TorchValueId Index(absl::string_view name, size_t axis);
  TorchArgument Convert(const FxArgument& argument, int position, bool may_be_tensor);
  TorchArgument ConvertList(const FxArgument& list, int position, bool may_be_tensor);
  void CollectKnown(const FxArgument& argument);
  TorchValueId Resolve(absl::string_view name, int position);
  TorchValueId ResolveMissing(const SignatureEntry& entry, int position);
  TorchValueId Repair(absl::string_view name, int position);
  TorchValueId RepeatNumber(absl::string_view name);
  TorchValueId Literal(absl::string_view name, TensorType type);
  bool IsWorthRepeating(const FxGroup& group) const;
  TorchValueId StandIn(absl::string_view name, TorchValueId source);
  TorchValueId Compute(absl::string_view op, absl::string_view name,
                       std::vector<TorchArgument> arguments, TensorType type);
  TorchValueId Multiply(absl::string_view name, ValueId product);
  TorchValueId Folded(absl::string_view name, ValueId constant, int position);
  const SignatureEntry* OwnBias() const;
  TorchValueId Gather(absl::string_view name, const SignatureEntry& entry,
                      const FoldedTable& table, const TensorType& type);
  TorchValueId LookUp(absl::string_view name, const SignatureEntry& entry, const TensorType& type);
  void AddFrequencies(const TensorType& turns);
  // An operand of the group that no argument accounts for: computed ones first.
  ValueId NextOperand(int position);
  ValueId TwiceReadOperand() const;
  ValueId SharedFoldedConstant() const;
  ValueId MatchingConstant(const Dims* dims) const;
  ValueId SharedConstant() const;
  TensorType ResultType() const { return facts_.types().types[now_.group->result].tensor; }

  const LowerFacts& facts_;
  const Graph& graph_;
  FxNames& names_;
  ProgramBuilder& builder_;
  Repeat repeat_;
  absl::flat_hash_map<ValueId, const FxGroup*> producers_;
  absl::flat_hash_map<TorchValueId, TorchValueId> stood_for_;  // by a removed call's result
  absl::flat_hash_set<ValueId> claimed_;  // stored tensors that hold a missing parameter

  GroupState now_;
};

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_LOWER_FX_ARGUMENTS_H_
