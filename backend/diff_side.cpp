// The sides of a comparison. A tensor that is renamed keeps its operator, type, shape and category;
// a layer its class and what it takes.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "backend/diff.h"
#include "backend/figures.h"
#include "backend/report_json.h"

namespace footprint {
namespace {

using Json = nlohmann::json;

// "Conv /conv1/Conv" -> "Conv"
std::string OperatorOf(const std::string& producer) {
  return producer.substr(0, producer.find(' '));
}

std::string StructureOf(const std::string& producer, const std::string& dtype,
                        const std::string& shape, const std::string& category) {
  return OperatorOf(producer) + " " + dtype + " " + shape + " " + category;
}

DiffItem LayerItem(const std::string& path, const std::string& class_name, int64_t bytes) {
  const auto depth = std::count(path.begin(), path.end(), '/');
  return {path, bytes,
          std::to_string(depth) + " " + class_name + " " + std::to_string(bytes)};
}

std::string TextAt(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? "" : found->get<std::string>();
}

// A figure, or unknown if there is none.
Bytes FigureAt(const Json& report, const char* pointer) {
  const Json* at = &report;
  for (const absl::string_view token : absl::StrSplit(pointer + 1, '/')) {
    const std::string name(token);
    if (at->is_array()) {
      const auto named = [&](const Json& element) { return TextAt(element, "name") == name; };
      const auto found = std::find_if(at->begin(), at->end(), named);
      if (found == at->end()) return std::nullopt;
      at = &*found;
    } else {
      if (!at->contains(name)) return std::nullopt;
      at = &at->at(name);
    }
  }
  return at->is_number_integer() ? Bytes(at->get<int64_t>()) : std::nullopt;
}

// How many storages of unknown size a figure leaves out.
const char* UnknownsOf(NamedFigure::Of of) {
  switch (of) {
    case NamedFigure::Of::kTrainingPeak:
      return "/training/unknown_storages";
    case NamedFigure::Of::kInferencePeak:
      return "/inference/unknown_storages";
    case NamedFigure::Of::kOnnxRuntime:
      return "/inference/runtimes/onnxruntime/unknown_buffers";
    default:
      return "/none";
  }
}

CategoryBytes CategoriesOf(const Json& object) {
  CategoryBytes bytes;
  for (const CategoryField& field : kCategoryFields) {
    bytes.*field.bytes = object.at(field.name).get<int64_t>();
  }
  return bytes;
}

DiffSide FromJson(const std::string& path, const Json& report) {
  DiffSide side;
  side.path = path;
  for (const auto& [name, value] : report.at("bindings").items()) {
    side.bindings[name] = value.get<int64_t>();
  }
  const Json& settings = report.at("settings");
  for (const auto& [name, value] : settings.items()) {
    side.settings[name] = TextAt(settings, name.c_str());
  }
  for (const NamedFigure& figure : NamedFigures()) {
    const Bytes left_out = FigureAt(report, UnknownsOf(figure.of));
    const bool is_bound = left_out.value_or(0) > 0;
    side.totals.emplace_back(figure.name,
                             is_bound ? std::nullopt : FigureAt(report, figure.pointer));
  }
  const bool training = !report.at("training").is_null();
  for (const Json& layer : report.at("layers")) {
    side.layers.push_back(
        LayerItem(TextAt(layer, "path"), TextAt(layer, "class"),
                  LayerBytes(CategoriesOf(layer.at("bytes_with_children")), training)));
  }
  for (const Json& tensor : report.at("tensors")) {
    side.tensors.push_back({TextAt(tensor, "name"), FigureAt(tensor, "/bytes"),
                            StructureOf(TextAt(tensor, "producer"), TextAt(tensor, "dtype"),
                                        TextAt(tensor, "shape_expression"),
                                        TextAt(tensor, "category"))});
  }
  return side;
}

Failure NotAReport(const std::string& path, const std::string& message) {
  return {3, {{"error", "not-a-report", path, message}}};
}

}  // namespace

std::vector<std::string> DiffTotalNames() {
  std::vector<std::string> names;
  for (const NamedFigure& figure : NamedFigures()) names.emplace_back(figure.name);
  return names;
}

DiffSide SideOf(const Report& report) {
  DiffSide side;
  side.path = report.model_path;
  for (const Binding& binding : report.bindings) side.bindings[binding.name] = binding.value;
  side.settings.insert(report.settings.begin(), report.settings.end());
  for (const NamedFigure& figure : NamedFigures()) {
    side.totals.emplace_back(
        figure.name, KnownFigure(report, figure));
  }
  for (const ReportLayer& layer : report.layers) {
    side.layers.push_back(LayerItem(layer.path, layer.class_name,
                                    LayerBytes(layer.total, report.training.has_value())));
  }
  for (const ReportTensor& tensor : report.tensors) {
    side.tensors.push_back({tensor.name, tensor.bytes,
                            StructureOf(tensor.producer, tensor.dtype, tensor.shape_expression,
                                        tensor.category)});
  }
  return side;
}

std::variant<DiffSide, Failure> SideOfJson(const std::string& path, std::string_view text) {
  const Json report = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (report.is_discarded() || !report.is_object()) return NotAReport(path, "is not a JSON object");
  const auto schema = report.find("schema");
  if (schema == report.end() || *schema != kReportSchema) {
    return NotAReport(path, "expected a report with schema \"" + std::string(kReportSchema) +
                                "\", found " + (schema == report.end() ? "none" : schema->dump()));
  }
  if (report.contains("error")) {
    return NotAReport(path, "is the report of a failure: there is nothing to compare");
  }
  try {
    return FromJson(path, report);
  } catch (const Json::exception& error) {
    return NotAReport(path, std::string("is not a whole report: ") + error.what());
  }
}

}  // namespace footprint
