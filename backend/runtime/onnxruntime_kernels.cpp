// The kernels of ONNX Runtime's CPU provider, as far as they differ from "every output has a buffer
// of its own and nothing is taken beside". In place and scratch are as measured, one small graph
// each, with arena and memory patterns off.
#include <algorithm>
#include <iterator>
#include <utility>

#include "backend/runtime/onnxruntime.h"

namespace footprint {
namespace {

constexpr int64_t kFloat = 4;
constexpr int64_t kConvolutionChunk = 65'536;

int64_t Product(const std::vector<int64_t>& dims, size_t first) {
  int64_t product = 1;
  for (size_t i = first; i < dims.size(); ++i) product *= dims[i];
  return product;
}

bool AllAre(absl::Span<const int64_t> numbers, int64_t value) {
  return std::all_of(numbers.begin(), numbers.end(), [&](int64_t n) { return n == value; });
}

int64_t IntOf(const SizedNode& sized, absl::string_view name, int64_t otherwise) {
  return sized.source == nullptr ? otherwise : sized.source->Int(name, otherwise);
}

// The expanded image of one group, or a chunk of it. None for a kernel of one element that touches
// each position once.
int64_t ConvScratch(const SizedNode& sized) {
  if (sized.inputs.size() < 2 || sized.inputs[1].size() < 3 || sized.outputs[0].size() < 3) return 0;
  const std::vector<int64_t>& weight = sized.inputs[1];
  const int64_t kernel = Product(weight, 2);
  const int64_t positions = Product(sized.outputs[0], 2);
  if (kernel == 1 && sized.source != nullptr && AllAre(sized.source->Ints("strides"), 1) &&
      AllAre(sized.source->Ints("pads"), 0)) {
    return 0;
  }
  const int64_t groups = std::max<int64_t>(IntOf(sized, "group", 1), 1);
  if (weight[0] / groups > positions) return weight[1] * kernel * positions * kFloat;
  return kConvolutionChunk;
}

// The columns of one image and group, before they are folded.
int64_t ConvTransposeScratch(const SizedNode& sized) {
  if (sized.inputs.size() < 2 || sized.inputs[1].size() < 3 || sized.inputs[0].size() < 3) return 0;
  return Product(sized.inputs[1], 1) * Product(sized.inputs[0], 2) * kFloat;
}

int64_t BroadcastElements(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  int64_t elements = 1;
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const int64_t left = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t right = i < b.size() ? b[b.size() - 1 - i] : 1;
    elements *= left == 1 ? right : left;
  }
  return elements;
}

// The condition picked apart: what comes from either side.
int64_t WhereScratch(const SizedNode& sized) {
  const int64_t elements = Product(sized.outputs[0], 0);
  if (sized.inputs.size() < 3 || elements == 0) return 0;
  const int64_t width = sized.output_bytes[0] / elements;
  return width * (BroadcastElements(sized.inputs[0], sized.inputs[1]) +
                  BroadcastElements(sized.inputs[0], sized.inputs[2]));
}

// The squares, and those of one image padded by the window.
int64_t LrnScratch(const SizedNode& sized) {
  const std::vector<int64_t>& image = sized.outputs[0];
  if (image.size() < 3) return 0;
  const int64_t channels = image[1] + IntOf(sized, "size", 1) - 1;
  return sized.output_bytes[0] + channels * Product(image, 2) * kFloat;
}

// Along an axis that is not the last: transposed there and back.
int64_t SoftmaxScratch(const SizedNode& sized) {
  if (sized.source == nullptr || sized.source->version < 13) return 0;
  const int64_t axis = IntOf(sized, "axis", -1);
  const auto rank = static_cast<int64_t>(sized.outputs[0].size());
  return axis == -1 || axis == rank - 1 ? 0 : 2 * sized.output_bytes[0];
}

int64_t TwoMoreScratch(const SizedNode& sized) { return 2 * sized.output_bytes[0]; }

// Operands laid out for matrix products, and the product before it is laid out as the output.
int64_t EinsumScratch(const SizedNode& sized) {
  int64_t bytes = 2 * sized.output_bytes[0];
  for (const int64_t input : sized.input_bytes) bytes += input;
  return bytes;
}

// Positions and weights along each spatial axis.
int64_t ResizeScratch(const SizedNode& sized) {
  if (sized.source == nullptr || sized.source->String("mode", "nearest") != "linear") return 0;
  int64_t positions = 0;
  for (size_t i = 2; i < sized.outputs[0].size(); ++i) positions += sized.outputs[0][i];
  return 16 * positions;
}

// Of each direction: the gates of all steps, and states of one; backward the reversed sequences too.
int64_t RecurrentScratch(const SizedNode& sized, int64_t gates, int64_t states) {
  if (sized.inputs[0].size() != 3) return 0;
  const int64_t hidden = IntOf(sized, "hidden_size", 0);
  const int64_t batch = sized.inputs[0][1];
  const int64_t sequence = sized.inputs[0][0] * batch * hidden * kFloat;
  const absl::string_view direction =
      sized.source == nullptr ? "" : sized.source->String("direction", "forward");
  const int64_t one = gates * sequence + states * (batch * hidden * kFloat + kRuntimeAlignment);
  const int64_t reversed = direction == "forward" ? 0 : sized.input_bytes[0] + sequence;
  return (direction == "bidirectional" ? 2 : 1) * one + reversed;
}
int64_t LstmScratch(const SizedNode& sized) { return RecurrentScratch(sized, 4, 3); }
int64_t GruScratch(const SizedNode& sized) { return RecurrentScratch(sized, 3, 2); }
int64_t RnnScratch(const SizedNode& sized) { return RecurrentScratch(sized, 1, 0); }

const std::vector<Kernel>& Kernels() {
  static const auto& kernels = *new std::vector<Kernel>{
      {.name = "Relu", .inplace = 1},
      {.name = "Sigmoid", .inplace = 1},
      {.name = "Tanh", .inplace = 1},
      {.name = "HardSigmoid", .inplace = 1},
      {.name = "LeakyRelu", .inplace = 1},
      {.name = "Elu", .inplace = 1},
      {.name = "Selu", .inplace = 1},
      {.name = "Celu", .inplace = 1},
      {.name = "Softplus", .inplace = 1},
      {.name = "Softsign", .inplace = 1},
      {.name = "ThresholdedRelu", .inplace = 1},
      {.name = "Shrink", .inplace = 1},
      {.name = "Clip", .inplace = 1},
      {.name = "Softmax", .inplace = 1, .scratch = SoftmaxScratch},
      {.name = "LogSoftmax", .inplace = 1, .scratch = SoftmaxScratch},
      {.name = "Trilu", .inplace = 1},
      {.name = "Cast", .inplace = 1},
      {.name = "ScatterElements", .inplace = 1},
      {.name = "ScatterND", .inplace = 1},
      {.name = "Conv", .scratch = ConvScratch},
      {.name = "ConvTranspose", .scratch = ConvTransposeScratch},
      {.name = "Where", .scratch = WhereScratch},
      {.name = "LRN", .scratch = LrnScratch},
      {.name = "MeanVarianceNormalization", .scratch = TwoMoreScratch},
      {.name = "Einsum", .scratch = EinsumScratch},
      {.name = "Resize", .scratch = ResizeScratch},
      {.name = "LSTM", .scratch = LstmScratch},
      {.name = "GRU", .scratch = GruScratch},
      {.name = "RNN", .scratch = RnnScratch},
  };
  return kernels;
}

}  // namespace

absl::Span<const Kernel> OnnxRuntimeKernels() { return Kernels(); }

const Kernel* FindKernel(const RuntimeNode& node) {
  for (const Kernel& kernel : Kernels()) {
    if (kernel.name == node.op_type && kernel.domain == node.domain) return &kernel;
  }
  return nullptr;
}

}  // namespace footprint
