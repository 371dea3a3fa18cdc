#include <algorithm>
#include <vector>

#include "backend/build_report.h"
#include "backend/figures.h"

// Every storage belongs to one layer (the root if to none), so own bytes sum to the totals; what is
// below a layer is added up from the leaves, children after their parents in the table of scopes.

namespace footprint {
namespace {

void AddAll(CategoryBytes& to, const CategoryBytes& from) {
  for (const CategoryField& field : kCategoryFields) to.*field.bytes += from.*field.bytes;
}

bool IsEmpty(const CategoryBytes& bytes) {
  return std::all_of(kCategoryFields.begin(), kCategoryFields.end(),
                     [&](const CategoryField& field) { return bytes.*field.bytes == 0; });
}

ScopeId OrRoot(ScopeId scope) { return scope.valid() ? scope : ScopeId(0); }

void CountParameters(Analysis& analysis, IdVector<ScopeId, ReportLayer>& layers) {
  auto add = [&](ScopeId scope, ValueId value, const TensorType& type) {
    layers[OrRoot(scope)].parameter_count += analysis.roles.WeightCount(
        value, analysis.evaluator.Evaluate(ElementCount(type, analysis.dims())).value_or(0));
  };
  if (analysis.training.has_value()) {
    for (const TorchValue& value : analysis.training->program.values) {
      if (value.kind == TorchValueKind::kParameter) add(value.scope, value.onnx_value, value.type);
    }
    return;
  }
  const Graph& graph = analysis.graph();
  for (size_t i = 0; i < graph.values.size(); ++i) {
    const Value& value = graph.values[ValueId(i)];
    if (!analysis.roles.IsParameter(ValueId(i))) continue;
    const ScopeId scope = value.kind == ValueKind::kConstant
                              ? graph.constants[value.constant].scope
                              : graph.nodes[value.producer].scope;
    add(scope, ValueId(i), analysis.inferred.types[ValueId(i)].tensor);
  }
}

int Depth(const std::string& path) {
  return path.empty() ? 0 : 1 + static_cast<int>(std::count(path.begin(), path.end(), '/'));
}

}  // namespace

std::vector<ReportLayer> BuildLayers(Analysis& analysis) {
  const Graph& graph = analysis.graph();
  IdVector<ScopeId, ReportLayer> layers(graph.scopes.size());
  const MemoryTrace& trace = analysis.primary_trace();
  for (size_t i = 0; i < trace.storages.size(); ++i) {
    const StorageRecord& storage = trace.storages[StorageId(i)];
    layers[OrRoot(storage.scope)].own.*BytesField(storage.category) +=
        analysis.primary_timeline().bytes[StorageId(i)].value_or(0);
  }
  CountParameters(analysis, layers);
  for (size_t i = graph.scopes.size(); i-- > 0;) {
    ReportLayer& layer = layers[ScopeId(i)];
    AddAll(layer.total, layer.own);
    const ScopeId parent = graph.scopes[ScopeId(i)].parent;
    if (parent.valid()) AddAll(layers[parent].total, layer.total);
  }
  std::vector<ReportLayer> result;
  for (size_t i = 0; i < graph.scopes.size(); ++i) {
    ReportLayer& layer = layers[ScopeId(i)];
    if (i > 0 && IsEmpty(layer.total)) continue;
    layer.path = graph.scopes[ScopeId(i)].path;
    layer.class_name = graph.scopes[ScopeId(i)].class_name;
    layer.depth = Depth(layer.path);
    result.push_back(std::move(layer));
  }
  return result;
}

}  // namespace footprint
