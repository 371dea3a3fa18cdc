// Division with rounding, brought to a form that depends as little as possible on how a size was
// computed, so that two branches of a network agree about it:
//
//   (12*batch*seq + 12*seq)/(12*seq) -> batch + 1             common factors cancel
//   (x^2 - 1)/(x + 1)                -> x - 1                 exact division of polynomials
//   floor((x + 2*y + 5)/2)           -> floor((x + 1)/2) + y + 2      multiples of the divisor go out
//   floor((6*x + 3)/4)               -> floor((3*x + 1)/2)            what divides all but the constant
//   ceil(x/2)                        -> floor((x + 1)/2)              constant divisors: always floor
//   floor((floor(x/2) + y)/3)        -> floor((x + 2*y)/6)            nested roundings
//
// Each holds wherever the division is defined. The remaining numerator of a constant divisor c has a
// constant in [0, c). Printing chooses between floor and ceil again.
#include "ir/dim_table.h"

namespace footprint {

Dim DimTable::Impl::Divide(DimKind rounding, Dim a, Dim b) {
  if (a.is_unknown() || b.is_unknown() || b.Is(0)) return Dim();
  if (b.Is(1)) return a;
  if (a == b) return 1;
  if (a.Is(0)) return 0;
  if (a.is_constant() && b.is_constant() && b.value() > 0) {
    return rounding == DimKind::kFloor ? FloorQuotient(a.value(), b.value())
                                       : CeilQuotient(a.value(), b.value());
  }
  const bool down = rounding == DimKind::kFloor;
  return Remember(down ? Op::kFloor : Op::kCeil, a, b, [&] {
    return Refine(ComputeQuotient(rounding, a, b),
                  Quotient(BoundsOf(a), BoundsOf(b), down ? Rounding::kDown : Rounding::kUp));
  });
}

Dim DimTable::Impl::ComputeQuotient(DimKind rounding, Dim a, Dim b) {
  std::optional<Polynomial> numerator = ToPolynomial(a);
  std::optional<Polynomial> denominator = ToPolynomial(b);
  if ((*denominator)[0].coefficient < 0) {
    numerator = Scale(*numerator, -1);
    denominator = Scale(*denominator, -1);
    if (!numerator.has_value() || !denominator.has_value()) return Dim();
  }
  const Term own{Content(*denominator), CommonMonomial(monomials, *denominator)};
  if (denominator->size() > 1) {
    const Polynomial primitive = DivideByTerm(monomials, *denominator, own);
    if (auto quotient = DivideExactly(monomials, *numerator, primitive)) {
      numerator = std::move(quotient);
      denominator = Polynomial{own};
    }
  }
  const Term common{Content(*numerator, own.coefficient),
                    CommonMonomial(monomials, *numerator, own.monomial)};
  numerator = DivideByTerm(monomials, *numerator, common);
  denominator = DivideByTerm(monomials, *denominator, common);
  if (IsConstant(*denominator)) {
    const int64_t divisor = ConstantOf(*denominator);
    if (rounding == DimKind::kCeil) {
      numerator = AddScaled(monomials, *numerator, divisor - 1, {Term{1, kOne}});
      if (!numerator.has_value()) return Dim();
    }
    return DivideByConstant(*std::move(numerator), divisor);
  }
  if (denominator->size() == 1) return DivideByMonomial(rounding, *numerator, (*denominator)[0]);
  return MakeQuotient(rounding, *numerator, *denominator);
}

Dim DimTable::Impl::DivideByConstant(Polynomial numerator, int64_t divisor) {
  Polynomial whole;
  Polynomial rest;
  int64_t common = divisor;
  for (const Term& term : numerator) {
    if (term.monomial == kOne) continue;
    if (term.coefficient % divisor == 0) {
      whole.push_back({term.coefficient / divisor, term.monomial});
    } else {
      rest.push_back(term);
      common = Content({term}, common);
    }
  }
  const int64_t constant = ConstantOf(numerator);
  whole = WithConstant(std::move(whole), FloorQuotient(constant, divisor));
  if (rest.empty()) return Intern(std::move(whole));
  const int64_t remainder = constant - FloorQuotient(constant, divisor) * divisor;
  rest = WithConstant(DivideByTerm(monomials, rest, Term{common, kOne}), remainder / common);
  divisor /= common;

  // floor((floor(P/d) + R)/c) = floor((P + d*R)/(d*c))
  for (const Term& term : rest) {
    const int32_t id = term.coefficient == 1 ? monomials.AtomOf(term.monomial) : -1;
    if (id < 0 || atom(id).kind != DimKind::kFloor) continue;
    const DimNode& inner = atom(id);
    const auto others = AddScaled(monomials, rest, -1, {term});
    const Dim numerator = Add(inner.operands[0], Mul(inner.operands[1], Intern(others)));
    const Dim merged = Divide(DimKind::kFloor, numerator, Mul(inner.operands[1], divisor));
    if (!merged.is_unknown()) return Add(Intern(std::move(whole)), merged);
  }
  return Add(Intern(std::move(whole)),
             MakeQuotient(DimKind::kFloor, rest, ConstantPolynomial(divisor)));
}

Dim DimTable::Impl::DivideByMonomial(DimKind rounding, const Polynomial& numerator,
                                     const Term& divisor) {
  Polynomial whole;
  Polynomial rest;
  for (const Term& term : numerator) {
    const auto monomial = monomials.Quotient(term.monomial, divisor.monomial);
    if (monomial.has_value() && term.coefficient % divisor.coefficient == 0) {
      whole.push_back({term.coefficient / divisor.coefficient, *monomial});
    } else {
      rest.push_back(term);
    }
  }
  return Add(Intern(std::move(whole)), MakeQuotient(rounding, rest, {divisor}));
}

Dim DimTable::Impl::MakeQuotient(DimKind rounding, const Polynomial& numerator,
                                 const Polynomial& denominator) {
  if (numerator.empty()) return 0;
  const DimBounds bounds = Quotient(BoundsOf(numerator), BoundsOf(denominator),
                                    rounding == DimKind::kFloor ? Rounding::kDown : Rounding::kUp);
  if (bounds.lower == bounds.upper) return bounds.lower;
  const Dim b = Intern(denominator);
  // floor(floor(P/d)/b) = floor(P/(d*b)) for b > 0
  if (numerator.size() == 1 && numerator[0].coefficient == 1 && BoundsOf(b).lower >= 1) {
    const int32_t id = monomials.AtomOf(numerator[0].monomial);
    if (id >= 0 && atom(id).kind == rounding) {
      const DimNode& inner = atom(id);
      const Dim merged = Divide(rounding, inner.operands[0], Mul(inner.operands[1], b));
      if (!merged.is_unknown()) return merged;
    }
  }
  return InternAtom(rounding, {Intern(numerator), b});
}

}  // namespace footprint
