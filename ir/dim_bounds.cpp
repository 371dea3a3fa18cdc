// Bounds of symbolic integers.
//
// Interval arithmetic alone forgets that two terms of a sum depend on each other: x - 2*floor(x/2)
// is 0 or 1, but from x >= 1 it sees no bound at all. So a lower bound is also sought by replacing
// an atom that stands alone in its term by what it cannot exceed or fall below:
//
//   S = rest + f*floor(P/c)     c*S >= c*rest + f*P          if f < 0
//                               c*S >= c*rest + f*(P-c+1)    if f > 0
//   S = rest + f*min(A, B)        S >= rest + f*A, rest + f*B        if f < 0: the better one holds
//                                 S >= the lesser of these           if f > 0
//
// (max mirrors min; a data-dependent symbol with f < 0 is replaced by its symbolic upper bound).
// First the sum is split into the cases of which it is the least, then each case is searched for
// the replacements that cancel most, within a budget of steps. Upper bounds are lower bounds of -S.
#include <algorithm>

#include "ir/dim_table.h"

namespace footprint {
namespace {

constexpr size_t kBudget = 16;
// In larger sums nothing is sought, so that a step stays cheap.
constexpr size_t kMaxSearchedTerms = 32;
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
  if (p.size() < 2 || p.size() > kMaxSearchedTerms) return bounds;
  const bool may_cancel = std::any_of(p.begin(), p.end(), [this](const Term& term) {
    const int32_t id = monomials.AtomOf(term.monomial);
    return id >= 0 && (atom(id).kind != DimKind::kSymbol || atom(id).is_data_dependent);
  });
  if (!may_cancel) return bounds;
  bounds.lower = std::max(bounds.lower, LowerBound(p));
  if (const auto negated = Scale(p, -1)) {
    bounds = Meet(bounds, Negative({LowerBound(*negated), DimBounds::kNoBound}));
  }
  return bounds;
}

int64_t DimTable::Impl::LowerBound(const Polynomial& p) const {
  int64_t lower = DimBounds::kNoBound;
  for (const Polynomial& one : SplitChoices(p)) lower = std::min(lower, RelaxedLowerBound(one));
  return lower;
}

std::optional<Polynomial> DimTable::Impl::Replace(const Polynomial& p, const Term& term,
                                                  Dim replacement) const {
  return AddScaled(monomials, Without(p, term.monomial), term.coefficient,
                   ToPolynomial(replacement));
}

std::vector<Polynomial> DimTable::Impl::SplitChoices(const Polynomial& p) const {
  std::vector<Polynomial> pending = {p};
  std::vector<Polynomial> split;
  while (!pending.empty()) {
    const Polynomial one = std::move(pending.back());
    pending.pop_back();
    const auto choice = std::find_if(one.begin(), one.end(), [this](const Term& term) {
      const int32_t id = monomials.AtomOf(term.monomial);
      return id >= 0 && atom(id).kind == (term.coefficient > 0 ? DimKind::kMin : DimKind::kMax);
    });
    std::vector<Polynomial> cases;
    if (choice != one.end()) {
      for (const Dim operand : atom(monomials.AtomOf(choice->monomial)).operands) {
        if (auto replaced = Replace(one, *choice, operand)) cases.push_back(*std::move(replaced));
      }
      const size_t wanted = atom(monomials.AtomOf(choice->monomial)).operands.size();
      if (cases.size() < wanted) cases.clear();
    }
    if (cases.empty() || pending.size() + split.size() + cases.size() > kBudget) {
      split.push_back(one);
    } else {
      std::move(cases.begin(), cases.end(), std::back_inserter(pending));
    }
  }
  return split;
}

int64_t DimTable::Impl::RelaxedLowerBound(const Polynomial& p) const {
  int64_t best = kMinusInfinity;
  std::vector<Relaxation> pending = {{p, 1}};
  for (size_t step = 0; step < kBudget && !pending.empty(); ++step) {
    const Relaxation current = std::move(pending.back());
    pending.pop_back();
    const int64_t lower = IntervalOf(current.sum).lower;
    if (lower != kMinusInfinity) best = std::max(best, CeilQuotient(lower, current.scale));
    if (current.sum.size() < 2 || current.sum.size() > kMaxSearchedTerms) continue;
    const size_t limit = pending.size() + kBudget - step;
    for (const Term& term : current.sum) {
      if (pending.size() < limit) AppendRelaxations(current, term, pending);
    }
  }
  return best;
}

void DimTable::Impl::AppendRelaxations(const Relaxation& from, const Term& term,
                                       std::vector<Relaxation>& relaxations) const {
  const int32_t id = monomials.AtomOf(term.monomial);
  if (id < 0) return;
  const DimNode& replaced = atom(id);
  const bool negative = term.coefficient < 0;
  const auto append = [&](Dim replacement) {
    if (auto sum = Replace(from.sum, term, replacement)) {
      relaxations.push_back({*std::move(sum), from.scale});
    }
  };
  switch (replaced.kind) {
    case DimKind::kFloor:
      AppendQuotientRelaxation(from, term, replaced, relaxations);
      break;
    case DimKind::kMin:
    case DimKind::kMax:
      if (negative != (replaced.kind == DimKind::kMin)) return;
      for (const Dim operand : replaced.operands) append(operand);
      break;
    case DimKind::kSymbol: {
      const Dim upper = symbols[static_cast<size_t>(replaced.symbol)].upper;
      if (negative && !upper.is_unknown()) append(upper);
      break;
    }
    default:
      break;
  }
}

void DimTable::Impl::AppendQuotientRelaxation(const Relaxation& from, const Term& term,
                                              const DimNode& quotient,
                                              std::vector<Relaxation>& relaxations) const {
  if (!quotient.operands[1].is_constant()) return;
  const int64_t divisor = quotient.operands[1].value();
  Relaxation relaxed;
  if (__builtin_mul_overflow(from.scale, divisor, &relaxed.scale)) return;
  const auto scaled = Scale(Without(from.sum, term.monomial), divisor);
  const auto bound = AddScaled(monomials, ToPolynomial(quotient.operands[0]),
                               term.coefficient < 0 ? 0 : 1 - divisor, {Term{1, kOne}});
  if (!scaled.has_value() || !bound.has_value()) return;
  auto sum = AddScaled(monomials, *scaled, term.coefficient, *bound);
  if (!sum.has_value()) return;
  relaxed.sum = *std::move(sum);
  relaxations.push_back(std::move(relaxed));
}

Dim DimTable::Impl::Refine(Dim dim, DimBounds bounds) {
  if (dim.is_unknown() || dim.is_constant()) return dim;
  DimNode& refined = nodes[static_cast<size_t>(IdOf(dim))];
  refined.bounds = Meet(refined.bounds, bounds);
  return dim;
}

DimBounds DimTable::Bounds(Dim a) const { return impl_->BoundsOf(a); }

}  // namespace footprint
