// Transpositions are moved towards the results, one node at a time, to where they meet others:
//
//   Transpose -> Add -> Transpose   becomes   Add
//
// A node lets one pass if fewer axes are transposed before it then, and if what is gained is more
// than what is transposed after it; nothing is counted after it where another transposition lies
// ahead: the inverse one, or any if one node alone reads the result.
#include "backend/runtime/onnxruntime_transposes.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "backend/runtime/onnxruntime_quantized.h"
#include "backend/runtime/onnxruntime_rewrites.h"

namespace footprint {
namespace {

void Permute(RuntimeValue& value, const Permutation& permutation) {
  for (TensorType* type : {&value.type, &value.visible}) {
    if (!type->has_rank || type->dims.size() != permutation.size()) continue;
    const Dims before = type->dims;
    for (size_t i = 0; i < permutation.size(); ++i) {
      type->dims[i] = before[static_cast<size_t>(permutation[i])];
    }
  }
}

void InsertAxes(RuntimeValue& value, size_t rank) {
  for (TensorType* type : {&value.type, &value.visible}) {
    if (type->has_rank && type->dims.size() < rank) {
      type->dims.insert(type->dims.begin(), rank - type->dims.size(), Dim(1));
    }
  }
}

class CostModel {
 public:
  explicit CostModel(Rewriter& rewriter) : rewriter_(rewriter), graph_(rewriter.graph()) {}

  void FindOutputsAhead(const std::vector<int32_t>& order) {
    for (auto node = order.rbegin(); node != order.rend(); ++node) {
      const RuntimeNode& row = graph_.node(*node);
      if (rewriter_.Is(*node, "Transpose")) {
        Insert(row.inputs[0], {rewriter_.Permutation(*node)});
        continue;
      }
      const TransposeHandler* handler = FindTransposeHandler(row);
      if (handler == nullptr || !handler->transposes_results) continue;
      std::vector<Permutation> ahead;
      for (const int32_t output : row.outputs) {
        const auto found = ahead_.find(output);
        if (found != ahead_.end()) {
          ahead.insert(ahead.end(), found->second.begin(), found->second.end());
        }
      }
      for (const size_t i : TransposedOperands(graph_, row, *handler)) Insert(row.inputs[i], ahead);
    }
  }

  bool Pays(int32_t node, const TransposeHandler& handler, const Permutation& permutation) const {
    if (rewriter_.Is(node, "Transpose")) return true;
    const RuntimeNode& row = graph_.node(node);
    int64_t cost = 0;
    for (const size_t i : TransposedOperands(graph_, row, handler)) {
      cost += InputCost(row.inputs[i], permutation);
    }
    if (cost >= 0 || !handler.transposes_results || Meets(row, permutation)) return cost < 0;
    int64_t most = 0;
    for (const int32_t output : row.outputs) {
      if (output >= 0) most = std::max(most, AxesOf(output));
    }
    return cost + most < 0;
  }

 private:
  // No model has more ahead of one value than are kept.
  void Insert(int32_t value, const std::vector<Permutation>& ahead) {
    constexpr size_t kMost = 16;
    if (value < 0 || ahead.empty()) return;
    std::vector<Permutation>& all = ahead_[value];
    for (const Permutation& one : ahead) {
      if (all.size() == kMost) return;
      if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
    }
  }

  // What comes out of it comes to another transposition, whichever way it is read; or to one that
  // undoes this one.
  bool Meets(const RuntimeNode& node, const Permutation& permutation) const {
    return std::any_of(node.outputs.begin(), node.outputs.end(), [&](int32_t output) {
      const auto found = ahead_.find(output);
      if (found == ahead_.end()) return false;
      const std::vector<int32_t>& readers = rewriter_.uses().readers[static_cast<size_t>(output)];
      const bool is_one = std::all_of(readers.begin(), readers.end(),
                                      [&](int32_t reader) { return reader == readers[0]; });
      const std::vector<Permutation>& all = found->second;
      return is_one || std::find(all.begin(), all.end(), Inverse(permutation)) != all.end();
    });
  }

  // Axes of more than one element; many if the rank is unknown.
  int64_t AxesOf(int32_t value) const {
    constexpr int64_t kUnknownRank = 5;
    const TensorType& type = graph_.value(value).visible;
    if (!type.has_rank) return kUnknownRank;
    return std::count_if(type.dims.begin(), type.dims.end(),
                         [](const Dim& dim) { return !dim.Is(1); });
  }

