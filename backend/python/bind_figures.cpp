#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "backend/python/bindings.h"
#include "backend/python/text.h"
#include "backend/report.h"

namespace footprint {
namespace {

namespace nb = nanobind;

void BindPeaks(nb::module_& module) {
  Record<LiveStorage>(module, "LiveStorage")
      .Field("name", &LiveStorage::name)
      .Field("bytes", &LiveStorage::bytes)
      .Field("category", &LiveStorage::category)
      .Field("layer", &LiveStorage::layer)
      .Field("reason", &LiveStorage::reason)
      .Field("storage", &LiveStorage::storage)
      .Done();
  Record<Peak>(module, "Peak")
      .Field("live_bytes", &Peak::live_bytes)
      .Field("is_bounded", &Peak::is_bounded)
      .Field("allocated_bytes", &Peak::allocated_bytes)
      .Field("reserved_bytes", &Peak::reserved_bytes)
      .Field("phase", &Peak::phase)
      .Field("step", &Peak::step)
      .Field("node", &Peak::node)
      .Field("layer", &Peak::layer)
      .Field("live", &Peak::live)
      .Done();
  Record<PhaseReport>(module, "PhaseReport")
      .Field("name", &PhaseReport::name)
      .Field("peak_bytes", &PhaseReport::peak_bytes)
      .Done();
}

void BindRuns(nb::module_& module) {
  Record<TrainingReport>(module, "TrainingReport")
      .Field("optimizer", &TrainingReport::optimizer)
      .Field("precision", &TrainingReport::precision)
      .Field("scales_loss", &TrainingReport::scales_loss)
      .Field("loss", &TrainingReport::loss)
      .Field("accumulate", &TrainingReport::accumulate)
      .Field("checkpoints", &TrainingReport::checkpoints)
      .Field("complete", &TrainingReport::complete)
      .Field("generic_operators", &TrainingReport::generic_operators)
      .Field("unknown_storages", &TrainingReport::unknown_storages)
      .Field("parameter_bytes", &TrainingReport::parameter_bytes)
      .Field("buffer_bytes", &TrainingReport::buffer_bytes)
      .Field("gradient_bytes", &TrainingReport::gradient_bytes)
      .Field("optimizer_state_bytes", &TrainingReport::optimizer_state_bytes)
      .Field("unified_state_bytes", &TrainingReport::unified_state_bytes)
      .Field("input_bytes", &TrainingReport::input_bytes)
      .Field("saved_bytes", &TrainingReport::saved_bytes)
      .Field("saved_excluding_inputs_bytes", &TrainingReport::saved_excluding_inputs_bytes)
      .Field("saved_expression", &TrainingReport::saved_expression)
      .Field("after_forward_bytes", &TrainingReport::after_forward_bytes)
      .Field("phases", &TrainingReport::phases)
      .Field("peak", &TrainingReport::peak)
      .Done();
  Record<InferenceReport>(module, "InferenceReport")
      .Field("activation_peak_bytes", &InferenceReport::activation_peak_bytes)
      .Field("activation_peak_expression", &InferenceReport::activation_peak_expression)
      .Field("input_bytes", &InferenceReport::input_bytes)
      .Field("constant_foldable_bytes", &InferenceReport::constant_foldable_bytes)
      .Field("output_bytes", &InferenceReport::output_bytes)
      .Field("output_is_bounded", &InferenceReport::output_is_bounded)
      .Field("weight_bytes", &InferenceReport::weight_bytes)
      .Field("unknown_storages", &InferenceReport::unknown_storages)
      .Field("peak", &InferenceReport::peak)
      .Done();
}

void BindGates(nb::module_& module) {
  Record<GateViolation>(module, "GateViolation")
      .Field("place", &GateViolation::place)
      .Field("bytes", &GateViolation::bytes)
      .Field("why", &GateViolation::why)
      .Done();
  Record<GateReport>(module, "GateReport")
      .Field("name", &GateReport::name)
      .Field("limit_bytes", &GateReport::limit_bytes)
      .Field("actual_bytes", &GateReport::actual_bytes)
      .Field("passed", &GateReport::passed)
      .Field("violations", &GateReport::violations)
      .Done();
  Record<DeviceReport>(module, "DeviceReport")
      .Field("name", &DeviceReport::name)
      .Field("architecture", &DeviceReport::architecture)
      .Field("memory_bytes", &DeviceReport::memory_bytes)
      .Field("nominal", &DeviceReport::nominal)
      .Field("reserved_bytes", &DeviceReport::reserved_bytes)
      .Field("context_bytes", &DeviceReport::context_bytes)
      .Field("blas_workspace_bytes", &DeviceReport::blas_workspace_bytes)
      .Field("convolution_workspace_bytes", &DeviceReport::convolution_workspace_bytes)
      .Field("needed_bytes", &DeviceReport::needed_bytes)
      .Field("fits", &DeviceReport::fits)
      .Field("reasons", &DeviceReport::reasons)
      .Done();
}

void BindQuestions(nb::module_& module) {
  Record<SweepPoint>(module, "SweepPoint")
      .Field("value", &SweepPoint::value)
      .Field("error", &SweepPoint::error)
      .Field("saved_bytes", &SweepPoint::saved_bytes)
      .Field("training_peak_bytes", &SweepPoint::training_peak_bytes)
      .Field("inference_peak_bytes", &SweepPoint::inference_peak_bytes)
      .Field("activation_peak_bytes", &SweepPoint::activation_peak_bytes)
      .Done();
  Record<SweepPiece>(module, "SweepPiece")
      .Field("first", &SweepPiece::first)
      .Field("last", &SweepPiece::last)
      .Field("expression", &SweepPiece::expression)
      .Done();
  Record<SweepReport>(module, "SweepReport")
      .Field("name", &SweepReport::name)
      .Field("points", &SweepReport::points)
      .Field("pieces", &SweepReport::pieces)
      .Done();
  Record<FitChange>(module, "FitChange")
      .Field("change", &FitChange::change)
      .Field("needed_bytes", &FitChange::needed_bytes)
      .Field("fits", &FitChange::fits)
      .Done();
  Record<FitReport>(module, "FitReport")
      .Field("name", &FitReport::name)
      .Field("largest", &FitReport::largest)
      .Field("needed_bytes", &FitReport::needed_bytes)
      .Field("margin_bytes", &FitReport::margin_bytes)
      .Field("next_needed_bytes", &FitReport::next_needed_bytes)
      .Field("binds", &FitReport::binds)
      .Field("asked", &FitReport::asked)
      .Field("changes", &FitReport::changes)
      .Done();
}

void BindAccountings(nb::module_& module) {
  Record<TextbookLayer>(module, "TextbookLayer")
      .Field("name", &TextbookLayer::name)
      .Field("kind", &TextbookLayer::kind)
      .Field("kind_detail", &TextbookLayer::kind_detail)
      .Field("bytes", &TextbookLayer::bytes)
      .Done();
  Record<TextbookReport>(module, "TextbookReport")
      .Field("parameter_count", &TextbookReport::parameter_count)
      .Field("parameter_bytes", &TextbookReport::parameter_bytes)
      .Field("gradient_bytes", &TextbookReport::gradient_bytes)
      .Field("optimizer_state_bytes", &TextbookReport::optimizer_state_bytes)
      .Field("activation_bytes", &TextbookReport::activation_bytes)
      .Field("total_bytes", &TextbookReport::total_bytes)
      .Field("layers", &TextbookReport::layers)
      .Field("notes", &TextbookReport::notes)
      .Done();
  Record<SurplusStorage>(module, "SurplusStorage")
      .Field("name", &SurplusStorage::name)
      .Field("bytes", &SurplusStorage::bytes)
      .Field("category", &SurplusStorage::category)
      .Field("layer", &SurplusStorage::layer)
      .Field("reason", &SurplusStorage::reason)
      .Field("storage", &SurplusStorage::storage)
      .Done();
  Record<GradientNeeds>(module, "GradientNeeds")
      .Field("needed_bytes", &GradientNeeds::needed_bytes)
      .Field("needed_excluding_inputs_bytes", &GradientNeeds::needed_excluding_inputs_bytes)
      .Field("surplus_bytes", &GradientNeeds::surplus_bytes)
      .Field("instead_bytes", &GradientNeeds::instead_bytes)
      .Field("surplus", &GradientNeeds::surplus)
      .Done();
}

}  // namespace

void BindFigures(nb::module_& module) {
  BindPeaks(module);
  BindRuns(module);
  BindGates(module);
  BindQuestions(module);
  BindAccountings(module);
}

}  // namespace footprint
