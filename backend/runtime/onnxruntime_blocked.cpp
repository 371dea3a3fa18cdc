// Convolutions on blocks of channels. Kernels of the CPU want images as [batch, channels / 16,
// height, width, 16], so that convolutions, pools and what lies between them work on such copies:
//
//   x -> ReorderInput -> Conv -> MaxPool -> Conv -> ReorderOutput -> y
//
// Channels are padded to whole blocks. An addition of two such images becomes an operand of the
// convolution that makes one of them, which then writes over the other where that dies; additions
// of images whose sizes cannot be told equal are done between two reshapes. What lays out channels
// last, or gets them so, does it while it is reordered.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backend/runtime/onnxruntime_rewrites.h"

namespace footprint {
namespace {

constexpr int64_t kBlock = 16;  // of AVX-512; 8 before it
constexpr int64_t kAlignment = 4;

int64_t Padded(int64_t channels) { return (channels + kBlock - 1) / kBlock * kBlock; }

class Blocker {
 public:
  explicit Blocker(Rewriter& rewriter) : rewriter_(rewriter), graph_(rewriter.graph()) {}

  void Run() {
    for (const int32_t id : rewriter_.Order()) Convert(id);
    for (auto& [value, image] : images_) {
      if (image.left > 0) Reorder("ReorderOutput", image.source, image.value, value);
    }
    AbsorbTransposes();
    rewriter_.FindUsesAgain();
  }

 private:
  // Where a size of an image comes from: the value that first had it, and how often it was halved.
  using Origin = std::pair<int32_t, int64_t>;

  // The blocked copy of a value of the graph.
  struct Image {
    int32_t value = -1;
    int32_t node = -1;  // that makes it
    NodeId source;
    int64_t channels = 0;
    int64_t uses = 0;  // of the value at first
    int64_t left = 0;  // that still read the value itself
    bool has_activation = false;
    std::array<Origin, 4> sizes;
  };

  void Convert(int32_t id) {
    const RuntimeNode& node = graph_.node(id);
    if (node.removed || node.outputs.size() != 1 || node.outputs[0] < 0) return;
    const absl::string_view op = node.op_type;
    if (rewriter_.Is(id, "Conv") || rewriter_.Is(id, "FusedConv", kMicrosoftDomain)) {
      return ConvertConvolution(id);
    }
    if (node.inputs.empty() || node.inputs[0] < 0) return;
    if (op == "MaxPool" || op == "AveragePool") return ConvertPool(id);
    if (FindImage(node.inputs[0]) == nullptr) return;
    if (op == "GlobalAveragePool" || op == "GlobalMaxPool") return ConvertPool(id);
    if (op == "BatchNormalization") return ConvertNormalization(id);
    if (op == "Concat") return ConvertConcat(id);
    if (op == "Transpose") return ConvertTranspose(id);
    if (op == "Resize" || op == "Upsample") return ConvertResize(id);
    if (op == "Add" || op == "Sum" || op == "Mul") return ConvertArithmetic(id);
    for (const char* activation : {"Relu", "Sigmoid", "Tanh", "LeakyRelu", "HardSigmoid", "Clip"}) {
      if (op == activation) return ConvertActivation(id);
    }
    for (const char* activation : {"QuickGelu", "Gelu", "Elu", "Erf"}) {
      if (op == activation) return KeepElementwise(id);
    }
  }

  Image* FindImage(int32_t value) {
    const auto found = images_.find(value);
    return found == images_.end() ? nullptr : &found->second;
  }

  int64_t UsesOf(int32_t value) const {
    return static_cast<int64_t>(rewriter_.uses().readers[static_cast<size_t>(value)].size()) +
           (graph_.value(value).output ? 1 : 0);
  }

  // A blocked copy of the value, which the next node is going to make from `from`.
  Image& AddImage(int32_t value, int32_t from, int64_t channels, NodeId source) {
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
      Hide(type);
    } else if (type.has_rank && !type.dims.empty() && !source_type.dims.empty()) {
      type.dims[0] = source_type.dims[0];
    }
    return images_[value] = image;
  }

