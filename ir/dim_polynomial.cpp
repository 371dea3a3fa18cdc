#include "ir/dim_polynomial.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "ir/wide.h"

namespace footprint {

Monomials::Monomials() { Intern({}); }

MonomialId Monomials::Intern(Factors factors) {
  auto [it, inserted] = index_.try_emplace(factors, static_cast<MonomialId>(entries_.size()));
  if (inserted) {
    int32_t degree = 0;
    for (const Factor& factor : factors) degree += factor.power;
    entries_.push_back({std::move(factors), degree});
  }
  return it->second;
}

int32_t Monomials::AtomOf(MonomialId id) const {
  const Factors& list = factors(id);
  return list.size() == 1 && list[0].power == 1 ? list[0].atom : -1;
}

std::optional<MonomialId> Monomials::Product(MonomialId a, MonomialId b) {
  if (a == kOne) return b;
  if (b == kOne) return a;
  if (degree(a) + degree(b) > kMaxDegree) return std::nullopt;
  const Factors& left = factors(a);
  const Factors& right = factors(b);
  Factors product;
  auto l = left.begin();
  auto r = right.begin();
  while (l != left.end() && r != right.end()) {
    if (l->atom == r->atom) {
      product.push_back({l->atom, l->power + r->power});
      ++l, ++r;
    } else {
      product.push_back(l->atom < r->atom ? *l++ : *r++);
    }
  }
  product.insert(product.end(), l, left.end());
  product.insert(product.end(), r, right.end());
  return Intern(std::move(product));
}

std::optional<MonomialId> Monomials::Quotient(MonomialId a, MonomialId b) {
  if (b == kOne) return a;
  Factors quotient;
  const Factors& divisor = factors(b);
  auto d = divisor.begin();
  for (const Factor& factor : factors(a)) {
    int32_t power = factor.power;
    if (d != divisor.end() && d->atom == factor.atom) power -= (d++)->power;
    if (power < 0) return std::nullopt;
    if (power > 0) quotient.push_back({factor.atom, power});
  }
  if (d != divisor.end()) return std::nullopt;
  return Intern(std::move(quotient));
}

MonomialId Monomials::CommonDivisor(MonomialId a, MonomialId b) {
  if (a == b) return a;
  if (a == kOne || b == kOne) return kOne;
  Factors common;
  const Factors& right = factors(b);
  auto r = right.begin();
  for (const Factor& factor : factors(a)) {
    while (r != right.end() && r->atom < factor.atom) ++r;
    if (r != right.end() && r->atom == factor.atom) {
      common.push_back({factor.atom, std::min(factor.power, r->power)});
    }
  }
  return Intern(std::move(common));
}

bool Monomials::Before(MonomialId a, MonomialId b) const {
  if (a == b) return false;
  if (degree(a) != degree(b)) return degree(a) > degree(b);
  const Factors& left = factors(a);
  const Factors& right = factors(b);
  const auto [l, r] = std::mismatch(left.begin(), left.end(), right.begin(), right.end());
  return l->atom != r->atom ? l->atom < r->atom : l->power > r->power;
}

std::optional<Polynomial> AddScaled(const Monomials& monomials, const Polynomial& a, int64_t scale,
                                    const Polynomial& b) {
  Polynomial sum;
  if (scale == 0) return a;
  auto l = a.begin();
  auto r = b.begin();
  while (l != a.end() || r != b.end()) {
    if (r == b.end() || (l != a.end() && monomials.Before(l->monomial, r->monomial))) {
      sum.push_back(*l++);
      continue;
    }
    Term term = *r;
    if (__builtin_mul_overflow(r->coefficient, scale, &term.coefficient)) return std::nullopt;
    if (l != a.end() && l->monomial == r->monomial) {
      if (__builtin_add_overflow(l->coefficient, term.coefficient, &term.coefficient)) {
        return std::nullopt;
      }
      ++l;
    }
    ++r;
    if (term.coefficient != 0) sum.push_back(term);
  }
  if (sum.size() > kMaxTerms) return std::nullopt;
  return sum;
}

std::optional<Polynomial> Scale(const Polynomial& a, int64_t scale) {
  if (scale == 0) return Polynomial();
  Polynomial result = a;
  for (Term& term : result) {
    if (__builtin_mul_overflow(term.coefficient, scale, &term.coefficient)) return std::nullopt;
  }
  return result;
}

std::optional<Polynomial> Multiply(Monomials& monomials, const Polynomial& a, const Polynomial& b) {
  if (a.size() * b.size() > kMaxTermPairs) return std::nullopt;
  Polynomial terms;
  terms.reserve(a.size() * b.size());
  for (const Term& l : a) {
    for (const Term& r : b) {
      Term term;
      const std::optional<MonomialId> monomial = monomials.Product(l.monomial, r.monomial);
      if (!monomial.has_value()) return std::nullopt;
      if (__builtin_mul_overflow(l.coefficient, r.coefficient, &term.coefficient)) {
        return std::nullopt;
      }
      term.monomial = *monomial;
      terms.push_back(term);
    }
  }
  std::sort(terms.begin(), terms.end(), [&monomials](const Term& x, const Term& y) {
    return monomials.Before(x.monomial, y.monomial);
  });
  Polynomial product;
  for (size_t i = 0; i < terms.size();) {
    Wide coefficient = 0;
    const MonomialId monomial = terms[i].monomial;
    for (; i < terms.size() && terms[i].monomial == monomial; ++i) {
      coefficient += terms[i].coefficient;
    }
    const auto narrow = static_cast<int64_t>(coefficient);
    if (narrow != coefficient) return std::nullopt;
    if (narrow != 0) product.push_back({narrow, monomial});
  }
  if (product.size() > kMaxTerms) return std::nullopt;
  return product;
}

std::optional<Polynomial> DivideExactly(Monomials& monomials, Polynomial a, const Polynomial& b) {
  Polynomial quotient;
  while (!a.empty()) {
    const std::optional<MonomialId> monomial = monomials.Quotient(a[0].monomial, b[0].monomial);
    if (!monomial.has_value() || a[0].coefficient % b[0].coefficient != 0 ||
        quotient.size() >= kMaxTerms) {
      return std::nullopt;
    }
    const Term term{a[0].coefficient / b[0].coefficient, *monomial};
    quotient.push_back(term);
    const std::optional<Polynomial> part = Multiply(monomials, {term}, b);
    if (!part.has_value()) return std::nullopt;
    std::optional<Polynomial> rest = AddScaled(monomials, a, -1, *part);
    if (!rest.has_value()) return std::nullopt;
    a = *std::move(rest);
  }
  return quotient;
}

Polynomial WithConstant(Polynomial p, int64_t constant) {
  if (!p.empty() && p.back().monomial == kOne) p.pop_back();
  if (constant != 0) p.push_back({constant, kOne});
  return p;
}

Polynomial Without(Polynomial p, MonomialId monomial) {
  p.erase(std::remove_if(p.begin(), p.end(),
                         [monomial](const Term& term) { return term.monomial == monomial; }),
          p.end());
  return p;
}

int64_t Content(const Polynomial& p, int64_t so_far) {
  for (const Term& term : p) {
    // Its magnitude has no int64, so nothing is taken out.
    if (term.coefficient == std::numeric_limits<int64_t>::min()) return 1;
    so_far = std::gcd(so_far, term.coefficient);
  }
  return so_far;
}

MonomialId CommonMonomial(Monomials& monomials, const Polynomial& p, MonomialId so_far) {
  for (const Term& term : p) {
    so_far = so_far < 0 ? term.monomial : monomials.CommonDivisor(so_far, term.monomial);
  }
  return so_far;
}

Polynomial DivideByTerm(Monomials& monomials, const Polynomial& p, const Term& divisor) {
  Polynomial result = p;
  for (Term& term : result) {
    term.coefficient /= divisor.coefficient;
    term.monomial = *monomials.Quotient(term.monomial, divisor.monomial);
  }
  return result;
}

}  // namespace footprint
