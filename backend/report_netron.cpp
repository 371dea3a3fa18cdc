#include "backend/report_netron.h"

#include <map>
#include <string_view>

#include "backend/report_json_writer.h"
#include "backend/units.h"

namespace footprint {
namespace {

using Layout = JsonWriter::Layout;

class AttachmentWriter {
 public:
  AttachmentWriter() {
    json_.BeginObject(Layout::kLines);
    json_.Field("signature", "netron:attachment");
  }

  void BeginList(JsonKey name) {
    json_.Key(name);
    json_.BeginArray(Layout::kLines);
  }
  void EndList() { json_.EndArray(); }

  template <typename T>
  void Entry(const char* kind, std::string_view target, const char* name, const T& value) {
    json_.BeginObject(Layout::kOneLine);
    json_.Field("kind", kind);
    json_.Field("target", target);
    json_.Field("name", name);
    json_.Field("value", value);
    json_.EndObject();
  }
  void Entry(const char* kind, std::string_view target, const char* name, const Bytes& value) {
    if (value) Entry(kind, target, name, *value);
  }

  std::string Take() {
    json_.EndObject();
    return json_.Take();
  }

 private:
  JsonWriter json_;
};

// A weight is a tensor and the value that holds it.
bool IsStored(const ReportTensor& tensor) {
  return tensor.producer.empty() && tensor.category != "input";
}

// Of the model and of its graph, whose name Netron leaves out where it looks for metrics.
void AddTotals(const Report& report, AttachmentWriter& attachment) {
  const auto add = [&](const char* name, const Bytes& bytes) {
    attachment.Entry("model", "", name, bytes);
    attachment.Entry("graph", "", name, bytes);
  };
  if (report.training) {
    add("training peak bytes", report.training->peak.live_bytes);
    add("saved bytes", report.training->saved_bytes);
    add("gradient bytes", report.training->gradient_bytes);
    add("optimizer state bytes", report.training->optimizer_state_bytes);
  }
  if (report.inference) add("inference peak bytes", report.inference->peak.live_bytes);
  add("parameter bytes", report.parameter_bytes);
}

void AddMetrics(const Report& report, AttachmentWriter& attachment) {
  AddTotals(report, attachment);
  std::map<std::string_view, Bytes> nodes;  // what the outputs of each take
  for (const ReportTensor& tensor : report.tensors) {
    attachment.Entry("value", tensor.name, "bytes", tensor.bytes);
    if (IsStored(tensor)) attachment.Entry("tensor", tensor.name, "bytes", tensor.bytes);
    const size_t space = tensor.producer.find(' ');
    if (space == std::string::npos) continue;
    const auto [node, first] =
        nodes.try_emplace(std::string_view(tensor.producer).substr(space + 1), 0);
    if (node->second && tensor.bytes) {
      *node->second += *tensor.bytes;
    } else {
      node->second.reset();
    }
  }
  for (const auto& [name, bytes] : nodes) attachment.Entry("node", name, "output bytes", bytes);
}

void AddMetadata(const Report& report, AttachmentWriter& attachment) {
  for (const ReportTensor& tensor : report.tensors) {
    if (tensor.bytes) attachment.Entry("value", tensor.name, "size", BinaryUnits(*tensor.bytes));
    attachment.Entry("value", tensor.name, "category", tensor.category);
    if (!tensor.saved_by.empty()) {
      attachment.Entry("value", tensor.name, "saved by", Joined(tensor.saved_by));
    }
  }
}

}  // namespace

std::string NetronAttachment(const Report& report) {
  AttachmentWriter attachment;
  attachment.BeginList("metrics");
  AddMetrics(report, attachment);
  attachment.EndList();
  attachment.BeginList("metadata");
  AddMetadata(report, attachment);
  attachment.EndList();
  return attachment.Take();
}

}  // namespace footprint
