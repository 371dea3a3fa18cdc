#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "backend/build_report.h"

namespace footprint {
namespace {

class TableBuilder {
 public:
  explicit TableBuilder(Analysis& analysis)
      : analysis_(analysis),
        graph_(analysis.graph()),
        trace_(analysis.primary_trace()),
        timeline_(analysis.primary_timeline()),
        prefix_(analysis.training.has_value() ? kTrainingPrefix : kInferencePrefix) {
    for (const auto& [name, value] : analysis.bindings) bound_.insert(name);
  }

  void Run(Report& report) {
    report.storages.reserve(trace_.storages.size());
    report.tensors.reserve(graph_.values.size());
    for (size_t i = 0; i < trace_.storages.size(); ++i) AddStorage(StorageId(i), report);
    for (ValueId id : graph_.top().inputs) AddTensor(id, report);
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      if (graph_.values[ValueId(i)].kind == ValueKind::kConstant) AddTensor(ValueId(i), report);
    }
    for (NodeId node : graph_.top().nodes) {
      for (ValueId output : graph_.nodes[node].outputs) {
        if (output.valid()) AddTensor(output, report);
      }
    }
  }

 private:
  // Unknown and bounded sizes stand first: then what an unbound name decides is assumed.
  Certainty CertaintyOf(Dim bytes, bool known) {
    if (!known) return Certainty::kUnknown;
    if (bytes.is_constant()) return Certainty::kExact;
    if (analysis_.dims().IsDataDependent(bytes)) return Certainty::kBounded;
    for (const std::string& name : analysis_.dims().SymbolsIn(bytes)) {
      if (!bound_.contains(name)) return Certainty::kAssumed;
    }
    return Certainty::kExact;
  }

  void AddStorage(StorageId id, Report& report) {
    const StorageRecord& storage = trace_.storages[id];
    ReportStorage& row = report.storages.emplace_back();
    row.id = StorageName(prefix_, id);
    row.name = storage.name;
    row.bytes = timeline_.bytes[id];
    row.category = CategoryName(storage.category);
    if (storage.scope.valid()) row.layer = graph_.scopes[storage.scope].path;
    FillSteps(id, row.first_step, row.last_step);
    row.reason = ReasonOf(analysis_, storage);
    row.certainty = CertaintyName(
        std::max(storage.certainty, CertaintyOf(storage.bytes, row.bytes.has_value())));
    if (row.bytes.has_value()) {
      const int64_t rest = *row.bytes % kAllocationGranularity;
      report.rounding_bytes += rest == 0 ? 0 : kAllocationGranularity - rest;
    }
  }

  void FillSteps(StorageId id, std::optional<int64_t>& first, std::optional<int64_t>& last) {
    const StorageRecord& storage = trace_.storages[id];
    if (storage.first_tick >= storage.end_tick || trace_.steps.empty()) return;
    first = std::max<int64_t>(StepAt(trace_, storage.first_tick), 0);
    last = std::max<int64_t>(StepAt(trace_, storage.end_tick - 1), 0);
  }

  void AddTensor(ValueId id, Report& report) {
    const Value& value = graph_.values[id];
    ReportTensor& row = report.tensors.emplace_back();
    row.name = value.name;
    if (value.producer.valid()) {
      const Node& node = graph_.nodes[value.producer];
      row.producer = node.name.empty() ? node.op_type : absl::StrCat(node.op_type, " ", node.name);
      row.layer = graph_.scopes[node.scope].path;
    } else if (value.constant.valid() && graph_.constants[value.constant].scope.valid()) {
      row.layer = graph_.scopes[graph_.constants[value.constant].scope].path;
    }
    Dim bytes;
    const ValueType& type = analysis_.inferred.types[id];
    if (type.is_tensor() || type.kind == TypeKind::kSparseTensor) {
      FillShape(type.tensor, row);
      bytes = ByteCount(type.tensor, analysis_.dims());
    }
    if (value.constant.valid()) {
      const Constant& constant = graph_.constants[value.constant];
      if (constant.is_sparse || bytes.is_unknown()) bytes = constant.stored_bytes;
      FillStored(constant, row);
    }
    row.bytes = analysis_.evaluator.Evaluate(bytes);
    row.bytes_expression = analysis_.dims().ToString(bytes);
    row.certainty = CertaintyName(CertaintyOf(bytes, row.bytes.has_value()));
    if (!row.bytes.has_value()) {
      report.unknown.push_back({row.name, row.producer, WhyUnknown(type)});
    }
    row.constant_foldable = analysis_.foldable[id] && !analysis_.roles.IsStored(id);
    FillStorage(id, row);
  }

  void FillShape(const TensorType& type, ReportTensor& row) {
    row.dtype = std::string(ElementTypeName(type.element));
    row.has_shape = type.has_rank;
    row.shape_expression = ShapeToString(type, analysis_.dims());
    for (const Dim& dim : type.dims) row.shape.push_back(analysis_.evaluator.Evaluate(dim));
  }

  static std::string WhyUnknown(const ValueType& type) {
    if (type.kind == TypeKind::kUnknown) return "its type could not be inferred";
    if (!type.is_tensor()) return "not a tensor: its size depends on run-time values";
    if (type.tensor.element == ElementType::kString)
      return "strings: their length is not in the type";
    return "its shape depends on values that the file does not hold";
  }

  void FillStored(const Constant& constant, ReportTensor& row) {
    const bool strings = constant.type.element == ElementType::kString;
    const bool initializer = constant.origin == ConstantOrigin::kInitializer;
    row.stored_in = initializer ? "initializer" : "node";
    row.stored_as = strings ? "string payload" : constant.is_sparse ? "sparse" : "dense";
    row.stored_bytes = constant.stored_bytes;
    if (constant.is_sparse) row.dense_bytes = DenseBytes(analysis_, constant);
  }

  void FillStorage(ValueId id, ReportTensor& row) {
    const StorageId storage = trace_.storage_of[id];
    if (!storage.valid()) {
      row.category = CategoryName(analysis_.roles.IsParameter(id) ? Category::kParameter
                                  : analysis_.roles.IsStored(id)  ? Category::kConstant
                                                                  : Category::kTransient);
      return;
    }
    const StorageRecord& record = trace_.storages[storage];
    row.category = CategoryName(record.category);
    row.storage = StorageName(prefix_, storage);
    FillSteps(storage, row.first_step, row.last_step);
    for (int32_t step_index : trace_.saved_by[storage]) {
      const Step& step = trace_.steps[static_cast<size_t>(step_index)];
      row.saved_by.push_back(step.node.valid() && !graph_.nodes[step.node].name.empty()
                                 ? absl::StrCat(step.name, " ", graph_.nodes[step.node].name)
                                 : step.name);
    }
  }

  Analysis& analysis_;
  const Graph& graph_;
  const MemoryTrace& trace_;
  const Timeline& timeline_;
  const char* prefix_;
  absl::flat_hash_set<std::string> bound_;
};

}  // namespace

void BuildTables(Analysis& analysis, Report& report) { TableBuilder(analysis).Run(report); }

}  // namespace footprint