  static void Hide(TensorType& type) {
    type.has_rank = false;
    type.dims.clear();
  }

  void PadChannels(int32_t value, int64_t channels) {
    for (TensorType* type : {&graph_.value(value).type, &graph_.value(value).visible}) {
      if (type->has_rank && type->dims.size() > 1) type->dims[1] = Dim(Padded(channels));
    }
  }

  int32_t Take(int32_t value) {
    Image* image = FindImage(value);
    --image->left;
    return image->value;
  }

  void Reorder(const char* op, NodeId source, int32_t from, int32_t to) {
    RuntimeNode node;
    node.op_type = op;
    node.domain = std::string(kNchwcDomain);
    node.source = source;
    node.inputs = {from};
    node.outputs = {to};
    graph_.nodes.push_back(std::move(node));
    rewriter_.Count(op);
  }

  int32_t Blocked(int32_t value, int64_t channels, NodeId source) {
    if (FindImage(value) != nullptr) return Take(value);
    const auto found = reordered_.find(value);
    if (found != reordered_.end()) return found->second.first;
    const int32_t copy =
        graph_.AddLike(value, absl::StrCat(graph_.value(value).name, " in blocks"));
    PadChannels(copy, channels);
    reordered_[value] = {copy, static_cast<int32_t>(graph_.nodes.size())};
    Reorder("ReorderInput", source, value, copy);
    return copy;
  }

