// Quantized convolutions work on images with their channels last:
//
//   QLinearConv   becomes   Transpose -> QLinearConv on channels last -> Transpose
//
// and the transpositions are moved to where they meet others. One that ends up on one side of a
// quantization alone gets a pair of it on the other.
#include <utility>

#include "absl/strings/str_cat.h"
#include "backend/runtime/onnxruntime_quantized.h"
#include "backend/runtime/onnxruntime_rewrites.h"
#include "backend/runtime/onnxruntime_transposes.h"

namespace footprint {
namespace {

bool IsByte(const RuntimeValue& value) {
  return value.type.element == ElementType::kUint8 || value.type.element == ElementType::kInt8;
}

bool ReadsByte(const Rewriter& rewriter, int32_t node) {
  const RuntimeGraph& graph = rewriter.graph_view();
  return rewriter.Is(node, "QLinearConv") && !graph.node(node).inputs.empty() &&
         IsByte(graph.value(graph.node(node).inputs[0]));
}

// What the transposition makes is dequantized again after it.
void PairAfter(Rewriter& rewriter, int32_t transpose, int32_t like) {
  RuntimeGraph& graph = rewriter.graph();
  RuntimeNode changed = graph.node(transpose);
  const int32_t result = changed.outputs[0];
  const int32_t before = graph.AddLike(result, absl::StrCat(graph.value(result).name, "/before"));
  changed.outputs[0] = before;
  rewriter.Change(transpose, std::move(changed));
  AddDequantization(rewriter, AddQuantization(rewriter, before, like), like, result);
}

void PairBefore(Rewriter& rewriter, int32_t transpose, int32_t like) {
  RuntimeGraph& graph = rewriter.graph();
  RuntimeNode changed = graph.node(transpose);
  const int32_t value = changed.inputs[0];
  const int32_t after = graph.AddLike(value, absl::StrCat(graph.value(value).name, "/after"));
  AddDequantization(rewriter, AddQuantization(rewriter, value, like), like, after);
  changed.inputs[0] = after;
  rewriter.Change(transpose, std::move(changed));
}

void MendTranspose(Rewriter& rewriter, int32_t node) {
  const RuntimeGraph& graph = rewriter.graph_view();
  const int32_t value = graph.node(node).inputs[0];
  const int32_t result = graph.node(node).outputs[0];
  const int32_t before = DequantizedBy(rewriter, value);
  const std::vector<int32_t>& readers = rewriter.uses().readers[static_cast<size_t>(result)];
  const bool quantizes = readers.size() == 1 && IsQuantization(rewriter, readers[0]);
  if (before >= 0) {
    if (readers.size() > 1 || quantizes || !rewriter.IsUsedOnce(value)) return;
    if (HasOneScale(rewriter, before)) PairAfter(rewriter, node, before);
    return;
  }
  const int32_t maker = rewriter.uses().producer[static_cast<size_t>(value)];
  if (!quantizes || maker < 0 || graph.value(result).output || !rewriter.IsUsedOnce(value)) return;
  if (HasOneScale(rewriter, readers[0])) PairBefore(rewriter, node, readers[0]);
}

}  // namespace

void MendQuantized(Rewriter& rewriter) {
  for (const int32_t node : rewriter.Order()) {
    if (rewriter.Is(node, "Transpose")) MendTranspose(rewriter, node);
    if (IsQuantization(rewriter, node)) DropInversePair(rewriter, node);
  }
}

void PutChannelsLast(Rewriter& rewriter) {
  RuntimeGraph& graph = rewriter.graph();
  TransposeMover mover(rewriter);
  bool found = false;
  for (const int32_t node : rewriter.Order()) {
    if (!ReadsByte(rewriter, node)) continue;
    const TensorType& image = graph.value(graph.node(node).inputs[0]).visible;
    if (!image.has_rank || image.dims.size() < 3) continue;
    Permutation to_last = {0};
    for (size_t i = 2; i < image.dims.size(); ++i) to_last.push_back(static_cast<int64_t>(i));
    to_last.push_back(1);
    mover.TransposeInput(node, 0, to_last);
    mover.TransposeOutputs(node, Inverse(to_last));
    RuntimeNode made = graph.node(node);  // numbered after its transpositions
    made.domain = std::string(kMicrosoftDomain);
    rewriter.Replace({node}, std::move(made), "QLinearConv on channels last");
    found = true;
  }
  if (!found) return;
  MoveTransposes(rewriter);
  MendQuantized(rewriter);
}

}  // namespace footprint
