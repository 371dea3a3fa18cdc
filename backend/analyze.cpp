#include "backend/analyze.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "backend/analysis.h"
#include "backend/bind.h"
#include "backend/build_report.h"
#include "backend/gate.h"
#include "backend/runtime/kv_cache.h"
#include "backend/runtime/onnxruntime.h"
#include "backend/sizes.h"
#include "backend/sweep.h"
#include "backend/sweep_gates.h"
#include "backend/terminal.h"
#include "backend/translate.h"
#include "frontend/read_graph.h"
#include "ir/ops/lowering/habits.h"
#include "ir/suggest.h"
#include "passes/foldable.h"
#include "passes/infer_print.h"
#include "passes/infer_shapes.h"
#include "passes/liveness.h"
#include "passes/lower.h"
#include "passes/replay.h"
#include "passes/replay_print.h"
#include "passes/roles.h"
#include "passes/timeline.h"

namespace footprint {
namespace {

// What the totals leave out or guess.
void TellIncomplete(const Analysis& analysis, DiagnosticSink& sink) {
  const auto tell = [&](int64_t count, const char* what) {
    if (count > 0) sink.Warning("incomplete", "", absl::StrCat(what, ": ", count));
  };
  if (analysis.training) {
    tell(static_cast<int64_t>(analysis.training->program.generic_nodes.size()),
         "operators without a PyTorch counterpart, of which what they keep is a guess");
    tell(analysis.training->timeline.unknown_storages,
         "storages of the training step without a known size");
  }
  if (analysis.inference) {
    tell(analysis.inference->timeline.unknown_storages,
         "storages of inference without a known size");
  }
}

// Whose size only the library knows.
void TellReserveSpace(const TorchProgram& program, DiagnosticSink& sink) {
  const auto calls = std::count_if(program.calls.begin(), program.calls.end(),
                                   [](const TorchCall& call) { return HasReserveSpace(*call.op); });
  if (calls == 0) return;
  sink.Warning("incomplete", "",
               absl::StrCat("the reserve space of recurrent layers, in which cuDNN keeps their "
                            "gates for backward, is not in the numbers: calls: ",
                            calls));
}

// A node of ONNX's own domain that no version of ONNX knows.
void TellUnknownOperators(const Graph& graph, const InferredTypes& inferred, DiagnosticSink& sink) {
  for (const NodeId id : inferred.unknown_nodes) {
    const Node& node = graph.nodes[id];
    if (!node.domain.empty() || node.op != nullptr) continue;
    sink.Warning("unknown-operator", Describe(graph, id),
                 absl::StrCat("ONNX has no operator of this name in opset ", node.version,
                              "; what it gives is as declared, or unknown"));
  }
}

// Names that are bound and of which no size speaks.
void TellIdleNames(const Graph& graph, const InferredTypes& inferred, const DimBindings& bindings,
                   DiagnosticSink& sink) {
  if (bindings.empty()) return;
  absl::flat_hash_set<Dim> sizes;
  for (const ValueType& type : inferred.types) {
    sizes.insert(type.tensor.dims.begin(), type.tensor.dims.end());
  }
  absl::flat_hash_set<std::string> used;
  for (const Dim size : sizes) {
    for (std::string& name : graph.dims->SymbolsIn(size)) used.insert(std::move(name));
  }
  for (const auto& [name, value] : bindings) {
    if (used.contains(name)) continue;
    sink.Note("idle-option", absl::StrCat("--dim ", name),
              "no effect: the file declares the name, but no size follows from it");
  }
}

// Options that were given for nothing.
void TellIdle(const Options& options, const Roles& roles, bool has_cache, DiagnosticSink& sink) {
  if (options.mode == Mode::kBoth && options.precision != Precision::kFp32) {
    sink.Note("idle-option", "--precision", "is of training: inference runs the model as stored");
  }
  for (const std::string& option : options.idle) {
    if (has_cache && absl::StartsWith(option, "--device")) continue;  // how long may it grow?
    sink.Note("idle-option", option, "no effect: it is about training, which is not analyzed");
  }
  const bool trains = std::find(roles.trainable.begin(), roles.trainable.end(), true) !=
                      roles.trainable.end();
  if (!options.freeze.empty() && options.mode != Mode::kInference && !trains) {
    sink.Note("nothing-trains", "--freeze",
              "no parameter is trained: a step makes no gradients and no optimizer state");
  }
}

// Under --strict, what doubts the result is an error.
std::vector<Diagnostic> Judge(DiagnosticSink& sink, bool strict) {
  std::vector<Diagnostic> diagnostics = sink.Take();
  for (Diagnostic& diagnostic : diagnostics) {
    if (strict && diagnostic.severity == Severity::kWarning) diagnostic.severity = Severity::kError;
  }
  return diagnostics;
}

bool HasErrors(const std::vector<Diagnostic>& diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.severity == Severity::kError) return true;
  }
  return false;
}