  // A window keeps the batch of its image, and a size that it is padded for, or halves it.
  std::array<Origin, 4> WindowSizes(int32_t id, int32_t output, int32_t input,
                                    std::vector<int64_t> kernel) const {
    std::array<Origin, 4> sizes = OwnSizes(output);
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

  static std::array<Origin, 4> OwnSizes(int32_t value) {
    return {Origin{value, 0}, Origin{value, 0}, Origin{value, 0}, Origin{value, 0}};
  }

  // Four sizes of the stored filter; empty if it has others.
  std::vector<int64_t> FilterOf(const RuntimeNode& node) const {
    std::vector<int64_t> sizes;
    if (node.inputs.size() < 2 || !rewriter_.IsConstant(node.inputs[1])) return sizes;
    if (node.inputs.size() > 2 && node.inputs[2] >= 0 && !rewriter_.IsConstant(node.inputs[2])) {
      return sizes;
    }
    const RuntimeValue& filter = graph_.value(node.inputs[1]);
    if (filter.type.element != ElementType::kFloat || filter.visible.dims.size() != 4) return {};
    for (const Dim& dim : filter.visible.dims) {
      if (!dim.is_constant()) return {};
      sizes.push_back(dim.value());
    }
    return sizes;
  }

  void ConvertConvolution(int32_t id) {
    RuntimeNode made = graph_.node(id);
    const std::vector<int64_t> filter = FilterOf(made);
    if (filter.empty() || made.inputs.size() > 3) return;
    const int64_t groups = rewriter_.Int(id, "group", 1);
    const int64_t channels = filter[1];
    bool reorders = true;
    if (groups > 1) {
      const bool by_channel = channels == 1 && filter[0] == groups;
      if (by_channel ? groups % kAlignment != 0
                     : filter[0] % kBlock != 0 || channels % kBlock != 0) {
        return;
      }
    } else if (channels < kBlock) {
      reorders = false;  // reads the plain image
    } else if (channels % kAlignment != 0) {
      return;
    }
    const int32_t input = made.inputs[0];
    const std::array<Origin, 4> sizes =
        WindowSizes(id, made.outputs[0], reorders ? input : -1, {filter[2], filter[3]});
    if (reorders) made.inputs[0] = Blocked(input, channels * groups, made.source);
    const bool has_activation = made.op_type == "FusedConv";
    made.op_type = "Conv";
    made.domain = std::string(kNchwcDomain);
    Image& image = Replace(id, std::move(made), filter[0]);
    image.has_activation = has_activation;
    image.sizes = sizes;
    rewriter_.Count("Conv on blocks of channels");
  }

  // Rank and channels of what may be reordered, if it is of whole blocks; 0.
  int64_t WholeBlocks(int32_t value) const {
    const RuntimeValue& row = graph_.value(value);
    if (row.type.element != ElementType::kFloat || row.visible.dims.size() != 4) return 0;
    const Dim channels = row.visible.dims[1];
    return channels.is_constant() && channels.value() % kBlock == 0 ? channels.value() : 0;
  }

  void ConvertPool(int32_t id) {
    RuntimeNode made = graph_.node(id);
    const int32_t input = made.inputs[0];
    const Image* image = FindImage(input);
    const int64_t channels = image != nullptr ? image->channels : WholeBlocks(input);
    if (channels == 0 || channels % kBlock != 0) return;
    const std::array<Origin, 4> sizes = WindowSizes(id, made.outputs[0], made.inputs[0], {});
    made.domain = std::string(kNchwcDomain);
    made.inputs[0] = Blocked(input, channels, made.source);
    Replace(id, std::move(made), channels).sizes = sizes;
  }

  // One factor and one addend for each channel: a convolution by channel.
  void ConvertNormalization(int32_t id) {
    RuntimeNode made = graph_.node(id);
    if (made.inputs.size() != 5 || rewriter_.Int(id, "training_mode", 0) != 0 ||
        !std::all_of(made.inputs.begin() + 1, made.inputs.end(),
                     [&](int32_t value) { return rewriter_.IsConstant(value); })) {
      return;
    }
    const Image image = *FindImage(made.inputs[0]);
    made.op_type = "Conv";
    made.domain = std::string(kNchwcDomain);
    made.inputs = {Take(made.inputs[0]), made.inputs[1]};
    Replace(id, std::move(made), image.channels).sizes = image.sizes;
    rewriter_.Count("BatchNormalization -> Conv on blocks of channels");
  }

  void ConvertConcat(int32_t id) {
    RuntimeNode& node = graph_.node(id);
    if (rewriter_.Axis(id, 0) != 1) return;
    int64_t channels = 0;
    for (const int32_t input : node.inputs) {
      const Image* image = FindImage(input);
      if (image == nullptr || image->channels % kBlock != 0) return;
      channels += image->channels;
    }
    std::array<Origin, 4> sizes = FindImage(node.inputs[0])->sizes;
    sizes[1] = {node.outputs[0], 0};
    for (int32_t& input : node.inputs) input = Take(input);
    Keep(id, channels, sizes);
  }

  // Channels last on the way out.
  void ConvertTranspose(int32_t id) {
    const RuntimeNode node = graph_.node(id);
    if (rewriter_.Permutation(id) != std::vector<int64_t>{0, 2, 3, 1}) return;
    graph_.node(id).removed = true;
    Reorder("ReorderOutput", node.source, Take(node.inputs[0]), node.outputs[0]);
  }

  // Each element repeated a whole number of times.
  void ConvertResize(int32_t id) {
    RuntimeNode made = graph_.node(id);
    const bool is_old = made.op_type == "Upsample" || rewriter_.VersionOf(id) < 11;
    const size_t scales = is_old ? 1 : 2;
    if (made.inputs.size() != scales + 1 || !ScalesByWholes(made.inputs[scales])) return;
    if (rewriter_.String(id, "mode", "nearest") != "nearest") return;
    if (!is_old && (rewriter_.String(id, "coordinate_transformation_mode", "") != "asymmetric" ||
                    rewriter_.String(id, "nearest_mode", "") != "floor")) {
      return;
    }
    const int64_t channels = FindImage(made.inputs[0])->channels;
    made.op_type = "Upsample";
    made.domain = std::string(kNchwcDomain);
    made.inputs = {Take(made.inputs[0])};
    Hide(graph_.value(Replace(id, std::move(made), channels).value).visible);
  }

  bool ScalesByWholes(int32_t value) const {
    if (!rewriter_.IsConstant(value)) return false;
    const KnownValuePtr& contents = graph_.value(value).contents;
    if (contents == nullptr || contents->floats.size() != 4) return false;
    const std::vector<double>& scales = contents->floats;
    return scales[0] == 1 && scales[1] == 1 &&
           std::all_of(scales.begin(), scales.end(),
                       [](double scale) { return scale >= 1 && scale == std::floor(scale); });
  }

  bool IsBareConvolution(const Image& image) const {
    const RuntimeNode& node = graph_.node(image.node);
    return node.op_type == "Conv" && node.domain == kNchwcDomain && node.inputs.size() < 4 &&
           image.uses == 1 && !image.has_activation;
  }

  // `to` is made by the node of the image from now on.
  void HandOver(int32_t id, int32_t from, int32_t to) {
    Image image = *FindImage(from);
    image.uses = image.left = UsesOf(to);
    images_.erase(from);
    images_[to] = image;
    graph_.node(id).removed = true;
  }

  // Two images, by value: nothing is known to tell a size of one from that of the other.
  bool SameImages(int32_t a, int32_t b) const {
    const std::array<Origin, 4>& left = images_.at(a).sizes;
    const std::array<Origin, 4>& right = images_.at(b).sizes;
    for (size_t i = 0; i < 4; ++i) {
      if (left[i] == right[i]) continue;
      const Dims& dims = graph_.value(a).visible.dims;
      const Dims& others = graph_.value(b).visible.dims;
      if (dims.size() != 4 || others.size() != 4 || !SameSize(dims[i], others[i])) return false;
    }
    return true;
  }

  void ConvertArithmetic(int32_t id) {
    const RuntimeNode node = graph_.node(id);
    const bool adds = node.op_type != "Mul";
    bool are_same = true;
    for (const int32_t input : node.inputs) {
      const Image* image = FindImage(input);
      if (image == nullptr || image->channels != FindImage(node.inputs[0])->channels) return;
      are_same = are_same && SameImages(node.inputs[0], input);
    }
    if (!are_same) {
      if (adds) AddReshaped(id);
      return;
    }
    if (adds && node.inputs.size() == 2 && AddInConvolution(id)) return;
    const Image image = *FindImage(node.inputs[0]);
    for (int32_t& input : graph_.node(id).inputs) input = Take(input);
    Keep(id, image.channels, image.sizes);
  }

  bool AddInConvolution(int32_t id) {
    const RuntimeNode node = graph_.node(id);
    for (size_t i = 0; i < 2; ++i) {
      Image* image = FindImage(node.inputs[i]);
      if (!IsBareConvolution(*image) || node.inputs[0] == node.inputs[1]) continue;
      const int32_t addend = Take(node.inputs[1 - i]);
      graph_.node(image->node).inputs.resize(3, -1);
      graph_.node(image->node).inputs.push_back(addend);
      rewriter_.Count("Conv + Add");
      HandOver(id, node.inputs[i], node.outputs[0]);
      return true;
    }
    return false;
  }

  // Sizes that may differ: as [batch, channels / 16, height, width, 16], which may be broadcast.
  void AddReshaped(int32_t id) {
    const RuntimeNode node = graph_.node(id);
    const int64_t channels = FindImage(node.inputs[0])->channels;
    const int32_t sum = graph_.AddLike(node.outputs[0],
                                       absl::StrCat(graph_.value(node.outputs[0]).name, "/sum"));
    SplitChannels(sum, channels);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const int32_t image = Take(node.inputs[i]);
      const int32_t split =
          graph_.AddLike(image, absl::StrCat(graph_.value(image).name, "/split"));
      SplitChannels(split, channels);
      graph_.node(id).inputs[i] = split;
      Reshape(node.source, image, split);
      Broadcast(graph_.value(sum).visible, graph_.value(split).visible, i == 0);
    }
    graph_.node(id).outputs = {sum};
    Image& image = AddImage(node.outputs[0], sum, channels, node.source);
    const Dims seen = graph_.value(sum).visible.dims;
    TensorType& type = graph_.value(image.value).visible;
    if (seen.size() == 5 && type.dims.size() == 4) {
      type.dims = {seen[0], type.dims[1], seen[2], seen[3]};
    }
    image.node = static_cast<int32_t>(graph_.nodes.size());
    Reshape(node.source, sum, image.value);
  }

