// Every fixed-width element is first brought to its bits, from raw_data or from the typed field
// that ONNX prescribes, then the bits to a number. Types below one byte share an entry: element 0
// in the lowest bits.
//
//   raw_data      b0 b1 b2 b3 | b4 ...      little-endian
//   int32_data    one element of 8 to 32 bits an entry; 2 x 4 bits; 4 x 2 bits
//   int64_data, uint64_data, float_data, double_data    one element an entry
#include "frontend/importer_contents.h"

#include <bit>
#include <cmath>
#include <limits>
#include <string>

namespace footprint {
namespace {

using ONNX_NAMESPACE::TensorProto;

uint64_t LowBits(uint64_t value, int bits) {
  return bits == 64 ? value : value & ((uint64_t{1} << bits) - 1);
}

bool BitsFromRaw(const std::string& raw, int bits, int64_t elements, std::vector<uint64_t>* out) {
  const auto expected = static_cast<uint64_t>(elements) * static_cast<uint64_t>(bits);
  if (raw.size() != (expected + 7) / 8) return false;
  for (int64_t i = 0; i < elements; ++i) {
    if (bits < 8) {
      const int64_t at = i * bits;
      const auto byte = static_cast<uint8_t>(raw[static_cast<size_t>(at / 8)]);
      out->push_back(LowBits(static_cast<uint64_t>(byte) >> (at % 8), bits));
      continue;
    }
    uint64_t value = 0;
    const auto start = static_cast<size_t>(i * (bits / 8));
    for (size_t byte = static_cast<size_t>(bits / 8); byte-- > 0;) {
      value = value << 8 | static_cast<uint8_t>(raw[start + byte]);
    }
    out->push_back(value);
  }
  return true;
}

template <typename Field>
bool BitsFromField(const Field& field, int bits, int64_t elements, std::vector<uint64_t>* out) {
  const int64_t per_entry = bits < 8 ? 8 / bits : 1;
  if (field.size() != (elements + per_entry - 1) / per_entry) return false;
  for (int64_t i = 0; i < elements; ++i) {
    const auto entry = static_cast<uint64_t>(field.Get(static_cast<int>(i / per_entry)));
    out->push_back(LowBits(entry >> (i % per_entry * bits), bits));
  }
  return true;
}

bool BitsOf(const TensorProto& tensor, ElementType element, int64_t elements,
            std::vector<uint64_t>* out) {
  const int bits = BitsPerElement(element);
  out->reserve(static_cast<size_t>(elements));
  if (elements == 0) return true;
  if (tensor.has_raw_data()) return BitsFromRaw(tensor.raw_data(), bits, elements, out);
  switch (element) {
    case ElementType::kInt64:
      return BitsFromField(tensor.int64_data(), bits, elements, out);
    case ElementType::kUint32:
    case ElementType::kUint64:
      return BitsFromField(tensor.uint64_data(), bits, elements, out);
    default:
      return BitsFromField(tensor.int32_data(), bits, elements, out);
  }
}

bool IsSigned(ElementType element) {
  switch (element) {
    case ElementType::kInt2:
    case ElementType::kInt4:
    case ElementType::kInt8:
    case ElementType::kInt16:
    case ElementType::kInt32:
    case ElementType::kInt64:
      return true;
    default:
      return false;
  }
}

// IEEE 754 with `exponent_bits`; the rest of the 16 bits but the sign is the mantissa.
double FromHalf(uint64_t bits, int exponent_bits) {
  const int mantissa_bits = 15 - exponent_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const auto mantissa = static_cast<double>(LowBits(bits, mantissa_bits));
  const auto exponent = static_cast<int>(LowBits(bits >> mantissa_bits, exponent_bits));
  double value = 0;
  if (exponent == (1 << exponent_bits) - 1) {
    value = mantissa == 0 ? std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::quiet_NaN();
  } else {
    const double scaled = exponent == 0 ? mantissa : mantissa + (1 << mantissa_bits);
    value = std::ldexp(scaled, (exponent == 0 ? 1 : exponent) - bias - mantissa_bits);
  }
  return (bits >> 15 & 1) != 0 ? -value : value;
}

double FloatFromBits(uint64_t bits, ElementType element) {
  switch (element) {
    case ElementType::kFloat16:
      return FromHalf(bits, 5);
    case ElementType::kBfloat16:
      return FromHalf(bits, 8);
    case ElementType::kFloat:
      return std::bit_cast<float>(static_cast<uint32_t>(bits));
    default:
      return std::bit_cast<double>(bits);
  }
}

}  // namespace

std::optional<std::vector<int64_t>> IntegersOf(const TensorProto& tensor, ElementType element,
                                               int64_t elements) {
  std::vector<uint64_t> patterns;
  if (!BitsOf(tensor, element, elements, &patterns)) return std::nullopt;
  const int unused = 64 - BitsPerElement(element);
  const bool is_signed = IsSigned(element);
  std::vector<int64_t> result;
  result.reserve(patterns.size());
  for (const uint64_t bits : patterns) {
    if (element == ElementType::kBool) {
      result.push_back(bits != 0 ? 1 : 0);
    } else if (is_signed) {
      result.push_back(static_cast<int64_t>(bits << unused) >> unused);
    } else if (bits > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return std::nullopt;
    } else {
      result.push_back(static_cast<int64_t>(bits));
    }
  }
  return result;
}

std::optional<std::vector<double>> FloatsOf(const TensorProto& tensor, ElementType element,
                                            int64_t elements) {
  std::vector<double> result;
  if (!tensor.has_raw_data() && element == ElementType::kFloat) {
    if (tensor.float_data_size() != elements) return std::nullopt;
    result.assign(tensor.float_data().begin(), tensor.float_data().end());
    return result;
  }
  if (!tensor.has_raw_data() && element == ElementType::kDouble) {
    if (tensor.double_data_size() != elements) return std::nullopt;
    result.assign(tensor.double_data().begin(), tensor.double_data().end());
    return result;
  }
  if (element != ElementType::kFloat16 && element != ElementType::kBfloat16 &&
      element != ElementType::kFloat && element != ElementType::kDouble) {
    return std::nullopt;
  }
  std::vector<uint64_t> patterns;
  if (!BitsOf(tensor, element, elements, &patterns)) return std::nullopt;
  for (const uint64_t bits : patterns) result.push_back(FloatFromBits(bits, element));
  return result;
}

}  // namespace footprint
