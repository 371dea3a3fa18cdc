#include "passes/lower.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/ops/lowering/lowering.h"
#include "passes/holds.h"
#include "passes/lower_builder.h"
#include "passes/lower_facts.h"
#include "passes/lower_fx.h"
#include "passes/lower_habits.h"
#include "passes/lower_loss.h"
#include "passes/lower_masks.h"
#include "passes/lower_onnx.h"
#include "passes/lower_order.h"
#include "passes/lower_runs.h"

namespace footprint {
namespace {

void WarnWithoutAttention(const TorchProgram& program, DiagnosticSink& sink) {
  for (const TorchCall& call : program.calls) {
    if (call.op->name == kAttentionCall) return;
  }
  sink.Warning("attention-kernel", "--attention",
               "the graph has no attention that a fused kernel could compute");
}

// What rests on names of the file alone is said once for each kind; texts speak for themselves.
void TellEvidence(const TorchProgram& program, DiagnosticSink& sink) {
  std::map<std::string, int> counts;
  for (const TorchCall& call : program.calls) {
    if (call.evidence == Evidence::kName) ++counts[call.note];
  }
  for (const auto& [note, count] : counts) {
    sink.Note("assumed", "", absl::StrCat(count, " x ", note));
  }
}

}  // namespace

TorchProgram Lower(const Graph& graph, const InferredTypes& types, const Roles& roles,
                   const Provenance& provenance, const LowerOptions& options,
                   DiagnosticSink& sink) {
  ProgramBuilder builder(graph, types, roles);
  const LowerFacts facts(graph, types, roles);
  if (provenance.empty()) {
    LowerNodes(facts, options, builder);
    builder.AddUnread();
  } else {
    const auto is_frozen = [&roles](const std::string& name) {
      return roles.frozen.contains(name);
    };
    LowerTexts(facts, provenance, is_frozen, builder, sink);
  }
  for (size_t i = 0; i < graph.values.size(); ++i) {
    const ValueId id(i);
    const ValueId source = facts.Resolve(id);
    if (source != id && builder.IsBound(source)) builder.Bind(id, builder.TensorOf(source));
  }
  if (options.fuse_attention) WarnWithoutAttention(builder.program(), sink);
  const std::vector<TorchValueId> model_outputs = LowerLoss(graph, options.loss, builder, sink);
  TorchProgram program = builder.Take();
  if (facts.from_pytorch()) {
    JoinRuns(model_outputs, program);
    if (const int sums = LeaveOutOpenMasks(model_outputs, program); sums > 0) {
      sink.Note("assumed", "",
                absl::StrCat(sums, " x sum with a mask that hides nothing: left out, as libraries "
                                   "of text models do except while they are traced"));
    }
    AssumeInPlace(graph, program);
    AddStepCounters(program);
    if (provenance.empty()) {
      AddFrequencyCopies(program);
      AddIndexCopies(program);
    }
  }
  OrderStored(graph, provenance, program);
  if (provenance.empty()) TellEvidence(program, sink);
  AssignHolds(graph, model_outputs, program);
  return program;
}

}  // namespace footprint
