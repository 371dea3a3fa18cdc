#include "passes/guards.h"

#include <algorithm>
#include <optional>

namespace footprint {
namespace {

bool Holds(const Guard& guard, DimEvaluator& evaluator) {
  const std::optional<int64_t> left = evaluator.Evaluate(guard.left);
  const std::optional<int64_t> right = evaluator.Evaluate(guard.right);
  if (!left || !right) return false;
  switch (guard.relation) {
    case Guard::Relation::kEqual:
      return *left == *right;
    case Guard::Relation::kNotEqual:
      return *left != *right;
    case Guard::Relation::kLess:
      return *left < *right;
    case Guard::Relation::kLessEqual:
      return *left <= *right;
  }
  return false;
}

}  // namespace

bool GuardsHold(const std::vector<Guard>& guards, DimEvaluator& evaluator) {
  return std::all_of(guards.begin(), guards.end(),
                     [&](const Guard& guard) { return Holds(guard, evaluator); });
}

}  // namespace footprint
