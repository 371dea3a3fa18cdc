#include "backend/report_csv.h"

#include <string>

#include "backend/csv_writer.h"
#include "backend/figures.h"

namespace footprint {
namespace {

// "[32, 3, ?]"; empty where not even the rank is known.
std::string Shape(const ReportTensor& tensor) {
  if (!tensor.has_shape) return "";
  std::string text = "[";
  for (const Bytes& dim : tensor.shape) {
    if (text.size() > 1) text += ", ";
    text += dim ? std::to_string(*dim) : "?";
  }
  return text + "]";
}

}  // namespace

std::string TensorsCsv(const Report& report) {
  CsvWriter csv;
  csv.Row("name", "dtype", "shape", "shape_expression", "bytes",
          "bytes_expression", "category", "layer", "producer",
          "saved_by", "first_step", "last_step", "storage",
          "certainty");
  for (const ReportTensor& t : report.tensors) {
    csv.Row(t.name, t.dtype, Shape(t), t.shape_expression, t.bytes, t.bytes_expression, t.category,
            t.layer, t.producer, t.saved_by, t.first_step, t.last_step, t.storage, t.certainty);
  }
  return csv.Take();
}

std::string StoragesCsv(const Report& report) {
  CsvWriter csv;
  csv.Row("id", "name", "bytes", "category", "layer",
          "first_step", "last_step", "reason", "certainty");
  for (const ReportStorage& s : report.storages) {
    csv.Row(s.id, s.name, s.bytes, s.category, s.layer, s.first_step, s.last_step, s.reason,
            s.certainty);
  }
  return csv.Take();
}

std::string LayersCsv(const Report& report) {
  CsvWriter csv;
  for (const char* title : {"path", "class", "depth", "parameter_count"}) csv.Cell(title);
  for (const CategoryField& field : kCategoryFields) csv.Cell(field.name);
  for (const CategoryField& field : kCategoryFields) csv.Cell("total_" + std::string(field.name));
  csv.EndRow();
  for (const ReportLayer& layer : report.layers) {
    csv.Cell(layer.path);
    csv.Cell(layer.class_name);
    csv.Cell(int64_t{layer.depth});
    csv.Cell(layer.parameter_count);
    for (const CategoryField& field : kCategoryFields) csv.Cell(layer.own.*field.bytes);
    for (const CategoryField& field : kCategoryFields) csv.Cell(layer.total.*field.bytes);
    csv.EndRow();
  }
  return csv.Take();
}

std::string TimelineCsv(const Report& report) {
  CsvWriter csv;
  for (const char* title : {"run", "step", "phase", "name", "node", "layer", "live_bytes"}) {
    csv.Cell(title);
  }
  for (const CategoryField& field : kCategoryFields) csv.Cell(field.name);
  csv.EndRow();
  for (const ReportTimeline& timeline : report.timelines) {
    int64_t index = 0;
    for (const TimelineStep& step : timeline.steps) {
      csv.Cell(timeline.run);
      csv.Cell(index++);
      csv.Cell(step.phase);
      csv.Cell(step.name);
      csv.Cell(step.node);
      csv.Cell(step.layer);
      csv.Cell(step.live_bytes);
      for (const CategoryField& field : kCategoryFields) csv.Cell(step.bytes.*field.bytes);
      csv.EndRow();
    }
  }
  return csv.Take();
}

std::string SweepCsv(const Report& report) {
  CsvWriter csv;
  csv.Row(report.sweep ? report.sweep->name : std::string("value"), "saved_bytes",
          "training_peak_bytes", "inference_peak_bytes", "activation_peak_bytes", "error");
  if (!report.sweep) return csv.Take();
  for (const SweepPoint& point : report.sweep->points) {
    csv.Row(point.value, point.saved_bytes, point.training_peak_bytes, point.inference_peak_bytes,
            point.activation_peak_bytes, point.error);
  }
  return csv.Take();
}

}  // namespace footprint
