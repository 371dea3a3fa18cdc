#include "backend/build_report.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backend/names.h"
#include "backend/units.h"
#include "passes/byte_total.h"

namespace footprint {
namespace {

void CountOperators(const Graph& graph, Report& report) {
  std::map<std::string, OperatorCount> counts;
  for (const Node& node : graph.nodes) {
    std::string name =
        node.domain.empty() ? node.op_type : absl::StrCat(node.domain, "::", node.op_type);
    OperatorCount& count = counts[name];
    count.op_type = std::move(name);
    ++count.count;
    count.has_row &= node.op != nullptr;
  }
  for (auto& [name, count] : counts) report.operators.push_back(std::move(count));
}

struct ParameterTotals {
  int64_t count = 0;
  int64_t trainable_count = 0;
  int64_t bytes = 0;
};

void AddParameter(Analysis& analysis, ValueId value, const TensorType& type, bool trainable,
                  ParameterTotals* totals) {
  if (value.valid() && analysis.roles.is_repeated[value]) return;
  const int64_t elements =
      analysis.evaluator.Evaluate(ElementCount(type, analysis.dims())).value_or(0);
  const int64_t weights = analysis.roles.WeightCount(value, elements);
  totals->count += weights;
  totals->trainable_count += trainable ? weights : 0;
  totals->bytes += BytesOf(type.element, elements).value_or(0);
}

// Of the module as a training step is acted out: some may have lost their initializer.
ParameterTotals ParametersOfModule(Analysis& analysis) {
  ParameterTotals totals;
  for (const TorchValue& value : analysis.training->program.values) {
    if (value.kind != TorchValueKind::kParameter) continue;
    AddParameter(analysis, value.onnx_value, value.type, value.trainable, &totals);
  }
  return totals;
}

ParameterTotals ParametersOfFile(Analysis& analysis) {
  ParameterTotals totals;
  for (size_t i = 0; i < analysis.graph().values.size(); ++i) {
    const ValueId id(i);
    const ValueType& type = analysis.inferred.types[id];
    if (!analysis.roles.IsParameter(id) || type.kind == TypeKind::kUnknown) continue;
    AddParameter(analysis, id, type.tensor, analysis.roles.trainable[id], &totals);
  }
  return totals;
}

void AddUpTo64Bits(int64_t* sum, int64_t bytes) {
  if (__builtin_add_overflow(*sum, bytes, sum)) *sum = std::numeric_limits<int64_t>::max();
}

// Each stored constant once, those that nobody reads included.
void FillStored(const Analysis& analysis, StoredReport& stored) {
  const Graph& graph = analysis.graph();
  IdVector<ConstantId, bool> unread(graph.constants.size(), false);
  for (size_t i = 0; i < graph.values.size(); ++i) {
    const ConstantId constant = graph.values[ValueId(i)].constant;
    if (constant.valid()) unread[constant] = analysis.roles.of[ValueId(i)] == Role::kUnused;
  }
  for (size_t i = 0; i < graph.constants.size(); ++i) {
    const Constant& constant = graph.constants[ConstantId(i)];
    AddUpTo64Bits(&stored.bytes, constant.stored_bytes);
    if (!unread[ConstantId(i)]) AddUpTo64Bits(&stored.referenced_bytes, constant.stored_bytes);
    if (constant.type.element == ElementType::kString) {
      AddUpTo64Bits(&stored.string_payload_bytes, constant.stored_bytes);
    } else if (constant.is_sparse) {
      AddUpTo64Bits(&stored.sparse_bytes, constant.stored_bytes);
      AddUpTo64Bits(&stored.sparse_as_dense_bytes, DenseBytes(analysis, constant).value_or(0));
    }
  }
}

void FillParameters(Analysis& analysis, Report& report) {
  const ParameterTotals file = ParametersOfFile(analysis);
  const ParameterTotals totals =
      analysis.training.has_value() ? ParametersOfModule(analysis) : file;
  report.parameter_count = totals.count;
  report.trainable_parameter_count = totals.trainable_count;
  report.parameter_bytes = totals.bytes;
  report.file_parameter_count = file.count;
  report.file_parameter_bytes = file.bytes;
  for (const auto& [name, element] :
       {std::pair{"fp32", ElementType::kFloat}, std::pair{"fp16/bf16", ElementType::kBfloat16},
        std::pair{"int8", ElementType::kInt8}, std::pair{"int4", ElementType::kInt4}}) {
    report.widths.push_back({name, BytesOf(element, totals.count).value_or(0)});
  }
  FillStored(analysis, report.stored);
  const IdVector<ValueId, Value>& values = analysis.graph().values;
  for (size_t i = 0; i < values.size(); ++i) {
    const ValueId id(i);
    if (values[id].kind != ValueKind::kConstant || analysis.roles.is_repeated[id]) continue;
    const int64_t bytes = analysis.graph().constants[values[id].constant].stored_bytes;
    if (analysis.roles.of[id] == Role::kBuffer) report.buffer_bytes += bytes;
    if (analysis.roles.of[id] == Role::kConstant) report.constant_bytes += bytes;
  }
}

void FillHeader(const Analysis& analysis, Report& report) {
  const Graph& graph = analysis.graph();
  report.model_path = analysis.options.model_path;
  report.model_name = graph.name;
  report.producer = graph.producer_version.empty()
                        ? graph.producer_name
                        : absl::StrCat(graph.producer_name, " ", graph.producer_version);
  for (const OpsetImport& opset : graph.opsets) {
    report.opsets.emplace_back(opset.domain.empty() ? "ai.onnx" : opset.domain, opset.version);
  }
  report.node_count = static_cast<int64_t>(graph.nodes.size());
  CountOperators(graph, report);
}

void FillTimelines(const Analysis& analysis, Report& report) {
  if (analysis.training) {
    report.timelines.push_back(BuildTimeline(analysis.graph(), analysis.training->trace,
                                             analysis.training->timeline, kAllocationGranularity,
                                             "training"));
  }
  if (analysis.inference) {
    report.timelines.push_back(BuildTimeline(analysis.graph(), analysis.inference->trace,
                                             analysis.inference->timeline, 1, "inference"));
  }
}

std::string JoinedShape(const InputShape& input) {
  return absl::StrCat(input.name, "=[", absl::StrJoin(input.dims, ","), "]");
}

void FillSettings(const Options& options, Report& report) {
  std::vector<std::string> inputs;
  for (const InputShape& input : options.input_shapes) inputs.push_back(JoinedShape(input));
  for (const InputValue& input : options.input_values) {
    inputs.push_back(absl::StrCat(input.name, " by value"));
  }
  report.settings = {
      {"mode", NameOf(options.mode, kModes)},
      {"optimizer", options.optimizer},
      {"precision", NameOf(options.precision, kPrecisions)},
      {"grad-scaler", NameOf(options.grad_scaler, kGradScalers)},
      {"loss", NameOf(options.loss, kLosses)},
      {"attention", NameOf(options.attention, kAttentionKernels)},
      {"modules", NameOf(options.modules, kModules)},
      {"runtime", NameOf(options.runtime, kRuntimes)},
      {"graph-optimization", NameOf(options.graph_optimization, kGraphOptimizations)},
      {"accounting", NameOf(options.accounting, kAccountings)},
      {"freeze", Joined(options.freeze)},
      {"checkpoint", options.checkpoint},
      {"accumulate", absl::StrCat(options.accumulate)},
      {"step-inputs", options.drop_step_inputs ? "dropped" : "kept"},
      {"allocator", options.expandable_segments ? "expandable" : "native"},
      {"inputs", Joined(inputs)},
  };
}

// After everything was evaluated, so that every name that was used is known.
void FillBindings(const Analysis& analysis, Report& report) {
  for (const auto& [name, value] : analysis.bindings)
    report.bindings.push_back({name, value, false});
  for (const std::string& name : analysis.evaluator.assumed()) {
    report.bindings.push_back({name, 1, true});
  }
}

}  // namespace

std::string StorageName(const char* prefix, StorageId id) {
  return absl::StrCat(prefix, id.index());
}

Bytes DenseBytes(const Analysis& analysis, const Constant& constant) {
  const Dim bytes = ByteCount(constant.type, analysis.dims());
  return bytes.is_constant() ? Bytes(bytes.value()) : std::nullopt;
}

bool IsFoldable(const Analysis& analysis, const StorageRecord& storage) {
  return storage.category == Category::kTransient && storage.value.valid() &&
         analysis.foldable[storage.value];
}

std::string ReasonOf(const Analysis& analysis, const StorageRecord& storage) {
  return IsFoldable(analysis, storage) ? "constant-foldable; " + storage.reason : storage.reason;
}

std::vector<ReportDiagnostic> ToReport(const std::vector<Diagnostic>& diagnostics) {
  std::vector<ReportDiagnostic> result;
  for (const Diagnostic& diagnostic : diagnostics) {
    const char* severity = diagnostic.severity == Severity::kError     ? "error"
                           : diagnostic.severity == Severity::kWarning ? "warning"
                                                                       : "note";
    result.push_back({severity, diagnostic.kind, diagnostic.place, diagnostic.message});
  }
  return result;
}

Failure ToFailure(const std::vector<Diagnostic>& diagnostics) {
  Failure failure;
  failure.exit_code = 3;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.severity == Severity::kError && diagnostic.blame == Blame::kModel) {
      failure.exit_code = 2;
    }
  }
  failure.diagnostics = ToReport(diagnostics);
  return failure;
}

