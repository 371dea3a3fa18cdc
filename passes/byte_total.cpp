#include "passes/byte_total.h"

#include <algorithm>

namespace footprint {
namespace {

void AddTo(std::optional<int64_t>* sum, std::optional<int64_t> bytes) {
  if (!sum->has_value()) return;
  if (!bytes.has_value() || __builtin_add_overflow(**sum, *bytes, &**sum)) sum->reset();
}

std::optional<int64_t> RoundUp(std::optional<int64_t> bytes, int64_t granularity) {
  if (!bytes.has_value()) return bytes;
  const int64_t rest = *bytes % granularity;
  if (rest != 0 && __builtin_add_overflow(*bytes, granularity - rest, &*bytes)) return std::nullopt;
  return bytes;
}

}  // namespace

// Rounding adds less than one granule to each, and leaves a multiple of it.
int64_t BoundTogether(const std::vector<Dim>& sizes, int64_t separately, int64_t granularity,
                      DimEvaluator& evaluator) {
  if (sizes.size() < 2) return separately;
  const std::optional<int64_t> sum = evaluator.Evaluate(evaluator.table().Sum(sizes));
  int64_t together = 0;
  if (!sum.has_value() ||
      __builtin_add_overflow(*sum, static_cast<int64_t>(sizes.size()) * (granularity - 1),
                             &together)) {
    return separately;
  }
  return std::min(separately, together - together % granularity);
}

void ByteTotal::Add(Dim bytes) {
  if (bytes.is_constant() && granularity_ == 1) return AddTo(&sum_, bytes.value());
  const std::optional<int64_t> rounded = RoundUp(evaluator_.Evaluate(bytes), granularity_);
  const bool from_data = evaluator_.table().IsDataDependent(bytes);
  AddTo(from_data ? &data_sum_ : &sum_, rounded);
  if (from_data) data_dependent_.push_back(bytes);
}

std::optional<int64_t> ByteTotal::bytes() const {
  std::optional<int64_t> total = sum_;
  if (!data_sum_.has_value()) return std::nullopt;
  AddTo(&total, BoundTogether(data_dependent_, *data_sum_, granularity_, evaluator_));
  return total;
}

bool ByteTotal::is_bounded() const {
  if (data_dependent_.empty()) return false;
  const Dim sum = evaluator_.table().Sum(data_dependent_);
  return granularity_ != 1 || sum.is_unknown() || evaluator_.table().IsDataDependent(sum);
}

}  // namespace footprint
