// What mixtures of experts take while they run. How many tokens meet at one expert is decided then:
// all of them, at most.
#include <algorithm>

#include "backend/runtime/onnxruntime_scratch.h"

namespace footprint {
namespace {

constexpr Wide kFloat = 4;

struct Sizes {
  Wide tokens = 0;
  Wide chosen = 0;   // experts of each token
  Wide hidden = 0;   // numbers of a token
  Wide inner = 0;    // between the two products of an expert
  Wide widened = 0;  // of the first product: with its gate
  Wide experts = 0;

  Wide all_products() const { return 2 * hidden + inner + widened; }
};

Sizes SizesOf(const SizedNode& sized) {
  Sizes sizes;
  if (sized.inputs.empty() || sized.inputs[0].empty()) return sizes;
  sizes.tokens = 1;
  for (const int64_t size : sized.inputs[0]) sizes.tokens *= size;
  sizes.hidden = sized.inputs[0].back();
  sizes.tokens /= std::max<Wide>(sizes.hidden, 1);
  sizes.chosen = std::max<int64_t>(sized.Int("k", 1), 1);
  return sizes;
}

bool IsGated(const SizedNode& sized) {
  return sized.source != nullptr && sized.source->String("activation_type", "relu") == "swiglu";
}

}  // namespace

Wide MoeScratch(const SizedNode& sized) {
  constexpr size_t kFirstWeights = 2;
  constexpr Wide kFewest = 512;
  Sizes sizes = SizesOf(sized);
  if (sized.inputs.size() <= kFirstWeights || sized.inputs[kFirstWeights].size() != 3) return 0;
  const std::vector<int64_t>& weights = sized.inputs[kFirstWeights];
  sizes.widened = Wide{weights[1]} * weights[2] / std::max<Wide>(sizes.hidden, 1);
  sizes.inner = sizes.widened / (IsGated(sized) ? 2 : 1);
  const Wide rows = std::max(kFewest, 2 * sizes.tokens);
  return 2 * Aligned(sizes.tokens * sizes.chosen * kFloat) + Aligned(rows * kFloat) +
         Aligned(2 * rows * kFloat) + 3 * Aligned(rows * sizes.hidden * kFloat) +
         Aligned(rows * sizes.inner * kFloat) + Aligned(rows * sizes.widened * kFloat) +
         2 * Aligned(sizes.tokens * sizes.hidden * kFloat);
}

// Weights of a few bits are multiplied as they are stored where a kernel does that, and are laid
// out as numbers otherwise.
Wide QuantizedMoeScratch(const SizedNode& sized) {
  enum : size_t { kFirstWeights = 2, kFirstScales = 3, kSecondWeights = 5 };
  Sizes sizes = SizesOf(sized);
  if (sized.inputs.size() <= kSecondWeights || sized.inputs[kFirstScales].size() < 2) return 0;
  const bool is_gated = IsGated(sized);
  sizes.experts = sized.inputs[kFirstScales][0];
  sizes.widened = sized.inputs[kFirstScales][1];
  sizes.inner = sizes.widened / (is_gated ? 2 : 1);
  const int64_t bits = sized.Int("expert_weight_bits", 4);
  const Wide block = std::max<int64_t>(sized.Int("block_size", 0), 0);
  const Wide tokens = sizes.tokens;
  const Wide pairs = tokens * sizes.chosen;
  const Wide matrix = std::max(sizes.widened, sizes.inner) * sizes.hidden;
  Wide scratch = 2 * Aligned(pairs * kFloat) + Aligned(tokens * sizes.hidden * kFloat) +
                 Aligned((sizes.widened + sizes.hidden) * kFloat);
  if (sized.Element(0) == ElementType::kFloat16) {
    scratch += 2 * Aligned(tokens * sizes.hidden * kFloat) +
               Aligned(tokens * sizes.experts * kFloat) +
               (block > 0 ? Aligned(matrix / block * kFloat) : Wide{0});
  }
  const bool is_stored = sized.IsStored(kFirstWeights) && sized.IsStored(kSecondWeights);
  constexpr int64_t kFewestBits = 2;
  if (!is_stored || block == 0 || bits == kFewestBits) {
    scratch += Aligned(
        (tokens * sizes.all_products() + (sizes.widened + sizes.inner) * sizes.hidden) * kFloat);
    const bool is_packed = bits == kFewestBits && block > 0;
    return scratch + (is_packed ? Aligned(matrix / 4 + 2 * kFloat * matrix / block) : Wide{0});
  }
  scratch += Aligned(tokens * sizes.all_products() * kFloat);
  constexpr int64_t kByte = 8;
  constexpr int64_t kIntegers = 4;
  const bool by_integers = bits == kByte || sized.Int("accuracy_level", 0) == kIntegers;
  const Wide blocks = std::max(sizes.hidden, sizes.inner) / block;
  const auto as_bytes = [&](Wide rows) {
    return Aligned(rows * blocks * (block + 2 * kFloat) + kRuntimeAlignment);
  };
  if (by_integers) scratch += as_bytes(tokens);
  if (!is_gated) return scratch;
  return scratch + 2 * Aligned(pairs * sizes.hidden * kFloat) +
         Aligned(pairs * sizes.inner * kFloat) + Aligned(pairs * sizes.widened * kFloat) +
         (by_integers ? as_bytes(pairs) + 2 * kRuntimeAlignment * sizes.experts : Wide{0});
}

}  // namespace footprint
