#include "backend/runtime/onnxruntime_scratch.h"

#include <algorithm>
#include <optional>

namespace footprint {
namespace {

constexpr int64_t kFloat = 4;
constexpr int64_t kConvolutionChunk = 65'536;

Wide Product(const std::vector<int64_t>& dims, size_t first) {
  Wide product = 1;
  for (size_t i = first; i < dims.size(); ++i) product *= dims[i];
  return product;
}

bool AllAre(absl::Span<const int64_t> numbers, int64_t value) {
  return std::all_of(numbers.begin(), numbers.end(), [&](int64_t n) { return n == value; });
}

// Each position once, in order.
bool TakesEachPosition(const SizedNode& sized) {
  return sized.source != nullptr && AllAre(sized.source->Ints("strides"), 1) &&
         AllAre(sized.source->Ints("pads"), 0);
}

bool TouchesEachOnce(const SizedNode& sized, Wide kernel) {
  return kernel == 1 && TakesEachPosition(sized);
}

// One channel at a time, under a kernel as wide as the image; or as high, and one element wide.
bool CoversImage(const SizedNode& sized) {
  const std::vector<int64_t>& image = sized.inputs[0];
  const std::vector<int64_t>& weight = sized.inputs[1];
  constexpr size_t kPicture = 4;
  if (!TakesEachPosition(sized) || weight[1] != 1 || image.size() != weight.size()) return false;
  const absl::string_view padding = sized.source->String("auto_pad", "NOTSET");
  if (padding != "NOTSET" && padding != "VALID") return false;
  if (weight.size() > kPicture || !AllAre(sized.source->Ints("dilations"), 1)) return false;
  return weight.back() == image.back() ||
         (weight.size() == kPicture && weight[3] == 1 && weight[2] == image[2]);
}

}  // namespace

// The expanded image of one group, or a chunk of it.
Wide ConvScratch(const SizedNode& sized) {
  if (sized.inputs.size() < 2 || sized.inputs[0].size() < 3 || sized.inputs[1].size() < 3 ||
      sized.outputs[0].size() < 3) {
    return 0;
  }
  const std::vector<int64_t>& weight = sized.inputs[1];
  const Wide positions = Product(sized.outputs[0], 2);
  if (TouchesEachOnce(sized, Product(weight, 2)) || CoversImage(sized)) return 0;
  const Wide groups = std::max<Wide>(sized.inputs[0][1] / std::max<Wide>(weight[1], 1), 1);
  if (weight[0] / groups > positions) return Product(weight, 1) * positions * kFloat;
  return kConvolutionChunk;
}

// The columns of one image and group, before they are folded.
Wide ConvTransposeScratch(const SizedNode& sized) {
  if (sized.inputs.size() < 2 || sized.inputs[1].size() < 3 || sized.inputs[0].size() < 3) return 0;
  return Product(sized.inputs[1], 1) * Product(sized.inputs[0], 2) * kFloat;
}

static Wide BroadcastElements(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  Wide elements = 1;
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const Wide left = i < a.size() ? a[a.size() - 1 - i] : 1;
    const Wide right = i < b.size() ? b[b.size() - 1 - i] : 1;
    elements *= left == 1 ? right : left;
  }
  return elements;
}

// The condition picked apart: what comes from either side.
Wide WhereScratch(const SizedNode& sized) {
  const Wide elements = Product(sized.outputs[0], 0);
  if (sized.inputs.size() < 3 || elements == 0) return 0;
  const Wide width = sized.output_bytes[0] / elements;
  return Aligned(width * BroadcastElements(sized.inputs[0], sized.inputs[1])) +
         Aligned(width * BroadcastElements(sized.inputs[0], sized.inputs[2]));
}

// Training: mean and variance of the batch, unless they are handed out.
Wide BatchStatisticsScratch(const SizedNode& sized) {
  const size_t outputs = sized.node->outputs.size();
  if (outputs < 2 || outputs > 3 || sized.input_bytes.size() < 5) return 0;
  return Aligned(sized.input_bytes[3]) + Aligned(sized.input_bytes[4]);
}