bool HasErrorAt(const DiagnosticSink& sink, const std::string& place) {
  for (const Diagnostic& diagnostic : sink.all()) {
    if (diagnostic.severity == Severity::kError && diagnostic.place == place) return true;
  }
  return false;
}

// Errors that are not there without the shapes and values given for inputs are their fault.
InferredTypes InferBound(const LoadedModel& model, const InferOptions& given,
                         DiagnosticSink& sink) {
  DiagnosticSink found;
  InferredTypes inferred = InferShapes(model.graph, given, model.fallback.get(), found);
  const bool plain = given.input_types.empty() && given.input_values.empty();
  DiagnosticSink without;
  if (found.has_errors() && !plain) {
    (void)InferShapes(model.graph, {}, model.fallback.get(), without);
  }
  for (Diagnostic& diagnostic : found.Take()) {
    const bool is_error = diagnostic.severity == Severity::kError;
    if (is_error && !plain && !HasErrorAt(without, diagnostic.place)) {
      diagnostic.blame = Blame::kUsage;
    }
    sink.Add(std::move(diagnostic));
  }
  return inferred;
}

std::optional<LoadedModel> Load(const Options& options, DiagnosticSink& sink) {
  if (!options.model_bytes) return ReadGraph(options.model_path, sink);
  const absl::string_view bytes(options.model_bytes->data(), options.model_bytes->size());
  return ReadGraph(bytes, options.model_path, sink);
}

// The device that was named, if any.
std::optional<Device> ResolveDevice(const Options& options, DiagnosticSink& sink) {
  const std::variant<DeviceTable, DeviceError> loaded = LoadDevices(options.device_file);
  if (const auto* error = std::get_if<DeviceError>(&loaded)) {
    sink.UsageError(error->unreadable ? "file-access" : "bad-value",
                    absl::StrCat("--device-file ", options.device_file), error->message);
    return std::nullopt;
  }
  if (options.device.empty()) return std::nullopt;
  const Device* device = std::get<DeviceTable>(loaded).Find(options.device);
  if (device != nullptr) return *device;
  sink.UsageError("bad-value", absl::StrCat("--device ", options.device),
                  "no such device is known");
  return std::nullopt;
}

void AnalyzeInference(Analysis& analysis, DiagnosticSink& sink) {
  InferenceAnalysis& inference = analysis.inference.emplace();
  inference.trace = ComputeLiveness(analysis.graph(), analysis.inferred, analysis.roles,
                                    analysis.evaluator);
  inference.timeline = ComputeTimeline(inference.trace, analysis.evaluator, /*granularity=*/1);
  CheckSizes(analysis, inference.trace, inference.timeline, sink);
  if (analysis.options.runtime == Runtime::kIdeal) return;
  DiagnosticSink repeated;  // what the first inference said already
  InferOptions limited;
  const bool optimize = analysis.options.graph_optimization == GraphOptimization::kAll;
  limited.limits = &OnnxRuntimeLimits(optimize);
  const InferredTypes visible =
      InferShapes(analysis.graph(), limited, analysis.model.fallback.get(), repeated);
  inference.runtime = PlanOnnxRuntime(analysis.graph(), analysis.inferred, visible,
                                      analysis.evaluator, optimize);
}

void AnalyzeTraining(Analysis& analysis, DiagnosticSink& sink) {
  TrainingAnalysis& training = analysis.training.emplace();
  training.program = Lower(analysis.graph(), analysis.inferred, analysis.roles,
                           analysis.model.provenance, ToLowerOptions(analysis.options), sink);
  training.loss = DescribeLoss(training.program, analysis.options);
  TellReserveSpace(training.program, sink);
  ReplayOptions replay = ToReplayOptions(analysis.options, sink);
  replay.checkpoints =
      FindCheckpoints(analysis.options.checkpoint, analysis.graph(), training.program, sink);
  for (const CheckpointSegment& segment : replay.checkpoints) {
    training.checkpoints.push_back(segment.name);
  }
  TrainingReplay replayed =
      Replay(training.program, analysis.dims(), analysis.evaluator, replay);
  if (!replayed.recast.empty()) {
    sink.Note("assumed", "",
              absl::StrCat(replayed.recast.size(),
                           " x cast to the module's type in front of a product, which takes "
                           "operands of one type"));
  }
  training.replay = std::move(replay);
  training.trace = std::move(replayed.trace);
  training.in_place_additions = replayed.in_place_additions;
  training.timeline =
      ComputeTimeline(training.trace, analysis.evaluator, kAllocationGranularity);
  CheckSizes(analysis, training.trace, training.timeline, sink);
}

// The report of a sweep is of the first value that the model can run with.
void BindSweep(const LoadedModel& model, const InferredTypes& inferred, const Sweep& sweep,
               DimBindings& dims) {
  const DimBindings first = dims;
  for (const int64_t value : sweep.values) {
    for (auto& [name, bound] : dims) {
      if (name == sweep.name) bound = value;
    }
    DimEvaluator evaluator(*model.graph.dims, dims);
    DiagnosticSink found;
    CheckConstraints(model.graph, inferred, evaluator, found);
    if (!found.has_errors()) return;
  }
  dims = first;
}

