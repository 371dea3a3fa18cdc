#include "ir/dim.h"

#include <gtest/gtest.h>

namespace footprint {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

class DimTest : public testing::Test {
 protected:
  std::string Text(Dim dim) const { return table.ToString(dim); }
  // floor((size + 2*pad - kernel)/stride) + 1
  Dim Convolve(Dim size, int64_t kernel, int64_t stride, int64_t pad) {
    return table.Add(table.FloorDiv(table.Add(size, 2 * pad - kernel), stride), 1);
  }

  DimTable table;
  Dim batch = table.Symbol("batch");
  Dim sequence = table.Symbol("sequence");
  Dim height = table.Symbol("height");
  Dim width = table.Symbol("width");
};

TEST_F(DimTest, Handles) {
  EXPECT_TRUE(Dim().is_unknown());
  EXPECT_FALSE(Dim().is_constant());
  EXPECT_TRUE(Dim(7).Is(7));
  EXPECT_FALSE(batch.is_constant());
  EXPECT_FALSE(batch.is_unknown());
  EXPECT_FALSE(batch.Is(0));
  EXPECT_EQ(batch, table.Symbol("batch"));
  EXPECT_NE(batch, sequence);
  EXPECT_EQ(Dim(), Dim());
  EXPECT_FALSE(SameSize(Dim(), Dim()));
  EXPECT_TRUE(SameSize(batch, batch));
}

TEST_F(DimTest, UnknownSpreads) {
  const Dim unknown;
  EXPECT_TRUE(table.Add(unknown, batch).is_unknown());
  EXPECT_TRUE(table.Sub(batch, unknown).is_unknown());
  EXPECT_TRUE(table.Mul(unknown, 2).is_unknown());
  EXPECT_TRUE(table.Mul(unknown, 0).Is(0));
  EXPECT_TRUE(table.Product({unknown, batch, 0}).Is(0));
  EXPECT_TRUE(table.FloorDiv(0, unknown).is_unknown());
  EXPECT_TRUE(table.FloorDiv(batch, 0).is_unknown());
  EXPECT_TRUE(table.CeilDiv(3, 0).is_unknown());
  EXPECT_TRUE(table.Mod(batch, 0).is_unknown());
  EXPECT_TRUE(table.Min(unknown, 1).is_unknown());
  EXPECT_TRUE(table.Sum({batch, unknown}).is_unknown());
  EXPECT_FALSE(table.KnownEqual(unknown, unknown));
  EXPECT_FALSE(table.KnownNotEqual(unknown, 1));
  EXPECT_FALSE(table.KnownLessEqual(unknown, unknown));
  EXPECT_EQ(table.overflows(), 0);
  EXPECT_EQ(Text(unknown), "?");
}

TEST_F(DimTest, ConstantsRoundTowardTheRightSide) {
  EXPECT_TRUE(table.FloorDiv(7, 2).Is(3));
  EXPECT_TRUE(table.FloorDiv(-7, 2).Is(-4));
  EXPECT_TRUE(table.FloorDiv(7, -2).Is(-4));
  EXPECT_TRUE(table.FloorDiv(-7, -2).Is(3));
  EXPECT_TRUE(table.CeilDiv(7, 2).Is(4));
  EXPECT_TRUE(table.CeilDiv(-7, 2).Is(-3));
  EXPECT_TRUE(table.CeilDiv(7, -2).Is(-3));
  EXPECT_TRUE(table.CeilDiv(-7, -2).Is(4));
  EXPECT_TRUE(table.Mod(-7, 3).Is(2));
  EXPECT_TRUE(table.RoundUp(513, 512).Is(1024));
  EXPECT_TRUE(table.RoundUp(512, 512).Is(512));
}

TEST_F(DimTest, SumsAndProductsAreCanonical) {
  const Dim left = table.Mul(table.Add(height, width), table.Sub(height, width));
  const Dim right = table.Sub(table.Mul(height, height), table.Mul(width, width));
  EXPECT_EQ(left, right);
  EXPECT_EQ(Text(left), "height**2 - width**2");
  EXPECT_EQ(table.Sub(left, right), Dim(0));
  EXPECT_EQ(table.Sub(table.Add(batch, sequence), sequence), batch);
  EXPECT_EQ(table.Product({batch, 12, sequence, sequence}),
            table.Product({sequence, 4, sequence, 3, batch}));
  EXPECT_EQ(table.Sum({batch, 3, sequence, -3, batch}), table.Add(table.Mul(2, batch), sequence));
}

TEST_F(DimTest, SumsOfMany) {
  EXPECT_EQ(table.Sum({}), Dim(0));
  EXPECT_EQ(table.Product({}), Dim(1));
  EXPECT_EQ(Text(table.Sum({4, table.Mul(2, batch), sequence, 6, table.Neg(sequence)})),
            "2*batch + 10");
  EXPECT_TRUE(table.Sum({kMax, batch, 1}).is_unknown());
  EXPECT_TRUE(table.Sum({table.Mul(kMax, batch), batch}).is_unknown());
  EXPECT_EQ(table.overflows(), 2);
  std::vector<Dim> many;
  for (int i = 0; i < 300; ++i) many.push_back(table.Symbol("s" + std::to_string(i)));
  EXPECT_TRUE(table.Sum(many).is_unknown());
  EXPECT_EQ(table.overflows(), 3);
  // Bounds of the parts hold for the whole, constants included.
  const Dim product =
      table.Mul(table.Sub(table.CeilDiv(height, 2), 1), table.Sub(table.CeilDiv(width, 2), 1));
  EXPECT_EQ(table.Bounds(table.Sum({product, 3, batch, 2})).lower, 6);
}

TEST_F(DimTest, Printing) {
  EXPECT_EQ(Text(0), "0");
  EXPECT_EQ(Text(-12), "-12");
  EXPECT_EQ(Text(table.Mul(12, batch)), "12*batch");
  EXPECT_EQ(Text(table.Sub(table.Mul(height, 2), 1)), "2*height - 1");
  EXPECT_EQ(Text(table.Product({batch, 12, sequence, sequence})), "12*batch*sequence**2");
  EXPECT_EQ(Text(table.Sum({5, width, table.Mul(batch, height), batch})),
            "batch*height + batch + width + 5");
  EXPECT_EQ(Text(table.Sub(10, width)), "10 - width");
  EXPECT_EQ(Text(table.Sub(width, table.Mul(3, batch))), "width - 3*batch");
  EXPECT_EQ(Text(table.Neg(width)), "-width");
  EXPECT_EQ(Text(table.Sub(-1, table.Mul(2, width))), "-2*width - 1");
  EXPECT_EQ(Text(table.Min(sequence, 512)), "min(512, sequence)");
  EXPECT_EQ(Text(table.FloorDiv(batch, table.Mul(2, sequence))), "floor(batch/(2*sequence))");
  EXPECT_EQ(Text(table.FloorDiv(batch, table.Add(sequence, 1))), "floor(batch/(sequence + 1))");
  EXPECT_EQ(Text(table.CeilDiv(batch, sequence)), "ceil(batch/sequence)");
  EXPECT_EQ(Text(table.Mod(width, 4)), "width - 4*floor(width/4)");
  EXPECT_EQ(Text(table.FloorDiv(table.Mul(height, 3), 2)), "floor(3*height/2)");
  EXPECT_EQ(Text(table.FloorDiv(table.Sub(9, width), 2)), "4 - floor(width/2)");
  EXPECT_EQ(Text(table.FloorDiv(table.Sub(width, height), 2)), "floor((width - height)/2)");
}

TEST_F(DimTest, ConvolutionsPrintAsPeopleWriteThem) {
  EXPECT_EQ(Text(Convolve(width, 3, 2, 0)), "floor((width - 3)/2) + 1");
  EXPECT_EQ(Text(Convolve(width, 11, 4, 2)), "floor((width - 7)/4) + 1");
  EXPECT_EQ(Text(Convolve(width, 5, 2, 0)), "floor((width - 5)/2) + 1");
  EXPECT_EQ(Text(Convolve(width, 2, 2, 0)), "floor(width/2)");
  EXPECT_EQ(Text(Convolve(width, 4, 2, 0)), "floor(width/2) - 1");
  EXPECT_EQ(Text(Convolve(width, 7, 2, 3)), "ceil(width/2)");
  EXPECT_EQ(Text(Convolve(width, 3, 1, 0)), "width - 2");
  EXPECT_EQ(Text(table.Add(Convolve(width, 3, 2, 0), Convolve(height, 3, 2, 0))),
            "ceil(width/2) + ceil(height/2) - 2");
  EXPECT_EQ(Text(table.Mul(2, Convolve(width, 3, 2, 0))), "2*ceil(width/2) - 2");
  EXPECT_EQ(Text(table.Add(width, Convolve(width, 3, 2, 0))), "width + floor((width - 3)/2) + 1");
  EXPECT_EQ(Text(table.Add(Convolve(width, 3, 2, 0), table.FloorDiv(width, batch))),
            "ceil(width/2) + floor(width/batch) - 1");
}

TEST_F(DimTest, StridedSizesAgreeHoweverTheyCome) {
  EXPECT_EQ(Convolve(height, 3, 2, 1), Convolve(height, 1, 2, 0));
  EXPECT_EQ(Convolve(height, 7, 2, 3), table.CeilDiv(height, 2));
  EXPECT_EQ(Convolve(Convolve(height, 7, 2, 3), 3, 2, 1), table.CeilDiv(height, 4));
  EXPECT_EQ(Convolve(Convolve(height, 2, 2, 0), 2, 2, 0), table.FloorDiv(height, 4));
  EXPECT_EQ(table.FloorDiv(table.Add(height, 6), 2), table.Add(table.FloorDiv(height, 2), 3));
  EXPECT_EQ(table.FloorDiv(table.Sub(height, 5), 2),
            table.Sub(table.FloorDiv(table.Sub(height, 1), 2), 2));
  EXPECT_EQ(table.CeilDiv(height, -2), table.Neg(table.FloorDiv(height, 2)));
}

TEST_F(DimTest, DivisionOfPolynomials) {
  const Dim twelve = table.Product({12, batch, sequence});
  EXPECT_EQ(table.FloorDiv(twelve, table.Mul(4, sequence)), table.Mul(3, batch));
  EXPECT_EQ(table.FloorDiv(table.Mul(sequence, sequence), sequence), sequence);
  EXPECT_EQ(table.FloorDiv(table.Product({batch, height, 6}), table.Mul(batch, 6)), height);
  EXPECT_EQ(table.CeilDiv(table.Add(twelve, table.Mul(12, sequence)), table.Mul(12, sequence)),
            table.Add(batch, 1));
  const Dim plus = table.Add(height, 1);
  const Dim minus = table.Sub(height, 1);
  EXPECT_EQ(table.FloorDiv(table.Mul(plus, minus), plus), minus);
  EXPECT_EQ(table.FloorDiv(table.Mul(plus, minus), table.Mul(-1, plus)), table.Neg(minus));
  EXPECT_EQ(table.FloorDiv(table.Mul(plus, height), table.Mul(2, plus)), table.FloorDiv(height, 2));
  EXPECT_EQ(table.FloorDiv(table.Mul(6, height), 4), table.FloorDiv(table.Mul(3, height), 2));
  EXPECT_EQ(table.FloorDiv(table.Mul(6, height), table.Mul(4, height)), Dim(1));
  EXPECT_EQ(table.FloorDiv(table.Add(batch, table.Mul(3, height)), height),
            table.Add(table.FloorDiv(batch, height), 3));
  EXPECT_EQ(table.FloorDiv(table.Add(table.Mul(height, 2), 3), 2), table.Add(height, 1));
  EXPECT_EQ(table.FloorDiv(table.Add(table.Mul(height, 6), 3), 4),
            table.FloorDiv(table.Add(table.Mul(height, 3), 1), 2));
}

TEST_F(DimTest, NestedDivision) {
  EXPECT_EQ(table.FloorDiv(table.FloorDiv(height, 2), 2), table.FloorDiv(height, 4));
  EXPECT_EQ(table.CeilDiv(table.CeilDiv(height, 2), 3), table.CeilDiv(height, 6));
  EXPECT_EQ(table.FloorDiv(table.FloorDiv(height, batch), 2),
            table.FloorDiv(height, table.Mul(2, batch)));
  EXPECT_EQ(table.FloorDiv(table.FloorDiv(height, 2), batch),
            table.FloorDiv(height, table.Mul(2, batch)));
  EXPECT_EQ(table.FloorDiv(table.Add(table.FloorDiv(height, 2), width), 3),
            table.FloorDiv(table.Add(height, table.Mul(2, width)), 6));
}

TEST_F(DimTest, NestedDivisionThatWouldOverflowStaysNested) {
  const int64_t large = int64_t{1} << 40;
  const Dim part = table.FloorDiv(height, large);
  const Dim twice = table.FloorDiv(part, large);
  const Dim mixed = table.FloorDiv(table.Add(part, table.Mul(kMax, width)), 2);
  EXPECT_EQ(Text(twice), "floor(floor(height/1099511627776)/1099511627776)");
  EXPECT_EQ(table.overflows(), 0);
  DimEvaluator evaluator(table, {{"height", 3 * large}, {"width", 1}});
  EXPECT_EQ(evaluator.Evaluate(twice), 0);
  EXPECT_EQ(evaluator.Evaluate(mixed), std::nullopt);  // 3 + kMax does not fit
  DimEvaluator small(table, {{"height", 3}, {"width", 1}});
  EXPECT_EQ(small.Evaluate(mixed), kMax / 2);
}

TEST_F(DimTest, DivisionDecidedByBounds) {
  table.Constrain(sequence, {1, 7});
  EXPECT_EQ(table.FloorDiv(sequence, 8), Dim(0));
  EXPECT_EQ(table.CeilDiv(sequence, 8), Dim(1));
  EXPECT_EQ(table.FloorDiv(1, table.Add(batch, 1)), Dim(0));
  EXPECT_EQ(table.CeilDiv(1, batch), Dim(1));
}

TEST_F(DimTest, MinAndMax) {
  EXPECT_EQ(table.Max(batch, 1), batch);
  EXPECT_EQ(table.Min(batch, 1), Dim(1));
  EXPECT_EQ(table.Min(batch, table.Add(batch, 1)), batch);
  EXPECT_EQ(table.Max(batch, table.Add(batch, 1)), table.Add(batch, 1));
  EXPECT_EQ(table.Min(batch, sequence), table.Min(sequence, batch));
  EXPECT_EQ(table.Min(batch, table.Min(sequence, batch)), table.Min(batch, sequence));
  EXPECT_EQ(table.Max(table.Max(batch, 5), table.Max(sequence, 9)),
            table.Max(table.Max(sequence, batch), 9));
  EXPECT_EQ(table.Max(batch, table.Min(batch, sequence)), batch);
  EXPECT_EQ(table.Min(table.Mul(4, sequence), 2048), table.Mul(4, table.Min(sequence, 512)));
  EXPECT_EQ(table.Min(table.CeilDiv(batch, 2), batch), table.CeilDiv(batch, 2));
  EXPECT_EQ(Text(table.Max(table.Mul(2, batch), table.Max(sequence, 7))),
            "max(7, sequence, 2*batch)");
  EXPECT_EQ(table.Min(3, -4), Dim(-4));
  EXPECT_EQ(table.Max(3, -4), Dim(3));
}

TEST_F(DimTest, Bounds) {
  const auto expect = [&](Dim dim, int64_t lower, int64_t upper) {
    EXPECT_EQ(table.Bounds(dim).lower, lower) << Text(dim);
    EXPECT_EQ(table.Bounds(dim).upper, upper) << Text(dim);
  };
  expect(5, 5, 5);
  expect(Dim(), kMin, kMax);
  expect(batch, 1, kMax);
  expect(table.Sub(table.Mul(2, height), 1), 1, kMax);
  expect(table.Sub(3, height), kMin, 2);
  expect(table.Mod(height, 8), 0, 7);
  expect(table.Mod(height, width), 0, kMax);
  expect(table.Sub(height, table.FloorDiv(height, 2)), 1, kMax);
  expect(table.Sub(table.RoundUp(height, 512), height), 0, 511);
  expect(table.Min(height, 512), 1, 512);
  expect(table.FloorDiv(height, 3), 0, kMax);
  // Factors of a product keep their signs although the product is multiplied out.
  const Dim inner = table.Sub(table.CeilDiv(height, 2), 1);
  const Dim other = table.Sub(table.CeilDiv(width, 2), 1);
  EXPECT_TRUE(table.IsNonNegative(table.Mul(inner, other)));
  EXPECT_TRUE(table.IsPositive(table.Add(table.Mul(inner, other), 1)));
  EXPECT_FALSE(table.IsPositive(inner));
}

TEST_F(DimTest, ConstraintsNarrowWhatIsThere) {
  const Dim tripled = table.Add(table.Mul(sequence, 3), 1);
  const Dim larger = table.Max(sequence, 16);
  EXPECT_FALSE(table.KnownLessEqual(tripled, 3073));
  EXPECT_FALSE(table.KnownEqual(larger, sequence));
  table.Constrain(sequence, {16, 1024});
  EXPECT_EQ(table.Bounds(tripled).lower, 49);
  EXPECT_EQ(table.Bounds(tripled).upper, 3073);
  EXPECT_TRUE(table.KnownLessEqual(tripled, 3073));
  EXPECT_FALSE(table.KnownLessEqual(tripled, 3072));
  EXPECT_TRUE(table.KnownEqual(larger, sequence));
  EXPECT_EQ(table.Max(sequence, 16), sequence);
  // A contradiction and what is no symbol are left alone.
  table.Constrain(sequence, {2000, kMax});
  EXPECT_EQ(table.Bounds(sequence).upper, 1024);
  table.Constrain(tripled, {60, 70});
  EXPECT_EQ(table.Bounds(tripled).lower, 49);
}

TEST_F(DimTest, Comparisons) {
  EXPECT_TRUE(
      table.KnownEqual(table.Sub(height, table.CeilDiv(height, 2)), table.FloorDiv(height, 2)));
  EXPECT_TRUE(table.KnownEqual(table.Add(table.Min(batch, width), 1),
                               table.Min(table.Add(batch, 1), table.Add(width, 1))));
  EXPECT_FALSE(table.KnownEqual(batch, sequence));
  EXPECT_FALSE(table.KnownEqual(batch, 1));
  EXPECT_TRUE(table.KnownNotEqual(batch, table.Add(batch, 1)));
  EXPECT_TRUE(table.KnownNotEqual(batch, 0));
  EXPECT_TRUE(table.KnownNotEqual(table.Mul(2, batch), table.Add(table.Mul(4, width), 1)));
  EXPECT_FALSE(table.KnownNotEqual(table.Mul(2, batch), table.Mul(4, width)));
  EXPECT_FALSE(table.KnownNotEqual(batch, sequence));
  EXPECT_FALSE(table.KnownNotEqual(batch, batch));
  EXPECT_TRUE(table.KnownLessEqual(batch, table.Mul(batch, 2)));
  EXPECT_TRUE(table.KnownLessEqual(batch, table.RoundUp(batch, 512)));
  EXPECT_TRUE(table.KnownLessEqual(table.CeilDiv(batch, 2), batch));
  EXPECT_TRUE(table.KnownLessEqual(table.Min(batch, sequence), sequence));
  EXPECT_TRUE(table.KnownLessEqual(sequence, table.Max(batch, sequence)));
  EXPECT_FALSE(table.KnownLessEqual(table.Mul(batch, 2), batch));
  EXPECT_FALSE(table.KnownLessEqual(batch, sequence));
}

TEST_F(DimTest, FreshSymbols) {
  const Dim count = table.Fresh("nonzero", 0, table.Mul(batch, sequence));
  EXPECT_EQ(Text(count), "nonzero0");
  table.Symbol("nonzero1");
  const Dim second = table.Fresh("nonzero", 0, 10);
  EXPECT_EQ(Text(second), "nonzero2");
  const Dim unbounded = table.Fresh("unique", 1, Dim());
  EXPECT_EQ(table.UpperBoundOf(count), table.Mul(batch, sequence));
  EXPECT_TRUE(table.UpperBoundOf(unbounded).is_unknown());
  EXPECT_TRUE(table.UpperBoundOf(batch).is_unknown());
  EXPECT_TRUE(table.UpperBoundOf(3).is_unknown());
  EXPECT_EQ(table.Bounds(second).upper, 10);
  EXPECT_EQ(table.Bounds(second).lower, 0);
  EXPECT_TRUE(table.KnownLessEqual(count, table.Mul(batch, sequence)));
  EXPECT_FALSE(table.KnownLessEqual(count, batch));
  const Dim bytes = table.Mul(table.Max(count, 2), 4);
  EXPECT_TRUE(table.IsDataDependent(bytes));
  EXPECT_TRUE(table.IsDataDependent(count));
  EXPECT_FALSE(table.IsDataDependent(table.Mul(batch, 4)));
  EXPECT_FALSE(table.IsDataDependent(Dim()));
}

TEST_F(DimTest, SymbolsInOrder) {
  EXPECT_EQ(table.SymbolNames(),
            (std::vector<std::string>{"batch", "sequence", "height", "width"}));
  const Dim mixed = table.Add(table.Min(width, table.FloorDiv(height, batch)), width);
  EXPECT_EQ(table.SymbolsIn(mixed), (std::vector<std::string>{"batch", "height", "width"}));
  EXPECT_TRUE(table.SymbolsIn(3).empty());
  EXPECT_TRUE(table.SymbolsIn(Dim()).empty());
}

TEST_F(DimTest, OverflowIsUnknownAndCounted) {
  EXPECT_TRUE(table.Add(kMax, 1).is_unknown());
  EXPECT_EQ(table.overflows(), 1);
  EXPECT_TRUE(table.Mul(int64_t{1} << 32, int64_t{1} << 31).is_unknown());
  EXPECT_TRUE(table.Neg(kMin).is_unknown());
  EXPECT_TRUE(table.FloorDiv(kMin, -1).is_unknown());
  EXPECT_EQ(table.overflows(), 4);
  const Dim large = table.Mul(batch, kMax);
  EXPECT_TRUE(table.Mul(large, 2).is_unknown());
  EXPECT_TRUE(table.Add(large, batch).is_unknown());
  EXPECT_EQ(table.overflows(), 6);
  EXPECT_TRUE(table.Add(table.Mul(large, 2), 1).is_unknown());
  EXPECT_EQ(table.overflows(), 7);  // the sum with an unknown does not count again
  EXPECT_EQ(table.Sub(large, large), Dim(0));
  EXPECT_EQ(table.FloorDiv(large, kMax), batch);
  EXPECT_EQ(table.Bounds(table.Mul(large, batch)).upper, kMax);
}

TEST_F(DimTest, LimitsEndInUnknown) {
  Dim power = batch;
  for (int i = 0; i < 100; ++i) power = table.Mul(power, batch);
  EXPECT_TRUE(power.is_unknown());
  Dim sum = 0;
  for (int i = 0; i < 300; ++i) sum = table.Add(sum, table.Symbol("s" + std::to_string(i)));
  EXPECT_TRUE(sum.is_unknown());
  // Each step doubles what would be printed.
  Dim nested = batch;
  for (int i = 0; i < 200; ++i) {
    nested = table.Min(table.Add(nested, table.Symbol("s" + std::to_string(i))),
                       table.Mul(nested, width));
    EXPECT_LT(Text(nested).size(), 50000u);
  }
  EXPECT_TRUE(nested.is_unknown());
  EXPECT_GT(table.overflows(), 0);
}

TEST_F(DimTest, Evaluation) {
  const Dim bytes = table.Product({4, batch, table.CeilDiv(height, 2), sequence});
  DimEvaluator evaluator(table, {{"batch", 32}, {"height", 7}, {"nobody", 3}}, 5);
  EXPECT_EQ(evaluator.Evaluate(bytes), 4 * 32 * 4 * 5);
  EXPECT_EQ(evaluator.Evaluate(bytes), 4 * 32 * 4 * 5);
  EXPECT_EQ(evaluator.Evaluate(12), 12);
  EXPECT_EQ(evaluator.Evaluate(Dim()), std::nullopt);
  EXPECT_EQ(evaluator.assumed(), std::vector<std::string>{"sequence"});
  // The table may grow and move meanwhile.
  DimTable moved = std::move(table);
  const Dim late = moved.Add(moved.Symbol("late"), moved.Symbol("width"));
  EXPECT_EQ(evaluator.Evaluate(late), 10);
  EXPECT_EQ(evaluator.assumed(), (std::vector<std::string>{"sequence", "width", "late"}));
}

TEST_F(DimTest, EvaluationOfDataDependentSizes) {
  const Dim count = table.Fresh("nonzero", 0, table.Mul(batch, 3));
  const Dim bounded = table.Fresh("unique", 0, Dim());
  table.Constrain(bounded, {0, 9});
  const Dim unbounded = table.Fresh("any", 0, Dim());
  DimEvaluator evaluator(table, {{"batch", 4}});
  EXPECT_EQ(evaluator.Evaluate(table.Mul(count, 2)), 24);
  EXPECT_EQ(evaluator.Evaluate(bounded), 9);
  EXPECT_EQ(evaluator.Evaluate(unbounded), std::nullopt);
  EXPECT_EQ(evaluator.Evaluate(table.Add(unbounded, 1)), std::nullopt);
  EXPECT_TRUE(evaluator.assumed().empty());
  DimEvaluator bound(table, {{"batch", 4}, {"nonzero0", 5}, {"any0", 6}});
  EXPECT_EQ(bound.Evaluate(table.Add(table.Mul(count, 2), unbounded)), 16);
}

// The most that it can be, also where a size that may be 0 is taken away.
TEST_F(DimTest, EvaluationOfWhatIsLeft) {
  const Dim part = table.Fresh("part", 1, batch);
  const Dim rest = table.Sub(batch, part);
  const Dim next = table.Fresh("part", 0, rest);
  DimEvaluator evaluator(table, {{"batch", 10}});
  EXPECT_EQ(evaluator.Evaluate(rest), 9);
  EXPECT_EQ(evaluator.Evaluate(next), 9);
  EXPECT_EQ(evaluator.Evaluate(table.Sub(rest, next)), 9);
  EXPECT_EQ(evaluator.Evaluate(table.FloorDiv(table.Mul(rest, 3), 2)), 13);
  EXPECT_EQ(evaluator.Evaluate(table.Sub(table.Max(rest, 4), table.Min(part, 4))), 8);
  DimEvaluator bound(table, {{"batch", 10}, {"part0", 3}});
  EXPECT_EQ(bound.Evaluate(rest), 7);
}

TEST_F(DimTest, EvaluationIsChecked) {
  const Dim square = table.Mul(batch, batch);
  const Dim cancelling = table.Sub(table.Mul(square, 4), table.Mul(square, sequence));
  const Dim quotient = table.FloorDiv(height, table.Sub(width, 3));
  DimEvaluator evaluator(
      table, {{"batch", int64_t{1} << 32}, {"sequence", 4}, {"height", 1}, {"width", 3}});
  EXPECT_EQ(evaluator.Evaluate(square), std::nullopt);
  EXPECT_EQ(evaluator.Evaluate(cancelling), 0);  // only the result has to fit
  EXPECT_EQ(evaluator.Evaluate(quotient), std::nullopt);
  EXPECT_EQ(evaluator.Evaluate(table.Max(quotient, 3)), std::nullopt);
  EXPECT_EQ(evaluator.Evaluate(table.Product({batch, batch, batch, batch, batch})), std::nullopt);
}

TEST_F(DimTest, DeepChainsNeedNoStack) {
  Dim chain = batch;
  for (int i = 0; i < 30; ++i) {
    chain = table.Max(table.FloorDiv(table.Add(chain, sequence), table.Add(width, i)), height);
  }
  ASSERT_FALSE(chain.is_unknown());
  DimEvaluator evaluator(table, {{"batch", 100}, {"sequence", 7}, {"width", 2}, {"height", 1}});
  int64_t expected = 100;
  for (int i = 0; i < 30; ++i) expected = std::max<int64_t>((expected + 7) / (2 + i), 1);
  EXPECT_EQ(evaluator.Evaluate(chain), expected);
}

}  // namespace
}  // namespace footprint
