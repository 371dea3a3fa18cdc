// Comparing symbolic integers, and min and max, which rest on it.
//
// a <= b is proven by the lower bound of b - a (dim_bounds.cpp). A choice takes in the operands of
// choices of its own kind, leaves out every operand that another one makes superfluous, and takes
// out a common factor: min(4*a, min(8, 4*a + 4)) = 4*min(2, a).
#include <algorithm>

#include "ir/dim_table.h"

namespace footprint {

bool DimTable::Impl::LessEqual(Dim a, Dim b) {
  if (a.is_unknown() || b.is_unknown()) return false;
  if (a == b) return true;
  if (BoundsOf(a).upper <= BoundsOf(b).lower) return true;
  return Remember(Op::kLessEqual, a, b,
                  [&] {
                    const auto difference =
                        AddScaled(monomials, ToPolynomial(b), -1, ToPolynomial(a));
                    return Dim(difference.has_value() && BoundsOf(*difference).lower >= 0);
                  })
      .Is(1);
}

Dim DimTable::Impl::Choose(DimKind min_or_max, Dim a, Dim b) {
  if (a.is_unknown() || b.is_unknown()) return Dim();
  if (a == b) return a;
  if (a.is_constant() && b.is_constant()) {
    return min_or_max == DimKind::kMin ? std::min(a.value(), b.value())
                                       : std::max(a.value(), b.value());
  }
  if (IdOf(b) < IdOf(a)) std::swap(a, b);
  return Remember(min_or_max == DimKind::kMin ? Op::kMin : Op::kMax, a, b,
                  [&] { return ComputeChoice(min_or_max, a, b); });
}

Dim DimTable::Impl::ComputeChoice(DimKind min_or_max, Dim a, Dim b) {
  std::vector<Dim> candidates;
  for (const Dim operand : {a, b}) {
    if (!operand.is_constant() && node(operand).kind == min_or_max) {
      const auto& inner = node(operand).operands;
      candidates.insert(candidates.end(), inner.begin(), inner.end());
    } else {
      candidates.push_back(operand);
    }
  }
  std::vector<Dim> operands;
  const auto beats = [&](Dim x, Dim y) {
    return min_or_max == DimKind::kMin ? LessEqual(x, y) : LessEqual(y, x);
  };
  for (const Dim candidate : candidates) {
    if (std::any_of(operands.begin(), operands.end(),
                    [&](Dim other) { return beats(other, candidate); })) {
      continue;
    }
    operands.erase(std::remove_if(operands.begin(), operands.end(),
                                  [&](Dim other) { return beats(candidate, other); }),
                   operands.end());
    operands.push_back(candidate);
  }
  if (operands.size() == 1) return operands[0];
  if (operands.size() > kMaxOperands) return Dim();
  int64_t common = 0;
  for (const Dim operand : operands) common = Content(ToPolynomial(operand), common);
  for (Dim& operand : operands) {
    operand = Intern(DivideByTerm(monomials, ToPolynomial(operand), Term{common, kOne}));
  }
  std::sort(operands.begin(), operands.end(), [](Dim x, Dim y) { return IdOf(x) < IdOf(y); });
  return Mul(common, InternAtom(min_or_max, std::move(operands)));
}

bool DimTable::KnownEqual(Dim a, Dim b) {
  if (a.is_unknown() || b.is_unknown()) return false;
  return a == b || (impl_->LessEqual(a, b) && impl_->LessEqual(b, a));
}

bool DimTable::KnownNotEqual(Dim a, Dim b) {
  if (a.is_unknown() || b.is_unknown() || a == b) return false;
  if (a.is_constant() && b.is_constant()) return true;
  const auto difference =
      AddScaled(impl_->monomials, impl_->ToPolynomial(a), -1, impl_->ToPolynomial(b));
  if (!difference.has_value()) return false;
  const DimBounds bounds = impl_->BoundsOf(*difference);
  if (bounds.lower > 0 || bounds.upper < 0) return true;
  const int64_t step = Content(WithConstant(*difference, 0));
  return step != 0 && ConstantOf(*difference) % step != 0;
}

bool DimTable::KnownLessEqual(Dim a, Dim b) { return impl_->LessEqual(a, b); }

}  // namespace footprint