// The same for bytes; each of the two choices comes with a scale and a zero point.
Wide QuantizedWhereScratch(const SizedNode& sized) {
  constexpr size_t kOther = 4;
  if (sized.inputs.size() <= kOther) return 0;
  return Aligned(BroadcastElements(sized.inputs[0], sized.inputs[1])) +
         Aligned(BroadcastElements(sized.inputs[0], sized.inputs[kOther]));
}

// The image as numbers.
Wide QuantizedPoolScratch(const SizedNode& sized) { return Product(sized.inputs[0], 0) * kFloat; }

// The squares, and those of one image padded by the window.
Wide LrnScratch(const SizedNode& sized) {
  const std::vector<int64_t>& image = sized.outputs[0];
  if (image.size() < 3) return 0;
  const Wide channels = Wide{image[1]} + sized.Int("size", 1) - 1;
  return Aligned(sized.output_bytes[0]) + Aligned(channels * Product(image, 2) * kFloat);
}

// Along an axis that is not the last: transposed there and back.
Wide SoftmaxScratch(const SizedNode& sized) {
  if (sized.source == nullptr || sized.Int("opset", sized.source->version) < 13) return 0;
  const Wide axis = sized.node->axis.value_or(sized.Int("axis", -1));
  const auto rank = static_cast<int64_t>(sized.outputs[0].size());
  return axis == -1 || axis == rank - 1 ? 0 : 2 * Aligned(sized.output_bytes[0]);
}

// Numbers that are made one by one, counter, conditions, and the number that was reached, twice.
Wide LoopOfNumbersScratch(const SizedNode& sized) {
  constexpr int64_t kBeside = 5;
  return (Product(sized.outputs[0], 0) + kBeside) * kRuntimeAlignment;
}

Wide TwoMoreScratch(const SizedNode& sized) { return 2 * Aligned(sized.output_bytes[0]); }

// Weights of the elements that a filter meets along an axis; it is wider where the image shrinks.
static Wide FilterWeights(int64_t from, int64_t to, bool is_cubic) {
  if (to <= 0) return 0;
  const int64_t support = is_cubic ? 2 : 1;
  const int64_t reach =
      from <= to ? support : static_cast<int64_t>((Wide{support} * from + to - 1) / to);
  return Aligned((Wide{2} * reach + 1) * to * kFloat);
}

// An image whose rows alone are resized, and one whose rows and columns are where there is depth.
static Wide SmoothResizeScratch(const SizedNode& sized, bool is_cubic) {
  const std::vector<int64_t>& from = sized.inputs[0];
  const std::vector<int64_t>& to = sized.outputs[0];
  const size_t rank = to.size();
  if (from.size() != rank || rank < 2) return 0;
  const bool is_channels_last = rank == 4 && from[3] == to[3] && from[1] != to[1];
  const size_t width = rank - (is_channels_last ? 2 : 1);
  const Wide elements = std::max<Wide>(Product(to, 0), 1);
  const Wide element = sized.output_bytes[0] / elements;
  Wide rows = element;
  for (size_t i = rank > 2 ? 1 : 0; i < rank; ++i) rows *= i == width ? to[i] : from[i];
  Wide scratch = Aligned(rows);
  if (rank == 5) scratch += Aligned(sized.output_bytes[0] / std::max<int64_t>(to[2], 1) * from[2]);
  for (size_t i = rank == 5 ? width - 2 : width - 1; i <= width; ++i) {
    scratch += FilterWeights(from[i], to[i], is_cubic);
  }
  return scratch;
}

