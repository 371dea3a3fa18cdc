#include "ir/ops/lowering/folded_tables.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/strings/match.h"
#include "ir/ops/lowering/habits.h"

namespace footprint {
namespace {

// The side of a square of that many positions; 0: none.
int64_t Side(int64_t positions) {
  const int64_t side = std::llround(std::sqrt(static_cast<double>(positions)));
  return side * side == positions ? side : 0;
}

// Offsets between two positions of a window, with a sign; a class token adds three entries: to it,
// from it, to itself.
int64_t SignedOffsets(int64_t positions) {
  const int64_t side = Side(positions);
  if (side > 0) return (2 * side - 1) * (2 * side - 1);
  const int64_t beside_token = Side(positions - 1);
  return beside_token > 0 ? (2 * beside_token - 1) * (2 * beside_token - 1) + 3 : 0;
}

}  // namespace

std::optional<FoldedTable> FindFoldedTable(absl::string_view target, const Dims& made) {
  std::vector<int64_t> sizes;
  for (const Dim& dim : made) sizes.push_back(dim.is_constant() ? dim.value() : 0);
  const size_t rank = sizes.size();
  if (rank < 2) return std::nullopt;
  const bool is_turned = rank > 2 && sizes[rank - 2] == sizes[rank - 1];
  const bool heads_first = rank > 2 && (is_turned || sizes[0] != sizes[1]);
  const Dim heads = heads_first ? made[rank - 3] : made[rank - 1];
  if (absl::EndsWith(target, ".relative_position_bias_table")) {
    const int64_t positions = rank == 2 ? Side(sizes[0]) : sizes[heads_first ? rank - 1 : 0];
    const int64_t entries = SignedOffsets(positions);
    if (entries == 0 || (heads_first && !is_turned)) return std::nullopt;
    return FoldedTable{.dims = {Dim(entries), heads},
                       .gathered = {Dim(positions * positions), heads},
                       .is_turned = is_turned};
  }
  // Without a sign: as many as positions.
  if (absl::EndsWith(target, ".attention_biases") && rank > 2 && Side(sizes[rank - 1]) > 0) {
    return FoldedTable{.dims = {made[rank - 3], made[rank - 1]},
                       .gathered = {made[rank - 3], Dim(sizes[rank - 2] * sizes[rank - 1])},
                       .by_rows = false};
  }
  return std::nullopt;
}

// Coordinates of an image: two for each pair of positions.
std::optional<Dims> FindFoldedOperand(absl::string_view target, const Dims& made) {
  if (!absl::EndsWith(target, ".relative_coords_table") || made.empty()) return std::nullopt;
  Dims dims = made;
  dims.back() = Dim(2);
  return dims;
}

std::optional<Dims> FrequenciesOf(const Dims& made) {
  if (made.size() < 2) return std::nullopt;
  const Dim turned = made.back();
  if (!turned.is_constant() || turned.value() % 2 != 0) return std::nullopt;
  return Dims{Dim(turned.value() / 2)};
}

bool IsFoldedAway(absl::string_view target) {
  return absl::EndsWith(target, kFrequenciesName) ||
         absl::EndsWith(target, ".relative_coords_table");
}

Dims LookedUpTable(absl::string_view target, const Dims& looked_up, int64_t positions) {
  constexpr int64_t kTokenTypes = 2;
  const size_t rank = looked_up.size();
  Dim rows = rank >= 2 ? looked_up[rank - 2] : Dim(1);
  if (absl::StrContains(target, "token_type")) {
    rows = Dim(kTokenTypes);
  } else if (rows.is_constant() && rows.value() < positions) {
    rows = Dim(positions);
  }
  return {rows, looked_up.back()};
}

}  // namespace footprint
