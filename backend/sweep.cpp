// A trace serves every binding that keeps its guards, so a value costs the evaluation of the sizes,
// not another replay. Where a guard breaks a new trace is made and kept: values between the breaks
// are a piece with one formula as long as the same storages are alive at the peak.
#include "backend/sweep.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/build_report.h"
#include "backend/sizes.h"
#include "passes/byte_total.h"
#include "passes/guards.h"
#include "passes/infer_shapes.h"
#include "passes/timeline.h"

namespace footprint {
namespace {

class Traces {
 public:
  Traces(const MemoryTrace& first, const MakeTrace& make) : first_(first), make_(make) {}

  const MemoryTrace& At(DimEvaluator& evaluator) {
    if (GuardsHold(first_.guards, evaluator)) return first_;
    for (const MemoryTrace& trace : more_) {
      if (GuardsHold(trace.guards, evaluator)) return trace;
    }
    more_.push_back(make_(evaluator));
    return more_.back();
  }

 private:
  const MemoryTrace& first_;
  const MakeTrace& make_;
  std::deque<MemoryTrace> more_;
};

// Where a peak is: in which trace, at which tick.
struct Place {
  const MemoryTrace* trace = nullptr;
  int64_t tick = -1;
  bool operator==(const Place&) const = default;
};

struct PeakAt {
  Place place;
  Bytes bytes;
};

PeakAt Peak(const MemoryTrace& trace, const Timeline& timeline) {
  PeakAt peak;
  if (timeline.overflow || timeline.live_bytes.empty()) return peak;
  const int64_t tick = timeline.PeakTick(0, trace.end_tick);
  peak.place = {&trace, tick};
  peak.bytes = timeline.live_bytes[static_cast<size_t>(tick)];
  return peak;
}

class Sweeper {
 public:
  Sweeper(const Analysis& analysis, const Sweep& sweep, const MakeTrace& replay,
          const MakeTrace& liveness)
      : analysis_(analysis), sweep_(sweep) {
    if (analysis.training) training_.emplace(analysis.training->trace, replay);
    if (analysis.inference) inference_.emplace(analysis.inference->trace, liveness);
  }

  SweepReport Run() {
    SweepReport report;
    report.name = sweep_.name;
    for (const int64_t value : sweep_.values) report.points.push_back(At(value, report.pieces));
    return report;
  }

 private:
  DimBindings BindingsWith(int64_t value) const {
    DimBindings bindings = analysis_.bindings;
    for (auto& [name, bound] : bindings) {
      if (name == sweep_.name) bound = value;
    }
    return bindings;
  }

  // No figure is known of a value with which the model cannot run.
  SweepPoint Failed(int64_t value, const DiagnosticSink& sink) {
    last_ = {};
    const Diagnostic& first = sink.all().front();
    SweepPoint point;
    point.value = value;
    point.error = first.place.empty() ? first.message : first.place + ": " + first.message;
    return point;
  }

  SweepPoint At(int64_t value, std::vector<SweepPiece>& pieces) {
    if (analysis_.options.poll) analysis_.options.poll();
    SweepPoint point;
    point.value = value;
    DimEvaluator evaluator(analysis_.dims(), BindingsWith(value));
    DiagnosticSink sink;
    CheckConstraints(analysis_.graph(), analysis_.inferred, evaluator, sink);
    if (sink.has_errors()) return Failed(value, sink);
    Place place;
    if (inference_) {
      const MemoryTrace& trace = inference_->At(evaluator);
      const Timeline timeline = ComputeTimeline(trace, evaluator, 1);
      CheckSizes(analysis_, trace, timeline, sink);
      if (sink.has_errors()) return Failed(value, sink);
      place = AddInference(trace, timeline, point);
    }
    if (training_) {
      const MemoryTrace& trace = training_->At(evaluator);
      const Timeline timeline = ComputeTimeline(trace, evaluator, kAllocationGranularity);
      CheckSizes(analysis_, trace, timeline, sink);
      if (sink.has_errors()) return Failed(value, sink);
      const PeakAt peak = Peak(trace, timeline);
      if (timeline.unknown_storages == 0) point.training_peak_bytes = peak.bytes;
      ByteTotal saved(evaluator);
      for (const StorageId id : trace.saved) saved.Add(trace.storages[id].bytes);
      point.saved_bytes = saved.bytes();
      place = peak.place;
    }
    AddToPieces(value, place, pieces);
    return point;
  }

  static Place AddInference(const MemoryTrace& trace, const Timeline& timeline,
                            SweepPoint& point) {
    const PeakAt peak = Peak(trace, timeline);
    if (!peak.bytes || timeline.unknown_storages > 0) return peak.place;
    point.inference_peak_bytes = peak.bytes;
    int64_t activations = *peak.bytes;
    for (const StorageId id : LiveAt(trace, timeline, peak.place.tick)) {
      if (!IsActivation(trace.storages[id])) activations -= timeline.bytes[id].value_or(0);
    }
    point.activation_peak_bytes = activations;
    return peak.place;
  }

  void AddToPieces(int64_t value, const Place& place, std::vector<SweepPiece>& pieces) {
    if (place.trace == nullptr) {
      last_ = {};
    } else if (place == last_) {
      pieces.back().last = value;
    } else {
      const bool continues = last_.trace != nullptr;
      last_ = place;
      std::vector<Dim> sizes;
      for (const StorageRecord& storage : place.trace->storages) {
        const bool alive = storage.first_tick <= place.tick && place.tick < storage.end_tick;
        if (alive && !storage.bytes.is_unknown()) sizes.push_back(storage.bytes);
      }
      const std::string sum = analysis_.dims().ToString(analysis_.dims().Sum(sizes));
      if (continues && pieces.back().expression == sum) {
        pieces.back().last = value;
      } else {
        pieces.push_back({value, value, sum});
      }
    }
  }

  const Analysis& analysis_;
  const Sweep& sweep_;
  std::optional<Traces> training_;
  std::optional<Traces> inference_;
  Place last_;
};

}  // namespace

SweepReport EvaluateSweep(const Analysis& analysis, const Sweep& sweep, const MakeTrace& replay,
                          const MakeTrace& liveness) {
  return Sweeper(analysis, sweep, replay, liveness).Run();
}

}  // namespace footprint
