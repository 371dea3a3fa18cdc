// A Reshape whose sizes are put together from numbers and from sizes of what it reshapes copies the
// latter itself:
//
//   Shape -> Gather(0) -> Unsqueeze -> Concat(_, 4, 16) -> Reshape      becomes
//   Reshape to [0, 4, 16]
//
// One size may be computed in any other way: it is what is left.
#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backend/runtime/onnxruntime_rewrites.h"
#include "ir/infer_context.h"

namespace footprint {
namespace {

bool IsOneElement(const TensorType& type) {
  return type.has_rank &&
         std::all_of(type.dims.begin(), type.dims.end(), [](const Dim& dim) { return dim.Is(1); });
}

bool HaveSameSize(const RuntimeValue& a, const RuntimeValue& b, size_t axis) {
  return a.visible.has_rank && b.visible.has_rank && axis < a.visible.dims.size() &&
         axis < b.visible.dims.size() && SameSize(a.visible.dims[axis], b.visible.dims[axis]);
}

// Size `position` of `root`, or of what has the same one.
bool IsSizeOf(const Rewriter& rewriter, int32_t value, int32_t root, size_t position) {
  const RuntimeGraph& graph = rewriter.graph_view();
  const int32_t unsqueeze = rewriter.MadeBy(value, "Unsqueeze");
  if (unsqueeze < 0) return false;
  const std::optional<std::vector<int64_t>> axes = rewriter.Axes(unsqueeze, 1, 13);
  if (!axes || *axes != std::vector<int64_t>{0}) return false;
  const int32_t gather = rewriter.MadeBy(graph.node(unsqueeze).inputs[0], "Gather");
  if (gather < 0) return false;
  const int32_t shape = rewriter.MadeBy(graph.node(gather).inputs[0], "Shape");
  if (shape < 0 || rewriter.Integer(graph.node(gather).inputs[1]) != position) return false;
  const int32_t other = graph.node(shape).inputs[0];
  return other == root || HaveSameSize(graph.value(other), graph.value(root), position);
}

// What the Concat holds, in the words of Reshape; none: it is not of that form.
std::optional<std::vector<int64_t>> SizesOf(const Rewriter& rewriter, int32_t concat,
                                            int32_t root) {
  const RuntimeGraph& graph = rewriter.graph_view();
  std::vector<int64_t> sizes;
  for (const int32_t input : graph.node(concat).inputs) {
    if (rewriter.IsConstant(input)) {
      const KnownValuePtr& contents = graph.value(input).contents;
      if (contents == nullptr || contents->is_float || contents->is_sequence) return std::nullopt;
      for (const Dim& size : contents->integers) {
        if (!size.is_constant()) return std::nullopt;
        sizes.push_back(size.value());
      }
    } else if (IsSizeOf(rewriter, input, root, sizes.size())) {
      sizes.push_back(0);
    } else if (IsOneElement(graph.value(input).visible)) {
      sizes.push_back(-1);
    } else {
      return std::nullopt;
    }
  }
  if (std::count(sizes.begin(), sizes.end(), -1) > 1) return std::nullopt;
  return sizes;
}

// What is left is computed from numbers alone.
Dims ShapeOf(const RuntimeValue& root, const std::vector<int64_t>& sizes) {
  Dims dims;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const bool copies = sizes[i] == 0 && root.visible.has_rank && i < root.visible.dims.size();
    dims.push_back(copies ? root.visible.dims[i] : sizes[i] > 0 ? Dim(sizes[i]) : Dim());
  }
  return dims;
}

void RemoveUnread(Rewriter& rewriter, int32_t node) {
  const RuntimeGraph& graph = rewriter.graph_view();
  std::vector<int32_t> open = {node};
  while (!open.empty()) {
    const int32_t id = open.back();
    open.pop_back();
    const RuntimeNode row = graph.node(id);
    const bool is_read = std::any_of(row.outputs.begin(), row.outputs.end(), [&](int32_t output) {
      return output >= 0 && (graph.value(output).output ||
                             !rewriter.uses().readers[static_cast<size_t>(output)].empty());
    });
    if (row.removed || is_read) continue;
    rewriter.Remove(id);
    for (const int32_t input : row.inputs) {
      const int32_t maker = input < 0 ? -1 : rewriter.uses().producer[static_cast<size_t>(input)];
      if (maker >= 0) open.push_back(maker);
    }
  }
}

constexpr absl::string_view kSizedByOperands[] = {
    "Reshape", "Expand", "Tile", "Slice",           "Resize", "Upsample",
    "Pad",     "OneHot", "TopK", "ConstantOfShape", "Range",  "CenterCropPad"};

bool IsKnown(const TensorType& type) {
  return type.has_rank && std::none_of(type.dims.begin(), type.dims.end(),
                                       [](const Dim& dim) { return dim.is_unknown(); });
}

// All that decides the sizes of its results is seen.
bool SeesOperands(const RuntimeGraph& graph, const RuntimeNode& node) {
  const bool is_sized = std::find(std::begin(kSizedByOperands), std::end(kSizedByOperands),
                                  node.op_type) != std::end(kSizedByOperands);
  return !is_sized && !node.inputs.empty() &&
         std::all_of(node.inputs.begin(), node.inputs.end(), [&](int32_t input) {
           return input < 0 || graph.value(input).constant || IsKnown(graph.value(input).visible);
         });
}

// Behind sizes that are seen now. Those that a node computes from names are not.
void SeeMore(Rewriter& rewriter) {
  RuntimeGraph& graph = rewriter.graph();
  for (const int32_t id : rewriter.Order()) {
    const RuntimeNode node = graph.node(id);
    if (!SeesOperands(graph, node)) continue;
    for (const int32_t output : node.outputs) {
      if (output < 0) continue;
      RuntimeValue& value = graph.value(output);
      if (!value.type.has_rank || IsKnown(value.visible)) continue;
      value.visible.has_rank = true;
      value.visible.dims = value.type.dims;
      ForgetDeclared(graph, node, output);
    }
  }
}

}  // namespace

void FuseShapes(Rewriter& rewriter) {
  RuntimeGraph& graph = rewriter.graph();
  const int64_t before = rewriter.changes();
  for (const int32_t id : rewriter.Order()) {
    if (graph.node(id).removed || !rewriter.Is(id, "Reshape")) continue;
    RuntimeNode reshape = graph.node(id);
    const int32_t concat = rewriter.MadeBy(reshape.inputs[1], "Concat");
    if (concat < 0 || !rewriter.IsUsedOnce(reshape.inputs[1])) continue;
    const std::optional<std::vector<int64_t>> sizes = SizesOf(rewriter, concat, reshape.inputs[0]);
    if (!sizes) continue;
    const int32_t stored = graph.AddStored(reshape.inputs[1], graph.value(reshape.inputs[1]).name);
    KnownValue contents;
    contents.integers.assign(sizes->begin(), sizes->end());
    graph.value(stored).contents = std::make_shared<const KnownValue>(std::move(contents));
    RuntimeValue& result = graph.value(reshape.outputs[0]);
    if (!result.visible.has_rank || !result.visible.AllDimsConstant()) {
      result.visible.has_rank = true;
      result.visible.dims = ShapeOf(graph.value(reshape.inputs[0]), *sizes);
    }
    reshape.inputs[1] = stored;
    rewriter.Change(id, std::move(reshape));
    RemoveUnread(rewriter, concat);
    rewriter.Count("sizes of Reshape stored");
  }
  if (rewriter.changes() > before) SeeMore(rewriter);
}

}  // namespace footprint
