// Polynomials with integer coefficients over numbered atoms; what an atom stands for is DimTable's
// business. Monomials are interned in a Monomials table, so a term is two integers.
#ifndef FOOTPRINT_IR_DIM_POLYNOMIAL_H_
#define FOOTPRINT_IR_DIM_POLYNOMIAL_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace footprint {

struct Factor {
  int32_t atom = 0;
  int32_t power = 1;
  friend bool operator==(const Factor&, const Factor&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const Factor& factor) {
    return H::combine(std::move(h), factor.atom, factor.power);
  }
};
// Sorted by atom, each once, powers >= 1.
using Factors = std::vector<Factor>;

using MonomialId = int32_t;
inline constexpr MonomialId kOne = 0;

struct Term {
  int64_t coefficient = 0;
  MonomialId monomial = kOne;
  friend bool operator==(const Term&, const Term&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const Term& term) {
    return H::combine(std::move(h), term.coefficient, term.monomial);
  }
};
// Sorted by Monomials::Before, no zero coefficients. The constant, if any, is the last term.
using Polynomial = std::vector<Term>;

inline constexpr size_t kMaxTerms = 256;
inline constexpr size_t kMaxTermPairs = 4096;
inline constexpr int32_t kMaxDegree = 64;

class Monomials {
 public:
  Monomials();

  const Factors& factors(MonomialId id) const { return entries_[static_cast<size_t>(id)].factors; }
  int32_t degree(MonomialId id) const { return entries_[static_cast<size_t>(id)].degree; }
  // The atom if the monomial is one atom to the first power, else -1.
  int32_t AtomOf(MonomialId id) const;

  MonomialId Of(int32_t atom) { return Intern({Factor{atom, 1}}); }
  // nullopt: the degree would exceed kMaxDegree.
  std::optional<MonomialId> Product(MonomialId a, MonomialId b);
  // nullopt: b does not divide a.
  std::optional<MonomialId> Quotient(MonomialId a, MonomialId b);
  MonomialId CommonDivisor(MonomialId a, MonomialId b);
  // The fixed order of terms: higher degree first, then higher powers of earlier atoms first. It is
  // compatible with multiplication, which long division rests on.
  bool Before(MonomialId a, MonomialId b) const;

 private:
  struct Entry {
    Factors factors;
    int32_t degree;
  };
  MonomialId Intern(Factors factors);

  std::deque<Entry> entries_;
  absl::flat_hash_map<Factors, MonomialId> index_;
};

inline Polynomial ConstantPolynomial(int64_t value) {
  return value == 0 ? Polynomial() : Polynomial{Term{value, kOne}};
}
inline bool IsConstant(const Polynomial& p) {
  return p.empty() || (p.size() == 1 && p[0].monomial == kOne);
}
inline int64_t ConstantOf(const Polynomial& p) {
  return !p.empty() && p.back().monomial == kOne ? p.back().coefficient : 0;
}

// Each gives nullopt where a coefficient overflows or the result is too large.
std::optional<Polynomial> AddScaled(const Monomials& monomials, const Polynomial& a, int64_t scale,
                                    const Polynomial& b);  // a + scale*b
std::optional<Polynomial> Scale(const Polynomial& a, int64_t scale);
std::optional<Polynomial> Multiply(Monomials& monomials, const Polynomial& a, const Polynomial& b);
// a / b where that is a polynomial with integer coefficients. b's first coefficient is positive.
std::optional<Polynomial> DivideExactly(Monomials& monomials, Polynomial a, const Polynomial& b);
// The same polynomial with another constant.
Polynomial WithConstant(Polynomial p, int64_t constant);
Polynomial Without(Polynomial p, MonomialId monomial);

// The greatest common divisor of all coefficients and `so_far`, 0 if all are zero.
int64_t Content(const Polynomial& p, int64_t so_far = 0);
// The greatest monomial that divides all terms and `so_far` (-1: none yet).
MonomialId CommonMonomial(Monomials& monomials, const Polynomial& p, MonomialId so_far = -1);
// Divides by a term that is known to divide.
Polynomial DivideByTerm(Monomials& monomials, const Polynomial& p, const Term& divisor);

// Rounding toward minus infinity; the divisor is positive.
constexpr int64_t FloorQuotient(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
constexpr int64_t CeilQuotient(int64_t a, int64_t b) { return a / b + (a % b > 0 ? 1 : 0); }

}  // namespace footprint

#endif  // FOOTPRINT_IR_DIM_POLYNOMIAL_H_
