#include "backend/report_csv.h"

#include <optional>
#include <string_view>
#include <vector>

#include "backend/figures.h"
#include "backend/terminal.h"

namespace footprint {
namespace {

class CsvWriter {
 public:
  void Cell(std::string_view text) {
    Separate();
    const std::string printable = Printable(text);
    if (printable.find_first_of(",\"") == std::string::npos) {
      text_ += printable;
      return;
    }
    text_ += '"';
    for (const char c : printable) text_.append(c == '"' ? 2 : 1, c);
    text_ += '"';
  }
  void Cell(int64_t number) {
    Separate();
    text_ += std::to_string(number);
  }
  void Cell(const std::optional<int64_t>& number) {
    if (number) {
      Cell(*number);
    } else {
      Separate();
    }
  }
  void Cell(const std::vector<std::string>& texts) {
    std::string joined;
    for (const std::string& text : texts) joined += (joined.empty() ? "" : "; ") + text;
    Cell(std::string_view(joined));
  }

  template <typename... Cells>
  void Row(const Cells&... cells) {
    (Cell(cells), ...);
    EndRow();
  }
  void EndRow() {
    text_ += '\n';
    in_row_ = false;
  }
  std::string Take() { return std::move(text_); }

 private:
  void Separate() {
    if (in_row_) text_ += ',';
    in_row_ = true;
  }

  std::string text_;
  bool in_row_ = false;
};

using Title = std::string_view;

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
  csv.Row(Title("name"), Title("dtype"), Title("shape"), Title("shape_expression"), Title("bytes"),
          Title("bytes_expression"), Title("category"), Title("layer"), Title("producer"),
          Title("saved_by"), Title("first_step"), Title("last_step"), Title("storage"),
          Title("certainty"));
  for (const ReportTensor& t : report.tensors) {
    csv.Row(t.name, t.dtype, Shape(t), t.shape_expression, t.bytes, t.bytes_expression, t.category,
            t.layer, t.producer, t.saved_by, t.first_step, t.last_step, t.storage, t.certainty);
  }
  return csv.Take();
}

std::string StoragesCsv(const Report& report) {
  CsvWriter csv;
  csv.Row(Title("id"), Title("name"), Title("bytes"), Title("category"), Title("layer"),
          Title("first_step"), Title("last_step"), Title("reason"), Title("certainty"));
  for (const ReportStorage& s : report.storages) {
    csv.Row(s.id, s.name, s.bytes, s.category, s.layer, s.first_step, s.last_step, s.reason,
            s.certainty);
  }
  return csv.Take();
}

std::string LayersCsv(const Report& report) {
  CsvWriter csv;
  for (const char* title : {"path", "class", "depth", "parameter_count"}) csv.Cell(Title(title));
  for (const CategoryField& field : kCategoryFields) csv.Cell(Title(field.name));
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
    csv.Cell(Title(title));
  }
  for (const CategoryField& field : kCategoryFields) csv.Cell(Title(field.name));
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

}  // namespace footprint
