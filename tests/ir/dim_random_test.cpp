// Random expressions, built as Dims and worked out naively at random bindings side by side.
// Whatever a DimTable claims has to hold for the naive values.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <random>
#include <utility>

#include "ir/dim.h"

#include "ir/wide.h"

namespace footprint {
namespace {

constexpr size_t kBindings = 6;
constexpr int kSymbols = 5;
constexpr int kOperations = 9;

using Value = std::optional<int64_t>;
using Values = std::array<Value, kBindings>;

struct Expression {
  Dim dim;
  Values values;
};

std::optional<Wide> FloorDivide(Wide a, Wide b) {
  if (b == 0) return std::nullopt;
  Wide q = a / b;
  while (q * b > a && b > 0) --q;
  while (q * b < a && b < 0) --q;
  return q;
}

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kExtremes[] = {kMin, kMin + 1,         kMin / 2, -3,       -1,
                                 2,    int64_t{1} << 31, kMax / 3, kMax - 1, kMax};

enum class Constants { kSmall, kExtreme };

class RandomExpressions {
 public:
  explicit RandomExpressions(unsigned seed, Constants constants = Constants::kSmall)
      : random_(seed), constants_(constants) {
    for (int i = 0; i < kSymbols; ++i) {
      const std::string name(1, static_cast<char>('a' + i));
      const int64_t lower = i == 1 ? 4 : 1;
      const int64_t upper = i == 1 ? 9 : (i == 2 ? 2 : 40);
      Expression symbol{table.Symbol(name), {}};
      if (i == 1) table.Constrain(symbol.dim, {4, 9});
      for (size_t k = 0; k < kBindings; ++k) {
        const int64_t value = k == 0 ? lower : Pick(lower, upper);
        symbol.values[k] = value;
        bindings[k].emplace_back(name, value);
      }
      expressions.push_back(symbol);
    }
    Expression fresh{table.Fresh("n", 0, table.Mul(expressions[0].dim, expressions[1].dim)), {}};
    for (size_t k = 0; k < kBindings; ++k) {
      const int64_t most = *expressions[0].values[k] * *expressions[1].values[k];
      fresh.values[k] = k == 0 ? 0 : Pick(0, most);
      bindings[k].emplace_back("n0", *fresh.values[k]);
    }
    expressions.push_back(fresh);
  }

  int64_t Pick(int64_t lower, int64_t upper) {
    return lower + static_cast<int64_t>(random_() % static_cast<uint64_t>(upper - lower + 1));
  }

  Expression Operand() {
    if (Pick(0, 3) == 0) {
      Expression constant{Pick(-6, 12), {}};
      if (constants_ == Constants::kExtreme) {
        constant.dim = kExtremes[Pick(0, std::ssize(kExtremes) - 1)];
      }
      constant.values.fill(constant.dim.value());
      return constant;
    }
    // Mostly recent ones, so that expressions grow.
    const auto size = static_cast<int64_t>(expressions.size());
    return expressions[static_cast<size_t>(Pick(Pick(0, size - 1), size - 1))];
  }

  // Two expressions to compare: any two, or the halves of one, which differ by 0 or 1.
  std::pair<Expression, Expression> Pair() {
    const Expression a = Operand();
    if (Pick(0, 1) == 0) return {a, Operand()};
    const int64_t off = Pick(0, 1);
    std::pair<Expression, Expression> halves{{table.Sub(a.dim, table.CeilDiv(a.dim, 2)), {}},
                                             {table.Add(table.FloorDiv(a.dim, 2), off), {}}};
    for (size_t k = 0; k < kBindings; ++k) {
      if (!a.values[k]) continue;
      const auto half = static_cast<int64_t>(*FloorDivide(*a.values[k], 2));
      halves.first.values[k] = half;
      halves.second.values[k] = half + off;
    }
    return halves;
  }

