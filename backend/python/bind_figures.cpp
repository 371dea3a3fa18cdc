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

void BindRuntimes(nb::module_& module) {
  Record<PlannedTensor>(module, "PlannedTensor")
      .Field("name", &PlannedTensor::name)
      .Field("bytes", &PlannedTensor::bytes)
      .Field("placement", &PlannedTensor::placement)
      .Done();
  Record<RuntimeBuffer>(module, "RuntimeBuffer")
      .Field("id", &RuntimeBuffer::id)
      .Field("bytes", &RuntimeBuffer::bytes)
      .Field("first_step", &RuntimeBuffer::first_step)
      .Field("last_step", &RuntimeBuffer::last_step)
      .Field("at_peak", &RuntimeBuffer::at_peak)
      .Field("tensors", &RuntimeBuffer::tensors)
      .Done();
  Record<RuntimeGap>(module, "RuntimeGap")
      .Field("bytes", &RuntimeGap::bytes)
      .Field("buffer", &RuntimeGap::buffer)
      .Field("held_for", &RuntimeGap::held_for)
      .Field("reason", &RuntimeGap::reason)
      .Done();
  Record<RuntimeReport>(module, "RuntimeReport")
      .Field("name", &RuntimeReport::name)
      .Field("optimization", &RuntimeReport::optimization)
      .Field("activation_peak_bytes", &RuntimeReport::activation_peak_bytes)
      .Field("scratch_bytes", &RuntimeReport::scratch_bytes)
      .Field("unknown_buffers", &RuntimeReport::unknown_buffers)
      .Field("peak_step", &RuntimeReport::peak_step)
      .Field("folded_constant_bytes", &RuntimeReport::folded_constant_bytes)
      .Field("dequantized_weight_bytes", &RuntimeReport::dequantized_weight_bytes)
      .Field("pattern_block_bytes", &RuntimeReport::pattern_block_bytes)
      .Field("pattern_peak_bytes", &RuntimeReport::pattern_peak_bytes)
      .Field("arena_power_of_two_bytes", &RuntimeReport::arena_power_of_two_bytes)
      .Field("arena_as_requested_bytes", &RuntimeReport::arena_as_requested_bytes)
      .Field("weight_bytes", &RuntimeReport::weight_bytes)
      .Field("prepacked_weight_bytes", &RuntimeReport::prepacked_weight_bytes)
      .Field("released_weight_bytes", &RuntimeReport::released_weight_bytes)
      .Field("prepacked_for", &RuntimeReport::prepacked_for)
      .Field("rewrites", &RuntimeReport::rewrites)
      .Field("gaps", &RuntimeReport::gaps)
      .Field("buffers", &RuntimeReport::buffers)
      .Done();
  Record<KvCacheReport>(module, "KvCacheReport")
      .Field("tensors", &KvCacheReport::tensors)
      .Field("past_bytes", &KvCacheReport::past_bytes)
      .Field("present_bytes", &KvCacheReport::present_bytes)
      .Field("shared", &KvCacheReport::shared)
      .Field("assumed", &KvCacheReport::assumed)
      .Field("bytes_per_token", &KvCacheReport::bytes_per_token)
      .Field("bytes_per_token_expression", &KvCacheReport::bytes_per_token_expression)
      .Field("full_at_length", &KvCacheReport::full_at_length)
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
      .Field("runtimes", &InferenceReport::runtimes)
      .Field("kv_cache", &InferenceReport::kv_cache)
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
  BindRuntimes(module);
  BindRuns(module);
  BindGates(module);
  BindQuestions(module);
  BindAccountings(module);
}

}  // namespace footprint
