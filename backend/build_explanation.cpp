#include <algorithm>

#include "absl/strings/str_cat.h"
#include "backend/build_report.h"

namespace footprint {
namespace {

const char* EvidenceWords(Evidence evidence) {
  switch (evidence) {
    case Evidence::kExporter: return "the exporter's own text";
    case Evidence::kPattern: return "the shape of the nodes";
    case Evidence::kOperator: return "the operator";
    case Evidence::kName: return "a name in the file";
    case Evidence::kAssumption: return "an assumption";
    case Evidence::kGeneric: return "nothing: it has no PyTorch counterpart";
  }
  return "";
}

// " of /conv1/Conv"; of a node without a name, what it makes: " -> y".
std::string NodeWords(const Graph& graph, NodeId id) {
  const Node& node = graph.nodes[id];
  if (!node.name.empty()) return absl::StrCat(" of ", node.name);
  for (const ValueId output : node.outputs) {
    if (output.valid()) return absl::StrCat(" -> ", graph.values[output].name);
  }
  return "";
}

std::string StepWords(const Analysis& analysis, const MemoryTrace& trace, int64_t tick,
                      bool training) {
  const int64_t index = StepAt(trace, tick);
  if (index < 0) return "before the first step";
  const Step& step = trace.steps[static_cast<size_t>(index)];
  std::string words = training ? absl::StrCat(PhaseName(step.phase), ": ", step.name) : step.name;
  if (step.node.valid()) absl::StrAppend(&words, NodeWords(analysis.graph(), step.node));
  return words;
}

ExplainedRun ExplainIn(const Analysis& analysis, const MemoryTrace& trace,
                       const Timeline& timeline, ValueId value, bool training) {
  ExplainedRun run;
  run.run = training ? "training" : "inference";
  const StorageId id = trace.storage_of[value];
  if (!id.valid()) {
    run.reason = "no storage of its own: it costs nothing here";
    return run;
  }
  const StorageRecord& storage = trace.storages[id];
  run.storage = StorageName(training ? kTrainingPrefix : kInferencePrefix, id);
  run.bytes = timeline.bytes[id];
  run.category = CategoryName(storage.category);
  run.reason = storage.reason;
  run.made_by = StepWords(analysis, trace, storage.first_tick, training);
  run.alive_until = StepWords(analysis, trace, storage.end_tick - 1, training);
  for (int32_t step : trace.saved_by[id]) {
    run.saved_by.push_back(trace.steps[static_cast<size_t>(step)].name);
  }
  const int64_t peak = timeline.PeakTick(0, trace.end_tick);
  run.at_peak = storage.first_tick <= peak && peak < storage.end_tick;
  for (size_t i = 0; i < trace.storage_of.size(); ++i) {
    const ValueId other(i);
    if (other != value && trace.storage_of[other] == id) {
      run.shares_with.push_back(analysis.graph().values[other].name);
    }
  }
  return run;
}

std::string RuntimeStepWords(const Analysis& analysis, int32_t step) {
  const RuntimePlan& plan = *analysis.inference->runtime;
  const RuntimeNode& node = plan.graph.node(plan.order[static_cast<size_t>(step)]);
  if (!node.source.valid()) return node.op_type;
  return absl::StrCat(node.op_type, NodeWords(analysis.graph(), node.source));
}

// The value itself, or the copy of it that has a buffer; -1.
int32_t PlannedTensorOf(const RuntimePlan& plan, ValueId value) {
  int32_t copy = -1;
  for (size_t i = 0; i < plan.graph.values.size(); ++i) {
    if (plan.graph.values[i].origin != value || plan.plan.buffer_of[i] < 0) continue;
    if (plan.graph.values[i].value == value) return static_cast<int32_t>(i);
    copy = static_cast<int32_t>(i);
  }
  return copy;
}

// The buffer that ONNX Runtime plans for it, and who had that before.
ExplainedRun ExplainPlan(const Analysis& analysis, ValueId value) {
  const RuntimePlan& plan = *analysis.inference->runtime;
  ExplainedRun run;
  run.run = "onnxruntime";
  const int32_t tensor = PlannedTensorOf(plan, value);
  if (tensor < 0) {
    run.reason = "no buffer: rewritten away";
    return run;
  }
  const int32_t index = plan.plan.buffer_of[static_cast<size_t>(tensor)];
  const PlanBuffer& buffer = plan.plan.buffers[static_cast<size_t>(index)];
  run.storage = absl::StrCat("b", index);
  run.reason = PlacementName(plan.plan.placements[static_cast<size_t>(tensor)]);
  int32_t before = -1;
  for (const int32_t other : buffer.tensors) {
    if (other == tensor) break;
    before = other;
  }
  if (before >= 0) absl::StrAppend(&run.reason, ": had ", plan.graph.value(before).name, " before");
  if (buffer.given) return run;
  run.bytes = plan.tensor_bytes[static_cast<size_t>(tensor)];
  run.category = CategoryName(Category::kTransient);
  run.made_by = RuntimeStepWords(analysis, buffer.first_step);
  run.alive_until = RuntimeStepWords(analysis, buffer.end_step - 1);
  run.at_peak =
      buffer.first_step <= plan.bytes.peak_step && plan.bytes.peak_step < buffer.end_step;
  for (const int32_t other : buffer.tensors) {
    if (other != tensor) {
      run.shares_with.push_back(plan.graph.value(other).name);
    }
  }
  return run;
}

void ExplainCall(const TorchProgram& program, ValueId value, ExplainedRun& run) {
  const TorchValueId result = program.torch_of[value];
  if (!result.valid()) return;
  for (const TorchCall& call : program.calls) {
    if (std::find(call.results.begin(), call.results.end(), result) == call.results.end()) continue;
    run.call = std::string(call.op->name);
    run.evidence = EvidenceWords(call.evidence);
    if (!call.note.empty()) absl::StrAppend(&run.evidence, ": ", call.note);
  }
}

}  // namespace

std::optional<Explanation> BuildExplanation(const Analysis& analysis, const Report& report,
                                            const std::string& tensor) {
  const auto row = std::find_if(report.tensors.begin(), report.tensors.end(),
                                [&](const ReportTensor& t) { return t.name == tensor; });
  if (row == report.tensors.end()) return std::nullopt;
  ValueId value;
  for (size_t i = 0; i < analysis.graph().values.size() && !value.valid(); ++i) {
    if (analysis.graph().values[ValueId(i)].name == tensor) value = ValueId(i);
  }
  Explanation explanation;
  explanation.tensor = *row;
  if (analysis.training) {
    explanation.runs.push_back(ExplainIn(analysis, analysis.training->trace,
                                         analysis.training->timeline, value, true));
    ExplainCall(analysis.training->program, value, explanation.runs.back());
  }
  if (analysis.inference) {
    explanation.runs.push_back(ExplainIn(analysis, analysis.inference->trace,
                                         analysis.inference->timeline, value, false));
    if (analysis.inference->runtime) explanation.runs.push_back(ExplainPlan(analysis, value));
  }
  return explanation;
}

}  // namespace footprint
