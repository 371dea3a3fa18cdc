// Convolutions on blocks of channels. Kernels of the CPU want images as [batch, channels / 16,
// height, width, 16], so that convolutions, pools and what lies between them work on such copies:
//
//   x -> ReorderInput -> Conv -> MaxPool -> Conv -> ReorderOutput -> y
//
// Channels are padded to whole blocks. An addition of two such images becomes an operand of the
// convolution that makes one of them, which then writes over the other where that dies.
#include <algorithm>
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
    rewriter_.FindUsesAgain();
  }

 private:
  // The blocked copy of a value of the graph.
  struct Image {
    int32_t value = -1;
    int32_t node = -1;  // that makes it
    NodeId source;
    int64_t channels = 0;
    int64_t uses = 0;  // of the value at first
    int64_t left = 0;  // that still read the value itself
    bool has_activation = false;
  };

  void Convert(int32_t id) {
    const RuntimeNode& node = graph_.node(id);
    if (node.removed || node.outputs.size() != 1 || node.outputs[0] < 0) return;
    const absl::string_view op = node.op_type;
    if (rewriter_.Is(id, "Conv") || rewriter_.Is(id, "FusedConv", kMicrosoftDomain)) {
      return ConvertConvolution(id);
    }
    if (node.inputs.empty() || FindImage(node.inputs[0]) == nullptr) return;
    if (op == "MaxPool" || op == "AveragePool" || op == "GlobalAveragePool" ||
        op == "GlobalMaxPool") {
      if (FindImage(node.inputs[0])->channels % kBlock == 0) Keep(id, kNchwcDomain);
      return;
    }
    if (op == "BatchNormalization") return ConvertNormalization(id);
    if (op == "Concat") return ConvertConcat(id);
    if ((op == "Add" || op == "Sum") && node.inputs.size() == 2) return ConvertAddition(id);
    for (const char* activation : {"Relu", "Sigmoid", "Tanh", "LeakyRelu", "HardSigmoid", "Clip"}) {
      if (op == activation) return ConvertActivation(id);
    }
    for (const char* activation : {"QuickGelu", "Gelu", "Elu", "Erf"}) {
      if (op == activation) return Keep(id, node.domain);
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
    PadChannels(image.value, channels);
    // Its batch is that of the image it is made from, whatever the file calls it.
    const TensorType& source_type = graph_.value(from).visible;
    TensorType& type = graph_.value(image.value).visible;
    if (type.has_rank && source_type.has_rank && !type.dims.empty() && !source_type.dims.empty()) {
      type.dims[0] = source_type.dims[0];
    }
    return images_[value] = image;
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
    if (found != reordered_.end()) return found->second;
    const int32_t copy =
        graph_.AddLike(value, absl::StrCat(graph_.value(value).name, " in blocks"));
    PadChannels(copy, channels);
    Reorder("ReorderInput", source, value, copy);
    reordered_[value] = copy;
    return copy;
  }

  void Finish(int32_t id, RuntimeNode made) {
    graph_.node(id).removed = true;
    graph_.nodes.push_back(std::move(made));
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
    if (reorders) made.inputs[0] = Blocked(input, channels * groups, made.source);
    Image& image = AddImage(made.outputs[0], made.inputs[0], filter[0], made.source);
    image.has_activation = made.op_type == "FusedConv";
    made.op_type = "Conv";
    made.domain = std::string(kNchwcDomain);
    made.outputs = {image.value};
    Finish(id, std::move(made));
    rewriter_.Count("Conv on blocks of channels");
  }

  // The same operator on the copies.
  void Keep(int32_t id, absl::string_view domain) {
    RuntimeNode made = graph_.node(id);
    const int64_t channels = FindImage(made.inputs[0])->channels;
    made.domain = std::string(domain);
    made.inputs[0] = Take(made.inputs[0]);
    made.outputs = {AddImage(made.outputs[0], made.inputs[0], channels, made.source).value};
    Finish(id, std::move(made));
  }

  // One factor and one addend for each channel: a convolution by channel.
  void ConvertNormalization(int32_t id) {
    const std::vector<int32_t>& inputs = graph_.node(id).inputs;
    if (inputs.size() != 5 || rewriter_.Int(id, "training_mode", 0) != 0 ||
        !std::all_of(inputs.begin() + 1, inputs.end(),
                     [&](int32_t value) { return rewriter_.IsConstant(value); })) {
      return;
    }
    Keep(id, kNchwcDomain);
    graph_.nodes.back().op_type = "Conv";
    graph_.nodes.back().inputs.resize(2);
    rewriter_.Count("BatchNormalization -> Conv on blocks of channels");
  }

  void ConvertConcat(int32_t id) {
    RuntimeNode made = graph_.node(id);
    if (rewriter_.Int(id, "axis", 0) != 1) return;
    int64_t channels = 0;
    for (const int32_t input : made.inputs) {
      const Image* image = FindImage(input);
      if (image == nullptr || image->channels % kBlock != 0) return;
      channels += image->channels;
    }
    for (int32_t& input : made.inputs) input = Take(input);
    made.outputs = {AddImage(made.outputs[0], made.inputs[0], channels, made.source).value};
    Finish(id, std::move(made));
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

  bool SameImages(int32_t a, int32_t b) const {
    const TensorType& left = graph_.value(a).visible;
    const TensorType& right = graph_.value(b).visible;
    if (left.dims.size() != right.dims.size()) return false;
    for (size_t i = 0; i < left.dims.size(); ++i) {
      if (!SameSize(left.dims[i], right.dims[i])) return false;
    }
    return true;
  }

  void ConvertAddition(int32_t id) {
    RuntimeNode made = graph_.node(id);
    if (FindImage(made.inputs[1]) == nullptr || !SameImages(made.inputs[0], made.inputs[1])) return;
    for (size_t i = 0; i < 2; ++i) {
      Image* image = FindImage(made.inputs[i]);
      if (!IsBareConvolution(*image) || made.inputs[0] == made.inputs[1]) continue;
      const int32_t addend = Take(made.inputs[1 - i]);
      graph_.node(image->node).inputs.resize(3, -1);
      graph_.node(image->node).inputs.push_back(addend);
      rewriter_.Count("Conv + Add");
      return HandOver(id, made.inputs[i], made.outputs[0]);
    }
    const int64_t channels = FindImage(made.inputs[0])->channels;
    made.inputs = {Take(made.inputs[0]), Take(made.inputs[1])};
    made.outputs = {AddImage(made.outputs[0], made.inputs[0], channels, made.source).value};
    Finish(id, std::move(made));
  }

  void ConvertActivation(int32_t id) {
    const RuntimeNode node = graph_.node(id);
    Image* image = FindImage(node.inputs[0]);
    const RuntimeNode& maker = graph_.node(image->node);
    const bool fuses = node.op_type != "Clip" && maker.op_type == "Conv" &&
                       maker.domain == kNchwcDomain && image->uses == 1 && !image->has_activation;
    if (!fuses) return Keep(id, node.domain);
    image->has_activation = true;
    rewriter_.Count(absl::StrCat("Conv + ", node.op_type));
    HandOver(id, node.inputs[0], node.outputs[0]);
  }

  Rewriter& rewriter_;
  RuntimeGraph& graph_;
  std::map<int32_t, Image> images_;  // by value of the graph
  std::map<int32_t, int32_t> reordered_;
};

}  // namespace

void BlockChannels(Rewriter& rewriter) { Blocker(rewriter).Run(); }

}  // namespace footprint
