// The layouts that kernels copy stored operands into when a session is made, in bytes: as measured
// on x86-64 with AVX-512 and VNNI, one small model each, with and without prepacking. Of matrices
// [K, N], blocks of 16 columns; of integers, pairs or fours of rows as well, and the columns' sums.
#include <algorithm>
#include <cstdlib>

#include "backend/runtime/onnxruntime.h"
#include "backend/runtime/onnxruntime_weights.h"

namespace footprint {
namespace {

constexpr int64_t kFloat = 4;
constexpr int64_t kColumns = 16;
constexpr int64_t kInt32 = 4;

using Copies = std::vector<PackedOperand>;

Wide RoundUp(Wide n, Wide multiple) { return (n + multiple - 1) / multiple * multiple; }

bool IsByte(ElementType element) {
  return element == ElementType::kInt8 || element == ElementType::kUint8;
}

// Sizes of operand `i`, if there are as many; empty.
std::vector<int64_t> SizesOf(const SizedNode& sized, size_t i, size_t rank) {
  if (i >= sized.inputs.size() || sized.inputs[i].size() != rank) return {};
  return sized.inputs[i];
}

Wide FloatMatrix(Wide rows, Wide columns) { return rows * RoundUp(columns, kColumns) * kFloat; }

// None: bytes times signed bytes have no such kernel.
Wide IntegerMatrix(Wide rows, Wide columns, ElementType left, ElementType right) {
  if (left == ElementType::kInt8) return 0;
  const Wide together = right == ElementType::kInt8 ? 4 : 2;
  const Wide aligned = RoundUp(columns, kColumns);
  return RoundUp(RoundUp(rows, together) * aligned + aligned * kInt32, kRuntimeAlignment);
}

Copies CopyOf(size_t operand, Wide bytes) {
  if (bytes <= 0) return {};
  return {{.operand = operand, .bytes = bytes}};
}

void Append(Copies& all, Copies more) { all.insert(all.end(), more.begin(), more.end()); }

bool IsSymmetric(const SizedNode& sized, size_t zero_point) {
  if (!sized.IsStored(zero_point)) return false;
  const KnownValuePtr& contents = sized.Operand(zero_point)->contents;
  if (contents == nullptr) return true;  // assumed: quantizers make it so
  const std::vector<Dim>& numbers = contents->integers;
  return std::all_of(numbers.begin(), numbers.end(), [](const Dim& dim) { return dim.Is(0); });
}

// Of a convolution of bytes with signed bytes whose zero points are known: blocks of channels.
Wide SymmetricFilter(const SizedNode& sized, const std::vector<int64_t>& filter, Wide groups,
                     Wide kernel) {
  constexpr int64_t kFew = 4;
  if (sized.Element(0) != ElementType::kUint8 || sized.Element(3) != ElementType::kInt8 ||
      !sized.IsStored(2) || !IsSymmetric(sized, 5)) {
    return 0;
  }
  if (groups > 1) {
    const bool by_channel = filter[1] == 1 && filter[0] == groups;
    return by_channel && groups % kColumns == 0 ? groups * kernel : 0;
  }
  if (filter[0] < kColumns || filter[0] % kFew != 0 || filter[1] % kFew != 0) return 0;
  return RoundUp(filter[0], kColumns) * filter[1] * kernel;
}

}  // namespace

// The columns are as many as those of the product, whichever way the matrix is stored.
Copies PackMatrix(const SizedNode& sized) {
  const std::vector<int64_t> sizes = SizesOf(sized, 1, 2);
  if (sizes.empty() || sized.Element(1) != ElementType::kFloat) return {};
  const std::vector<int64_t>& product = sized.outputs[0];
  const bool is_turned = !product.empty() && product.back() == sizes[0] && sizes[0] != sizes[1];
  return CopyOf(1, is_turned ? FloatMatrix(sizes[1], sizes[0]) : FloatMatrix(sizes[0], sizes[1]));
}

// Weights [directions, gates, inputs] of an LSTM.
Copies PackGates(const SizedNode& sized) {
  Copies copies;
  for (const size_t operand : {1, 2}) {
    const std::vector<int64_t> sizes = SizesOf(sized, operand, 3);
    if (sizes.empty() || sized.Element(operand) != ElementType::kFloat) continue;
    Append(copies, CopyOf(operand, sizes[0] * FloatMatrix(sizes[2], sizes[1])));
  }
  return copies;
}

// Of a GRU: the recurrent weights of the hidden gate apart from those of the other two.
Copies PackGatesApart(const SizedNode& sized) {
  Copies copies;
  const std::vector<int64_t> inputs = SizesOf(sized, 1, 3);
  const std::vector<int64_t> state = SizesOf(sized, 2, 3);
  if (sized.Element(1) != ElementType::kFloat || inputs.empty() || state.empty()) return {};
  Append(copies, CopyOf(1, inputs[0] * FloatMatrix(inputs[2], inputs[1])));
  Append(copies, CopyOf(2, state[0] * FloatMatrix(state[2], Wide{2} * state[2])));
  Append(copies, CopyOf(2, state[0] * FloatMatrix(state[2], state[2])));
  return copies;
}

// [directions, inputs, gates].
Copies PackIntegerGates(const SizedNode& sized) {
  Copies copies;
  for (const size_t operand : {1, 2}) {
    const std::vector<int64_t> sizes = SizesOf(sized, operand, 3);
    if (sizes.empty()) continue;
    const Wide matrix =
        IntegerMatrix(sizes[1], sizes[2], ElementType::kUint8, sized.Element(operand));
    Append(copies, CopyOf(operand, sizes[0] * matrix));
  }
  return copies;
}

// Queries, keys and values: a matrix for each head.
Copies PackHeads(const SizedNode& sized) {
  const std::vector<int64_t> sizes = SizesOf(sized, 1, 2);
  const int64_t heads = sized.Int("num_heads", 0);
  if (sizes.empty() || heads <= 0 || sized.Element(1) != ElementType::kFloat) return {};
  const absl::Span<const int64_t> given = sized.source == nullptr
                                              ? absl::Span<const int64_t>()
                                              : sized.source->Ints("qkv_hidden_sizes");
  std::vector<int64_t> hidden(given.begin(), given.end());
  if (hidden.size() != 3) hidden.assign(3, sizes[1] / 3);
  Copies copies;
  for (const int64_t part : hidden) {
    Append(copies, CopyOf(1, heads * FloatMatrix(sizes[0], part / heads)));
  }
  return copies;
}

Copies PackIntegerHeads(const SizedNode& sized) {
  const std::vector<int64_t> sizes = SizesOf(sized, 1, 2);
  const int64_t heads = sized.Int("num_heads", 0);
  if (sizes.empty() || heads <= 0) return {};
  const Wide matrix =
      IntegerMatrix(sizes[0], sizes[1] / 3 / heads, ElementType::kUint8, sized.Element(1));
  return CopyOf(1, Wide{3} * heads * matrix);
}

// The matrix is operand 1, or comes behind two numbers.
Copies PackIntegers(const SizedNode& sized) {
  const size_t operand = IsByte(sized.Element(1)) ? 1 : 3;
  const std::vector<int64_t> sizes = SizesOf(sized, operand, 2);
  if (sizes.empty() || !IsByte(sized.Element(operand))) return {};
  const std::vector<int64_t>& product = sized.outputs[0];
  const bool is_turned = !product.empty() && product.back() == sizes[0] && sizes[0] != sizes[1];
  // Numbers are made into unsigned bytes first.
  const ElementType left =
      sized.Element(0) == ElementType::kInt8 ? ElementType::kInt8 : ElementType::kUint8;
  return CopyOf(operand, IntegerMatrix(sizes[is_turned ? 1 : 0], sizes[is_turned ? 0 : 1], left,
                                       sized.Element(operand)));
}

// What is neither packed one way nor the other is turned around.
Copies PackIntegerFilter(const SizedNode& sized) {
  constexpr size_t kFilter = 3;
  if (kFilter >= sized.inputs.size() || sized.inputs[kFilter].size() < 3) return {};
  const std::vector<int64_t>& filter = sized.inputs[kFilter];
  const Wide groups = std::max<Wide>(sized.Int("group", 1), 1);
  Wide kernel = 1;
  for (size_t i = 2; i < filter.size(); ++i) kernel *= filter[i];
  if (const Wide bytes = SymmetricFilter(sized, filter, groups, kernel); bytes > 0) {
    return {{.operand = kFilter, .bytes = bytes, .apart = true}};
  }
  const Wide matrix = filter[1] == 1 && filter[0] == groups
                          ? 0
                          : IntegerMatrix(filter[1] * kernel, filter[0] / groups, sized.Element(0),
                                          sized.Element(kFilter));
  return CopyOf(kFilter, matrix > 0 ? groups * matrix : Wide{sized.input_bytes[kFilter]});
}

// Blocks of 16 channels, of what comes in as well unless it is a plain image.
Copies PackBlockedFilter(const SizedNode& sized) {
  const std::vector<int64_t> filter = SizesOf(sized, 1, 4);
  if (filter.empty()) return {};
  const bool is_plain = filter[1] < kColumns || sized.Int("group", 1) > 1;
  const Wide channels = is_plain ? Wide{filter[1]} : RoundUp(filter[1], kColumns);
  return CopyOf(1, RoundUp(filter[0], kColumns) * channels * filter[2] * filter[3] * kFloat);
}

Copies PackTransposedFilter(const SizedNode& sized) {
  if (sized.inputs.size() < 2 || sized.Element(1) != ElementType::kFloat) return {};
  return CopyOf(1, sized.input_bytes[1]);
}

// Where they are multiplied as integers: beside the numbers of few bits, scales and sums of each
// block. In half precision, scales and bias in full width too.
Copies PackFewBits(const SizedNode& sized) {
  if (sized.source == nullptr || sized.inputs.size() < 3 || sized.inputs[0].empty()) return {};
  const bool is_made = sized.source->op_type != sized.node->op_type;
  const Wide depth = sized.inputs[0].back();
  const Wide columns = sized.outputs[0].empty() ? 0 : sized.outputs[0].back();
  const Wide bits = is_made ? BitsPerElement(sized.Element(1)) : sized.Int("bits", 4);
  constexpr int64_t kUsualBlock = 32;
  Wide block = sized.Int("block_size", kUsualBlock);
  const std::vector<int64_t>& scales = sized.inputs[2];
  if (is_made && scales.size() == 2 && scales[0] > 0) block = (depth - 1) / scales[0] + 1;
  Copies copies;
  if (sized.Element(2) == ElementType::kFloat16) {
    for (const size_t wide : {2, 5}) {
      if (wide >= sized.inputs.size()) continue;
      copies.push_back(
          {.operand = wide, .bytes = Wide{2} * sized.input_bytes[wide], .keeps = true});
    }
  }
  constexpr int64_t kIntegers = 4;
  constexpr int64_t kLeastBlock = 16;
  constexpr int64_t kMostBlock = 256;
  const bool is_integer = is_made || sized.Int("accuracy_level", 0) == kIntegers;
  const bool has_zero_points_of_bytes = !sized.Has(3) || BitsPerElement(sized.Element(3)) <= 8;
  if (!is_integer || sized.Has(4) || !has_zero_points_of_bytes || depth <= 0 ||
      block < kLeastBlock || block > kMostBlock || (bits != 2 && bits != 4 && bits != 8) ||
      (bits == 2 && block == kLeastBlock)) {
    return copies;
  }
  Wide blocks = (depth + block - 1) / block;
  if (bits == 2) blocks = RoundUp(blocks, 4);
  // The three parts are aligned on their own.
  constexpr int64_t kSlack = 2 * (kRuntimeAlignment - 1);
  Append(copies, CopyOf(1, columns * blocks * block * bits / 8 + columns * blocks * kFloat +
                               RoundUp(columns, kColumns) * blocks * kFloat + kSlack));
  return copies;
}

// All stored operands of half precision, in full width.
Copies PackWideScales(const SizedNode& sized) {
  Copies copies;
  for (size_t i = 1; i < sized.inputs.size(); ++i) {
    if (sized.Element(i) != ElementType::kFloat16) continue;
    copies.push_back({.operand = i, .bytes = Wide{2} * sized.input_bytes[i], .apart = true});
  }
  return copies;
}

}  // namespace footprint