  void SplitChannels(int32_t value, int64_t channels) {
    PadChannels(value, channels);
    for (TensorType* type : {&graph_.value(value).type, &graph_.value(value).visible}) {
      if (!type->has_rank || type->dims.size() != 4) continue;
      type->dims[1] = Dim(Padded(channels) / kBlock);
      type->dims.push_back(Dim(kBlock));
    }
  }

  static void Broadcast(TensorType& sum, const TensorType& operand, bool is_first) {
    if (!operand.has_rank) return Hide(sum);
    for (size_t i = 0; i < sum.dims.size() && i < operand.dims.size(); ++i) {
      if (is_first || sum.dims[i].Is(1)) {
        sum.dims[i] = operand.dims[i];
      } else if (!SameSize(sum.dims[i], operand.dims[i]) && !operand.dims[i].Is(1)) {
        sum.dims[i] = Dim();
      }
    }
  }

  void Reshape(NodeId source, int32_t from, int32_t to) {
    RuntimeNode node;
    node.op_type = "Reshape";
    node.source = source;
    node.inputs = {from};
    node.outputs = {to};
    graph_.nodes.push_back(std::move(node));
  }

  void ConvertActivation(int32_t id) {
    const RuntimeNode node = graph_.node(id);
    Image* image = FindImage(node.inputs[0]);
    const RuntimeNode& maker = graph_.node(image->node);
    const bool fuses = node.op_type != "Clip" && maker.op_type == "Conv" &&
                       maker.domain == kNchwcDomain && image->uses == 1 && !image->has_activation;
    if (!fuses) return KeepElementwise(id);
    Take(node.inputs[0]);
    image->has_activation = true;
    rewriter_.Count(absl::StrCat("Conv + ", node.op_type));
    HandOver(id, node.inputs[0], node.outputs[0]);
  }