// Positions and weights along each spatial axis.
Wide ResizeScratch(const SizedNode& sized) {
  if (sized.source == nullptr) return 0;
  const absl::string_view mode = sized.source->String("mode", "nearest");
  if (mode != "nearest" && sized.Int("antialias", 0) != 0) {
    return SmoothResizeScratch(sized, mode == "cubic");
  }
  if (mode != "linear") return 0;
  Wide positions = 0;
  for (size_t i = 2; i < sized.outputs[0].size(); ++i) positions += sized.outputs[0][i];
  return 16 * positions;
}

// Stored signed weights around zero, in blocks of channels: requantized while multiplied.
static bool IsSymmetric(const SizedNode& sized) {
  const std::vector<int64_t>& weight = sized.inputs[3];
  constexpr int64_t kInputBlock = 4;
  constexpr int64_t kOutputBlock = 16;
  const int64_t groups = sized.Int("group", 1);
  const bool by_channel = weight[1] == 1 && weight[0] == groups;
  if (by_channel ? groups % kOutputBlock != 0
                 : groups != 1 || weight[1] % kInputBlock != 0 || weight[0] < kOutputBlock) {
    return false;
  }
  if (!sized.IsStored(3) || sized.Element(3) != ElementType::kInt8) return false;
  if (sized.Element(0) != ElementType::kUint8) return false;
  if (!sized.Has(5)) return true;
  const KnownValuePtr& zero = sized.Operand(5)->contents;
  return zero != nullptr && std::all_of(zero->integers.begin(), zero->integers.end(),
                                        [](const Dim& point) { return point.Is(0); });
}

// Products as whole numbers, one image at a time: the sums, and the expanded image of one group or
// the places that it is read from; of symmetric kernels the places alone, of so many images.
static Wide ProductsOfImage(const SizedNode& sized, Wide filters, Wide positions, Wide images) {
  const std::vector<int64_t>& weight = sized.inputs[3];
  const Wide kernel = Product(weight, 2);
  const Wide groups = std::max<Wide>(sized.Int("group", 1), 1);
  const Wide places = kernel * positions * sizeof(void*);
  const bool is_in_place = TouchesEachOnce(sized, kernel);
  const bool by_channel = weight[1] == 1 && filters == groups;
  if (IsSymmetric(sized)) return is_in_place && !by_channel ? 0 : places * images;
  const Wide sums = Aligned(filters * positions * kFloat);
  if (by_channel) return sums + Aligned(places);
  return sums + (is_in_place ? 0 : Aligned(weight[1] * kernel * positions));
}

static bool HasImageAndWeight(const SizedNode& sized) {
  return sized.inputs.size() >= 4 && sized.inputs[3].size() >= 3 && sized.outputs[0].size() >= 3 &&
         sized.inputs[0].size() >= 3;
}

// Weights that are not stored are laid out anew.
static Wide ReorderedFilter(const SizedNode& sized) {
  return sized.IsStored(3) ? Wide{0} : Aligned(sized.input_bytes[3]);
}

// Both images are laid out by channel last.
Wide QuantizedConvScratch(const SizedNode& sized) {
  if (!HasImageAndWeight(sized)) return 0;
  const Wide positions = Product(sized.outputs[0], 2);
  return ProductsOfImage(sized, sized.inputs[3][0], positions, 1) +
         Aligned(sized.inputs[3][0] * positions) + Aligned(Product(sized.inputs[0], 1)) +
         ReorderedFilter(sized);
}

// They are so already.
Wide QuantizedConvLastScratch(const SizedNode& sized) {
  if (!HasImageAndWeight(sized)) return 0;
  const Wide filters = sized.inputs[3][0];
  return ProductsOfImage(sized, filters, Product(sized.outputs[0], 1) / std::max<Wide>(filters, 1),
                         sized.outputs[0][0]) +
         ReorderedFilter(sized);
}

// The places that a window reads.
Wide PoolLastScratch(const SizedNode& sized) {
  if (sized.source == nullptr || sized.outputs[0].size() < 3) return 0;
  Wide places = sizeof(void*);
  for (const int64_t size : sized.source->Ints("kernel_shape")) places *= size;
  for (size_t i = 1; i + 1 < sized.outputs[0].size(); ++i) places *= sized.outputs[0][i];
  return places;
}

