#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backend/runtime/onnxruntime_blocked.h"

namespace footprint {

namespace {

BlockedImages::Origins OwnSizes(int32_t value) {
  return {BlockedImages::Origin{value, 0}, BlockedImages::Origin{value, 0},
          BlockedImages::Origin{value, 0}, BlockedImages::Origin{value, 0}};
}

}  // namespace

void HideShape(TensorType& type) {
  type.has_rank = false;
  type.dims.clear();
}

BlockedImages::Image* BlockedImages::Find(int32_t value) {
  const auto found = images_.find(value);
  return found == images_.end() ? nullptr : &found->second;
}

int32_t BlockedImages::Take(int32_t value) {
  Image* image = Find(value);
  --image->left;
  return image->value;
}

int32_t BlockedImages::Blocked(int32_t value, int64_t channels, NodeId source) {
  if (Find(value) != nullptr) return Take(value);
  const auto found = reordered_.find(value);
  if (found != reordered_.end()) return found->second.first;
  const int32_t copy = graph_.AddLike(value, absl::StrCat(graph_.value(value).name, " in blocks"));
  PadChannels(copy, channels);
  reordered_[value] = {copy, static_cast<int32_t>(graph_.nodes.size())};
  Reorder("ReorderInput", source, value, copy);
  return copy;
}

BlockedImages::Image& BlockedImages::Add(int32_t value, int32_t from, int64_t channels,
                                         NodeId source) {
  Image image;
  image.value = graph_.AddLike(value, absl::StrCat(graph_.value(value).name, " in blocks"));
  image.node = static_cast<int32_t>(graph_.nodes.size());
  image.source = source;
  image.channels = channels;
  image.uses = image.left = UsesOf(value);
  image.sizes = OwnSizes(value);
  PadChannels(image.value, channels);
  // Its batch is that of the image it is made from, whatever the file calls it.
  const TensorType& source_type = graph_.value(from).visible;
  TensorType& type = graph_.value(image.value).visible;
  if (!source_type.has_rank) {
    HideShape(type);
  } else if (type.has_rank && !type.dims.empty() && !source_type.dims.empty()) {
    type.dims[0] = source_type.dims[0];
  }
  return images_[value] = image;
}

void BlockedImages::Keep(int32_t id, int64_t channels, const Origins& sizes) {
  const RuntimeNode node = graph_.node(id);
  Image& image = Add(node.outputs[0], node.inputs[0], channels, node.source);
  image.node = id;
  image.sizes = sizes;
  for (const int32_t input : node.inputs) {
    if (input >= 0 && !graph_.value(input).visible.has_rank) {
      HideShape(graph_.value(image.value).visible);
    }
  }
  graph_.node(id).outputs[0] = image.value;
}

BlockedImages::Image& BlockedImages::Replace(int32_t id, RuntimeNode made, int64_t channels) {
  Image& image = Add(made.outputs[0], made.inputs[0], channels, made.source);
  made.outputs = {image.value};
  graph_.node(id).removed = true;
  graph_.nodes.push_back(std::move(made));
  // Windows over sizes that are names are not followed.
  Dims& dims = graph_.value(image.value).visible.dims;
  for (size_t i = 2; i < dims.size(); ++i) {
    if (!dims[i].is_constant()) dims[i] = Dim();
  }
  return image;
}

void BlockedImages::HandOver(int32_t id, int32_t from, int32_t to) {
  Image image = *Find(from);
  image.uses = image.left = UsesOf(to);
  images_.erase(from);
  images_[to] = image;
  graph_.node(id).removed = true;
}

void BlockedImages::Reorder(const char* op, NodeId source, int32_t from, int32_t to) {
  graph_.nodes.push_back(Unary(op, std::string(kNchwcDomain), source, from, to));
  rewriter_.Count(op);
}

void BlockedImages::PadChannels(int32_t value, int64_t channels) {
  for (TensorType* type : {&graph_.value(value).type, &graph_.value(value).visible}) {
    if (type->has_rank && type->dims.size() > 1) type->dims[1] = Dim(PaddedChannels(channels));
  }
}

BlockedImages::Origins BlockedImages::WindowSizes(int32_t id, int32_t output, int32_t input,
                                                  std::vector<int64_t> kernel) const {
  Origins sizes = OwnSizes(output);
  const auto image = images_.find(input);
  if (image == images_.end()) return sizes;
  sizes[0] = image->second.sizes[0];
  const absl::Span<const int64_t> pads = rewriter_.Ints(id, "pads");
  const absl::Span<const int64_t> strides = rewriter_.Ints(id, "strides");
  const absl::Span<const int64_t> dilations = rewriter_.Ints(id, "dilations");
  const absl::string_view auto_pad = rewriter_.String(id, "auto_pad", "NOTSET");
  const bool pads_to_same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  if (kernel.empty()) {
    const absl::Span<const int64_t> shape = rewriter_.Ints(id, "kernel_shape");
    kernel.assign(shape.begin(), shape.end());
  }
  if (kernel.size() != 2) return sizes;
  const auto at = [](absl::Span<const int64_t> list, size_t i, int64_t otherwise) {
    return i < list.size() ? list[i] : otherwise;
  };
  for (size_t i = 0; i < 2; ++i) {
    const int64_t stride = at(strides, i, 1);
    if (at(dilations, i, 1) != 1 || (stride != 1 && stride != 2)) continue;
    const int64_t padding = auto_pad == "NOTSET" ? at(pads, i, 0) + at(pads, i + 2, 0) : 0;
    if (padding + 1 != kernel[i] && !pads_to_same) continue;
    sizes[2 + i] = image->second.sizes[2 + i];
    sizes[2 + i].second += stride - 1;
  }
  return sizes;
}

int64_t BlockedImages::UsesOf(int32_t value) const {
  return static_cast<int64_t>(rewriter_.uses().readers[static_cast<size_t>(value)].size()) +
         (graph_.value(value).output ? 1 : 0);
}

void BlockedImages::AbsorbTransposes() {
  rewriter_.FindUsesAgain();
  for (const auto& [value, reorder] : reordered_) {
    const int32_t transpose = rewriter_.MadeBy(value, "Transpose");
    if (transpose < 0 || rewriter_.Permutation(transpose) != std::vector<int64_t>{0, 3, 1, 2}) {
      continue;
    }
    const bool is_last = rewriter_.IsUsedOnce(value);
    graph_.node(reorder.second).inputs[0] = graph_.node(transpose).inputs[0];
    if (is_last) graph_.node(transpose).removed = true;
    rewriter_.FindUsesAgain();
  }
}

void BlockedImages::Finish() {
  for (auto& [value, image] : images_) {
    if (image.left > 0) Reorder("ReorderOutput", image.source, image.value, value);
  }
  AbsorbTransposes();
  rewriter_.FindUsesAgain();
}

}  // namespace footprint
