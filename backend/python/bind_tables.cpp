#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "backend/figures.h"
#include "backend/python/bindings.h"
#include "backend/python/text.h"
#include "backend/report.h"

namespace footprint {
namespace {

namespace nb = nanobind;

void BindDiagnostic(nb::module_& module) {
  Record<ReportDiagnostic>(module, "ReportDiagnostic")
      .Field("severity", &ReportDiagnostic::severity)
      .Field("kind", &ReportDiagnostic::kind)
      .Field("place", &ReportDiagnostic::place)
      .Field("message", &ReportDiagnostic::message)
      .Done();
}

void BindCategoryBytes(nb::module_& module) {
  Record<CategoryBytes> record(module, "CategoryBytes");
  for (const CategoryField& field : kCategoryFields) record.Field(field.name, field.bytes);
  record.Done();
}

void BindTensor(nb::module_& module) {
  Record<ReportTensor>(module, "ReportTensor")
      .Field("name", &ReportTensor::name)
      .Field("dtype", &ReportTensor::dtype)
      .Field("has_shape", &ReportTensor::has_shape)
      .Field("shape", &ReportTensor::shape)
      .Field("shape_expression", &ReportTensor::shape_expression)
      .Field("bytes", &ReportTensor::bytes)
      .Field("bytes_expression", &ReportTensor::bytes_expression)
      .Field("category", &ReportTensor::category)
      .Field("layer", &ReportTensor::layer)
      .Field("producer", &ReportTensor::producer)
      .Field("saved_by", &ReportTensor::saved_by)
      .Field("first_step", &ReportTensor::first_step)
      .Field("last_step", &ReportTensor::last_step)
      .Field("storage", &ReportTensor::storage)
      .Field("certainty", &ReportTensor::certainty)
      .Field("stored_in", &ReportTensor::stored_in)
      .Field("stored_as", &ReportTensor::stored_as)
      .Field("stored_bytes", &ReportTensor::stored_bytes)
      .Field("dense_bytes", &ReportTensor::dense_bytes)
      .Field("constant_foldable", &ReportTensor::constant_foldable)
      .Done();
}

void BindStorage(nb::module_& module) {
  Record<ReportStorage>(module, "ReportStorage")
      .Field("id", &ReportStorage::id)
      .Field("name", &ReportStorage::name)
      .Field("bytes", &ReportStorage::bytes)
      .Field("category", &ReportStorage::category)
      .Field("layer", &ReportStorage::layer)
      .Field("first_step", &ReportStorage::first_step)
      .Field("last_step", &ReportStorage::last_step)
      .Field("reason", &ReportStorage::reason)
      .Field("certainty", &ReportStorage::certainty)
      .Done();
}

void BindLayer(nb::module_& module) {
  Record<ReportLayer>(module, "ReportLayer")
      .Field("path", &ReportLayer::path)
      .Field("class_name", &ReportLayer::class_name)
      .Field("depth", &ReportLayer::depth)
      .Field("parameter_count", &ReportLayer::parameter_count)
      .Field("own", &ReportLayer::own)
      .Field("total", &ReportLayer::total)
      .Done();
}

void BindTimeline(nb::module_& module) {
  Record<TimelineStep>(module, "TimelineStep")
      .Field("phase", &TimelineStep::phase)
      .Field("name", &TimelineStep::name)
      .Field("node", &TimelineStep::node)
      .Field("layer", &TimelineStep::layer)
      .Field("live_bytes", &TimelineStep::live_bytes)
      .Field("bytes", &TimelineStep::bytes)
      .Done();
  Record<ReportTimeline>(module, "ReportTimeline")
      .Field("run", &ReportTimeline::run)
      .Field("steps", &ReportTimeline::steps)
      .Done();
}

void BindSmallTables(nb::module_& module) {
  Record<Binding>(module, "Binding")
      .Field("name", &Binding::name)
      .Field("value", &Binding::value)
      .Field("assumed", &Binding::assumed)
      .Done();
  Record<OperatorCount>(module, "OperatorCount")
      .Field("op_type", &OperatorCount::op_type)
      .Field("count", &OperatorCount::count)
      .Field("has_row", &OperatorCount::has_row)
      .Done();
  Record<UnknownValue>(module, "UnknownValue")
      .Field("name", &UnknownValue::name)
      .Field("producer", &UnknownValue::producer)
      .Field("why", &UnknownValue::why)
      .Done();
  Record<WidthBytes>(module, "WidthBytes")
      .Field("name", &WidthBytes::name)
      .Field("bytes", &WidthBytes::bytes)
      .Done();
  Record<StoredReport>(module, "StoredReport")
      .Field("bytes", &StoredReport::bytes)
      .Field("referenced_bytes", &StoredReport::referenced_bytes)
      .Field("sparse_bytes", &StoredReport::sparse_bytes)
      .Field("sparse_as_dense_bytes", &StoredReport::sparse_as_dense_bytes)
      .Field("string_payload_bytes", &StoredReport::string_payload_bytes)
      .Done();
}

}  // namespace

void BindTables(nb::module_& module) {
  BindDiagnostic(module);
  BindCategoryBytes(module);
  BindTensor(module);
  BindStorage(module);
  BindLayer(module);
  BindTimeline(module);
  BindSmallTables(module);
}

}  // namespace footprint
