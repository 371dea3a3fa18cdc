#include "passes/lower.h"

#include <string>
#include <utility>
#include <vector>

#include "passes/holds.h"
#include "passes/lower_builder.h"
#include "passes/lower_facts.h"
#include "passes/lower_fx.h"
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
    LowerTexts(facts, provenance, [](const std::string&) { return false; }, builder);
  }
  for (size_t i = 0; i < graph.values.size(); ++i) {
    const ValueId id(i);
    const ValueId source = facts.Resolve(id);
    if (source != id && builder.IsBound(source)) builder.Bind(id, builder.TensorOf(source));
  }
  const std::vector<TorchValueId> model_outputs = LowerLoss(graph, options.loss, builder, sink);
  TorchProgram program = builder.Take();
  AssignHolds(graph, model_outputs, program);
  return program;
}

}  // namespace footprint
