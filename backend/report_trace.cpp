#include "backend/report_trace.h"

#include <string_view>
#include <utility>

#include "backend/figures.h"
#include "backend/report_json_writer.h"

namespace footprint {
namespace {

using Layout = JsonWriter::Layout;

constexpr int64_t kStepsThread = 1;

class TraceWriter {
 public:
  explicit TraceWriter(const Report& report) : report_(report) {
    json_.BeginObject(Layout::kLines);
    json_.Key("otherData");
    json_.BeginObject(Layout::kOneLine);
    json_.Field("model", report.model_path);
    json_.Field("time", "one microsecond is one step; steps have no durations in a file");
    json_.EndObject();
    json_.Key("traceEvents");
    json_.BeginArray(Layout::kLines);
  }

  void Run(const ReportTimeline& timeline, int64_t process) {
    Name("process_name", process, 0, timeline.run + " of " + report_.model_path);
    Name("thread_name", process, kStepsThread, "steps");
    for (size_t i = 0; i < timeline.steps.size(); ++i) {
      const TimelineStep& step = timeline.steps[i];
      const int64_t time = static_cast<int64_t>(i);
      Slice(step, process, time);
      Counters(step.bytes, process, time);
    }
    if (!timeline.steps.empty()) {
      Counters({}, process, static_cast<int64_t>(timeline.steps.size()));
    }
  }

  // Storages are those of training if it was analyzed: of the first run.
  void Storages(int64_t process) {
    for (const ReportStorage& storage : report_.storages) {
      if (!storage.first_step || storage.bytes.value_or(0) == 0) continue;
      Begin("b", storage.name, process, *storage.first_step);
      json_.Field("cat", storage.category);
      json_.Field("id", storage.id);
      json_.Key("args");
      json_.BeginObject(Layout::kOneLine);
      json_.Field("bytes", storage.bytes);
      json_.Field("layer", storage.layer);
      json_.Field("reason", storage.reason);
      json_.EndObject();
      json_.EndObject();
      Begin("e", storage.name, process, *storage.last_step + 1);
      json_.Field("cat", storage.category);
      json_.Field("id", storage.id);
      json_.EndObject();
    }
  }

  std::string Take() {
    json_.EndArray();
    json_.EndObject();
    return json_.Take();
  }

 private:
  void Begin(const char* kind, std::string_view name, int64_t process, int64_t time) {
    json_.BeginObject(Layout::kOneLine);
    json_.Field("ph", kind);
    json_.Field("name", name);
    json_.Field("pid", process);
    json_.Field("tid", kStepsThread);
    json_.Field("ts", time);
  }

  void Name(const char* kind, int64_t process, int64_t thread, const std::string& name) {
    json_.BeginObject(Layout::kOneLine);
    json_.Field("ph", "M");
    json_.Field("name", kind);
    json_.Field("pid", process);
    json_.Field("tid", thread);
    json_.Key("args");
    json_.BeginObject(Layout::kOneLine);
    json_.Field("name", name);
    json_.EndObject();
    json_.EndObject();
  }

  void Slice(const TimelineStep& step, int64_t process, int64_t time) {
    Begin("X", step.name, process, time);
    json_.Field("dur", int64_t{1});
    json_.Field("cat", step.phase.empty() ? std::string("inference") : step.phase);
    json_.Key("args");
    json_.BeginObject(Layout::kOneLine);
    json_.Field("node", step.node);
    json_.Field("layer", step.layer);
    json_.Field("live_bytes", step.live_bytes);
    json_.EndObject();
    json_.EndObject();
  }

  void Counters(const CategoryBytes& bytes, int64_t process, int64_t time) {
    Begin("C", "live bytes", process, time);
    json_.Key("args");
    json_.BeginObject(Layout::kOneLine);
    for (const CategoryField& field : kCategoryFields) {
      json_.Field(std::string(field.name), bytes.*field.bytes);
    }
    json_.EndObject();
    json_.EndObject();
  }

  const Report& report_;
  JsonWriter json_;
};

}  // namespace

std::string ChromeTrace(const Report& report) {
  TraceWriter trace(report);
  for (size_t i = 0; i < report.timelines.size(); ++i) {
    trace.Run(report.timelines[i], static_cast<int64_t>(i) + 1);
  }
  trace.Storages(1);
  return trace.Take();
}

}  // namespace footprint
