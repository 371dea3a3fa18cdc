// Bounds of symbolic integers.
//
// Interval arithmetic alone forgets that two terms of a sum depend on each other: x - 2*floor(x/2) is
// 0 or 1, but from x >= 1 it sees no bound at all. So a lower bound is also sought by replacing an
// atom that stands alone in its term by what it cannot exceed or fall below:
//
//   S = rest + f*floor(P/c)     c*S >= c*rest + f*P          if f < 0
//                               c*S >= c*rest + f*(P-c+1)    if f > 0
//   S = rest + f*min(A, B)        S >= rest + f*A, rest + f*B        if f < 0: the better one holds
//                                 S >= the lesser of these           if f > 0
//
// (max mirrors min; a data-dependent symbol with f < 0 is replaced by its symbolic upper bound), until
// the terms have cancelled or the budget of steps is used up. Upper bounds are lower bounds of -S.
#include <algorithm>

#include "ir/dim_table.h"

namespace footprint {
namespace {

constexpr int kBudget = 16;
constexpr int64_t kMinusInfinity = std::numeric_limits<int64_t>::min();

}  // namespace

DimBounds DimTable::Impl::BoundsOf(Dim dim) const {
  if (dim.is_unknown()) return {};
  return dim.is_constant() ? Exactly(dim.value()) : node(dim).bounds;
}

DimBounds DimTable::Impl::IntervalOf(const Polynomial& p) const {
  DimBounds sum = Exactly(0);
  for (const Term& term : p) {
    DimBounds product = Exactly(term.coefficient);
    for (const Factor& factor : monomials.factors(term.monomial)) {
      product = Times(product, Power(atom(factor.atom).bounds, factor.power));
    }
    sum = Plus(sum, product);
  }
  return sum;
}

DimBounds DimTable::Impl::AtomBounds(const DimNode& atom) const {
  DimBounds bounds = BoundsOf(atom.operands[0]);
  for (size_t i = 1; i < atom.operands.size(); ++i) {
    const DimBounds other = BoundsOf(atom.operands[i]);
    switch (atom.kind) {
      case DimKind::kFloor:
        bounds = Quotient(bounds, other, Rounding::kDown);
        break;
      case DimKind::kCeil:
        bounds = Quotient(bounds, other, Rounding::kUp);
        break;
      case DimKind::kMin:
        bounds = MinOf(bounds, other);
        break;
      default:
        bounds = MaxOf(bounds, other);
    }
  }
  return bounds;
}

DimBounds DimTable::Impl::BoundsOf(const Polynomial& p) const {
  DimBounds bounds = IntervalOf(p);
  if (p.size() < 2) return bounds;
  const bool has_composite = std::any_of(p.begin(), p.end(), [this](const Term& term) {
    const int32_t id = monomials.AtomOf(term.monomial);
    return id >= 0 && (atom(id).kind != DimKind::kSymbol || atom(id).is_data_dependent);
  });
  if (!has_composite) return bounds;
  int budget = kBudget;
  bounds.lower = LowerBound(p, budget);
  if (const auto negated = Scale(p, -1)) {
    budget = kBudget;
    bounds = Meet(bounds, Negative({LowerBound(*negated, budget), DimBounds::kNoBound}));
  }
  return bounds;
}

int64_t DimTable::Impl::LowerBound(const Polynomial& p, int& budget) const {
  int64_t best = IntervalOf(p).lower;
  if (p.size() < 2) return best;
  for (const Term& term : p) {
    const int32_t id = monomials.AtomOf(term.monomial);
    if (id < 0 || budget <= 0) continue;
    best = std::max(best, LowerBoundWithout(p, term, atom(id), budget));
  }
  return best;
}

// The recursion with LowerBound ends with the budget, which every step here draws on.
int64_t DimTable::Impl::LowerBoundWithout(const Polynomial& p, const Term& term,
                                          const DimNode& atom, int& budget) const {
  const int64_t f = term.coefficient;
  const Polynomial alone{Term{f, term.monomial}};
  const std::optional<Polynomial> rest = AddScaled(monomials, p, -1, alone);
  if (!rest.has_value()) return kMinusInfinity;
  // rest_scale*rest + f*(replacement + shift)
  const auto bound_with = [&](int64_t rest_scale, Dim replacement, int64_t shift) {
    --budget;
    const auto scaled = Scale(*rest, rest_scale);
    if (!scaled.has_value()) return kMinusInfinity;
    const auto shifted = AddScaled(monomials, ToPolynomial(replacement), shift, {Term{1, kOne}});
    if (!shifted.has_value()) return kMinusInfinity;
    const auto sum = AddScaled(monomials, *scaled, f, *shifted);
    return sum.has_value() ? LowerBound(*sum, budget) : kMinusInfinity;
  };
  switch (atom.kind) {
    case DimKind::kFloor: {
      if (!atom.operands[1].is_constant()) return kMinusInfinity;
      const int64_t divisor = atom.operands[1].value();
      const int64_t bound = bound_with(divisor, atom.operands[0], f < 0 ? 0 : 1 - divisor);
      return bound == kMinusInfinity ? bound : CeilQuotient(bound, divisor);
    }
    case DimKind::kMin:
    case DimKind::kMax: {
      const bool any_holds = (atom.kind == DimKind::kMin) == (f < 0);
      int64_t bound = any_holds ? kMinusInfinity : DimBounds::kNoBound;
      for (const Dim operand : atom.operands) {
        const int64_t other = budget > 0 ? bound_with(1, operand, 0) : kMinusInfinity;
        bound = any_holds ? std::max(bound, other) : std::min(bound, other);
      }
      return bound;
    }
    case DimKind::kSymbol: {
      const Dim upper = symbols[static_cast<size_t>(atom.symbol)].upper;
      if (f > 0 || upper.is_unknown()) return kMinusInfinity;
      return bound_with(1, upper, 0);
    }
    default:
      return kMinusInfinity;
  }
}

Dim DimTable::Impl::Refine(Dim dim, DimBounds bounds) {
  if (dim.is_unknown() || dim.is_constant()) return dim;
  DimNode& refined = nodes[static_cast<size_t>(IdOf(dim))];
  refined.bounds = Meet(refined.bounds, bounds);
  return dim;
}

DimBounds DimTable::Bounds(Dim a) const { return impl_->BoundsOf(a); }

}  // namespace footprint