  const Expression& Grow() {
    const auto operation = Pick(0, kOperations - 1);
    const Expression a = Operand();
    const Expression b = Operand();
    Expression result{Symbolic(operation, a.dim, b.dim), {}};
    for (size_t k = 0; k < kBindings; ++k) {
      if (a.values[k] && b.values[k]) {
        result.values[k] = Fitting(Naive(operation, *a.values[k], *b.values[k]));
      }
    }
    expressions.push_back(result);
    return expressions.back();
  }

  DimTable table;
  std::array<DimBindings, kBindings> bindings;
  std::vector<Expression> expressions;

 private:
  Dim Symbolic(int64_t operation, Dim a, Dim b) {
    switch (operation) {
      case 0:
        return table.Add(a, b);
      case 1:
        return table.Sub(a, b);
      case 2:
        return table.Mul(a, b);
      case 3:
      case 4:
        return table.FloorDiv(a, b);
      case 5:
        return table.CeilDiv(a, b);
      case 6:
        return table.Min(a, b);
      case 7:
        return table.Max(a, b);
      default:
        return table.Mod(a, b);
    }
  }

  static std::optional<Wide> Naive(int64_t operation, Wide a, Wide b) {
    switch (operation) {
      case 0:
        return a + b;
      case 1:
        return a - b;
      case 2:
        return a * b;
      case 3:
      case 4:
        return FloorDivide(a, b);
      case 5: {
        const auto negated = FloorDivide(-a, b);
        return negated ? std::optional<Wide>(-*negated) : std::nullopt;
      }
      case 6:
        return std::min(a, b);
      case 7:
        return std::max(a, b);
      default: {
        const auto quotient = FloorDivide(a, b);
        return quotient ? std::optional<Wide>(a - b * *quotient) : std::nullopt;
      }
    }
  }

  // Small constants give small values only, so that a DimEvaluator has no reason to overflow.
  Value Fitting(std::optional<Wide> value) const {
    const Wide limit = constants_ == Constants::kSmall ? Wide{1} << 30 : Wide{kMax};
    if (!value || *value > limit || *value < -limit - 1) return std::nullopt;
    return static_cast<int64_t>(*value);
  }

