// Printing symbolic integers.
//
// Division by a constant is kept as floor((P + r)/c) + k with 0 <= r < c. People know it in other
// forms, so the text is ceil(P/c) where r = c - 1, and what a strided convolution gives,
// floor((P - t)/c) + 1, where a sum of one such quotient has a negative k.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "ir/dim_table.h"

namespace footprint {

class DimTable::Impl::Writer {
 public:
  explicit Writer(const Impl& table) : table_(table) {}

  std::string Write(Polynomial p);

 private:
  // A piece of text, or a polynomial that is still to be written.
  struct Piece {
    std::string text;
    Polynomial polynomial;
    bool is_text = true;
  };

  struct Shift;

  Shift ChooseShift(const Polynomial& p);
  void Expand(const Polynomial& p);
  void ExpandTerm(const Term& term, bool first, int64_t shift);
  void ExpandAtom(const DimNode& atom, int64_t shift);
  void ExpandQuotient(const DimNode& atom, int64_t shift);
  void Text(std::string text) { pieces_.push_back({std::move(text), {}, true}); }
  void Later(Polynomial p) { pieces_.push_back({"", std::move(p), false}); }
  void Operand(Polynomial p, bool is_divisor);

  const Impl& table_;
  std::vector<Piece> pieces_;
};

std::string DimTable::Impl::Writer::Write(Polynomial p) {
  std::string result;
  std::vector<Piece> pending;
  pending.push_back({"", std::move(p), false});
  while (!pending.empty()) {
    const Piece piece = std::move(pending.back());
    pending.pop_back();
    if (piece.is_text) {
      absl::StrAppend(&result, piece.text);
      continue;
    }
    pieces_.clear();
    Expand(piece.polynomial);
    std::move(pieces_.rbegin(), pieces_.rend(), std::back_inserter(pending));
  }
  return result;
}

// Where a sum has a negative constant k and one quotient floor((P + r)/c), r > 0, the quotient is
// written as floor((P + r + c*shift)/c) and the constant as 1, with shift = k - 1.
struct DimTable::Impl::Writer::Shift {
  MonomialId quotient = -1;
  int64_t divisors = 0;
};

DimTable::Impl::Writer::Shift DimTable::Impl::Writer::ChooseShift(const Polynomial& p) {
  Shift shift;
  if (ConstantOf(p) >= 0) return shift;
  for (const Term& term : p) {
    const int32_t id = table_.monomials.AtomOf(term.monomial);
    if (id < 0 || table_.atom(id).kind != DimKind::kFloor) continue;
    if (shift.quotient >= 0 || term.coefficient != 1) return {};
    shift.quotient = term.monomial;
  }
  if (shift.quotient < 0) return {};
  const DimNode& quotient = table_.atom(table_.monomials.AtomOf(shift.quotient));
  const int64_t remainder = ConstantOf(table_.ToPolynomial(quotient.operands[0]));
  int64_t moved = 0;
  if (!quotient.operands[1].is_constant() || remainder == 0 ||
      __builtin_sub_overflow(ConstantOf(p), 1, &shift.divisors) ||
      __builtin_mul_overflow(shift.divisors, quotient.operands[1].value(), &moved)) {
    return {};
  }
  return shift;
}

void DimTable::Impl::Writer::Expand(const Polynomial& p) {
  if (p.empty()) return Text("0");
  const Shift shift = ChooseShift(p);
  Polynomial terms = shift.divisors == 0 ? p : WithConstant(p, 1);
  // "10 - x" reads better than "-x + 10".
  const auto positive = std::find_if(terms.begin(), terms.end(),
                                     [](const Term& term) { return term.coefficient > 0; });
  if (positive != terms.end()) std::rotate(terms.begin(), positive, positive + 1);
  for (const Term& term : terms) {
    ExpandTerm(term, &term == &terms.front(), term.monomial == shift.quotient ? shift.divisors : 0);
  }
}

void DimTable::Impl::Writer::ExpandTerm(const Term& term, bool first, int64_t shift) {
  const bool negative = term.coefficient < 0;
  const uint64_t magnitude =
      negative ? -static_cast<uint64_t>(term.coefficient) : static_cast<uint64_t>(term.coefficient);
  if (first) {
    if (negative) Text("-");
  } else {
    Text(negative ? " - " : " + ");
  }
  bool needs_star = magnitude != 1 || term.monomial == kOne;
  if (needs_star) Text(absl::StrCat(magnitude));
  for (const Factor& factor : table_.monomials.factors(term.monomial)) {
    if (needs_star) Text("*");
    needs_star = true;
    ExpandAtom(table_.atom(factor.atom), shift);
    if (factor.power != 1) Text(absl::StrCat("**", factor.power));
  }
}

void DimTable::Impl::Writer::ExpandAtom(const DimNode& atom, int64_t shift) {
  switch (atom.kind) {
    case DimKind::kSymbol:
      return Text(table_.symbols[static_cast<size_t>(atom.symbol)].name);
    case DimKind::kFloor:
    case DimKind::kCeil:
      return ExpandQuotient(atom, shift);
    default:
      Text(atom.kind == DimKind::kMin ? "min(" : "max(");
      for (size_t i = 0; i < atom.operands.size(); ++i) {
        if (i > 0) Text(", ");
        Later(table_.ToPolynomial(atom.operands[i]));
      }
      Text(")");
  }
}

void DimTable::Impl::Writer::ExpandQuotient(const DimNode& atom, int64_t shift) {
  Polynomial numerator = table_.ToPolynomial(atom.operands[0]);
  const Dim divisor = atom.operands[1];
  bool up = atom.kind == DimKind::kCeil;
  if (!up && divisor.is_constant()) {
    const int64_t remainder = ConstantOf(numerator);
    up = shift == 0 && remainder == divisor.value() - 1;
    const int64_t constant = up ? 0 : remainder + shift * divisor.value();
    numerator = WithConstant(std::move(numerator), constant);
  }
  Text(up ? "ceil(" : "floor(");
  Operand(std::move(numerator), false);
  Text("/");
  Operand(table_.ToPolynomial(divisor), true);
  Text(")");
}

void DimTable::Impl::Writer::Operand(Polynomial p, bool is_divisor) {
  const bool is_atom =
      p.size() == 1 && (p[0].monomial == kOne ||
                        (p[0].coefficient == 1 && table_.monomials.AtomOf(p[0].monomial) >= 0));
  const bool bare = is_atom || (!is_divisor && p.size() == 1);
  if (!bare) Text("(");
  Later(std::move(p));
  if (!bare) Text(")");
}

std::string DimTable::ToString(Dim a) const {
  if (a.is_unknown()) return "?";
  if (a.is_constant()) return absl::StrCat(a.value());
  return Impl::Writer(*impl_).Write(impl_->node(a).sum);
}

}  // namespace footprint
