// Operators of one operand whose output has its type, element by element.
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "ir/ops/onnx/families.h"
#include "ir/ops/onnx/rules.h"
#include "ir/ops/onnx/values.h"

namespace footprint {
namespace {

// What an operator does to an element: `ints` to sizes and other integers (and to sizes that were
// cast to float), `floats` to plain floats. Null: the contents are not followed.
struct UnaryMath {
  Dim (*ints)(DimTable&, Dim) = nullptr;
  double (*floats)(double) = nullptr;
};

Dim AbsDim(DimTable& dims, Dim a) { return dims.IsNonNegative(a) ? a : dims.Max(a, dims.Neg(a)); }
Dim NegDim(DimTable& dims, Dim a) { return dims.Neg(a); }
Dim ReluDim(DimTable& dims, Dim a) { return dims.Max(a, 0); }
Dim SignDim(DimTable& dims, Dim a) {
  if (a.is_constant()) return (a.value() > 0) - (a.value() < 0);
  return dims.IsPositive(a) ? Dim(1) : Dim();
}
Dim NotDim(DimTable&, Dim a) { return a.is_constant() ? Dim(a.value() == 0) : Dim(); }

constexpr UnaryMath kAbs = {AbsDim, [](double a) { return std::abs(a); }};
constexpr UnaryMath kNeg = {NegDim, [](double a) { return -a; }};
constexpr UnaryMath kRelu = {ReluDim, [](double a) { return a > 0 ? a : 0; }};
constexpr UnaryMath kSign = {SignDim, [](double a) { return a > 0 ? 1.0 : a < 0 ? -1.0 : 0.0; }};
constexpr UnaryMath kNot = {NotDim, nullptr};
constexpr UnaryMath kSqrt = {nullptr, [](double a) { return std::sqrt(a); }};
constexpr UnaryMath kReciprocal = {nullptr, [](double a) { return 1 / a; }};
constexpr UnaryMath kExp = {nullptr, [](double a) { return std::exp(a); }};
constexpr UnaryMath kLog = {nullptr, [](double a) { return std::log(a); }};
constexpr UnaryMath kSin = {nullptr, [](double a) { return std::sin(a); }};
constexpr UnaryMath kCos = {nullptr, [](double a) { return std::cos(a); }};

template <const UnaryMath& kMath>
void UnaryValues(InferContext& c) {
  const KnownValuePtr value = c.InputValue(0);
  if (value == nullptr || value->is_sequence) return;
  if (value->is_float && !value->floats.empty()) {
    if (kMath.floats == nullptr) return;
    std::vector<double> result;
    for (const double element : value->floats) result.push_back(kMath.floats(element));
    return SetRounded(c, std::move(result));
  }
  if (kMath.ints == nullptr) return;
  std::vector<Dim> result;
  for (const Dim& element : value->integers) {
    result.push_back(element.is_unknown() ? Dim() : kMath.ints(c.dims(), element));
  }
  if (!value->is_float) return SetWrapped(c, std::move(result));
  KnownValue ratio = *value;
  ratio.integers = std::move(result);
  c.SetOutputValue(0, std::make_shared<const KnownValue>(std::move(ratio)));
}

// Rounding: of doubles, and of ratios to whole numbers.
template <double (*kFloats)(double), Dim (DimTable::*kDivide)(Dim, Dim)>
void RoundingValues(InferContext& c) {
  const KnownValuePtr value = c.InputValue(0);
  if (value == nullptr || !value->is_float) return;
  KnownValue result = *value;
  result.denominator = 1;
  for (double& element : result.floats) element = kFloats(element);
  for (Dim& element : result.integers) {
    element = (c.dims().*kDivide)(element, value->denominator);
  }
  c.SetOutputValue(0, std::make_shared<const KnownValue>(std::move(result)));
}

double FloorDouble(double a) { return std::floor(a); }
double CeilDouble(double a) { return std::ceil(a); }

void RoundValues(InferContext& c) {
  const KnownValuePtr value = c.InputValue(0);
  if (value == nullptr || !value->is_float) return;
  if (value->denominator == 1 && value->floats.empty()) return SameElements(c);
  if (value->floats.empty()) return;
  std::vector<double> result;
  for (const double element : value->floats) result.push_back(std::nearbyint(element));
  SetRounded(c, std::move(result));
}

// An optional bound: attribute until version 10, input from 11 on.
enum class Bound : uint8_t { kAbsent, kKnown, kUnknown };
Bound ClipBound(InferContext& c, int input, Dim* bound) {
  if (!c.HasInput(input)) return Bound::kAbsent;
  *bound = ScalarInput(c, input);
  return bound->is_unknown() ? Bound::kUnknown : Bound::kKnown;
}

// Elements against one bound, as ratios of one denominator; null: not known.
KnownValuePtr ClipRatios(InferContext& c, const KnownValue& value, int input) {
  if (!c.HasInput(input)) return std::make_shared<const KnownValue>(value);
  const KnownValuePtr bound = c.InputValue(input);
  if (bound == nullptr || !bound->is_float || ElementsOf(*bound) != 1) return nullptr;
  const KnownValuePtr elements = AsRatios(value);
  const KnownValuePtr limit = AsRatios(*bound);
  if (elements == nullptr || limit == nullptr) return nullptr;
  KnownValue result = *elements;
  const int64_t common = std::gcd(elements->denominator, limit->denominator);
  const int64_t factor = limit->denominator / common;
  if (__builtin_mul_overflow(elements->denominator, factor, &result.denominator)) return nullptr;
  const Dim scaled = c.dims().Mul(limit->integers[0], elements->denominator / common);
  for (Dim& element : result.integers) {
    element = c.dims().Mul(element, factor);
    element = input == 1 ? c.dims().Max(element, scaled) : c.dims().Min(element, scaled);
  }
  return std::make_shared<const KnownValue>(std::move(result));
}

void ClipValues(InferContext& c) {
  const KnownValuePtr value = c.InputValue(0);
  if (value == nullptr || value->is_sequence || c.version() < 11) return;
  if (value->is_float) {
    const KnownValuePtr raised = ClipRatios(c, *value, 1);
    const KnownValuePtr clipped = raised == nullptr ? nullptr : ClipRatios(c, *raised, 2);
    if (clipped != nullptr) c.SetOutputValue(0, clipped);
    return;
  }
  Dim low;
  Dim high;
  const Bound has_low = ClipBound(c, 1, &low);
  const Bound has_high = ClipBound(c, 2, &high);
  if (has_low == Bound::kUnknown || has_high == Bound::kUnknown) return;
  std::vector<Dim> result = value->integers;
  for (Dim& element : result) {
    if (has_low == Bound::kKnown) element = c.dims().Max(element, low);
    if (has_high == Bound::kKnown) element = c.dims().Min(element, high);
  }
  c.SetOutputValue(0, IntegerValue(std::move(result)));
}

// SwiGLU does not broadcast: both operands have the output's shape.
void GatedTypes(InferContext& c) {
  const TensorType* gate = c.RankedInput(0);
  const TensorType* other = c.RankedInput(1);
  if (gate == nullptr || other == nullptr) return CopyType(c, gate == nullptr ? 1 : 0, 0);
  if (gate->rank() != other->rank()) return c.Error("operands have different ranks");
  TensorType result = *gate;
  for (size_t i = 0; i < result.dims.size(); ++i) {
    result.dims[i] = c.RequireEqual(gate->dims[i], other->dims[i], "operands differ in shape");
  }
  c.SetOutput(0, std::move(result));
}

void DropoutTypes(InferContext& c) {
  CopyType(c, 0, 0);
  if (!c.HasOutput(1)) return;
  // The mask was of the data's type before version 10.
  CopyShape(c, 0, 1, c.version() < 10 ? c.InputElement(0) : ElementType::kBool);
}

constexpr OnnxOp InPlace(absl::string_view name, int since, InferRule values = nullptr) {
  return {.name = name, .since = since, .types = SameAsInput0, .values = values, .inplace = 1};
}
constexpr OnnxOp Boolean(absl::string_view name, int since) {
  return {.name = name, .since = since, .types = BoolLikeInput0};
}

constexpr OnnxOp kRows[] = {
    InPlace("Abs", 1, UnaryValues<kAbs>),
    InPlace("Acos", 7),
    InPlace("Acosh", 9),
    InPlace("Asin", 7),
    InPlace("Asinh", 9),
    InPlace("Atan", 7),
    InPlace("Atanh", 9),
    InPlace("BitwiseNot", 18),
    InPlace("Ceil", 1, RoundingValues<CeilDouble, &DimTable::CeilDiv>),
    InPlace("Celu", 12),
    InPlace("Clip", 1, ClipValues).With("1->1; 11: 1-3->1"),
    InPlace("Cos", 7, UnaryValues<kCos>),
    InPlace("Cosh", 9),
    {.name = "Dropout",
     .signature = "1->1-2; 12: 1-3->1-2",
     .types = DropoutTypes,
     .values = SameElements,
     .inplace = 1},
    InPlace("Elu", 1),
    InPlace("Erf", 9),
    InPlace("Exp", 1, UnaryValues<kExp>),
    InPlace("Floor", 1, RoundingValues<FloorDouble, &DimTable::FloorDiv>),
    InPlace("Gelu", 20),
    InPlace("HardSigmoid", 1),
    InPlace("HardSwish", 14),
    Boolean("IsInf", 10),
    Boolean("IsNaN", 9),
    InPlace("LeakyRelu", 1),
    InPlace("Log", 1, UnaryValues<kLog>),
    InPlace("Mish", 18),
    InPlace("Neg", 1, UnaryValues<kNeg>),
    InPlace("Not", 1, UnaryValues<kNot>),
    InPlace("Reciprocal", 1, UnaryValues<kReciprocal>),
    InPlace("Relu", 1, UnaryValues<kRelu>),
    InPlace("Round", 11, RoundValues),
    InPlace("Selu", 1),
    InPlace("Shrink", 9),
    InPlace("Sigmoid", 1),
    InPlace("Sign", 9, UnaryValues<kSign>),
    InPlace("Sin", 7, UnaryValues<kSin>),
    InPlace("Sinh", 9),
    InPlace("Softplus", 1),
    InPlace("Softsign", 1),
    InPlace("Sqrt", 1, UnaryValues<kSqrt>),
    {.name = "SwiGLU", .since = 28, .signature = "2->1", .types = GatedTypes, .inplace = 0b11},
    InPlace("Swish", 24),
    InPlace("Tan", 7),
    InPlace("Tanh", 1),
    InPlace("ThresholdedRelu", 10),
};

}  // namespace

OnnxFamily UnaryOps() { return kRows; }

}  // namespace footprint
