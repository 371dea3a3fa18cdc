// Tables of attention biases by relative position. The module gathers from one in every step;
// both are constants, so the exporter keeps the gathered numbers alone: [heads, rows, rows], or
// what that was before. How long the table was follows from the window: a short list of names.
#ifndef FOOTPRINT_IR_OPS_LOWERING_FOLDED_TABLES_H_
#define FOOTPRINT_IR_OPS_LOWERING_FOLDED_TABLES_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "ir/tensor_type.h"

namespace footprint {

struct FoldedTable {
  Dims dims;
  Dims gathered;         // pairs of positions, heads: in the order of the table
  bool by_rows = true;   // the table is [entries, heads]; else [heads, entries]
  bool is_turned = false;  // the constant has the heads first though the table has not
};

// The table called `target` from which `gathered` was made; nothing if it is none.
std::optional<FoldedTable> FindFoldedTable(absl::string_view target, const Dims& gathered);

// Size of a buffer that went into a folded product whose result is `made`: a short list of names;
// nothing if it is none of them.
std::optional<Dims> FindFoldedOperand(absl::string_view target, const Dims& made);

// Size of the frequencies of a rotary embedding, of which `made` are cosines or sines: half of them
// are those of the other half.
std::optional<Dims> FrequenciesOf(const Dims& made);
// Such a buffer is never what the exporter folded it into.
bool IsFoldedAway(absl::string_view target);

// Rows of a table of which `looked_up` were read, by its name and by how many positions the
// module numbers (0: unknown).
Dims LookedUpTable(absl::string_view target, const Dims& looked_up, int64_t positions);

inline constexpr absl::string_view kGatherCall = "aten::index";

}  // namespace footprint

#endif  // FOOTPRINT_IR_OPS_LOWERING_FOLDED_TABLES_H_
