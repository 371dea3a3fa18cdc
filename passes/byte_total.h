// ByteTotal: a sum of sizes, some of which run-time data decides. Those are added up as expressions
// and bounded together: each part of a Split may be as large as the whole, and so may their sum.
#ifndef FOOTPRINT_PASSES_BYTE_TOTAL_H_
#define FOOTPRINT_PASSES_BYTE_TOTAL_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/dim.h"

namespace footprint {

class ByteTotal {
 public:
  // `granularity`: every size is rounded up to a multiple of it.
  explicit ByteTotal(DimEvaluator& evaluator, int64_t granularity = 1)
      : evaluator_(evaluator), granularity_(granularity) {}

  void Add(Dim bytes);

  // Nullopt: a part is unknown, or the sum does not fit 64 bits.
  std::optional<int64_t> bytes() const;
  // An upper bound, not the size itself.
  bool is_bounded() const;

 private:
  DimEvaluator& evaluator_;
  int64_t granularity_;
  std::optional<int64_t> sum_ = 0;       // of sizes that data does not decide
  std::optional<int64_t> data_sum_ = 0;  // of the others, each at its own bound
  std::vector<Dim> data_dependent_;
};

// At most so many bytes do sizes that data decides take together; at most `separately`, which is
// what their own bounds add up to.
int64_t BoundTogether(const std::vector<Dim>& sizes, int64_t separately, int64_t granularity,
                      DimEvaluator& evaluator);

}  // namespace footprint

#endif  // FOOTPRINT_PASSES_BYTE_TOTAL_H_