Wide IntegerConvScratch(const SizedNode& sized) {
  if (sized.inputs.size() < 2 || sized.inputs[1].size() < 3 || sized.outputs[0].size() < 3)
    return 0;
  const Wide kernel = Product(sized.inputs[1], 2);
  if (TouchesEachOnce(sized, kernel)) return 0;
  return sized.inputs[1][1] * kernel * Product(sized.outputs[0], 2);
}

// The image laid out by window, and the four corners and weights of each offset position, eight
// places of the result at a time.
Wide DeformConvScratch(const SizedNode& sized) {
  constexpr size_t kOffsets = 2;
  if (sized.inputs.size() <= kOffsets || sized.inputs[0].size() < 2 || sized.inputs[1].size() < 3 ||
      sized.inputs[kOffsets].size() < 2 || sized.outputs[0].size() < 3) {
    return 0;
  }
  constexpr int64_t kPlanBytes = 32;
  constexpr int64_t kAtATime = 8;
  const Wide places = Product(sized.outputs[0], 2);
  const Wide rounded = (places + kAtATime - 1) / kAtATime * kAtATime;
  const int64_t positions = sized.inputs[kOffsets][1] / 2;  // rows and columns
  return Aligned(sized.inputs[0][1] * Product(sized.inputs[1], 2) * places * kFloat) +
         Aligned(positions * rounded * kPlanBytes);
}

// Of transforms of `length` elements: complex numbers padded to a power of two, four times, where
// it is none itself.
static Wide TransformScratch(const SizedNode& sized, int64_t length) {
  constexpr int64_t kLongest = int64_t{1} << 40;
  const Wide elements = Product(sized.outputs[0], 0);
  if (length <= 0 || length > kLongest || (length & (length - 1)) == 0 || elements == 0) return 0;
  Wide padded = 1;
  while (padded < Wide{2} * length - 1) padded *= 2;
  return 4 * Aligned(2 * padded * (sized.output_bytes[0] / elements));
}

static std::optional<int64_t> StoredInteger(const SizedNode& sized, size_t input) {
  if (!sized.Has(input)) return std::nullopt;
  const KnownValuePtr& value = sized.Operand(input)->contents;
  const bool is_one = value != nullptr && value->integers.size() == 1;
  if (!is_one || !value->integers[0].is_constant()) return std::nullopt;
  return value->integers[0].value();
}

Wide DftScratch(const SizedNode& sized) {
  constexpr int kAxisIsAnOperand = 20;
  if (sized.source == nullptr || sized.inputs[0].size() != sized.outputs[0].size()) return 0;
  const auto rank = static_cast<int64_t>(sized.outputs[0].size());
  int64_t axis = sized.source->version >= kAxisIsAnOperand
                     ? StoredInteger(sized, 2).value_or(rank - 2)
                     : sized.Int("axis", 1);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return 0;
  const auto at = static_cast<size_t>(axis);
  const bool is_halved = sized.Int("onesided", 0) != 0 && sized.Int("inverse", 0) == 0;
  return TransformScratch(sized, is_halved ? StoredInteger(sized, 1).value_or(sized.inputs[0][at])
                                           : sized.outputs[0][at]);
}

// Frames are as long as the window, or as stated.
Wide StftScratch(const SizedNode& sized) {
  constexpr size_t kWindow = 2;
  constexpr size_t kBins = 2;
  if (sized.outputs[0].size() <= kBins) return 0;
  if (sized.inputs.size() > kWindow && !sized.inputs[kWindow].empty()) {
    return TransformScratch(sized, sized.inputs[kWindow][0]);
  }
  const int64_t bins = sized.outputs[0][kBins];
  const int64_t otherwise = sized.Int("onesided", 1) != 0 ? 2 * (bins - 1) : bins;
  return TransformScratch(sized, StoredInteger(sized, 3).value_or(otherwise));
}

