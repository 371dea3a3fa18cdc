// Division with rounding, brought to a form that depends as little as possible on how a size was
// computed, so that two branches of a network agree about it:
//
//   (12*batch*seq + 12*seq)/(12*seq) -> batch + 1                 common factors cancel
//   (x^2 - 1)/(x + 1)                -> x - 1                     exact division of polynomials
//   floor((x + 2*y + 5)/2)           -> floor((x + 1)/2) + y + 2  multiples of the divisor
//   floor((6*x + 3)/4)               -> floor((3*x + 1)/2)        a divisor of all but the constant
//   ceil(x/3)                        -> floor((x + 2)/3)          constant divisors: always floor
//   floor((floor(x/2) + y)/3)        -> floor((x + 2*y)/6)        nested roundings
//   floor((3 - x)/2)                 -> -ceil((x - 3)/2)          if all terms are negative
//
// Each holds wherever the division is defined. The remaining numerator of a constant divisor c has
// a constant in [0, c). Printing chooses between floor and ceil again.
#include <algorithm>

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
  Fraction q{rounding, ToPolynomial(a), ToPolynomial(b), {}, 1};
  do {
    if (!CancelCommonFactors(q) || !NormalizeSign(q) || !TakeOutMultiples(q)) return Dim();
    if (q.numerator.empty()) return Intern(std::move(q.whole));
    const DimBounds bounds = BoundsOfFraction(q);
    if (bounds.lower == bounds.upper) {
      return Add(Intern(std::move(q.whole)), Mul(q.sign, bounds.lower));
    }
  } while (Unnest(q));
  const Dim numerator = Intern(std::move(q.numerator));
  const Dim denominator = Intern(std::move(q.denominator));
  return Add(Intern(std::move(q.whole)),
             Mul(q.sign, InternAtom(q.rounding, {numerator, denominator})));
}

DimBounds DimTable::Impl::BoundsOfFraction(const Fraction& q) const {
  return Quotient(BoundsOf(q.numerator), BoundsOf(q.denominator),
                  q.rounding == DimKind::kFloor ? Rounding::kDown : Rounding::kUp);
}

bool DimTable::Impl::CancelCommonFactors(Fraction& q) {
  if (q.denominator[0].coefficient < 0) {
    auto numerator = Scale(q.numerator, -1);
    auto denominator = Scale(q.denominator, -1);
    if (!numerator.has_value() || !denominator.has_value()) return false;
    q.numerator = *std::move(numerator);
    q.denominator = *std::move(denominator);
  }
  const Term own{Content(q.denominator), CommonMonomial(monomials, q.denominator)};
  if (q.denominator.size() > 1) {
    const Polynomial primitive = DivideByTerm(monomials, q.denominator, own);
    if (auto quotient = DivideExactly(monomials, q.numerator, primitive)) {
      q.numerator = *std::move(quotient);
      q.denominator = {own};
    }
  }
  const Term common{Content(q.numerator, own.coefficient),
                    CommonMonomial(monomials, q.numerator, own.monomial)};
  q.numerator = DivideByTerm(monomials, q.numerator, common);
  q.denominator = DivideByTerm(monomials, q.denominator, common);
  return true;
}

bool DimTable::Impl::NormalizeSign(Fraction& q) {
  const bool is_negative =
      std::all_of(q.numerator.begin(), q.numerator.end(),
                  [](const Term& term) { return term.monomial == kOne || term.coefficient < 0; });
  if (!is_negative || IsConstant(q.numerator)) return true;
  auto numerator = Scale(q.numerator, -1);
  if (!numerator.has_value()) return false;
  q.numerator = *std::move(numerator);
  q.sign = -q.sign;
  q.rounding = q.rounding == DimKind::kFloor ? DimKind::kCeil : DimKind::kFloor;
  return true;
}

bool DimTable::Impl::TakeOutMultiples(Fraction& q) {
  if (q.denominator.size() != 1) return true;
  if (IsConstant(q.denominator)) return TakeOutMultiplesOfConstant(q);
  const Term divisor = q.denominator[0];
  Polynomial whole;
  Polynomial rest;
  for (const Term& term : q.numerator) {
    const auto monomial = monomials.Quotient(term.monomial, divisor.monomial);
    if (monomial.has_value() && term.coefficient % divisor.coefficient == 0) {
      whole.push_back({term.coefficient / divisor.coefficient, *monomial});
    } else {
      rest.push_back(term);
    }
  }
  q.numerator = std::move(rest);
  return AddTo(q.whole, q.sign, whole);
}

bool DimTable::Impl::TakeOutMultiplesOfConstant(Fraction& q) {
  const int64_t divisor = ConstantOf(q.denominator);
  if (q.rounding == DimKind::kCeil) {
    q.rounding = DimKind::kFloor;
    if (!AddTo(q.numerator, 1, ConstantPolynomial(divisor - 1))) return false;
  }
  Polynomial whole;
  Polynomial rest;
  int64_t common = divisor;
  for (const Term& term : q.numerator) {
    if (term.monomial == kOne) continue;
    if (term.coefficient % divisor == 0) {
      whole.push_back({term.coefficient / divisor, term.monomial});
    } else {
      rest.push_back(term);
      common = Content({term}, common);
    }
  }
  const int64_t quotient = FloorQuotient(ConstantOf(q.numerator), divisor);
  int64_t remainder = ConstantOf(q.numerator) % divisor;
  if (remainder < 0) remainder += divisor;
  q.numerator.clear();
  if (!rest.empty()) {
    q.numerator = WithConstant(DivideByTerm(monomials, rest, {common, kOne}), remainder / common);
    q.denominator = ConstantPolynomial(divisor / common);
  }
  return AddTo(q.whole, q.sign, WithConstant(std::move(whole), quotient));
}

// floor((floor(P/d) + R)/c) = floor((P + d*R)/(d*c)) for a positive constant c. For any positive c
// that holds without R, and for ceil.
bool DimTable::Impl::Unnest(Fraction& q) {
  const bool is_constant = IsConstant(q.denominator);
  if (!is_constant && (q.numerator.size() > 1 || BoundsOf(q.denominator).lower < 1)) return false;
  for (const Term& term : q.numerator) {
    const int32_t id = term.coefficient == 1 ? monomials.AtomOf(term.monomial) : -1;
    if (id < 0 || atom(id).kind != q.rounding) continue;
    const Polynomial divisor = ToPolynomial(atom(id).operands[1]);
    auto numerator = Multiply(monomials, divisor, Without(q.numerator, term.monomial));
    auto denominator = Multiply(monomials, divisor, q.denominator);
    if (!numerator.has_value() || !denominator.has_value() ||
        !AddTo(*numerator, 1, ToPolynomial(atom(id).operands[0]))) {
      continue;
    }
    q.numerator = *std::move(numerator);
    q.denominator = *std::move(denominator);
    return true;
  }
  return false;
}

bool DimTable::Impl::AddTo(Polynomial& sum, int64_t scale, const Polynomial& p) const {
  auto result = AddScaled(monomials, sum, scale, p);
  if (!result.has_value()) return false;
  sum = *std::move(result);
  return true;
}

}  // namespace footprint
