// The order of keys is the order in which a reader asks: what was analyzed, the totals, then the
// tables they come from. Rows of tables are one a line, so that two reports can be compared by
// diff.
#include "backend/report_json.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/figures.h"
#include "backend/report_json_runtimes.h"
#include "backend/report_json_writer.h"

namespace footprint {
namespace {

using Layout = JsonWriter::Layout;

void WriteDiagnostic(const ReportDiagnostic& diagnostic, JsonWriter* json) {
  json->BeginObject(Layout::kOneLine);
  json->Field("severity", diagnostic.severity);
  json->Field("kind", diagnostic.kind);
  json->Field("place", diagnostic.place);
  json->Field("message", diagnostic.message);
  json->EndObject();
}

void WriteDiagnostics(const std::vector<ReportDiagnostic>& diagnostics, JsonWriter* json) {
  json->Key("diagnostics");
  json->BeginArray(Layout::kLines);
  for (const ReportDiagnostic& diagnostic : diagnostics) WriteDiagnostic(diagnostic, json);
  json->EndArray();
}

void WriteGraph(const Report& report, JsonWriter* json) {
  json->Field("model", report.model_path);
  json->Key("graph");
  json->BeginObject(Layout::kOneLine);
  json->Field("name", report.model_name);
  json->Field("producer", report.producer);
  json->Key("opsets");
  json->BeginObject(Layout::kOneLine);
  for (const auto& [domain, version] : report.opsets) json->Field(domain, version);
  json->EndObject();
  json->Field("nodes", report.node_count);
  json->EndObject();
  json->Key("bindings");
  json->BeginObject(Layout::kOneLine);
  for (const Binding& binding : report.bindings) json->Field(binding.name, binding.value);
  json->EndObject();
  json->Key("assumed_bindings");
  json->BeginArray(Layout::kOneLine);
  for (const Binding& binding : report.bindings) {
    if (binding.assumed) json->Value(binding.name);
  }
  json->EndArray();
}

void WriteSettings(const Report& report, JsonWriter* json) {
  json->Key("settings");
  json->BeginObject(Layout::kOneLine);
  for (const auto& [name, value] : report.settings) json->FieldOrNull(name, value);
  json->EndObject();
}

void WriteStored(const Report& report, JsonWriter* json) {
  json->Key("parameters");
  json->BeginObject(Layout::kOneLine);
  json->Field("count", report.parameter_count);
  json->Field("file_count", report.file_parameter_count);
  json->Field("file_bytes", report.file_parameter_bytes);
  json->Field("bytes", report.parameter_bytes);
  json->Field("trainable_count", report.trainable_parameter_count);
  json->Key("widths");
  json->BeginObject(Layout::kOneLine);
  for (const WidthBytes& width : report.widths) json->Field(width.name, width.bytes);
  json->EndObject();
  json->EndObject();
  json->Key("buffers");
  json->BeginObject(Layout::kOneLine);
  json->Field("bytes", report.buffer_bytes);
  json->EndObject();
  json->Key("constants");
  json->BeginObject(Layout::kOneLine);
  json->Field("bytes", report.constant_bytes);
  json->EndObject();
  json->Key("stored");
  json->BeginObject(Layout::kOneLine);
  json->Field("bytes", report.stored.bytes);
  json->Field("referenced_bytes", report.stored.referenced_bytes);
  json->Field("sparse_bytes", report.stored.sparse_bytes);
  json->Field("sparse_as_dense_bytes", report.stored.sparse_as_dense_bytes);
  json->Field("string_payload_bytes", report.stored.string_payload_bytes);
  json->EndObject();
}

void WritePeak(const Peak& peak, bool of_training, JsonWriter* json) {
  json->Key("peak");
  json->BeginObject(Layout::kLines);
  json->Field("live_bytes", peak.live_bytes);
  json->Field("is_bounded", peak.is_bounded);
  json->Field("allocated_bytes", peak.allocated_bytes);
  json->Field("reserved_bytes", peak.reserved_bytes);
  if (of_training) json->FieldOrNull("phase", peak.phase);
  json->FieldOrNull("step", peak.step);
  json->FieldOrNull("node", peak.node);
  json->Field("layer", peak.layer);
  json->Key("live");
  json->BeginArray(Layout::kLines);
  for (const LiveStorage& live : peak.live) {
    json->BeginObject(Layout::kOneLine);
    json->Field("name", live.name);
    json->Field("bytes", live.bytes);
    json->Field("category", live.category);
    json->Field("layer", live.layer);
    json->Field("reason", live.reason);
    json->FieldOrNull("storage", live.storage);
    json->EndObject();
  }
  json->EndArray();
  json->EndObject();
}

void WriteTraining(const std::optional<TrainingReport>& training, JsonWriter* json) {
  json->Key("training");
  if (!training) return json->Null();
  json->BeginObject(Layout::kLines);
  json->Field("optimizer", training->optimizer);
  json->Field("precision", training->precision);
  json->Field("grad_scaler", training->scales_loss);
  json->Field("loss", training->loss);
  json->Field("accumulate", training->accumulate);
  json->Strings("checkpoints", training->checkpoints);
  json->Field("complete", training->complete);
  json->Strings("generic_operators", training->generic_operators);
  json->Field("unknown_storages", training->unknown_storages);
  json->Field("parameter_bytes", training->parameter_bytes);
  json->Field("buffer_bytes", training->buffer_bytes);
  json->Field("gradient_bytes", training->gradient_bytes);
  json->Field("optimizer_state_bytes", training->optimizer_state_bytes);
  json->Field("unified_state_bytes", training->unified_state_bytes);
  json->Field("input_bytes", training->input_bytes);
  json->Field("saved_bytes", training->saved_bytes);
  json->Field("saved_excluding_inputs_bytes", training->saved_excluding_inputs_bytes);
  json->FieldOrNull("saved_excluding_inputs_expression", training->saved_expression);
  json->Field("after_forward_bytes", training->after_forward_bytes);
  json->Key("phases");
  json->BeginObject(Layout::kLines);
  for (const PhaseReport& phase : training->phases) {
    json->Key(phase.name);
    json->BeginObject(Layout::kOneLine);
    json->Field("peak_bytes", phase.peak_bytes);
    json->EndObject();
  }
  json->EndObject();
  WritePeak(training->peak, true, json);
  json->EndObject();
}

void WriteInference(const std::optional<InferenceReport>& inference, JsonWriter* json) {
  json->Key("inference");
  if (!inference) return json->Null();
  json->BeginObject(Layout::kLines);
  json->Field("unknown_storages", inference->unknown_storages);
  json->Field("weight_bytes", inference->weight_bytes);
  json->Field("input_bytes", inference->input_bytes);
  json->Field("output_bytes", inference->output_bytes);
  json->Field("output_is_bounded", inference->output_is_bounded);
  json->Field("constant_foldable_bytes", inference->constant_foldable_bytes);
  json->Field("activation_peak_bytes", inference->activation_peak_bytes);
  json->FieldOrNull("activation_peak_expression", inference->activation_peak_expression);
  WritePeak(inference->peak, false, json);
  WriteKvCache(inference->kv_cache, json);
  WriteRuntimes(inference->runtimes, json);
  json->EndObject();
}

void WriteDevice(const std::optional<DeviceReport>& device, JsonWriter* json) {
  json->Key("device");
  if (!device) return json->Null();
  json->BeginObject(Layout::kLines);
  json->Field("name", device->name);
  json->FieldOrNull("architecture", device->architecture);
  json->Field("memory_bytes", device->memory_bytes);
  json->Field("memory_certainty", device->nominal ? "assumed" : "exact");
  json->Field("reserved_bytes", device->reserved_bytes);
  json->Field("context_bytes", device->context_bytes);
  json->Field("blas_workspace_bytes", device->blas_workspace_bytes);
  json->Field("convolution_workspace_bytes", device->convolution_workspace_bytes);
  json->Field("needed_bytes", device->needed_bytes);
  json->Key("margin_bytes");
  if (device->needed_bytes) {
    json->Value(device->memory_bytes - *device->needed_bytes);
  } else {
    json->Null();
  }
  json->Key("fits");
  if (device->fits) {
    json->Value(*device->fits);
  } else {
    json->Null();
  }
  json->Strings("reasons", device->reasons);
  json->EndObject();
}

void WriteSweep(const std::optional<SweepReport>& sweep, JsonWriter* json) {
  json->Key("sweep");
  if (!sweep) return json->Null();
  json->BeginObject(Layout::kLines);
  json->Field("dimension", sweep->name);
  json->Key("points");
  json->BeginArray(Layout::kLines);
  for (const SweepPoint& point : sweep->points) {
    json->BeginObject(Layout::kOneLine);
    json->Field("value", point.value);
    json->Field("saved_bytes", point.saved_bytes);
    json->Field("training_peak_bytes", point.training_peak_bytes);
    json->Field("inference_peak_bytes", point.inference_peak_bytes);
    json->Field("activation_peak_bytes", point.activation_peak_bytes);
    json->FieldOrNull("error", point.error);
    json->EndObject();
  }
  json->EndArray();
  json->Key("pieces");
  json->BeginArray(Layout::kLines);
  for (const SweepPiece& piece : sweep->pieces) {
    json->BeginObject(Layout::kOneLine);
    json->Field("first", piece.first);
    json->Field("last", piece.last);
    json->Field("peak_expression", piece.expression);
    json->EndObject();
  }
  json->EndArray();
  json->EndObject();
}

void WriteFit(const std::optional<FitReport>& fit, JsonWriter* json) {
  json->Key("fit");
  if (!fit) return json->Null();
  json->BeginObject(Layout::kLines);
  json->Field("dimension", fit->name);
  json->Field("largest", fit->largest);
  json->Field("needed_bytes", fit->needed_bytes);
  json->Field("margin_bytes", fit->margin_bytes);
  json->Field("next_needed_bytes", fit->next_needed_bytes);
  json->Field("binds", fit->binds);
  json->Field("asked", fit->asked);
  json->Key("changes");
  json->BeginArray(Layout::kLines);
  for (const FitChange& change : fit->changes) {
    json->BeginObject(Layout::kOneLine);
    json->Field("change", change.change);
    json->Field("needed_bytes", change.needed_bytes);
    json->Field("fits", change.fits.value_or(false));
    json->EndObject();
  }
  json->EndArray();
  json->EndObject();
}

void WriteTextbook(const std::optional<TextbookReport>& textbook, JsonWriter* json) {
  json->Key("textbook");
  if (!textbook) return json->Null();
  json->BeginObject(Layout::kLines);
  json->Field("parameter_count", textbook->parameter_count);
  json->Field("parameter_bytes", textbook->parameter_bytes);
  json->Field("gradient_bytes", textbook->gradient_bytes);
  json->Field("optimizer_state_bytes", textbook->optimizer_state_bytes);
  json->Field("activation_bytes", textbook->activation_bytes);
  json->Field("total_bytes", textbook->total_bytes);
  json->Key("layers");
  json->BeginArray(Layout::kLines);
  for (const TextbookLayer& layer : textbook->layers) {
    json->BeginObject(Layout::kOneLine);
    json->Field("name", layer.name);
    json->Field("kind", layer.kind);
    json->Field("detail", layer.kind_detail);
    json->Field("bytes", layer.bytes);
    json->EndObject();
  }
  json->EndArray();
  json->Key("notes");
  json->BeginArray(Layout::kLines);
  for (const std::string& note : textbook->notes) json->Value(note);
  json->EndArray();
  json->EndObject();
}

void WriteGradientNeeds(const std::optional<GradientNeeds>& needs, JsonWriter* json) {
  json->Key("gradient_needs");
  if (!needs) return json->Null();
  json->BeginObject(Layout::kLines);
  json->Field("needed_bytes", needs->needed_bytes);
  json->Field("needed_excluding_inputs_bytes", needs->needed_excluding_inputs_bytes);
  json->Field("surplus_bytes", needs->surplus_bytes);
  json->Field("instead_bytes", needs->instead_bytes);
  json->Key("surplus");
  json->BeginArray(Layout::kLines);
  for (const SurplusStorage& surplus : needs->surplus) {
    json->BeginObject(Layout::kOneLine);
    json->Field("name", surplus.name);
    json->Field("bytes", surplus.bytes);
    json->Field("category", surplus.category);
    json->Field("layer", surplus.layer);
    json->Field("reason", surplus.reason);
    json->Field("storage", surplus.storage);
    json->EndObject();
  }
  json->EndArray();
  json->EndObject();
}

void WriteCategories(const CategoryBytes& bytes, JsonWriter* json) {
  json->BeginObject(Layout::kOneLine);
  for (const CategoryField& field : kCategoryFields) {
    json->Field(std::string(field.name), bytes.*field.bytes);
  }
  json->EndObject();
}

void WriteLayers(const std::vector<ReportLayer>& layers, JsonWriter* json) {
  json->Key("layers");
  json->BeginArray(Layout::kLines);
  for (const ReportLayer& layer : layers) {
    json->BeginObject(Layout::kOneLine);
    json->Field("path", layer.path);
    json->Field("class", layer.class_name);
    json->Field("depth", layer.depth);
    json->Field("parameter_count", layer.parameter_count);
    json->Key("bytes");
    WriteCategories(layer.own, json);
    json->Key("bytes_with_children");
    WriteCategories(layer.total, json);
    json->EndObject();
  }
  json->EndArray();
}

void WriteTensor(const ReportTensor& tensor, JsonWriter* json) {
  json->BeginObject(Layout::kOneLine);
  json->Field("name", tensor.name);
  json->Field("dtype", tensor.dtype);
  json->Key("shape");
  if (tensor.has_shape) {
    json->BeginArray(Layout::kOneLine);
    for (const Bytes& dim : tensor.shape) json->Value(dim);
    json->EndArray();
  } else {
    json->Null();
  }
  json->FieldOrNull("shape_expression", tensor.shape_expression);
  json->Field("bytes", tensor.bytes);
  json->FieldOrNull("bytes_expression", tensor.bytes_expression);
  json->Field("category", tensor.category);
  json->Field("layer", tensor.layer);
  json->FieldOrNull("producer", tensor.producer);
  json->Strings("saved_by", tensor.saved_by);
  json->Field("first_step", tensor.first_step);
  json->Field("last_step", tensor.last_step);
  json->FieldOrNull("storage", tensor.storage);
  json->Field("certainty", tensor.certainty);
  if (!tensor.stored_as.empty()) {
    json->Field("stored_in", tensor.stored_in);
    json->Field("stored_as", tensor.stored_as);
    json->Field("stored_bytes", tensor.stored_bytes);
  }
  if (tensor.dense_bytes) json->Field("dense_bytes", tensor.dense_bytes);
  if (tensor.constant_foldable) json->Field("constant_foldable", true);
  json->EndObject();
}

void WriteStorage(const ReportStorage& storage, JsonWriter* json) {
  json->BeginObject(Layout::kOneLine);
  json->Field("id", storage.id);
  json->Field("name", storage.name);
  json->Field("bytes", storage.bytes);
  json->Field("category", storage.category);
  json->Field("layer", storage.layer);
  json->Field("first_step", storage.first_step);
  json->Field("last_step", storage.last_step);
  json->Field("reason", storage.reason);
  json->Field("certainty", storage.certainty);
  json->EndObject();
}

void WriteOperators(const std::vector<OperatorCount>& operators, JsonWriter* json) {
  json->Key("operators");
  json->BeginObject(Layout::kLines);
  json->Key("counts");
  json->BeginObject(Layout::kOneLine);
  for (const OperatorCount& op : operators) json->Field(op.op_type, op.count);
  json->EndObject();
  json->Key("without_row");
  json->BeginArray(Layout::kOneLine);
  for (const OperatorCount& op : operators) {
    if (!op.has_row) json->Value(op.op_type);
  }
  json->EndArray();
  json->EndObject();
}

void WriteUnknown(const std::vector<UnknownValue>& unknown, JsonWriter* json) {
  json->Key("unknown");
  json->BeginArray(Layout::kLines);
  for (const UnknownValue& value : unknown) {
    json->BeginObject(Layout::kOneLine);
    json->Field("name", value.name);
    json->FieldOrNull("producer", value.producer);
    json->Field("why", value.why);
    json->EndObject();
  }
  json->EndArray();
}

}  // namespace

void WriteGatesJson(const std::vector<GateReport>& gates, JsonWriter& json) {
  json.Key("gates");
  json.BeginArray(Layout::kLines);
  for (const GateReport& gate : gates) {
    json.BeginObject(Layout::kLines);
    json.Field("name", gate.name);
    json.Field("limit_bytes", gate.limit_bytes);
    json.Field("actual_bytes", gate.actual_bytes);
    json.Field("passed", gate.passed);
    json.Key("violations");
    json.BeginArray(Layout::kLines);
    for (const GateViolation& violation : gate.violations) {
      json.BeginObject(Layout::kOneLine);
      json.FieldOrNull("place", violation.place);
      json.Field("bytes", violation.bytes);
      json.FieldOrNull("why", violation.why);
      json.EndObject();
    }
    json.EndArray();
    json.EndObject();
  }
  json.EndArray();
}

std::string ReportJson(const Report& report) {
  JsonWriter json;
  json.BeginObject(Layout::kLines);
  json.Field("schema", kReportSchema);
  WriteGraph(report, &json);
  WriteSettings(report, &json);
  WriteStored(report, &json);
  WriteTraining(report.training, &json);
  WriteInference(report.inference, &json);
  WriteTextbook(report.textbook, &json);
  WriteGradientNeeds(report.gradient_needs, &json);
  WriteDevice(report.device, &json);
  WriteSweep(report.sweep, &json);
  WriteFit(report.fit, &json);
  WriteGatesJson(report.gates, json);
  WriteOperators(report.operators, &json);
  WriteDiagnostics(report.diagnostics, &json);
  WriteUnknown(report.unknown, &json);
  json.Field("rounding_bytes", report.rounding_bytes);
  WriteLayers(report.layers, &json);
  json.Key("tensors");
  json.BeginArray(Layout::kLines);
  for (const ReportTensor& tensor : report.tensors) WriteTensor(tensor, &json);
  json.EndArray();
  json.Key("storages");
  json.BeginArray(Layout::kLines);
  for (const ReportStorage& storage : report.storages) WriteStorage(storage, &json);
  json.EndArray();
  if (!report.dump.empty()) json.Field("dump", report.dump);
  json.EndObject();
  return json.Take();
}

std::string FailureJson(const Failure& failure, std::string_view model) {
  JsonWriter json;
  json.BeginObject(Layout::kLines);
  json.Field("schema", kReportSchema);
  json.FieldOrNull("model", model);
  json.Key("error");
  ReportDiagnostic first;
  for (const ReportDiagnostic& diagnostic : failure.diagnostics) {
    if (diagnostic.severity != "error") continue;
    first = diagnostic;
    break;
  }
  json.BeginObject(Layout::kLines);
  json.Field("message", first.message);
  json.Field("kind", first.kind);
  json.Field("place", first.place);
  json.Field("exit_code", failure.exit_code);
  json.EndObject();
  WriteDiagnostics(failure.diagnostics, &json);
  json.EndObject();
  return json.Take();
}

}  // namespace footprint
