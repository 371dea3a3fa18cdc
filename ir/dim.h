// Symbolic integers: dimension sizes, element counts and bytes in the model's own dimension names.
//
// A Dim is a small handle: a constant, unknown, or an expression kept in a DimTable. Expressions
// are hash-consed in a canonical form, so equal handles mean equal values (the reverse is not
// promised):
//
//   sum   = constant + coefficient * product + ...
//   product = atom^power * ...
//   atom  = symbol | floor(sum / sum) | ceil(sum / sum) | min(sum, sum) | max(sum, sum)
//
// All arithmetic is checked 64-bit: what overflows, or grows beyond what is sensible to print,
// becomes unknown and is counted in overflows(). Every operation with an unknown operand is unknown
// (except a product with the constant 0). What is known holds for all bindings within the symbols'
// bounds and wherever every division is defined.
#ifndef FOOTPRINT_IR_DIM_H_
#define FOOTPRINT_IR_DIM_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace footprint {

class Dim {
 public:
  // Unknown.
  constexpr Dim() = default;
  // A constant.
  constexpr Dim(int64_t value)  // NOLINT(google-explicit-constructor): a size is a Dim
      : value_(value), expression_(kConstant) {}

  constexpr bool is_unknown() const { return expression_ == kUnknown; }
  constexpr bool is_constant() const { return expression_ == kConstant; }
  // True only if this is the constant `value`.
  constexpr bool Is(int64_t value) const { return is_constant() && value_ == value; }
  // Only for constants.
  constexpr int64_t value() const { return value_; }
  // Identity of handles. Two unknowns compare equal here: use SameSize() to ask about sizes.
  friend constexpr bool operator==(const Dim&, const Dim&) = default;

  template <typename H>
  friend H AbslHashValue(H h, const Dim& dim) {
    return H::combine(std::move(h), dim.value_, dim.expression_);
  }

 private:
  friend class DimTable;
  static constexpr int32_t kUnknown = -2;
  static constexpr int32_t kConstant = -1;
  constexpr Dim(int64_t value, int32_t expression) : value_(value), expression_(expression) {}

  int64_t value_ = 0;
  int32_t expression_ = kUnknown;
};

// Known to be equal for every binding.
constexpr bool SameSize(Dim a, Dim b) { return !a.is_unknown() && a == b; }

// Inclusive bounds; kNoBound where there is none.
struct DimBounds {
  static constexpr int64_t kNoBound = std::numeric_limits<int64_t>::max();
  int64_t lower = std::numeric_limits<int64_t>::min();
  int64_t upper = kNoBound;
};

// How a symbol came to be.
enum class SymbolOrigin {
  kModel,          // a dim_param of the model
  kDataDependent,  // a size that run-time values decide (NonZero, Unique, ...)
};

// Values of symbols, by the symbol's name.
using DimBindings = std::vector<std::pair<std::string, int64_t>>;

class DimTable {
 public:
  DimTable();
  ~DimTable();
  DimTable(DimTable&&) noexcept;
  DimTable& operator=(DimTable&&) noexcept;

  // The symbol called `name`, made on first use with bounds [1, no bound].
  Dim Symbol(absl::string_view name);
  // Symbols that are made from now on are data-dependent, with bounds [0, no bound]: names that
  // occur beside the inputs' shapes alone stand for what an exporter did not know.
  void EndInputSymbols();
  // A new symbol `prefix`0, `prefix`1 ... that stands for a data-dependent size in [lower, upper].
  // `upper` may itself be symbolic or unknown. The name is one that no symbol has yet, so the
  // model's own symbols should be made first.
  Dim Fresh(absl::string_view prefix, int64_t lower, Dim upper);
  // Narrows the bounds of a symbol (declared range constraints). Ignored for anything else.
  void Constrain(Dim symbol, DimBounds bounds);

  Dim Add(Dim a, Dim b);
  Dim Sub(Dim a, Dim b);
  Dim Neg(Dim a);
  Dim Mul(Dim a, Dim b);
  // Division rounding toward minus infinity / plus infinity. A zero divisor gives unknown. Exact
  // division of polynomials is recognised: FloorDiv(12*batch*seq, 4*seq) = 3*batch (symbols >= 1).
  Dim FloorDiv(Dim a, Dim b);
  Dim CeilDiv(Dim a, Dim b);
  // a - b*FloorDiv(a, b)
  Dim Mod(Dim a, Dim b);
  // Resolved by bounds where these decide, e.g. Max(batch, 1) = batch.
  Dim Min(Dim a, Dim b);
  Dim Max(Dim a, Dim b);
  // Rounds up to a multiple of a positive constant, e.g. 512.
  Dim RoundUp(Dim a, int64_t multiple);
  Dim Product(absl::Span<const Dim> factors);
  Dim Sum(absl::Span<const Dim> terms);

  // Bounds that hold for every binding.
  DimBounds Bounds(Dim a) const;
  bool IsPositive(Dim a) const { return Bounds(a).lower >= 1; }
  bool IsNonNegative(Dim a) const { return Bounds(a).lower >= 0; }
  // Proven: a == b, a != b, a <= b for every binding.
  bool KnownEqual(Dim a, Dim b);
  bool KnownNotEqual(Dim a, Dim b);
  bool KnownLessEqual(Dim a, Dim b);

  // True if a symbol of data-dependent origin occurs in it.
  bool IsDataDependent(Dim a) const;
  // The names of all symbols in the table, in the order they were made.
  std::vector<std::string> SymbolNames() const;
  // Names of the symbols that occur in it, each once, in the order they were made.
  std::vector<std::string> SymbolsIn(Dim a) const;
  // For a fresh symbol: its symbolic upper bound (unknown if none was given).
  Dim UpperBoundOf(Dim symbol) const;

  // "12*batch", "2*height - 1", "floor((width - 3)/2) + 1", "min(512, sequence)", "?" for unknown.
  // Terms in a fixed order: higher degree first, then symbols in the order they were made; the
  // first positive term leads ("10 - width").
  std::string ToString(Dim a) const;

  // Parses what ToString prints and what exporters write in dim_param: identifiers, integers, + - *
  // // % ** (constant power), floor(a/b), ceil(a/b), Min/Max/min/max, parentheses, Mod(a, b),
  // "floor_div(a, b)", "((sequence**2)//sequence)", "floor(height/2 - 1/2) + 1". A plain identifier
  // is its symbol. Returns nullopt when `text` is no such expression. A name with '.', ':' or '-'
  // inside, such as "past-length" or "height-1", is none: the caller may pass it to Symbol().
  std::optional<Dim> Parse(absl::string_view text);

  // How many operations overflowed so far.
  int64_t overflows() const;

 private:
  friend class DimEvaluator;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Evaluates expressions of one table at one set of bindings, remembering each result. The table may
// grow meanwhile. Symbols without a binding take `default_value` and are listed in assumed().
// Data-dependent symbols without a binding take their upper bound, or are unevaluable without one.
class DimEvaluator {
 public:
  DimEvaluator(DimTable& table, const DimBindings& bindings, int64_t default_value = 1);
  ~DimEvaluator();
  DimEvaluator(DimEvaluator&&) noexcept;

  // The table of the expressions.
  DimTable& table() const;
  // nullopt: unknown, overflow, or division by zero.
  std::optional<int64_t> Evaluate(Dim a);
  // Model symbols that were evaluated without a binding, in the table's order.
  std::vector<std::string> assumed() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace footprint

#endif  // FOOTPRINT_IR_DIM_H_