Peak BuildPeak(Analysis& analysis, const MemoryTrace& trace, const Timeline& timeline, int64_t tick,
               const char* id_prefix, int64_t granularity) {
  const Graph& graph = analysis.graph();
  Peak peak;
  if (timeline.live_bytes.empty() || timeline.overflow) return peak;
  ByteTotal total(analysis.evaluator, granularity);
  peak.live_bytes = timeline.live_bytes[static_cast<size_t>(tick)];
  const int64_t step_index = StepAt(trace, tick);
  if (step_index >= 0) {
    const Step& step = trace.steps[static_cast<size_t>(step_index)];
    peak.step = step.name;
    if (step.node.valid()) peak.node = graph.nodes[step.node].name;
    if (step.scope.valid()) peak.layer = graph.scopes[step.scope].path;
  }
  for (StorageId id : LiveAt(trace, timeline, tick)) {
    const StorageRecord& storage = trace.storages[id];
    total.Add(storage.bytes);
    LiveStorage live;
    live.name = storage.name;
    live.bytes = timeline.bytes[id];
    live.category = CategoryName(storage.category);
    if (storage.scope.valid()) live.layer = graph.scopes[storage.scope].path;
    live.reason = ReasonOf(analysis, storage);
    live.storage = StorageName(id_prefix, id);
    peak.live.push_back(std::move(live));
  }
  peak.is_bounded = total.is_bounded();
  return peak;
}

Report BuildReport(Analysis& analysis) {
  Report report;
  FillHeader(analysis, report);
  FillSettings(analysis.options, report);
  FillParameters(analysis, report);
  if (analysis.training.has_value()) report.training = BuildTraining(analysis);
  const bool has_device = !analysis.options.device.empty() || analysis.options.device_memory;
  if (has_device && report.training) report.device = BuildDevice(analysis, *report.training);
  if (analysis.inference.has_value()) report.inference = BuildInference(analysis);
  if (analysis.options.accounting == Accounting::kTextbook) {
    report.textbook = BuildTextbook(analysis, report);
  }
  if (analysis.options.accounting == Accounting::kGraph && analysis.training.has_value()) {
    report.gradient_needs = BuildGradientNeeds(analysis);
  }
  report.layers = BuildLayers(analysis);
  if (analysis.options.timeline) FillTimelines(analysis, report);
  BuildTables(analysis, report);
  FillBindings(analysis, report);
  return report;
}

}  // namespace footprint