  void KeepElementwise(int32_t id) {
    const Image image = *FindImage(graph_.node(id).inputs[0]);
    graph_.node(id).inputs[0] = Take(graph_.node(id).inputs[0]);
    Keep(id, image.channels, image.sizes);
  }

  // The node makes the blocked copy of what it made.
  void Keep(int32_t id, int64_t channels, const std::array<Origin, 4>& sizes) {
    const RuntimeNode node = graph_.node(id);
    Image& image = AddImage(node.outputs[0], node.inputs[0], channels, node.source);
    image.node = id;
    image.sizes = sizes;
    for (const int32_t input : node.inputs) {
      if (input >= 0 && !graph_.value(input).visible.has_rank) {
        Hide(graph_.value(image.value).visible);
      }
    }
    graph_.node(id).outputs[0] = image.value;
  }

  // Another node makes it.
  Image& Replace(int32_t id, RuntimeNode made, int64_t channels) {
    Image& image = AddImage(made.outputs[0], made.inputs[0], channels, made.source);
    made.outputs = {image.value};
    graph_.node(id).removed = true;
    graph_.nodes.push_back(std::move(made));
    return image;
  }

  // Channels last on the way in.
  void AbsorbTransposes() {
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

  Rewriter& rewriter_;
  RuntimeGraph& graph_;
  std::map<int32_t, Image> images_;  // by value of the graph
  std::map<int32_t, std::pair<int32_t, int32_t>> reordered_;  // to the copy, and its node
};

}  // namespace

void BlockChannels(Rewriter& rewriter) { Blocker(rewriter).Run(); }

}  // namespace footprint
