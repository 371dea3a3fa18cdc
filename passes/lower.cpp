#include "passes/lower.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "passes/holds.h"
#include "passes/lower_builder.h"
#include "passes/lower_facts.h"
#include "passes/lower_fx.h"
#include "passes/lower_habits.h"
#include "passes/lower_loss.h"
#include "passes/lower_onnx.h"

namespace footprint {

TorchProgram Lower(const Graph& graph, const InferredTypes& types, const Roles& roles,
                   const Provenance& provenance, const LowerOptions& options,
                   DiagnosticSink& sink) {
  ProgramBuilder builder(graph, types, roles);
  const LowerFacts facts(graph, types, roles);
  if (provenance.empty()) {
    LowerNodes(facts, options.recompose_modules, builder);
    builder.AddUnread();
  } else {
    const auto is_frozen = [&options](const std::string& name) {
      return std::any_of(options.freeze.begin(), options.freeze.end(),
                         [&name](const std::string& pattern) {
                           return MatchesFreeze(pattern, name);
                         });
    };
    LowerTexts(facts, provenance, is_frozen, builder);
  }
  for (size_t i = 0; i < graph.values.size(); ++i) {
    const ValueId id(i);
    const ValueId source = facts.Resolve(id);
    if (source != id && builder.IsBound(source)) builder.Bind(id, builder.TensorOf(source));
  }
  const std::vector<TorchValueId> model_outputs = LowerLoss(graph, options.loss, builder, sink);
  TorchProgram program = builder.Take();
  if (facts.from_pytorch()) {
    AssumeInPlace(program);
    AddStepCounters(program);
  }
  AssignHolds(graph, model_outputs, program);
  return program;
}

}  // namespace footprint
