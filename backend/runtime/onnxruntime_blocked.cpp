// Convolutions on blocks of channels. Kernels of the CPU want images as [batch, channels / 16,
// height, width, 16], so that convolutions, pools and what lies between them work on such copies:
//
//   x -> ReorderInput -> Conv -> MaxPool -> Conv -> ReorderOutput -> y
//
// Channels are padded to whole blocks. An addition of two such images becomes an operand of the
// convolution that makes one of them, which then writes over the other where that dies; additions
// of images whose sizes cannot be told equal are done between two reshapes. What lays out channels
// last, or gets them so, does it while it is reordered.
#include "backend/runtime/onnxruntime_blocked.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backend/runtime/onnxruntime_rewrites.h"

namespace footprint {
namespace {

constexpr int64_t kAlignment = 4;

class Blocker {
 public:
  explicit Blocker(Rewriter& rewriter)
      : rewriter_(rewriter), graph_(rewriter.graph()), images_(rewriter) {}

  void Run() {
    for (const int32_t id : rewriter_.Order()) Convert(id);
    images_.Finish();
  }

 private:
  void Convert(int32_t id) {
    const RuntimeNode& node = graph_.node(id);
    if (node.removed || node.outputs.size() != 1 || node.outputs[0] < 0) return;
    const absl::string_view op = node.op_type;
    if (rewriter_.Is(id, "Conv") || rewriter_.Is(id, "FusedConv", kMicrosoftDomain)) {
      return ConvertConvolution(id);
    }
    if (node.inputs.empty() || node.inputs[0] < 0) return;
    if (op == "MaxPool" || op == "AveragePool") return ConvertPool(id);
    // Of what a node makes, global pools take what lies in blocks alone.
    const bool is_global = op == "GlobalAveragePool" || op == "GlobalMaxPool";
    if (is_global && graph_.value(node.inputs[0]).input) return ConvertPool(id);
    if (images_.Find(node.inputs[0]) == nullptr) return;
    if (is_global) return ConvertPool(id);
    if (op == "BatchNormalization") return ConvertNormalization(id);
    if (op == "Concat") return ConvertConcat(id);
    if (op == "Transpose") return ConvertTranspose(id);
    if (op == "Resize" || op == "Upsample") return ConvertResize(id);
    if (op == "Add" || op == "Sum" || op == "Mul") return ConvertArithmetic(id);
    for (const char* activation : {"Relu", "Sigmoid", "Tanh", "LeakyRelu", "HardSigmoid", "Clip"}) {
      if (op == activation) return ConvertActivation(id);
    }
    for (const char* activation : {"QuickGelu", "Gelu", "Elu", "Erf", "HardSwish"}) {
      if (op == activation) return KeepElementwise(id);
    }
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
                     : filter[0] / groups % kChannelBlock != 0 || channels % kChannelBlock != 0) {
        return;
      }
    } else if (channels < kChannelBlock) {
      reorders = false;  // reads the plain image
    } else if (channels % kAlignment != 0) {
      return;
    }
    const int32_t input = made.inputs[0];
    const BlockedImages::Origins sizes =
        images_.WindowSizes(id, made.outputs[0], reorders ? input : -1, {filter[2], filter[3]});
    if (reorders) made.inputs[0] = images_.Blocked(input, channels * groups, made.source);
    const bool has_activation = made.op_type == "FusedConv";
    made.op_type = "Conv";
    made.domain = std::string(kNchwcDomain);
    BlockedImages::Image& image = images_.Replace(id, std::move(made), filter[0]);
    image.has_activation = has_activation;
    image.sizes = sizes;
    rewriter_.Count("Conv on blocks of channels");
  }

  // Rank and channels of what may be reordered, if it is of whole blocks; 0.
  int64_t WholeBlocks(int32_t value) const {
    const RuntimeValue& row = graph_.value(value);
    if (row.type.element != ElementType::kFloat || row.visible.dims.size() != 4) return 0;
    const Dim channels = row.visible.dims[1];
    return channels.is_constant() && channels.value() % kChannelBlock == 0 ? channels.value() : 0;
  }

  void ConvertPool(int32_t id) {
    RuntimeNode made = graph_.node(id);
    const int32_t input = made.inputs[0];
    const BlockedImages::Image* image = images_.Find(input);
    const int64_t channels = image != nullptr ? image->channels : WholeBlocks(input);
    if (channels == 0 || channels % kChannelBlock != 0) return;
    const BlockedImages::Origins sizes =
        images_.WindowSizes(id, made.outputs[0], made.inputs[0], {});
    made.domain = std::string(kNchwcDomain);
    made.inputs[0] = images_.Blocked(input, channels, made.source);
    images_.Replace(id, std::move(made), channels).sizes = sizes;
  }

