#include "backend/explain.h"

#include <algorithm>

#include "backend/figures.h"
#include "backend/report_json_writer.h"
#include "backend/units.h"

namespace footprint {
namespace {

std::string Line(const std::string& label, const std::string& value, const Terminal& terminal) {
  if (value.empty()) return "";
  std::string padded = "  " + label;
  padded.resize(std::max<size_t>(padded.size() + 1, 16), ' ');
  return Wrap(padded + Printable(value), 16, terminal) + "\n";
}

}  // namespace

std::string ExplainText(const Explanation& explanation, const Terminal& terminal) {
  const ReportTensor& tensor = explanation.tensor;
  std::string text = Bold(Printable(tensor.name), terminal) + "\n";
  text += Line("type", tensor.dtype + " " + tensor.shape_expression, terminal);
  text += Line("bytes", ExactFigure(tensor.bytes) + ", " + std::string(tensor.certainty), terminal);
  text += Line("formula", tensor.bytes_expression, terminal);
  text += Line("layer", tensor.layer, terminal);
  text += Line("made by", tensor.producer, terminal);
  for (const ExplainedRun& run : explanation.runs) {
    text += "\n" + Bold(run.run, terminal) + "\n";
    text += Line("operator", run.call, terminal);
    text += Line("known from", run.evidence, terminal);
    if (!run.storage.empty()) {
      text += Line("storage", run.storage + ", " + ExactFigure(run.bytes), terminal);
      text += Line("shared with", Joined(run.shares_with), terminal);
      text += Line("category", run.category, terminal);
    }
    text += Line("why", run.reason, terminal);
    text += Line("saved by", Joined(run.saved_by), terminal);
    text += Line("from", run.made_by, terminal);
    text += Line("until", run.alive_until, terminal);
    if (!run.storage.empty()) text += Line("at the peak", run.at_peak ? "alive" : "not", terminal);
  }
  return text;
}

std::string ExplainJson(const Explanation& explanation) {
  const ReportTensor& tensor = explanation.tensor;
  JsonWriter json;
  json.BeginObject(JsonWriter::Layout::kLines);
  json.Field("schema", "footprint-explain/1");
  json.Field("name", tensor.name);
  json.FieldOrNull("dtype", tensor.dtype);
  json.FieldOrNull("shape_expression", tensor.shape_expression);
  json.Field("bytes", tensor.bytes);
  json.FieldOrNull("bytes_expression", tensor.bytes_expression);
  json.Field("certainty", std::string(tensor.certainty));
  json.Field("layer", tensor.layer);
  json.FieldOrNull("producer", tensor.producer);
  json.Key("runs");
  json.BeginArray(JsonWriter::Layout::kLines);
  for (const ExplainedRun& run : explanation.runs) {
    json.BeginObject(JsonWriter::Layout::kLines);
    json.Field("run", run.run);
    json.FieldOrNull("operator", run.call);
    json.FieldOrNull("evidence", run.evidence);
    json.FieldOrNull("storage", run.storage);
    json.Field("storage_bytes", run.bytes);
    json.FieldOrNull("category", run.category);
    json.FieldOrNull("reason", run.reason);
    json.FieldOrNull("made_by", run.made_by);
    json.FieldOrNull("alive_until", run.alive_until);
    json.Strings("saved_by", run.saved_by);
    json.Strings("shares_with", run.shares_with);
    json.Field("at_peak", run.at_peak);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return json.Take();
}

}  // namespace footprint
