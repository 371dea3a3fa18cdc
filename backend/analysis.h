// Analysis: the finished tables of all passes, from which the report is built.
#ifndef FOOTPRINT_BACKEND_ANALYSIS_H_
#define FOOTPRINT_BACKEND_ANALYSIS_H_

#include <optional>
#include <string>
#include <vector>

#include "backend/devices.h"
#include "backend/options.h"
#include "backend/runtime/onnxruntime.h"
#include "frontend/read_graph.h"
#include "ir/dim.h"
#include "ir/torch_program.h"
#include "passes/infer_shapes.h"
#include "passes/memory_trace.h"
#include "passes/replay.h"
#include "passes/roles.h"
#include "passes/timeline.h"

namespace footprint {

struct TrainingAnalysis {
  TorchProgram program;
  MemoryTrace trace;
  int64_t in_place_additions = 0;  // of gradients, as in TrainingReplay
  Timeline timeline;
  ReplayOptions replay;
  std::string loss;  // in the user's words
  std::vector<std::string> checkpoints;  // the layers of each checkpointed segment
};

struct InferenceAnalysis {
  MemoryTrace trace;  // on an ideal runtime
  Timeline timeline;
  std::optional<RuntimePlan> runtime;  // if asked for
};

struct Analysis {
  const Options& options;
  const LoadedModel& model;
  DimBindings bindings;  // as given
  InferredTypes inferred;
  Roles roles;
  IdVector<ValueId, bool> foldable;  // depends on stored constants alone
  DimEvaluator evaluator;
  std::optional<Device> device;  // that was named
  std::optional<TrainingAnalysis> training;
  std::optional<InferenceAnalysis> inference;

  const Graph& graph() const { return model.graph; }
  DimTable& dims() const { return *model.graph.dims; }
  // The trace whose storages the report lists: training's if there is one.
  const MemoryTrace& primary_trace() const {
    return training.has_value() ? training->trace : inference->trace;
  }
  const Timeline& primary_timeline() const {
    return training.has_value() ? training->timeline : inference->timeline;
  }
};

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_ANALYSIS_H_