  // One factor and one addend for each channel: a convolution by channel.
  void ConvertNormalization(int32_t id) {
    RuntimeNode made = graph_.node(id);
    if (made.inputs.size() != 5 || rewriter_.Int(id, "training_mode", 0) != 0 ||
        !std::all_of(made.inputs.begin() + 1, made.inputs.end(),
                     [&](int32_t value) { return rewriter_.IsConstant(value); })) {
      return;
    }
    const BlockedImages::Image image = *images_.Find(made.inputs[0]);
    made.op_type = "Conv";
    made.domain = std::string(kNchwcDomain);
    made.inputs = {images_.Take(made.inputs[0]), made.inputs[1]};
    images_.Replace(id, std::move(made), image.channels).sizes = image.sizes;
    rewriter_.Count("BatchNormalization -> Conv on blocks of channels");
  }

  void ConvertConcat(int32_t id) {
    RuntimeNode& node = graph_.node(id);
    if (rewriter_.Axis(id, 0) != 1) return;
    int64_t channels = 0;
    for (const int32_t input : node.inputs) {
      const BlockedImages::Image* image = images_.Find(input);
      if (image == nullptr || image->channels % kChannelBlock != 0) return;
      channels += image->channels;
    }
    BlockedImages::Origins sizes = images_.Find(node.inputs[0])->sizes;
    sizes[1] = {node.outputs[0], 0};
    for (int32_t& input : node.inputs) input = images_.Take(input);
    images_.Keep(id, channels, sizes);
  }

  // Channels last on the way out.
  void ConvertTranspose(int32_t id) {
    const RuntimeNode node = graph_.node(id);
    if (rewriter_.Permutation(id) != std::vector<int64_t>{0, 2, 3, 1}) return;
    graph_.node(id).removed = true;
    images_.Reorder("ReorderOutput", node.source, images_.Take(node.inputs[0]), node.outputs[0]);
  }

  // Each element repeated, or lines drawn between elements.
  bool IsPlainResize(int32_t id) const {
    const absl::string_view positions =
        rewriter_.String(id, "coordinate_transformation_mode", "half_pixel");
    if (rewriter_.String(id, "mode", "nearest") == "linear") {
      return positions == "half_pixel" || positions == "asymmetric" || positions == "align_corners";
    }
    return positions == "asymmetric" && rewriter_.String(id, "nearest_mode", "") == "floor";
  }

  // To a whole multiple.
  void ConvertResize(int32_t id) {
    RuntimeNode made = graph_.node(id);
    const bool is_old = made.op_type == "Upsample" || rewriter_.VersionOf(id) < 11;
    const size_t scales = is_old ? 1 : 2;
    if (made.inputs.size() != scales + 1 || !ScalesByWholes(made.inputs[scales])) return;
    if (!is_old && !IsPlainResize(id)) return;
    if (rewriter_.String(id, "mode", "nearest") == "cubic") return;
    const int64_t channels = images_.Find(made.inputs[0])->channels;
    made.op_type = "Upsample";
    made.domain = std::string(kNchwcDomain);
    made.inputs = {images_.Take(made.inputs[0])};
    HideShape(graph_.value(images_.Replace(id, std::move(made), channels).value).visible);
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

  bool IsBareConvolution(const BlockedImages::Image& image) const {
    const RuntimeNode& node = graph_.node(image.node);
    return node.op_type == "Conv" && node.domain == kNchwcDomain && node.inputs.size() < 4 &&
           image.uses == 1 && !image.has_activation;
  }

  // Two images, by value: nothing is known to tell a size of one from that of the other.
  bool SameImages(int32_t a, int32_t b) const {
    const BlockedImages::Origins& left = images_.SizesOf(a);
    const BlockedImages::Origins& right = images_.SizesOf(b);
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
      const BlockedImages::Image* image = images_.Find(input);
      if (image == nullptr || image->channels != images_.Find(node.inputs[0])->channels) return;
      are_same = are_same && SameImages(node.inputs[0], input);
    }
    if (!are_same) {
      if (adds) AddReshaped(id);
      return;
    }
    if (adds && node.inputs.size() == 2 && AddInConvolution(id)) return;
    const BlockedImages::Image image = *images_.Find(node.inputs[0]);
    for (int32_t& input : graph_.node(id).inputs) input = images_.Take(input);
    images_.Keep(id, image.channels, image.sizes);
  }

