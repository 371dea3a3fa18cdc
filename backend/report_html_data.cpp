#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "backend/figures.h"
#include "backend/report_html.h"
#include "backend/report_json_writer.h"
#include "backend/units.h"

namespace footprint {
namespace {

using Layout = JsonWriter::Layout;

class DataWriter {
 public:
  explicit DataWriter(const Report& report) : report_(report) {}

  std::string Write() {
    json_.BeginObject(Layout::kOneLine);
    json_.Key("runs");
    json_.BeginArray(Layout::kOneLine);
    for (const ReportTimeline& timeline : report_.timelines) Run(timeline);
    json_.EndArray();
    if (report_.sweep) Sweep(*report_.sweep);
    Layers();
    Tensors();
    json_.Strings("strings", strings_);
    json_.EndObject();
    return Escaped(json_.Take());
  }

 private:
  int64_t Index(const std::string& text) {
    const auto [entry, is_new] =
        indices_.try_emplace(text, static_cast<int64_t>(strings_.size()));
    if (is_new) strings_.push_back(text);
    return entry->second;
  }

  template <typename Rows, typename Value>
  void Column(JsonKey key, const Rows& rows, Value value) {
    json_.Key(key);
    json_.BeginArray(Layout::kOneLine);
    for (const auto& row : rows) json_.Value(value(row));
    json_.EndArray();
  }

  template <typename Rows, typename Text>
  void TextColumn(JsonKey key, const Rows& rows, Text text) {
    Column(key, rows, [&](const auto& row) { return Index(text(row)); });
  }

  template <typename Value>
  void Differences(JsonKey key, const std::vector<TimelineStep>& steps, Value value) {
    int64_t before = 0;
    Column(key, steps, [&](const TimelineStep& step) {
      const int64_t now = value(step);
      const int64_t difference = now - before;
      before = now;
      return difference;
    });
  }

  void Run(const ReportTimeline& timeline) {
    const std::vector<TimelineStep>& steps = timeline.steps;
    json_.BeginObject(Layout::kOneLine);
    json_.Field("run", timeline.run);
    TextColumn("phase", steps, [](const TimelineStep& step) { return step.phase; });
    TextColumn("name", steps, [](const TimelineStep& step) { return step.name; });
    TextColumn("node", steps, [](const TimelineStep& step) { return step.node; });
    TextColumn("layer", steps, [](const TimelineStep& step) { return step.layer; });
    Differences("live", steps, [](const TimelineStep& step) { return step.live_bytes; });
    json_.Key("categories");
    json_.BeginObject(Layout::kOneLine);
    for (const CategoryField& field : kCategoryFields) {
      Differences(std::string(field.name), steps,
                  [&](const TimelineStep& step) { return step.bytes.*field.bytes; });
    }
    json_.EndObject();
    if (timeline.run == "training" && report_.training) PeakOf(report_.training->peak);
    if (timeline.run == "inference" && report_.inference) PeakOf(report_.inference->peak);
    json_.EndObject();
  }

  void PeakOf(const Peak& peak) {
    json_.Key("peak");
    json_.BeginObject(Layout::kOneLine);
    json_.Field("bytes", peak.live_bytes);
    json_.Field("place", PlaceOf(peak));
    json_.Key("live");
    json_.BeginObject(Layout::kOneLine);
    const std::vector<LiveStorage>& live = peak.live;
    TextColumn("name", live, [](const LiveStorage& storage) { return storage.name; });
    Column("bytes", live, [](const LiveStorage& storage) { return storage.bytes; });
    TextColumn("category", live, [](const LiveStorage& storage) { return storage.category; });
    TextColumn("layer", live, [](const LiveStorage& storage) { return storage.layer; });
    TextColumn("reason", live, [](const LiveStorage& storage) { return storage.reason; });
    json_.EndObject();
    json_.EndObject();
  }