// Whole-number sums, four bytes each.
Wide SumsScratch(const SizedNode& sized) { return Product(sized.outputs[0], 0) * kFloat; }

// None where the result is not quantized again.
Wide QuantizedSumsScratch(const SizedNode& sized) {
  const Wide elements = Product(sized.outputs[0], 0);
  return sized.output_bytes[0] > elements ? 0 : elements * kFloat;
}

// The weights as numbers.
Wide WholeMatrixScratch(const SizedNode& sized) {
  return Wide{std::max<int64_t>(sized.Int("N", 0), 0)} * sized.Int("K", 0) * kFloat;
}

// A number for each class.
Wide MultinomialScratch(const SizedNode& sized) {
  constexpr int64_t kDouble = 8;
  return sized.inputs[0].size() == 2 ? Wide{sized.inputs[0][1]} * kDouble : Wide{0};
}

// Words of characters [words, characters]: the characters, windows of them, and two products.
Wide WordConvolutionScratch(const SizedNode& sized) {
  if (sized.inputs.size() < 4 || sized.inputs[0].size() != 2 || sized.inputs[1].size() != 4) {
    return 0;
  }
  const std::vector<int64_t>& filter = sized.inputs[1];  // [embedding, 1, window, character]
  const Wide words = sized.inputs[0][0];
  const Wide windows = Wide{sized.inputs[0][1]} - filter[2] + 1;
  return Aligned(words * sized.inputs[0][1] * filter[3] * kFloat) + Aligned(words * kFloat) +
         Aligned(words * windows * filter[2] * filter[3] * kFloat) +
         2 * Aligned(words * windows * filter[0] * kFloat);
}

// Operands that are turned are copied, unless they are stored.
Wide QuantizedGemmScratch(const SizedNode& sized) {
  constexpr size_t kB = 3;
  Wide scratch = Aligned(QuantizedSumsScratch(sized));
  if (sized.Int("transA", 0) != 0) scratch += Aligned(sized.input_bytes[0]);
  if (sized.Int("transB", 0) != 0 && sized.Has(kB) && !sized.IsStored(kB)) {
    scratch += Aligned(sized.input_bytes[kB]);
  }
  return scratch;
}

namespace {

// Weights of a few bits, in blocks. A rewrite may have made the node.
struct Blocked {
  explicit Blocked(const SizedNode& sized)
      : is_made(sized.source->op_type != sized.node->op_type),
        bits(is_made ? 4 : sized.source->Int("bits", 4)),
        accuracy(is_made ? kIntegers : sized.source->Int("accuracy_level", 0)),
        depth(sized.inputs[0].back()) {
    const std::vector<int64_t>& scales = sized.inputs[2];
    constexpr int64_t kUsualBlock = 32;
    block = is_made ? kUsualBlock : sized.source->Int("block_size", kUsualBlock);
    if (is_made && scales.size() == 2 && scales[0] > 0) block = (depth - 1) / scales[0] + 1;
    columns = is_made ? sized.outputs[0].back() : sized.source->Int("N", 0);
  }

  static constexpr int64_t kIntegers = 4;
  bool is_made;
  int64_t bits;
  int64_t accuracy;
  int64_t depth;
  int64_t block;
  int64_t columns;
};

}  // namespace

// Whether products are taken of the weights as they are stored; they are laid out as numbers
// before, otherwise.
static bool TakesFewBits(const SizedNode& sized, const Blocked& blocked) {
  enum : size_t { kWeights = 1, kZeroPoints = 3, kGroups = 4 };
  if (blocked.is_made) return true;
  if (!sized.IsStored(kWeights) || sized.Has(kGroups)) return false;
  if (sized.Has(kZeroPoints) && sized.Element(kZeroPoints) != ElementType::kUint8) return false;
  const bool by_integers = blocked.accuracy == Blocked::kIntegers;
  constexpr int64_t kSmallBlock = 16;
  if (blocked.bits == 2) return by_integers && blocked.block > kSmallBlock && blocked.block <= 128;
  return blocked.bits == 4 || (blocked.bits == 8 && by_integers);
}

