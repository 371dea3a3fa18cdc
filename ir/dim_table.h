// The inside of a DimTable, shared by the files that implement it.
//
// Every expression is a node. An atom (symbol, floor, ceil, min, max) is a node whose `sum` is just
// itself; any other node is a sum of products of atoms. Operands have smaller ids than the node
// that uses them, so nothing here goes in circles.
#ifndef FOOTPRINT_IR_DIM_TABLE_H_
#define FOOTPRINT_IR_DIM_TABLE_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "ir/dim.h"
#include "ir/dim_interval.h"
#include "ir/dim_polynomial.h"

namespace footprint {

enum class DimKind : uint8_t { kSum, kSymbol, kFloor, kCeil, kMin, kMax };

struct DimNode {
  DimKind kind = DimKind::kSum;
  bool is_data_dependent = false;
  // How deep atoms are nested, and how many terms and atoms the expression has written out in full.
  int32_t depth = 1;
  int32_t size = 1;
  int32_t symbol = -1;
  DimBounds bounds;
  Polynomial sum;
  // Numerator and denominator, or what min and max choose from.
  std::vector<Dim> operands;
};

struct DimSymbol {
  std::string name;
  int32_t node = -1;
  SymbolOrigin origin = SymbolOrigin::kModel;
  Dim upper;
};

struct DimTable::Impl {
  static constexpr int32_t kMaxDepth = 64;
  static constexpr int32_t kMaxSize = 4096;
  static constexpr size_t kMaxOperands = 16;
  enum class Op : uint8_t { kAdd, kMul, kFloor, kCeil, kMin, kMax, kLessEqual };

  class Writer;  // dim_print.cpp

  // Interning. Unknown where a limit is exceeded.
  Dim Intern(Polynomial sum);
  Dim Intern(const std::optional<Polynomial>& sum) { return sum ? Intern(*sum) : Dim(); }
  Dim InternAtom(DimKind kind, std::vector<Dim> operands);
  Dim AddSymbol(absl::string_view name, SymbolOrigin origin, DimBounds bounds, Dim upper);
  Dim AddNode(DimNode node);
  const DimNode& node(Dim dim) const { return nodes[static_cast<size_t>(dim.expression_)]; }
  const DimNode& atom(int32_t id) const { return nodes[static_cast<size_t>(id)]; }
  Polynomial ToPolynomial(Dim dim) const;
  static Dim FromId(int32_t id) { return Dim(0, id); }
  static int32_t IdOf(Dim dim) { return dim.expression_; }

  // Operations; all give unknown for an unknown operand. They do not count overflows.
  template <typename Compute>
  Dim Remember(Op op, Dim a, Dim b, Compute compute);
  Dim AddMultiple(Dim a, int64_t scale, Dim b);
  Dim Add(Dim a, Dim b);
  Dim Sub(Dim a, Dim b) { return AddMultiple(a, -1, b); }
  Dim Mul(Dim a, Dim b);
  Dim Divide(DimKind rounding, Dim a, Dim b);
  // whole + sign*round(numerator / denominator)
  struct Fraction {
    DimKind rounding = DimKind::kFloor;
    Polynomial numerator;
    Polynomial denominator;
    Polynomial whole;
    int64_t sign = 1;
  };
  Dim ComputeQuotient(DimKind rounding, Dim a, Dim b);
  // Each returns false if it overflows.
  bool CancelCommonFactors(Fraction& q);
  bool NormalizeSign(Fraction& q);
  bool TakeOutMultiples(Fraction& q);
  bool TakeOutMultiplesOfConstant(Fraction& q);
  bool AddTo(Polynomial& sum, int64_t scale, const Polynomial& p) const;
  DimBounds BoundsOfFraction(const Fraction& q) const;
  // Returns true if it found something to do.
  bool Unnest(Fraction& q);
  Dim Choose(DimKind min_or_max, Dim a, Dim b);
  Dim ComputeChoice(DimKind min_or_max, Dim a, Dim b);
  bool LessEqual(Dim a, Dim b);

  // Bounds.
  DimBounds BoundsOf(Dim dim) const;
  DimBounds BoundsOf(const Polynomial& p) const;
  DimBounds IntervalOf(const Polynomial& p) const;
  DimBounds AtomBounds(const DimNode& atom) const;
  int64_t LowerBound(const Polynomial& p) const;
  // At most `scale` times the sum in question.
  struct Relaxation {
    Polynomial sum;
    int64_t scale = 1;
  };
  std::optional<Polynomial> Replace(const Polynomial& p, const Term& term, Dim replacement) const;
  std::vector<Polynomial> SplitChoices(const Polynomial& p) const;
  int64_t RelaxedLowerBound(const Polynomial& p) const;
  void AppendRelaxations(const Relaxation& from, const Term& term,
                         std::vector<Relaxation>& relaxations) const;
  void AppendQuotientRelaxation(const Relaxation& from, const Term& term, const DimNode& quotient,
                                std::vector<Relaxation>& relaxations) const;
  // Notes bounds that are known from how `dim` was computed.
  Dim Refine(Dim dim, DimBounds bounds);

  Monomials monomials;
  std::deque<DimNode> nodes;
  std::vector<DimSymbol> symbols;
  absl::flat_hash_map<std::string, int32_t> symbol_index;
  bool reads_inputs = true;  // symbols that are made are of the inputs' shapes
  absl::flat_hash_map<Polynomial, int32_t> sum_index;
  absl::flat_hash_map<std::pair<DimKind, std::vector<Dim>>, int32_t> atom_index;
  absl::flat_hash_map<std::tuple<Op, Dim, Dim>, Dim> remembered;
  int64_t overflows = 0;
};

template <typename Compute>
Dim DimTable::Impl::Remember(Op op, Dim a, Dim b, Compute compute) {
  const auto key = std::make_tuple(op, a, b);
  const auto it = remembered.find(key);
  if (it != remembered.end()) return it->second;
  const Dim result = compute();
  remembered.emplace(key, result);
  return result;
}

}  // namespace footprint

#endif  // FOOTPRINT_IR_DIM_TABLE_H_