SweepReport SweepOver(Analysis& analysis, const Sweep& sweep) {
  return EvaluateSweep(
      analysis, sweep,
      [&](DimEvaluator& evaluator) {
        const TrainingAnalysis& training = *analysis.training;
        return Replay(training.program, analysis.dims(), evaluator, training.replay).trace;
      },
      [&](DimEvaluator& evaluator) {
        return ComputeLiveness(analysis.graph(), analysis.inferred, analysis.roles, evaluator);
      });
}

std::string PrintStep(Analysis& analysis) {
  const std::string& step = analysis.options.dump;
  if (step == "import") return Print(analysis.graph());
  if (step == "infer") {
    return Print(analysis.graph(), analysis.inferred,
                 analysis.bindings.empty() ? nullptr : &analysis.evaluator);
  }
  if (step == "lower" && analysis.training.has_value()) {
    return Print(analysis.training->program, analysis.dims());
  }
  if (step == "replay" && analysis.training.has_value()) {
    return Print(analysis.training->trace, analysis.training->in_place_additions,
                 analysis.evaluator);
  }
  return "";
}

// Names from the file are safe to print, as in reports.
std::string Dump(Analysis& analysis) {
  std::string text;
  const std::string printed = PrintStep(analysis);
  for (const absl::string_view line : absl::StrSplit(printed, '\n')) {
    absl::StrAppend(&text, Printable({line.data(), line.size()}), "\n");
  }
  if (!text.empty()) text.pop_back();
  return text;
}

std::variant<Report, Failure> AnalyzeLoaded(const LoadedModel& model,
                                            const std::optional<Device>& device,
                                            const Options& options, DiagnosticSink& sink) {
  if (options.poll) options.poll();
  Bound bound = BindOptions(model.graph, options, sink);
  if (sink.has_errors()) return ToFailure(sink.Take());
  InferredTypes inferred = InferBound(model, bound.inference, sink);
  TellUnknownOperators(model.graph, inferred, sink);
  // Every value has a type, in the model's own names, or is listed as unknown.

  Roles roles = AssignRoles(model.graph, model.provenance, options.freeze, sink);
  TellIdle(options, roles, !FindKvCache(model.graph, inferred).empty(), sink);
  TellIdleNames(model.graph, inferred, bound.dims, sink);
  if (options.sweep) BindSweep(model, inferred, *options.sweep, bound.dims);
  DimEvaluator evaluator(*model.graph.dims, bound.dims);
  CheckConstraints(model.graph, inferred, evaluator, sink);
  if (sink.has_errors()) return ToFailure(sink.Take());
  // The model can run at these bindings.

  Analysis analysis{options,           model,            std::move(bound.dims),
                    std::move(inferred), std::move(roles), FindFoldable(model.graph),
                    std::move(evaluator), device,          std::nullopt,     std::nullopt};
  if (options.mode != Mode::kTraining) AnalyzeInference(analysis, sink);
  if (options.mode != Mode::kInference && !sink.has_errors()) AnalyzeTraining(analysis, sink);
  // Every storage has a size, a time in which it lives, and a reason.

  if (options.strict) TellIncomplete(analysis, sink);
  const std::vector<Diagnostic> diagnostics = Judge(sink, options.strict);
  if (HasErrors(diagnostics)) return ToFailure(diagnostics);
  Report report = BuildReport(analysis);
  report.gates = HoldBudgets(options.budgets, report, sink);
  if (sink.has_errors()) return ToFailure(sink.Take());
  report.diagnostics = ToReport(diagnostics);
  report.dump = Dump(analysis);
  if (options.sweep) {
    report.sweep = SweepOver(analysis, *options.sweep);
    const auto analyze = [&](const Options& at_value) {
      DiagnosticSink apart;
      return AnalyzeLoaded(model, device, at_value, apart);
    };
    HoldOverSweep(options, analysis.bindings, analyze, report.gates);
  }
  if (!options.explain.empty()) {
    report.explanation = BuildExplanation(analysis, report, options.explain);
    if (!report.explanation) {
      std::vector<std::string> names;
      for (const ReportTensor& tensor : report.tensors) names.push_back(tensor.name);
      sink.UsageError("unknown-tensor", options.explain,
                      "no input, initializer or node output of the top graph has this name" +
                          DidYouMean(options.explain, names));
      return ToFailure(sink.Take());
    }
  }
  return report;
}

}  // namespace

std::variant<Report, Failure> Analyze(const Options& options) {
  DiagnosticSink sink;
  const std::optional<Device> device = ResolveDevice(options, sink);
  if (sink.has_errors()) return ToFailure(sink.Take());
  const std::optional<LoadedModel> model = Load(options, sink);
  if (!model.has_value()) return ToFailure(sink.Take());
  // Every value has one definition, before its uses; weights are sizes.

  return AnalyzeLoaded(*model, device, options, sink);
}

}  // namespace footprint