  bool AddInConvolution(int32_t id) {
    const RuntimeNode node = graph_.node(id);
    for (size_t i = 0; i < 2; ++i) {
      BlockedImages::Image* image = images_.Find(node.inputs[i]);
      if (!IsBareConvolution(*image) || node.inputs[0] == node.inputs[1]) continue;
      const int32_t addend = images_.Take(node.inputs[1 - i]);
      graph_.node(image->node).inputs.resize(3, -1);
      graph_.node(image->node).inputs.push_back(addend);
      rewriter_.Count("Conv + Add");
      images_.HandOver(id, node.inputs[i], node.outputs[0]);
      return true;
    }
    return false;
  }

  // Sizes that may differ: as [batch, channels / 16, height, width, 16], which may be broadcast.
  void AddReshaped(int32_t id) {
    const RuntimeNode node = graph_.node(id);
    const int64_t channels = images_.Find(node.inputs[0])->channels;
    const int32_t sum =
        graph_.AddLike(node.outputs[0], absl::StrCat(graph_.value(node.outputs[0]).name, "/sum"));
    SplitChannels(sum, channels);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const int32_t image = images_.Take(node.inputs[i]);
      const int32_t split = graph_.AddLike(image, absl::StrCat(graph_.value(image).name, "/split"));
      SplitChannels(split, channels);
      graph_.node(id).inputs[i] = split;
      Reshape(node.source, image, split);
      Broadcast(graph_.value(sum).visible, graph_.value(split).visible, i == 0);
    }
    graph_.node(id).outputs = {sum};
    BlockedImages::Image& image = images_.Add(node.outputs[0], sum, channels, node.source);
    const Dims seen = graph_.value(sum).visible.dims;
    TensorType& type = graph_.value(image.value).visible;
    if (seen.size() == 5 && type.dims.size() == 4) {
      type.dims = {seen[0], type.dims[1], seen[2], seen[3]};
    }
    image.node = static_cast<int32_t>(graph_.nodes.size());
    Reshape(node.source, sum, image.value);
  }

  void SplitChannels(int32_t value, int64_t channels) {
    images_.PadChannels(value, channels);
    for (TensorType* type : {&graph_.value(value).type, &graph_.value(value).visible}) {
      if (!type->has_rank || type->dims.size() != 4) continue;
      type->dims[1] = Dim(PaddedChannels(channels) / kChannelBlock);
      type->dims.push_back(Dim(kChannelBlock));
    }
  }

  static void Broadcast(TensorType& sum, const TensorType& operand, bool is_first) {
    if (!operand.has_rank) return HideShape(sum);
    for (size_t i = 0; i < sum.dims.size() && i < operand.dims.size(); ++i) {
      if (is_first || sum.dims[i].Is(1)) {
        sum.dims[i] = operand.dims[i];
      } else if (!SameSize(sum.dims[i], operand.dims[i]) && !operand.dims[i].Is(1)) {
        sum.dims[i] = Dim();
      }
    }
  }

  void Reshape(NodeId source, int32_t from, int32_t to) {
    graph_.nodes.push_back(Unary("Reshape", "", source, from, to));
  }

  void ConvertActivation(int32_t id) {
    const RuntimeNode node = graph_.node(id);
    for (size_t i = 1; i < node.inputs.size(); ++i) {  // bounds
      if (node.inputs[i] >= 0 && !rewriter_.IsConstant(node.inputs[i])) return;
    }
    BlockedImages::Image* image = images_.Find(node.inputs[0]);
    const RuntimeNode& maker = graph_.node(image->node);
    const bool fuses = node.op_type != "Clip" && maker.op_type == "Conv" &&
                       maker.domain == kNchwcDomain && image->uses == 1 && !image->has_activation;
    if (!fuses) return KeepElementwise(id);
    images_.Take(node.inputs[0]);
    image->has_activation = true;
    rewriter_.Count(absl::StrCat("Conv + ", node.op_type));
    images_.HandOver(id, node.inputs[0], node.outputs[0]);
  }

  void KeepElementwise(int32_t id) {
    const BlockedImages::Image image = *images_.Find(graph_.node(id).inputs[0]);
    graph_.node(id).inputs[0] = images_.Take(graph_.node(id).inputs[0]);
    images_.Keep(id, image.channels, image.sizes);
  }

  Rewriter& rewriter_;
  RuntimeGraph& graph_;
  BlockedImages images_;
};

}  // namespace

void BlockChannels(Rewriter& rewriter) { Blocker(rewriter).Run(); }

}  // namespace footprint