  void Sweep(const SweepReport& sweep) {
    const std::vector<SweepPoint>& points = sweep.points;
    json_.Key("sweep");
    json_.BeginObject(Layout::kOneLine);
    json_.Field("dimension", sweep.name);
    Column("value", points, [](const SweepPoint& point) { return point.value; });
    Column("saved + inputs", points, [](const SweepPoint& point) { return point.saved_bytes; });
    Column("training peak", points,
           [](const SweepPoint& point) { return point.training_peak_bytes; });
    Column("inference peak", points,
           [](const SweepPoint& point) { return point.inference_peak_bytes; });
    Column("error", points, [](const SweepPoint& point) { return point.error; });
    json_.Key("pieces");
    json_.BeginArray(Layout::kOneLine);
    for (const SweepPiece& piece : sweep.pieces) {
      json_.BeginObject(Layout::kOneLine);
      json_.Field("first", piece.first);
      json_.Field("last", piece.last);
      json_.Field("expression", piece.expression);
      json_.EndObject();
    }
    json_.EndArray();
    json_.EndObject();
  }

  // "own" and "total" are LayerBytes.
  void Layers() {
    const bool training = report_.training.has_value();
    const std::vector<ReportLayer>& layers = report_.layers;
    json_.Key("layers");
    json_.BeginObject(Layout::kOneLine);
    TextColumn("path", layers, [](const ReportLayer& layer) { return layer.path; });
    TextColumn("class", layers, [](const ReportLayer& layer) { return layer.class_name; });
    Column("parameter_count", layers,
           [](const ReportLayer& layer) { return layer.parameter_count; });
    Column("own", layers,
           [&](const ReportLayer& layer) { return LayerBytes(layer.own, training); });
    Column("total", layers,
           [&](const ReportLayer& layer) { return LayerBytes(layer.total, training); });
    for (const CategoryField& field : kCategoryFields) {
      Column(std::string(field.name), layers,
             [&](const ReportLayer& layer) { return layer.total.*field.bytes; });
    }
    json_.EndObject();
  }

  void Tensors() {
    const std::vector<ReportTensor>& tensors = report_.tensors;
    json_.Key("tensors");
    json_.BeginObject(Layout::kOneLine);
    TextColumn("name", tensors, [](const ReportTensor& tensor) { return tensor.name; });
    TextColumn("dtype", tensors, [](const ReportTensor& tensor) { return tensor.dtype; });
    TextColumn("shape", tensors,
               [](const ReportTensor& tensor) { return tensor.shape_expression; });
    Column("bytes", tensors, [](const ReportTensor& tensor) { return tensor.bytes; });
    TextColumn("category", tensors, [](const ReportTensor& tensor) { return tensor.category; });
    TextColumn("layer", tensors, [](const ReportTensor& tensor) { return tensor.layer; });
    TextColumn("producer", tensors, [](const ReportTensor& tensor) { return tensor.producer; });
    TextColumn("saved_by", tensors,
               [](const ReportTensor& tensor) { return Joined(tensor.saved_by); });
    TextColumn("certainty", tensors,
               [](const ReportTensor& tensor) { return tensor.certainty; });
    json_.EndObject();
  }

  // "<" would let a name end the script element, and U+2028 and U+2029 end lines in old parsers.
  static std::string Escaped(const std::string& json) {
    std::string text;
    text.reserve(json.size());
    for (size_t i = 0; i < json.size(); ++i) {
      const std::string_view rest = std::string_view(json).substr(i, 3);
      if (json[i] == '<') {
        text += "\\u003c";
      } else if (rest == "\u2028" || rest == "\u2029") {
        text += rest == "\u2028" ? "\\u2028" : "\\u2029";
        i += 2;
      } else {
        text += json[i];
      }
    }
    return text;
  }

  const Report& report_;
  JsonWriter json_;
  std::vector<std::string> strings_;
  std::map<std::string, int64_t> indices_;
};

}  // namespace

std::string ReportHtmlData(const Report& report) { return DataWriter(report).Write(); }

}  // namespace footprint
