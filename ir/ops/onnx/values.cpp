#include "ir/ops/onnx/values.h"

#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

namespace footprint {
namespace {

bool IsRatio(const KnownValue& value) { return value.is_float && value.floats.empty(); }

KnownValuePtr Shared(KnownValue value) {
  return std::make_shared<const KnownValue>(std::move(value));
}

}  // namespace

KnownValuePtr IntegerValue(std::vector<Dim> integers) {
  KnownValue value;
  value.integers = std::move(integers);
  return Shared(std::move(value));
}

KnownValuePtr FloatValue(std::vector<double> floats) {
  KnownValue value;
  value.is_float = true;
  value.floats = std::move(floats);
  return Shared(std::move(value));
}

KnownValuePtr Filled(const KnownValue& element, int64_t count) {
  return Pick(element, std::vector<int64_t>(static_cast<size_t>(count), 0));
}

int64_t ElementsOf(const KnownValue& value) {
  return static_cast<int64_t>(value.floats.empty() ? value.integers.size() : value.floats.size());
}

bool SmallSizes(const ValueType& type, Sizes* sizes) {
  if (!type.is_tensor() || !type.tensor.has_rank) return false;
  sizes->clear();
  int64_t count = 1;
  for (const Dim& dim : type.tensor.dims) {
    if (!dim.is_constant() || dim.value() < 0 || dim.value() > kMaxKnownElements) return false;
    count *= dim.value();
    if (count > kMaxKnownElements) return false;
    sizes->push_back(dim.value());
  }
  return true;
}

int64_t Product(const Sizes& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<int64_t>());
}