  int64_t InputCost(int32_t value, const Permutation& permutation) const {
    if (value < 0 || graph_.value(value).constant) return 0;
    int32_t maker = rewriter_.uses().producer[static_cast<size_t>(value)];
    if (maker >= 0 && rewriter_.Is(maker, "DequantizeLinear")) {
      const int32_t quantized = graph_.node(maker).inputs[0];
      if (graph_.value(quantized).constant && rewriter_.IsUsedOnce(value)) return 0;
      const int32_t before = rewriter_.uses().producer[static_cast<size_t>(quantized)];
      if (before >= 0) maker = before;
    }
    if (maker < 0 || !rewriter_.Is(maker, "Transpose")) return AxesOf(value);
    return rewriter_.Permutation(maker) == permutation && CanGo(maker) ? -AxesOf(value) : 0;
  }

  // All that reads it lets it pass.
  bool CanGo(int32_t transpose) const {
    const int32_t value = graph_.node(transpose).outputs[0];
    if (graph_.value(value).output) return false;
    const std::vector<int32_t>& readers = rewriter_.uses().readers[static_cast<size_t>(value)];
    return std::all_of(readers.begin(), readers.end(), [&](int32_t reader) {
      return FindTransposeHandler(graph_.node(reader)) != nullptr;
    });
  }