// Half precision is worked on as 32-bit numbers. Rows of the operand as bytes, block by block with
// a scale and a sum each, where they are multiplied as integers.
Wide BlockedOperandScratch(const SizedNode& sized) {
  enum : size_t { kScales = 2, kBias = 5 };
  if (sized.source == nullptr || sized.inputs.size() <= kScales || sized.inputs[0].empty() ||
      sized.outputs[0].empty()) {
    return 0;
  }
  const Blocked blocked(sized);
  if (blocked.block <= 0 || blocked.depth <= 0) return 0;
  const bool is_half = sized.Element(0) == ElementType::kFloat16;
  const Wide rows = Product(sized.inputs[0], 0) / blocked.depth;
  const Wide blocks = (Wide{blocked.depth} + blocked.block - 1) / blocked.block;
  Wide scratch = 0;
  if (is_half) {
    if (!sized.IsStored(kScales)) scratch += Aligned(blocked.columns * blocks * kFloat);
    if (sized.Has(kBias) && !sized.IsStored(kBias)) scratch += Aligned(blocked.columns * kFloat);
  }
  if (!TakesFewBits(sized, blocked)) {
    scratch += Aligned(Wide{blocked.columns} * blocked.depth * kFloat);
    if (!is_half) return scratch;
    return scratch + Aligned(rows * blocked.depth * kFloat) +
           Aligned(rows * blocked.columns * kFloat);
  }
  if (blocked.accuracy == Blocked::kIntegers) {
    return scratch + rows * blocks * (Wide{blocked.block} + 2 * kFloat) + kRuntimeAlignment;
  }
  return scratch + (is_half ? Aligned(rows * blocked.depth * kFloat) : Wide{0});
}

// The operand as bytes.
Wide QuantizedOperandScratch(const SizedNode& sized) { return Product(sized.inputs[0], 0); }

Wide OneMoreScratch(const SizedNode& sized) { return sized.output_bytes[0]; }

Wide WithBiasScratch(const SizedNode& sized) { return sized.Has(1) ? sized.output_bytes[0] : 0; }

// Half precision is worked on as 32-bit numbers: the image, what is added unless it is stored, the
// result and, if it is handed out, the sum; rows that are not stored.
Wide HalfSkipScratch(const SizedNode& sized) {
  constexpr size_t kAdded = 1;
  constexpr size_t kSum = 3;
  if (sized.Element(0) != ElementType::kFloat16) return 0;
  const auto widened = [](int64_t bytes) { return Aligned(Wide{2} * bytes); };
  Wide scratch = 2 * widened(sized.input_bytes[0]);
  for (size_t i = kAdded; i < sized.node->inputs.size(); ++i) {
    if (sized.Has(i) && !sized.IsStored(i)) scratch += widened(sized.input_bytes[i]);
  }
  if (sized.Makes(kSum)) scratch += widened(sized.output_bytes[kSum]);
  return scratch;
}

// Scales that are not stored, as 32-bit numbers.
Wide HalfScalesScratch(const SizedNode& sized) {
  Wide scratch = 0;
  for (size_t i = 1; i < sized.node->inputs.size(); ++i) {
    if (sized.IsStored(i) || sized.Element(i) != ElementType::kFloat16) continue;
    scratch += Aligned(Wide{2} * sized.input_bytes[i]);
  }
  return scratch;
}

// Partial results of more than two operands.
Wide ManyOperandsScratch(const SizedNode& sized) {
  return sized.node->inputs.size() > 2 ? sized.output_bytes[0] : 0;
}

}  // namespace footprint
