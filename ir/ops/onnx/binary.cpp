// Operators whose operands broadcast against each other.
//
// Contents are followed through them in three forms: integers and sizes (Dim), floats (double), and
// sizes that were cast to float (ratios of Dims, exact: floor(height * 0.5) stays floor(height/2)).
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "ir/ops/onnx/families.h"
#include "ir/ops/onnx/rules.h"
#include "ir/ops/onnx/values.h"

namespace footprint {
namespace {

// Before these versions the output had the shape of the first operand.
constexpr int kBinaryBroadcasts = 7;
constexpr int kVariadicBroadcasts = 8;

void ArithmeticTypes(InferContext& c) {
  if (c.version() < kBinaryBroadcasts) return SameAsInput0(c);
  SetBroadcast(c, c.InputElement(0), 0, 2);
}

void ComparisonTypes(InferContext& c) {
  if (c.version() < kBinaryBroadcasts) return BoolLikeInput0(c);
  SetBroadcast(c, ElementType::kBool, 0, 2);
}

void VariadicTypes(InferContext& c) {
  if (c.version() < kVariadicBroadcasts) return SameAsInput0(c);
  SetBroadcast(c, c.InputElement(0), 0, c.num_inputs());
}

void WhereTypes(InferContext& c) {
  const ElementType element = c.InputElement(1);
  SetBroadcast(c, element != ElementType::kUndefined ? element : c.InputElement(2), 0, 3);
}

// How to apply `ints` to a/d and b/e.
enum class Ratios : uint8_t { kNone, kCommonDenominator, kProduct, kQuotient };

struct BinaryMath {
  Dim (*ints)(DimTable&, Dim, Dim) = nullptr;
  double (*floats)(double, double) = nullptr;
  Ratios ratios = Ratios::kNone;
  bool is_boolean = false;
};

Dim Truth(bool yes, bool no) { return yes ? Dim(1) : no ? Dim(0) : Dim(); }

Dim AddDim(DimTable& dims, Dim a, Dim b) { return dims.Add(a, b); }
Dim SubDim(DimTable& dims, Dim a, Dim b) { return dims.Sub(a, b); }
Dim MulDim(DimTable& dims, Dim a, Dim b) { return dims.Mul(a, b); }
Dim MinDim(DimTable& dims, Dim a, Dim b) { return dims.Min(a, b); }
Dim MaxDim(DimTable& dims, Dim a, Dim b) { return dims.Max(a, b); }
// Integer division rounds toward zero.
Dim DivDim(DimTable& dims, Dim a, Dim b) {
  if (a.is_constant() && b.is_constant()) {
    const bool overflows = b.value() == -1 && a.value() == std::numeric_limits<int64_t>::min();
    return b.value() == 0 || overflows ? Dim() : Dim(a.value() / b.value());
  }
  if (dims.IsNonNegative(a) && dims.IsPositive(b)) return dims.FloorDiv(a, b);
  if (dims.IsNonNegative(dims.Neg(a)) && dims.IsPositive(b)) return dims.CeilDiv(a, b);
  return Dim();
}
Dim PowDim(DimTable& dims, Dim a, Dim b) {
  if (!b.is_constant() || b.value() < 0) return Dim();
  if (a.Is(0) || a.Is(1)) return b.Is(0) ? Dim(1) : a;
  // 2^63 does not fit; of a symbol, short products only.
  if (b.value() > (a.is_constant() ? 63 : 8)) return Dim();
  Dim result = 1;
  for (int64_t i = 0; i < b.value(); ++i) result = dims.Mul(result, a);
  return result;
}
Dim EqualDim(DimTable& dims, Dim a, Dim b) {
  return Truth(dims.KnownEqual(a, b), dims.KnownNotEqual(a, b));
}
Dim LessEqualDim(DimTable& dims, Dim a, Dim b) {
  return Truth(dims.KnownLessEqual(a, b), dims.KnownLessEqual(dims.Add(b, 1), a));
}
Dim LessDim(DimTable& dims, Dim a, Dim b) {
  return Truth(dims.KnownLessEqual(dims.Add(a, 1), b), dims.KnownLessEqual(b, a));
}
Dim GreaterDim(DimTable& dims, Dim a, Dim b) { return LessDim(dims, b, a); }
Dim GreaterEqualDim(DimTable& dims, Dim a, Dim b) { return LessEqualDim(dims, b, a); }
// Logic on 0 and 1; one operand may decide alone.
Dim AndDim(DimTable&, Dim a, Dim b) {
  return Truth(a.is_constant() && b.is_constant() && a.value() != 0 && b.value() != 0,
               a.Is(0) || b.Is(0));
}
Dim OrDim(DimTable&, Dim a, Dim b) {
  return Truth((a.is_constant() && !a.Is(0)) || (b.is_constant() && !b.Is(0)), a.Is(0) && b.Is(0));
}
Dim XorDim(DimTable&, Dim a, Dim b) {
  if (!a.is_constant() || !b.is_constant()) return Dim();
  return Dim(static_cast<int64_t>(a.Is(0) != b.Is(0)));
}
template <typename Operation>
Dim Bitwise(DimTable&, Dim a, Dim b) {
  return a.is_constant() && b.is_constant() ? Dim(Operation()(a.value(), b.value())) : Dim();
}

constexpr BinaryMath kAdd = {AddDim, [](double a, double b) { return a + b; },
                             Ratios::kCommonDenominator};
constexpr BinaryMath kSub = {SubDim, [](double a, double b) { return a - b; },
                             Ratios::kCommonDenominator};
constexpr BinaryMath kMul = {MulDim, [](double a, double b) { return a * b; }, Ratios::kProduct};
constexpr BinaryMath kDiv = {DivDim, [](double a, double b) { return a / b; }, Ratios::kQuotient};
constexpr BinaryMath kMin = {MinDim, [](double a, double b) { return std::min(a, b); },
                             Ratios::kCommonDenominator};
constexpr BinaryMath kMax = {MaxDim, [](double a, double b) { return std::max(a, b); },
                             Ratios::kCommonDenominator};
constexpr BinaryMath kPow = {PowDim, [](double a, double b) { return std::pow(a, b); }};
constexpr BinaryMath kEqual = {EqualDim, [](double a, double b) { return a == b ? 1.0 : 0.0; },
                               Ratios::kCommonDenominator, true};
constexpr BinaryMath kLess = {LessDim, [](double a, double b) { return a < b ? 1.0 : 0.0; },
                              Ratios::kCommonDenominator, true};
constexpr BinaryMath kLessEqual = {LessEqualDim,
                                   [](double a, double b) { return a <= b ? 1.0 : 0.0; },
                                   Ratios::kCommonDenominator, true};
constexpr BinaryMath kGreater = {GreaterDim, [](double a, double b) { return a > b ? 1.0 : 0.0; },
                                 Ratios::kCommonDenominator, true};
constexpr BinaryMath kGreaterEqual = {GreaterEqualDim,
                                      [](double a, double b) { return a >= b ? 1.0 : 0.0; },
                                      Ratios::kCommonDenominator, true};
constexpr BinaryMath kAnd = {AndDim};
constexpr BinaryMath kOr = {OrDim};
constexpr BinaryMath kXor = {XorDim};
constexpr BinaryMath kBitAnd = {Bitwise<std::bit_and<int64_t>>};
constexpr BinaryMath kBitOr = {Bitwise<std::bit_or<int64_t>>};
constexpr BinaryMath kBitXor = {Bitwise<std::bit_xor<int64_t>>};

KnownValuePtr CombineInts(DimTable& dims, const BinaryMath& math, const KnownValue& a,
                          const KnownValue& b) {
  std::vector<Dim> result(a.integers.size());
  for (size_t i = 0; i < result.size(); ++i) {
    result[i] = math.ints(dims, a.integers[i], b.integers[i]);
  }
  return IntegerValue(std::move(result));
}

KnownValuePtr CombineDoubles(const BinaryMath& math, const KnownValue& a, const KnownValue& b) {
  if (math.floats == nullptr) return nullptr;
  std::vector<double> result(a.floats.size());
  for (size_t i = 0; i < result.size(); ++i) result[i] = math.floats(a.floats[i], b.floats[i]);
  if (!math.is_boolean) return FloatValue(std::move(result));
  std::vector<Dim> truth;
  for (const double value : result) truth.push_back(static_cast<int64_t>(value));
  return IntegerValue(std::move(truth));
}

// (a/d) / (b/e) where all of b is one constant other than zero.
KnownValuePtr DivideRatios(DimTable& dims, const KnownValue& a, const KnownValue& b) {
  for (const Dim& divisor : b.integers) {
    if (!divisor.is_constant() || divisor.Is(0) || divisor != b.integers[0]) return nullptr;
  }
  KnownValue result = a;
  if (b.integers.empty()) return nullptr;
  const int64_t divisor = b.integers[0].value();
  if (divisor == std::numeric_limits<int64_t>::min()) return nullptr;  // has no magnitude
  const int64_t common = std::gcd(b.denominator, divisor);
  const int64_t factor = divisor < 0 ? -b.denominator / common : b.denominator / common;
  for (Dim& element : result.integers) element = dims.Mul(element, factor);
  const int64_t magnitude = divisor < 0 ? -(divisor / common) : divisor / common;
  if (__builtin_mul_overflow(a.denominator, magnitude, &result.denominator)) return nullptr;
  return std::make_shared<const KnownValue>(std::move(result));
}

KnownValuePtr CombineRatios(DimTable& dims, const BinaryMath& math, const KnownValue& a,
                            const KnownValue& b) {
  const KnownValuePtr left = AsRatios(a);
  const KnownValuePtr right = AsRatios(b);
  if (left == nullptr || right == nullptr) return nullptr;
  if (math.ratios == Ratios::kQuotient) return DivideRatios(dims, *left, *right);
  KnownValue result;
  const int64_t common = std::gcd(left->denominator, right->denominator);
  if (__builtin_mul_overflow(left->denominator / common, right->denominator, &result.denominator)) {
    return nullptr;
  }
  if (math.ratios == Ratios::kProduct) {
    if (__builtin_mul_overflow(left->denominator, right->denominator, &result.denominator)) {
      return nullptr;
    }
    result.is_float = true;
    result.integers = CombineInts(dims, math, *left, *right)->integers;
    return std::make_shared<const KnownValue>(std::move(result));
  }
  for (size_t i = 0; i < left->integers.size(); ++i) {
    const Dim x = dims.Mul(left->integers[i], result.denominator / left->denominator);
    const Dim y = dims.Mul(right->integers[i], result.denominator / right->denominator);
    result.integers.push_back(math.ints(dims, x, y));
  }
  result.is_float = !math.is_boolean;
  if (math.is_boolean) result.denominator = 1;
  return std::make_shared<const KnownValue>(std::move(result));
}

KnownValuePtr Combine(DimTable& dims, const BinaryMath& math, const KnownValue& a,
                      const KnownValue& b) {
  if (a.is_float != b.is_float) return nullptr;
  if (!a.is_float) return CombineInts(dims, math, a, b);
  if (a.floats.size() == b.floats.size() && a.integers.empty() && b.integers.empty()) {
    return CombineDoubles(math, a, b);
  }
  return math.ratios == Ratios::kNone ? nullptr : CombineRatios(dims, math, a, b);
}

// Contents of input i, laid out as the output; null if not known.
KnownValuePtr BroadcastOperand(InferContext& c, int i, const Sizes& to) {
  KnownValuePtr value = c.InputValue(i);
  Sizes from;
  if (value == nullptr || value->is_sequence || !SmallSizes(c.InputType(i), &from)) return nullptr;
  if (from == to) return value;
  // Old versions matched axes by attribute, and never checked.
  if (from.size() > to.size() || (c.version() < kBinaryBroadcasts && Product(from) != 1)) {
    return nullptr;
  }
  for (size_t axis = 0; axis < from.size(); ++axis) {
    if (from[axis] != 1 && from[axis] != to[to.size() - from.size() + axis]) return nullptr;
  }
  return Pick(*value, BroadcastIndex(from, to));
}

// What the output's element type makes of the result.
void SetResult(InferContext& c, const KnownValuePtr& value) {
  if (value == nullptr) return;
  if (!value->is_float) return SetWrapped(c, value->integers);
  if (!value->floats.empty()) return SetRounded(c, value->floats);
  c.SetOutputValue(0, value);
}

template <const BinaryMath& kMath>
void BinaryValues(InferContext& c) {
  Sizes to;
  if (c.InputValue(0) == nullptr || !SmallSizes(c.OutputType(0), &to)) return;
  KnownValuePtr result = BroadcastOperand(c, 0, to);
  for (int i = 1; i < c.num_inputs() && result != nullptr; ++i) {
    const KnownValuePtr operand = BroadcastOperand(c, i, to);
    if (operand == nullptr) return;
    result = Combine(c.dims(), kMath, *result, *operand);
  }
  SetResult(c, result);
}

// Of sums and differences of positions, where the elements are not known one by one.
void AddValues(InferContext& c) {
  const ElementBounds a = c.InputBounds(0);
  const ElementBounds b = c.InputBounds(1);
  c.SetOutputBounds(0, {c.dims().Add(a.least, b.least), c.dims().Add(a.most, b.most)});
  BinaryValues<kAdd>(c);
}
void SubValues(InferContext& c) {
  const ElementBounds a = c.InputBounds(0);
  const ElementBounds b = c.InputBounds(1);
  c.SetOutputBounds(0, {c.dims().Sub(a.least, b.most), c.dims().Sub(a.most, b.least)});
  BinaryValues<kSub>(c);
}

// Of positions and one number.
template <Dim (DimTable::*kChoose)(Dim, Dim), const BinaryMath& kMath>
void ChoiceValues(InferContext& c) {
  const ElementBounds a = c.InputBounds(0);
  const ElementBounds b = c.InputBounds(1);
  if (c.num_inputs() == 2 && (SameSize(a.least, a.most) || SameSize(b.least, b.most))) {
    c.SetOutputBounds(0, {(c.dims().*kChoose)(a.least, b.least),
                          (c.dims().*kChoose)(a.most, b.most)});
  }
  BinaryValues<kMath>(c);
}

double RemainderOf(double a, double b) { return std::fmod(a, b); }
Dim RemainderDim(DimTable& dims, Dim a, Dim b) {
  if (a.is_constant() && b.is_constant()) {
    return b.Is(0) || b.Is(-1) ? Dim(b.Is(0) ? Dim() : Dim(0)) : Dim(a.value() % b.value());
  }
  return dims.IsNonNegative(a) && dims.IsPositive(b) ? dims.Mod(a, b) : Dim();
}
Dim ModDim(DimTable& dims, Dim a, Dim b) { return b.Is(0) ? Dim() : dims.Mod(a, b); }
constexpr BinaryMath kMod = {ModDim};
constexpr BinaryMath kRemainder = {RemainderDim, RemainderOf};

void ModValues(InferContext& c) {
  return c.node().Int("fmod", 0) != 0 ? BinaryValues<kRemainder>(c) : BinaryValues<kMod>(c);
}

Dim ShiftLeft(DimTable&, Dim a, Dim b) {
  if (!a.is_constant() || !b.is_constant() || b.value() < 0) return Dim();
  if (b.value() > 63) return 0;
  return static_cast<int64_t>(static_cast<uint64_t>(a.value()) << b.value());
}
Dim ShiftRight(DimTable&, Dim a, Dim b) {
  if (!a.is_constant() || !b.is_constant() || b.value() < 0 || a.value() < 0) return Dim();
  return b.value() > 63 ? Dim(0) : Dim(a.value() >> b.value());
}
constexpr BinaryMath kShiftLeft = {ShiftLeft};
constexpr BinaryMath kShiftRight = {ShiftRight};

void ShiftValues(InferContext& c) {
  const bool left = c.node().String("direction", "") == "LEFT";
  return left ? BinaryValues<kShiftLeft>(c) : BinaryValues<kShiftRight>(c);
}

void WhereValues(InferContext& c) {
  Sizes to;
  if (!SmallSizes(c.OutputType(0), &to)) return;
  const KnownValuePtr condition = BroadcastOperand(c, 0, to);
  const KnownValuePtr yes = BroadcastOperand(c, 1, to);
  const KnownValuePtr no = BroadcastOperand(c, 2, to);
  if (condition == nullptr || yes == nullptr || no == nullptr) return;
  const KnownValuePtr both = Join({yes, no});
  if (both == nullptr) return;
  const int64_t count = ElementsOf(*yes);
  std::vector<int64_t> index;
  for (int64_t i = 0; i < count; ++i) {
    const Dim& taken = condition->integers[static_cast<size_t>(i)];
    const bool same = !both->is_float && both->integers[static_cast<size_t>(i)] ==
                                             both->integers[static_cast<size_t>(i + count)];
    if (taken.is_unknown() && !same && both->is_float) return;
    index.push_back(taken.is_unknown() && !same ? -1 : taken.Is(0) ? i + count : i);
  }
  c.SetOutputValue(0, Pick(*both, index));
}

constexpr OnnxOp Arithmetic(absl::string_view name, InferRule values, uint32_t weights = 0) {
  return {.name = name,
          .signature = "2->1",
          .types = ArithmeticTypes,
          .values = values,
          .inplace = 0b11,
          .same_element = 0b11,
          .weights = weights};
}
constexpr OnnxOp Comparison(absl::string_view name, int since, InferRule values) {
  return {.name = name,
          .since = since,
          .signature = "2->1",
          .types = ComparisonTypes,
          .values = values,
          .same_element = 0b11};
}
constexpr OnnxOp Logic(absl::string_view name, int since, InferRule values) {
  return {.name = name,
          .since = since,
          .signature = "2->1",
          .types = ArithmeticTypes,
          .values = values,
          .inplace = 0b11,
          .same_element = 0b11};
}
constexpr OnnxOp Variadic(absl::string_view name, InferRule values) {
  return {.name = name,
          .signature = "1-*->1",
          .types = VariadicTypes,
          .values = values,
          .inplace = 0b11,
          .same_element = kEveryOperand};
}

constexpr OnnxOp kRows[] = {
    Arithmetic("Add", AddValues, 0b11),
    Logic("And", 1, BinaryValues<kAnd>),
    Logic("BitShift", 11, ShiftValues).With("2->1 direction"),
    Logic("BitwiseAnd", 18, BinaryValues<kBitAnd>),
    Logic("BitwiseOr", 18, BinaryValues<kBitOr>),
    Logic("BitwiseXor", 18, BinaryValues<kBitXor>),
    Arithmetic("Div", BinaryValues<kDiv>),
    Comparison("Equal", 1, BinaryValues<kEqual>),
    Comparison("Greater", 1, BinaryValues<kGreater>),
    Comparison("GreaterOrEqual", 12, BinaryValues<kGreaterEqual>),
    Comparison("Less", 1, BinaryValues<kLess>),
    Comparison("LessOrEqual", 12, BinaryValues<kLessEqual>),
    Variadic("Max", ChoiceValues<&DimTable::Max, kMax>),
    Variadic("Mean", nullptr),
    Variadic("Min", ChoiceValues<&DimTable::Min, kMin>),
    Logic("Mod", 10, ModValues),
    Arithmetic("Mul", BinaryValues<kMul>),
    Logic("Or", 1, BinaryValues<kOr>),
    {.name = "PRelu", .signature = "2->1", .types = SameAsInput0, .inplace = 1, .weights = 0b10},
    // Its exponent may have a type of its own.
    {.name = "Pow",
     .signature = "2->1",
     .types = ArithmeticTypes,
     .values = BinaryValues<kPow>,
     .inplace = 0b11},
    Arithmetic("Sub", SubValues),
    Variadic("Sum", BinaryValues<kAdd>),
    {.name = "Where",
     .since = 9,
     .signature = "3->1",
     .types = WhereTypes,
     .values = WhereValues,
     .inplace = 0b110,
     .same_element = 0b110},
    Logic("Xor", 1, BinaryValues<kXor>),
};

}  // namespace

OnnxFamily BinaryOps() { return kRows; }

}  // namespace footprint