Sizes Strides(const Sizes& sizes) {
  Sizes strides(sizes.size(), 1);
  for (size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * sizes[i];
  return strides;
}

bool Odometer::Next() {
  for (size_t axis = sizes_.size(); axis-- > 0;) {
    if (++at_[axis] < sizes_[axis]) return true;
    at_[axis] = 0;
  }
  return false;
}

KnownValuePtr Pick(const KnownValue& source, absl::Span<const int64_t> index,
                   const KnownValue* fill) {
  KnownValue result;
  result.is_float = source.is_float;
  result.denominator = source.denominator;
  const bool doubles = source.is_float && !source.floats.empty();
  const auto size = static_cast<size_t>(ElementsOf(source));
  for (const int64_t i : index) {
    const auto at = static_cast<size_t>(i);
    if (i >= 0 && at >= size) return nullptr;
    if (doubles) {
      if (i < 0 && (fill == nullptr || fill->floats.empty())) return nullptr;
      result.floats.push_back(i < 0 ? fill->floats[0] : source.floats[at]);
    } else if (i >= 0) {
      result.integers.push_back(source.integers[at]);
    } else {
      if (source.is_float) return nullptr;
      const bool known = fill != nullptr && !fill->is_float && !fill->integers.empty();
      result.integers.push_back(known ? fill->integers[0] : Dim());
    }
  }
  return Shared(std::move(result));
}

namespace {

// Floats as ratios of a denominator that is a multiple of theirs; null: symbols, or too large.
KnownValuePtr WithDenominator(const KnownValue& value, int64_t other) {
  const KnownValuePtr ratios = AsRatios(value);
  if (ratios == nullptr) return nullptr;
  KnownValue result = *ratios;
  const int64_t factor = other / std::gcd(ratios->denominator, other);
  if (__builtin_mul_overflow(ratios->denominator, factor, &result.denominator)) return nullptr;
  for (Dim& element : result.integers) {
    int64_t scaled = 0;
    if (factor == 1) continue;
    if (!element.is_constant() || __builtin_mul_overflow(element.value(), factor, &scaled)) {
      return nullptr;
    }
    element = Dim(scaled);
  }
  return Shared(std::move(result));
}

}  // namespace

KnownValuePtr Join(absl::Span<const KnownValuePtr> parts) {
  KnownValue result;
  for (KnownValuePtr part : parts) {
    if (part == nullptr || part->is_sequence) return nullptr;
    if (ElementsOf(*part) == 0) continue;
    if (ElementsOf(result) == 0) {
      result = *part;
      continue;
    }
    if (part->is_float != result.is_float) return nullptr;
    if (IsRatio(*part) != IsRatio(result) || part->denominator != result.denominator) {
      const KnownValuePtr before = WithDenominator(result, part->denominator);
      part = before == nullptr ? nullptr : WithDenominator(*part, before->denominator);
      if (part == nullptr || part->denominator != before->denominator) return nullptr;
      result = *before;
    }
    result.integers.insert(result.integers.end(), part->integers.begin(), part->integers.end());
    result.floats.insert(result.floats.end(), part->floats.begin(), part->floats.end());
  }
  return Shared(std::move(result));
}

std::vector<int64_t> BroadcastIndex(const Sizes& from, const Sizes& to) {
  std::vector<int64_t> index;
  const int64_t count = Product(to);
  index.reserve(static_cast<size_t>(count));
  if (count == 0) return index;
  const Sizes strides = Strides(from);
  const size_t shift = to.size() - from.size();
  Odometer at(to);
  do {
    int64_t position = 0;
    for (size_t axis = 0; axis < from.size(); ++axis) {
      if (from[axis] != 1) position += at[shift + axis] * strides[axis];
    }
    index.push_back(position);
  } while (at.Next());
  return index;
}

bool AsRatio(double value, int64_t* numerator, int64_t* denominator) {
  constexpr int kBits = 40;
  if (!std::isfinite(value)) return false;
  *denominator = 1;
  for (int bit = 0; bit <= kBits; ++bit, value *= 2, *denominator *= 2) {
    if (std::abs(value) >= static_cast<double>(int64_t{1} << kBits)) return false;
    if (value == std::floor(value)) {
      *numerator = static_cast<int64_t>(value);
      return true;
    }
  }
  return false;
}

KnownValuePtr AsRatios(const KnownValue& value) {
  if (!value.is_float || value.floats.empty()) return Shared(value);
  KnownValue result;
  result.is_float = true;
  std::vector<std::pair<int64_t, int64_t>> ratios;
  for (const double element : value.floats) {
    int64_t numerator = 0;
    int64_t denominator = 1;
    if (!AsRatio(element, &numerator, &denominator)) return nullptr;
    result.denominator = std::max(result.denominator, denominator);
    ratios.emplace_back(numerator, denominator);
  }
  for (const auto& [numerator, denominator] : ratios) {
    int64_t scaled = 0;
    if (__builtin_mul_overflow(numerator, result.denominator / denominator, &scaled)) {
      return nullptr;
    }
    result.integers.push_back(scaled);
  }
  return Shared(std::move(result));
}

double RoundedTo(ElementType type, double value) {
  if (type == ElementType::kDouble || !std::isfinite(value)) return value;
  if (type == ElementType::kFloat) return static_cast<double>(static_cast<float>(value));
  const int significant = type == ElementType::kFloat16 ? 11 : 8;
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, significant)), exponent - significant);
}

Dim WrappedTo(ElementType type, Dim value) {
  if (!value.is_constant() || !IsInteger(type)) return value;
  const int bits = BitsPerElement(type);
  if (bits >= 64) return value;
  const uint64_t mask = (uint64_t{1} << bits) - 1;
  const uint64_t low = static_cast<uint64_t>(value.value()) & mask;
  const absl::string_view name = ElementTypeName(type);
  const bool is_signed = !name.empty() && name[0] == 'i';
  const bool negative = is_signed && (low >> (bits - 1)) != 0;
  return static_cast<int64_t>(negative ? low | ~mask : low);
}

void KeepBounds(InferContext& c) { c.SetOutputBounds(0, c.InputBounds(0)); }

void SameElements(InferContext& c) {
  KeepBounds(c);
  if (KnownValuePtr value = c.InputValue(0); value != nullptr) {
    c.SetOutputValue(0, std::move(value));
  }
}

void SetRounded(InferContext& c, std::vector<double> floats) {
  const ElementType element = c.OutputType(0).tensor.element;
  for (double& value : floats) value = RoundedTo(element, value);
  c.SetOutputValue(0, FloatValue(std::move(floats)));
}

void SetWrapped(InferContext& c, std::vector<Dim> integers) {
  const ElementType element = c.OutputType(0).tensor.element;
  for (Dim& value : integers) value = WrappedTo(element, value);
  c.SetOutputValue(0, IntegerValue(std::move(integers)));
}

}  // namespace footprint