  std::mt19937 random_;
  Constants constants_;
};

constexpr unsigned kTables = 1000;
constexpr int kExpressions = 30;

TEST(DimRandomTest, EvaluationAndBoundsAgreeWithNaiveValues) {
  int64_t checked = 0;
  for (unsigned seed = 0; seed < kTables; ++seed) {
    RandomExpressions random(seed);
    std::vector<DimEvaluator> evaluators;
    evaluators.reserve(kBindings);
    for (const DimBindings& bindings : random.bindings) {
      evaluators.emplace_back(random.table, bindings);
    }
    for (int i = 0; i < kExpressions; ++i) {
      const Expression& expression = random.Grow();
      if (expression.dim.is_unknown()) continue;
      const DimBounds bounds = random.table.Bounds(expression.dim);
      for (size_t k = 0; k < kBindings; ++k) {
        if (!expression.values[k]) continue;
        ++checked;
        ASSERT_EQ(evaluators[k].Evaluate(expression.dim), expression.values[k])
            << "seed " << seed << ": " << random.table.ToString(expression.dim);
        ASSERT_LE(bounds.lower, *expression.values[k])
            << "seed " << seed << ": " << random.table.ToString(expression.dim);
        ASSERT_GE(bounds.upper, *expression.values[k])
            << "seed " << seed << ": " << random.table.ToString(expression.dim);
      }
    }
  }
  EXPECT_GT(checked, int64_t{kTables} * kExpressions * kBindings / 2);
}

// Where something does not fit, unknown is right; a wrong value never is.
TEST(DimRandomTest, ExtremeCoefficientsOverflowOrAreRight) {
  int64_t right = 0;
  int64_t overflows = 0;
  for (unsigned seed = 0; seed < kTables / 2; ++seed) {
    RandomExpressions random(seed, Constants::kExtreme);
    for (int i = 0; i < kExpressions; ++i) {
      const Expression& expression = random.Grow();
      const DimBounds bounds = random.table.Bounds(expression.dim);
      for (size_t k = 0; k < kBindings; ++k) {
        if (!expression.values[k]) continue;
        DimEvaluator evaluator(random.table, random.bindings[k]);
        const Value value = evaluator.Evaluate(expression.dim);
        right += value.has_value();
        ASSERT_EQ(value.value_or(*expression.values[k]), *expression.values[k])
            << "seed " << seed << ": " << random.table.ToString(expression.dim);
        ASSERT_TRUE(bounds.lower <= *expression.values[k] && *expression.values[k] <= bounds.upper)
            << "seed " << seed << ": " << random.table.ToString(expression.dim);
      }
    }
    overflows += random.table.overflows();
  }
  EXPECT_GT(right, 10000);
  EXPECT_GT(overflows, 500);
}

TEST(DimRandomTest, ClaimsAboutPairsHold) {
  int64_t equal = 0, not_equal = 0, ordered = 0;
  for (unsigned seed = 0; seed < kTables; ++seed) {
    RandomExpressions random(seed + kTables);
    for (int i = 0; i < kExpressions; ++i) random.Grow();
    for (int i = 0; i < kExpressions; ++i) {
      const auto [a, b] = random.Pair();
      const bool same = SameSize(a.dim, b.dim);
      const bool known_equal = random.table.KnownEqual(a.dim, b.dim);
      const bool known_not_equal = random.table.KnownNotEqual(a.dim, b.dim);
      const bool known_less_equal = random.table.KnownLessEqual(a.dim, b.dim);
      ASSERT_TRUE(!same || known_equal);
      equal += known_equal && !same;
      not_equal += known_not_equal;
      ordered += known_less_equal && !known_equal;
      for (size_t k = 0; k < kBindings; ++k) {
        if (!a.values[k] || !b.values[k]) continue;
        const int64_t x = *a.values[k], y = *b.values[k];
        ASSERT_TRUE((!known_equal || x == y) && (!known_not_equal || x != y) &&
                    (!known_less_equal || x <= y))
            << "seed " << seed << ": " << random.table.ToString(a.dim) << " and "
            << random.table.ToString(b.dim);
      }
    }
  }
  EXPECT_GT(not_equal, 1000);
  EXPECT_GT(ordered, 1000);
  EXPECT_GT(equal, 1000);
}

TEST(DimRandomTest, PrintedTextMeansTheSame) {
  int64_t same = 0, all = 0;
  for (unsigned seed = 0; seed < kTables / 2; ++seed) {
    RandomExpressions random(seed + 2 * kTables);
    for (int i = 0; i < kExpressions; ++i) {
      const Expression expression = random.Grow();
      if (expression.dim.is_unknown()) continue;
      const std::string text = random.table.ToString(expression.dim);
      const std::optional<Dim> parsed = random.table.Parse(text);
      if (!parsed.has_value()) {
        ASSERT_GT(text.size(), 300u) << text;  // a limit of the parser
        continue;
      }
      ++all;
      same += *parsed == expression.dim;
      for (size_t k = 0; k < kBindings; ++k) {
        if (!expression.values[k]) continue;
        DimEvaluator evaluator(random.table, random.bindings[k]);
        ASSERT_EQ(evaluator.Evaluate(*parsed), expression.values[k]) << text;
      }
    }
  }
  EXPECT_GT(same, all * 99 / 100);
}

TEST(DimRandomTest, TheSameOperationsGiveTheSameText) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    RandomExpressions first(seed);
    RandomExpressions second(seed);
    for (int i = 0; i < kExpressions; ++i) {
      ASSERT_EQ(first.table.ToString(first.Grow().dim), second.table.ToString(second.Grow().dim));
    }
  }
}

}  // namespace
}  // namespace footprint
