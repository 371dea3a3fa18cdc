#include "passes/lower_masks.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "ir/ops/lowering/habits.h"

//   ge = position >= 0            true everywhere
//   mask = where(ge, 0, least)    0 everywhere
//   scores = scores + mask        the scores
//
// Positions count up from 0 or more; views and copies in between change nothing.

namespace footprint {
namespace {

class OpenMasks {
 public:
  OpenMasks(const std::vector<TorchValueId>& outputs, TorchProgram& program)
      : program_(program),
        producer_(FindProducers(program)),
        behind_(program.values.size()),
        readers_(program.values.size(), 0),
        instead_(program.values.size()),
        is_output_(program.values.size(), false),
        dropped_(program.calls.size(), false) {
    for (const TorchCall& call : program.calls) {
      ForEachTensor(call, [this](TorchValueId tensor) { ++readers_[tensor]; });
    }
    for (TorchValueId output : outputs) is_output_[output] = true;
    if (program.loss.valid()) is_output_[program.loss] = true;
  }

  int LeaveOut() {
    for (size_t i = 0; i < program_.calls.size(); ++i) Visit(CallId(i));
    if (masks_.empty()) return 0;
    const size_t count = masks_.size();
    DropUnread();
    Compact();
    return static_cast<int>(count);
  }

 private:
  // The call behind views and copies; null: none.
  const TorchCall* Maker(const TorchArgument& argument) const {
    const TorchValueId value = argument.tensor;
    return value.valid() && behind_[value].valid() ? &program_.calls[behind_[value]] : nullptr;
  }
  bool IsCount(const TorchArgument& argument) const {
    const TorchCall* call = Maker(argument);
    if (call == nullptr || !CountsUp(*call->op)) return false;
    return call->arguments.size() == 1 || IsZero(call->arguments[0]);  // arange(end)
  }
  bool IsTrueEverywhere(const TorchArgument& argument) const {
    const TorchCall* call = Maker(argument);
    return call != nullptr && IsAtLeast(*call->op) && call->arguments.size() > 1 &&
           IsZero(call->arguments[1]) && IsCount(call->arguments[0]);
  }
  bool IsOpen(const TorchArgument& argument) const {
    const TorchCall* call = Maker(argument);
    return call != nullptr && Chooses(*call->op) && call->arguments.size() > 1 &&
           IsZero(call->arguments[1]) && IsTrueEverywhere(call->arguments[0]);
  }
  bool IsZero(const TorchArgument& argument) const {
    if (argument.kind == TorchArgument::Kind::kInt) return argument.integer.Is(0);
    if (argument.kind == TorchArgument::Kind::kFloat) return argument.number == 0;
    const TorchCall* call = Maker(argument);
    return call != nullptr && FillsWithNumber(*call->op) && call->arguments.size() > 1 &&
           IsZero(call->arguments[1]);
  }

  void Visit(CallId id) {
    TorchCall& call = program_.calls[id];
    ForEachTensor(call, [this](TorchValueId& tensor) {
      if (instead_[tensor].valid()) tensor = instead_[tensor];
    });
    const TorchValueId first = call.arguments.empty() ? TorchValueId() : call.arguments[0].tensor;
    const bool is_view = RearrangesOnly(*call.op);
    for (TorchValueId result : call.results) {
      if (!result.valid()) continue;
      behind_[result] = !is_view ? id : first.valid() ? behind_[first] : CallId();
    }
    if (!IsSum(*call.op) || call.arguments.size() < 2 || !first.valid()) return;
    if (!IsOpen(call.arguments[1])) return;
    if (is_output_[call.results[0]]) return;
    if (program_.values[first].type.dims != program_.values[call.results[0]].type.dims) return;
    masks_.push_back(call.arguments[1].tensor);
    instead_[call.results[0]] = first;
    dropped_[id] = true;
  }

  // One reader less of each mask; the last one of all that a call makes takes the call along.
  void DropUnread() {
    while (!masks_.empty()) {
      const CallId maker = producer_[masks_.back()];
      --readers_[masks_.back()];
      masks_.pop_back();
      if (!maker.valid() || dropped_[maker] || IsNeeded(program_.calls[maker])) continue;
      dropped_[maker] = true;
      ForEachTensor(program_.calls[maker],
                    [this](TorchValueId tensor) { masks_.push_back(tensor); });
    }
  }
  bool IsNeeded(const TorchCall& call) const {
    return std::any_of(call.results.begin(), call.results.end(), [this](TorchValueId result) {
      return result.valid() && (readers_[result] > 0 || is_output_[result]);
    });
  }

  void Compact() {
    IdVector<CallId, TorchCall> kept;
    for (size_t i = 0; i < program_.calls.size(); ++i) {
      if (!dropped_[CallId(i)]) kept.Add(std::move(program_.calls[CallId(i)]));
    }
    program_.calls = std::move(kept);
    for (size_t i = 0; i < program_.torch_of.size(); ++i) {
      TorchValueId& value = program_.torch_of[ValueId(i)];
      if (value.valid() && instead_[value].valid()) value = instead_[value];
    }
  }

  TorchProgram& program_;
  IdVector<TorchValueId, CallId> producer_;
  IdVector<TorchValueId, CallId> behind_;  // views and copies
  IdVector<TorchValueId, int32_t> readers_;
  IdVector<TorchValueId, TorchValueId> instead_;  // of the sums
  IdVector<TorchValueId, bool> is_output_;  // or the loss
  IdVector<CallId, bool> dropped_;
  std::vector<TorchValueId> masks_;  // one for each sum
};

}  // namespace

int LeaveOutOpenMasks(const std::vector<TorchValueId>& outputs, TorchProgram& program) {
  return OpenMasks(outputs, program).LeaveOut();
}

}  // namespace footprint
