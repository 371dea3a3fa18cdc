#include "passes/lower_masks.h"

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
  explicit OpenMasks(TorchProgram& program)
      : program_(program),
        maker_(program.values.size()),
        readers_(program.values.size(), 0),
        instead_(program.values.size()),
        dropped_(program.calls.size(), false) {
    for (size_t i = 0; i < program.calls.size(); ++i) {
      for (TorchValueId result : program.calls[CallId(i)].results) {
        if (result.valid()) maker_[result] = CallId(i);
      }
      ForEachTensor(program.calls[CallId(i)], [this](TorchValueId tensor) { ++readers_[tensor]; });
    }
  }

  int LeaveOut() {
    for (size_t i = 0; i < program_.calls.size(); ++i) Visit(CallId(i));
    if (masks_.empty()) return 0;
    for (TorchValueId mask : masks_) Drop(mask);
    Compact();
    return static_cast<int>(masks_.size());
  }

 private:
  template <typename Visit>
  static void ForEachTensor(TorchCall& call, Visit visit) {
    for (TorchArgument& argument : call.arguments) {
      if (argument.tensor.valid()) visit(argument.tensor);
      for (TorchValueId& tensor : argument.tensors) {
        if (tensor.valid()) visit(tensor);
      }
    }
  }

  // The call behind views and copies; null: none.
  const TorchCall* Maker(const TorchArgument& argument) const {
    TorchValueId value = argument.tensor;
    while (value.valid() && maker_[value].valid()) {
      const TorchCall& call = program_.calls[maker_[value]];
      if (!RearrangesOnly(*call.op)) return &call;
      value = call.arguments[0].tensor;
    }
    return nullptr;
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
    if (!IsSum(*call.op) || call.arguments.size() < 2 || !call.arguments[0].tensor.valid()) return;
    if (!IsOpen(call.arguments[1])) return;
    const TorchValueId scores = call.arguments[0].tensor;
    if (program_.values[scores].type.dims != program_.values[call.results[0]].type.dims) return;
    masks_.push_back(call.arguments[1].tensor);
    instead_[call.results[0]] = scores;
    dropped_[id] = true;
  }

  // One reader less; the last one takes the maker along.
  void Drop(TorchValueId value) {
    if (--readers_[value] > 0 || !maker_[value].valid()) return;
    dropped_[maker_[value]] = true;
    ForEachTensor(program_.calls[maker_[value]], [this](TorchValueId tensor) { Drop(tensor); });
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
  IdVector<TorchValueId, CallId> maker_;
  IdVector<TorchValueId, int32_t> readers_;
  IdVector<TorchValueId, TorchValueId> instead_;  // of the sums
  IdVector<CallId, bool> dropped_;
  std::vector<TorchValueId> masks_;  // one for each sum
};

}  // namespace

int LeaveOutOpenMasks(TorchProgram& program) { return OpenMasks(program).LeaveOut(); }

}  // namespace footprint
