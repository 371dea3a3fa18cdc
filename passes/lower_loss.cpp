#include "passes/lower_loss.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "ir/ops/lowering/lowering.h"

namespace footprint {
namespace {

class LossLowering {
 public:
  LossLowering(const Graph& graph, ProgramBuilder& builder, DiagnosticSink& sink)
      : graph_(graph), builder_(builder), sink_(sink) {
    for (ValueId output : graph.top().outputs) {
      if (!output.valid()) continue;
      const TorchValueId tensor = builder.program().torch_of[output];
      if (tensor.valid() && IsFloatingPoint(builder.value(tensor).type.element)) {
        outputs_.push_back(tensor);
      }
    }
  }

  std::vector<TorchValueId> Run(LossKind kind) {
    if (outputs_.empty()) {
      sink_.Warning("no-loss", "graph outputs",
                    "no floating-point output: there is nothing to differentiate");
      return {};
    }
    const TorchValueId own = OwnLoss();
    if (own.valid()) {
      if (kind != LossKind::kAuto) {
        sink_.Note("loss", absl::StrCat("output ", builder_.value(own).name),
                   "the graph ends in a loss, which is used; --loss is for graphs without one");
      }
      builder_.program().loss = own;
      return WhatTheLossReads(own);
    }
    how_ = kind == LossKind::kAuto ? "assumed" : "as asked";
    AddLoss(kind);
    return outputs_;
  }

 private:
  // A scalar output.
  TorchValueId OwnLoss() const {
    for (TorchValueId output : outputs_) {
      const TorchValue& value = builder_.value(output);
      if (value.type.rank() == 0 && value.kind == TorchValueKind::kComputed) return output;
    }
    return TorchValueId();
  }

  std::vector<TorchValueId> WhatTheLossReads(TorchValueId loss) const;
  void AddLoss(LossKind kind);
  void AddCrossEntropy(TorchValueId output);
  TorchValueId AddTarget(TensorType type);
  void SetLoss(absl::string_view op, std::vector<TorchArgument> arguments,
               const std::string& note);
  TorchValueId View(TorchValueId tensor, absl::Span<const Dim> dims);

  const Graph& graph_;
  ProgramBuilder& builder_;
  DiagnosticSink& sink_;
  std::vector<TorchValueId> outputs_;
  absl::string_view how_;
};

// Its tensor operands, and what they are views and casts of.
std::vector<TorchValueId> LossLowering::WhatTheLossReads(TorchValueId loss) const {
  const TorchProgram& program = builder_.program();
  absl::flat_hash_map<TorchValueId, CallId> producers;
  for (size_t i = 0; i < program.calls.size(); ++i) {
    for (TorchValueId result : program.calls[CallId(i)].results) {
      if (result.valid()) producers[result] = CallId(i);
    }
  }
  std::vector<TorchValueId> read;
  std::vector<TorchValueId> open = {loss};
  while (!open.empty()) {
    const auto producer = producers.find(open.back());
    open.pop_back();
    if (producer == producers.end()) continue;
    for (const TorchArgument& argument : program.calls[producer->second].arguments) {
      if (argument.kind != TorchArgument::Kind::kTensor) continue;
      const TorchValueId tensor = argument.tensor;
      if (program.values[tensor].kind != TorchValueKind::kComputed) continue;
      read.push_back(tensor);
      const auto made = producers.find(tensor);
      if (made != producers.end() && HandsOn(*program.calls[made->second].op)) {
        open.push_back(tensor);
      }
    }
  }
  return read;
}

void LossLowering::AddLoss(LossKind kind) {
  const TorchValueId output = outputs_[0];
  const TensorType& type = builder_.value(output).type;
  ProgramBuilder::Origin origin;
  origin.scope = ScopeId(0);
  origin.evidence = Evidence::kAssumption;
  builder_.SetOrigin(std::move(origin));
  if (kind == LossKind::kMse) {
    const TorchValueId target = AddTarget(type);
    SetLoss(kMseCall, {TorchArgument::Tensor(output), TorchArgument::Tensor(target)},
            "mean squared error against a target like the output");
  } else if (kind == LossKind::kSum || kind == LossKind::kNone || type.rank() < 2) {
    SetLoss(kSumCall, {TorchArgument::Tensor(output)}, "sum of the output");
  } else {
    AddCrossEntropy(output);
  }
}

// Classes are the last axis of vectors and sequences, and axis 1 of images.
void LossLowering::AddCrossEntropy(TorchValueId output) {
  const TensorType type = builder_.value(output).type;
  const int rank = type.rank();
  const size_t class_axis = rank <= 3 ? static_cast<size_t>(rank - 1) : 1;
  TensorType target_type = type;
  target_type.element = ElementType::kInt64;
  target_type.dims.erase(target_type.dims.begin() + static_cast<int64_t>(class_axis));
  TorchValueId target = AddTarget(target_type);
  if (rank == 3) {
    const Dim rows = graph_.dims->Mul(type.dims[0], type.dims[1]);
    output = View(output, {rows, type.dims[2]});
    target = View(target, {rows});
  }
  SetLoss(kCrossEntropyCall, {TorchArgument::Tensor(output), TorchArgument::Tensor(target)},
          absl::StrCat("cross entropy over axis ", class_axis, " against an int64 target"));
}

TorchValueId LossLowering::View(TorchValueId tensor, absl::Span<const Dim> dims) {
  const TorchValue& value = builder_.value(tensor);
  const TorchValueId view = builder_.AddComputed(
      absl::StrCat(value.name, "/", kViewCall), TensorType::Make(value.type.element, dims));
  builder_.Append(kViewCall, {TorchArgument::Tensor(tensor), TorchArgument::Ints(dims)}, {view});
  return view;
}

TorchValueId LossLowering::AddTarget(TensorType type) {
  TorchValue target;
  target.name = "target";
  target.kind = TorchValueKind::kInput;
  target.type = std::move(type);
  return builder_.AddValue(std::move(target));
}

void LossLowering::SetLoss(absl::string_view op, std::vector<TorchArgument> arguments,
                           const std::string& note) {
  const ElementType element = builder_.value(outputs_[0]).type.element;
  const TorchValueId loss = builder_.AddComputed("loss", TensorType::Make(element, {}));
  builder_.Append(op, std::move(arguments), {loss});
  builder_.last().note = note;
  builder_.program().loss = loss;
  sink_.Note("loss-assumed", absl::StrCat("output ", builder_.value(outputs_[0]).name),
             absl::StrCat("the graph has no loss of its own; ", how_, ": ", note));
}

}  // namespace

std::vector<TorchValueId> LowerLoss(const Graph& graph, LossKind kind, ProgramBuilder& builder,
                                    DiagnosticSink& sink) {
  return LossLowering(graph, builder, sink).Run(kind);
}

}  // namespace footprint