  Rewriter& rewriter_;
  RuntimeGraph& graph_;
  // By value: the transpositions that can be reached from it.
  absl::flat_hash_map<int32_t, std::vector<Permutation>> ahead_;
};

// Spelled out, each axis once.
bool IsStated(const Rewriter& rewriter, int32_t transpose) {
  const RuntimeNode& node = rewriter.graph_view().node(transpose);
  if (node.permutation.empty() && rewriter.Ints(transpose, "perm").empty()) return false;
  Permutation sorted = rewriter.Permutation(transpose);
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

// Moves the first transposition that the node lets pass.
bool MoveThrough(TransposeMover& mover, const CostModel& costs, int32_t node) {
  RuntimeGraph& graph = mover.graph();
  Rewriter& rewriter = mover.rewriter();
  const TransposeHandler* handler = FindTransposeHandler(graph.node(node));
  if (handler == nullptr || graph.node(node).outputs.empty()) return false;
  for (const size_t i : TransposedOperands(graph, graph.node(node), *handler)) {
    const int32_t transpose = rewriter.MadeBy(graph.node(node).inputs[i], "Transpose");
    if (transpose < 0 || !IsStated(rewriter, transpose)) continue;
    if (rewriter.Is(node, "Transpose") && !IsStated(rewriter, node)) continue;
    const Permutation permutation = rewriter.Permutation(transpose);
    if (!costs.Pays(node, *handler, permutation)) continue;
    if (handler->handle({mover, node, transpose, permutation})) return true;
  }
  return false;
}

}  // namespace

Permutation Inverse(const Permutation& permutation) {
  Permutation inverse(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i) {
    inverse[static_cast<size_t>(permutation[i])] = static_cast<int64_t>(i);
  }
  return inverse;
}

Permutation Composed(const Permutation& first, const Permutation& second) {
  Permutation composed;
  for (const int64_t axis : second) composed.push_back(first[static_cast<size_t>(axis)]);
  return composed;
}

Permutation WithoutAxes(const Permutation& permutation, const std::vector<int64_t>& axes) {
  const auto is_gone = [&](int64_t axis) {
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
  };
  Permutation left;
  for (const int64_t axis : permutation) {
    if (is_gone(axis)) continue;
    left.push_back(axis - std::count_if(axes.begin(), axes.end(),
                                        [&](int64_t other) { return other < axis; }));
  }
  return left;
}

Permutation WithAxes(const Permutation& permutation, const std::vector<int64_t>& axes) {
  const size_t rank = permutation.size() + axes.size();
  std::vector<int64_t> old_axes;  // where they are now
  for (size_t i = 0; i < rank; ++i) {
    const auto axis = static_cast<int64_t>(i);
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) old_axes.push_back(axis);
  }
  Permutation widened;
  size_t next = 0;
  for (size_t i = 0; i < rank; ++i) {
    const auto axis = static_cast<int64_t>(i);
    const bool is_new = std::find(axes.begin(), axes.end(), axis) != axes.end();
    widened.push_back(is_new ? axis : old_axes[static_cast<size_t>(permutation[next++])]);
  }
  return widened;
}

void TransposeMover::SetInput(int32_t node, size_t i, int32_t value) {
  RuntimeNode changed = graph_.node(node);
  changed.inputs[i] = value;
  rewriter_.Change(node, std::move(changed));
}

int32_t TransposeMover::AddTranspose(int32_t value, const Permutation& permutation, NodeId source) {
  const int32_t result = graph_.AddLike(value, absl::StrCat(graph_.value(value).name, "/t"));
  Permute(graph_.value(result), permutation);
  RuntimeNode made;
  made.op_type = "Transpose";
  made.source = source;
  made.permutation = permutation;
  made.inputs = {value};
  made.outputs = {result};
  rewriter_.Replace({}, std::move(made), "");
  return result;
}

void TransposeMover::TransposeInput(int32_t node, size_t i, const Permutation& permutation) {
  const int32_t value = graph_.node(node).inputs[i];
  const NodeId source = graph_.node(node).source;
  if (graph_.value(value).constant) {
    const int32_t copy = graph_.AddStored(value, graph_.value(value).name);
    if (graph_.value(value).type.dims.empty()) {
      graph_.value(copy).contents = graph_.value(value).contents;
    }
    Permute(graph_.value(copy), permutation);
    return SetInput(node, i, copy);
  }
  const int32_t dequantization = DequantizedBy(rewriter_, value);
  if (dequantization >= 0 && TransposeQuantized(dequantization, permutation)) return;
  const int32_t before = rewriter_.MadeBy(value, "Transpose");
  if (before >= 0 && IsStated(rewriter_, before)) {
    const Permutation first = rewriter_.Permutation(before);
    if (first.size() == permutation.size()) {
      const int32_t plain = graph_.node(before).inputs[0];
      const Permutation both = Composed(first, permutation);
      const bool cancels = std::is_sorted(both.begin(), both.end());
      SetInput(node, i, cancels ? plain : AddTranspose(plain, both, source));
      return RemoveIfUnused(before);
    }
  }
  for (const int32_t reader : rewriter_.uses().readers[static_cast<size_t>(value)]) {
    if (rewriter_.Is(reader, "Transpose") && rewriter_.Permutation(reader) == permutation) {
      return SetInput(node, i, graph_.node(reader).outputs[0]);
    }
  }
  SetInput(node, i, AddTranspose(value, permutation, source));
}

// Before the dequantization, where that is stored or another transposition undoes it there.
bool TransposeMover::TransposeQuantized(int32_t dequantization, const Permutation& permutation) {
  RuntimeNode changed = graph_.node(dequantization);
  const int32_t result = changed.outputs[0];
  if (!rewriter_.IsUsedOnce(result)) return false;
  const int32_t quantized = changed.inputs[0];
  int32_t before = -1;
  if (graph_.value(quantized).constant) {
    changed.inputs[0] = graph_.AddStored(quantized, graph_.value(quantized).name);
    Permute(graph_.value(changed.inputs[0]), permutation);
  } else {
    before = rewriter_.MadeBy(quantized, "Transpose");
    if (before < 0 || rewriter_.Permutation(before) != Inverse(permutation)) return false;
    changed.inputs[0] = graph_.node(before).inputs[0];
  }
  Permute(graph_.value(result), permutation);
  rewriter_.Change(dequantization, std::move(changed));
  if (before >= 0) RemoveIfUnused(before);
  return true;
}

void TransposeMover::TransposeOutputs(int32_t node, const Permutation& permutation) {
  if (std::is_sorted(permutation.begin(), permutation.end())) return;
  RuntimeNode changed = graph_.node(node);
  std::vector<RuntimeNode> after;
  for (int32_t& output : changed.outputs) {
    if (output < 0) continue;
    const int32_t plain = graph_.AddLike(output, absl::StrCat(graph_.value(output).name, "/t"));
    Permute(graph_.value(plain), Inverse(permutation));
    RuntimeNode transpose;
    transpose.op_type = "Transpose";
    transpose.source = changed.source;
    transpose.permutation = permutation;
    transpose.inputs = {plain};
    transpose.outputs = {output};
    after.push_back(std::move(transpose));
    output = plain;
  }
  rewriter_.Change(node, std::move(changed));
  for (RuntimeNode& transpose : after) rewriter_.Replace({}, std::move(transpose), "");
}

bool TransposeMover::WidenInputs(int32_t node, const std::vector<size_t>& inputs, size_t rank) {
  const auto fits = [&](size_t i) {
    const TensorType& type = graph_.value(graph_.node(node).inputs[i]).visible;
    return type.has_rank && type.dims.size() <= rank;
  };
  if (!std::all_of(inputs.begin(), inputs.end(), fits)) return false;
  for (const size_t i : inputs) WidenInput(node, i, rank);
  return true;
}

void TransposeMover::WidenInput(int32_t node, size_t i, size_t rank) {
  const int32_t value = graph_.node(node).inputs[i];
  const size_t more = rank - graph_.value(value).visible.dims.size();
  if (more == 0) return;
  int32_t transpose = rewriter_.MadeBy(value, "Transpose");
  if (transpose >= 0 && !IsStated(rewriter_, transpose)) transpose = -1;
  const int32_t from = transpose >= 0 ? graph_.node(transpose).inputs[0] : value;
  int32_t wide = graph_.AddLike(from, absl::StrCat(graph_.value(from).name, "/wide"));
  InsertAxes(graph_.value(wide), rank);
  if (graph_.value(value).constant) {
    graph_.value(wide).constant = true;
    return SetInput(node, i, wide);
  }
  RuntimeNode made;
  made.op_type = "Unsqueeze";
  made.source = graph_.node(node).source;
  made.inputs = {from};
  made.outputs = {wide};
  made.axes.emplace();
  for (size_t axis = 0; axis < more; ++axis) made.axes->push_back(static_cast<int64_t>(axis));
  const std::vector<int64_t> axes = *made.axes;
  rewriter_.Replace({}, std::move(made), "");
  if (transpose >= 0) {
    wide = AddTranspose(wide, WithAxes(rewriter_.Permutation(transpose), axes),
                        graph_.node(node).source);
  }
  SetInput(node, i, wide);
  if (transpose >= 0) RemoveIfUnused(transpose);
}

void TransposeMover::Cancel(int32_t node, int32_t transpose) {
  const int32_t plain = graph_.node(transpose).inputs[0];
  const int32_t result = graph_.node(node).outputs[0];
  const int32_t maker = rewriter_.uses().producer[static_cast<size_t>(plain)];
  if (!rewriter_.Forward(node, plain, "")) {
    RuntimeNode changed = graph_.node(node);
    if (maker < 0 || graph_.value(plain).output) {
      changed.op_type = "Identity";
      changed.inputs = {plain};
      rewriter_.Change(node, std::move(changed));
    } else {
      MakeInstead(maker, plain, result, node);
    }
  }
  RemoveIfUnused(transpose);
}

// `node` is gone, and the maker of `plain` makes its result.
void TransposeMover::MakeInstead(int32_t maker, int32_t plain, int32_t result, int32_t node) {
  rewriter_.Remove(node);
  const std::vector<int32_t> readers = rewriter_.uses().readers[static_cast<size_t>(plain)];
  for (const int32_t reader : readers) {
    RuntimeNode changed = graph_.node(reader);
    std::replace(changed.inputs.begin(), changed.inputs.end(), plain, result);
    rewriter_.Change(reader, std::move(changed));
  }
  RuntimeNode changed = graph_.node(maker);
  std::replace(changed.outputs.begin(), changed.outputs.end(), plain, result);
  rewriter_.Change(maker, std::move(changed));
}

void TransposeMover::RemoveIfUnused(int32_t node) {
  const int32_t value = graph_.node(node).outputs[0];
  if (!graph_.value(value).output && rewriter_.uses().readers[static_cast<size_t>(value)].empty()) {
    rewriter_.Remove(node);
  }
}

void MoveTransposes(Rewriter& rewriter) {
  const std::vector<int32_t> order = rewriter.Order();
  CostModel costs(rewriter);
  costs.FindOutputsAhead(order);
  TransposeMover mover(rewriter);
  for (const int32_t node : order) {
    if (!rewriter.graph().node(node).removed && MoveThrough(mover, costs, node)) {
      rewriter.Count("Transpose moved");
    }
  }
}

}  // namespace footprint
