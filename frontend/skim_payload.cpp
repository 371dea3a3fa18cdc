#include "frontend/skim_payload.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "ir/tensor_type.h"

namespace footprint {
namespace {

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
constexpr int64_t kLongestVarint = 10;
constexpr size_t kShownDims = 8;

// How much of a payload may be held before all is known about it.
struct HoldLimit {
  int64_t bytes;
  int64_t entries;
};

constexpr HoldLimit kHeldIntegers = {kMaxKeptIntegers * kLongestVarint, kMaxKeptIntegers};

HoldLimit LimitOf(PayloadField field, std::optional<int32_t> data_type) {
  switch (field) {
    case PayloadField::kAttributeInts:
      return kHeldIntegers;
    case PayloadField::kRawData:
    case PayloadField::kInt32Data:
    case PayloadField::kInt64Data:
    case PayloadField::kUint64Data:
      if (!data_type.has_value() || IsIntegerData(*data_type)) return kHeldIntegers;
      return {kMaxKeptBytes, kNoLimit};
    case PayloadField::kStringData:
    case PayloadField::kAttributeStrings:  // empty strings have no bytes
      return {kMaxKeptBytes, kMaxKeptBytes};
    default:
      return {kMaxKeptBytes, kNoLimit};
  }
}

int64_t WidthOf(Wire wire) { return wire == Wire::kFixed32 ? 4 : 8; }

void Drop(PayloadScan* scan) {
  scan->kept = false;
  scan->held = std::string();
}

void Limit(const HoldLimit& limit, PayloadScan* scan) {
  if (scan->bytes > limit.bytes || scan->entries > limit.entries) Drop(scan);
}

ScanStatus ScanPackedVarints(SkimInput& input, int64_t length, PayloadScan* scan) {
  if (!scan->kept) {
    if (length > 0) scan->entries = -1;
    return input.Skip(length) ? ScanStatus::kOk : ScanStatus::kEnded;
  }
  const size_t start = scan->held.size();
  if (!input.Read(length, &scan->held)) return ScanStatus::kEnded;
  int64_t run = 0;
  for (size_t i = start; i < scan->held.size(); ++i) {
    if (++run > kLongestVarint) return ScanStatus::kBadVarint;
    if ((scan->held[i] & 0x80) != 0) continue;
    ++scan->entries;
    run = 0;
  }
  return run == 0 ? ScanStatus::kOk : ScanStatus::kBadVarint;
}

ScanStatus ScanBytes(SkimInput& input, const FieldSchema& schema, const WireField& field,
                     const HoldLimit& limit, PayloadScan* scan) {
  scan->bytes += field.length;
  if (schema.wire == Wire::kBytes) {
    ++scan->entries;
  } else if (schema.wire != Wire::kVarint) {
    if (field.length % WidthOf(schema.wire) != 0) return ScanStatus::kBadLength;
    if (scan->entries >= 0) scan->entries += field.length / WidthOf(schema.wire);
  }
  Limit(limit, scan);
  if (scan->kept) {
    AppendTag(field.number, Wire::kBytes, &scan->held);
    AppendVarint(static_cast<uint64_t>(field.length), &scan->held);
  }
  if (schema.wire == Wire::kVarint) {
    const ScanStatus status = ScanPackedVarints(input, field.length, scan);
    Limit(limit, scan);
    return status;
  }
  const bool read = scan->kept ? input.Read(field.length, &scan->held) : input.Skip(field.length);
  return read ? ScanStatus::kOk : ScanStatus::kEnded;
}

ScanStatus ScanOneNumber(SkimInput& input, const WireField& field, const HoldLimit& limit,
                         PayloadScan* scan) {
  std::string value;
  if (field.wire == Wire::kVarint) {
    uint64_t number = 0;
    if (!input.ReadVarint(&number)) {
      return input.AtEnd() ? ScanStatus::kEnded : ScanStatus::kBadVarint;
    }
    AppendVarint(number, &value);
  } else if (!input.Read(WidthOf(field.wire), &value)) {
    return ScanStatus::kEnded;
  }
  scan->bytes += static_cast<int64_t>(value.size());
  if (scan->entries >= 0) ++scan->entries;
  Limit(limit, scan);
  if (scan->kept) {
    AppendTag(field.number, field.wire, &scan->held);
    scan->held += value;
  }
  return ScanStatus::kOk;
}

// How many entries of `field` hold `elements` elements; nullopt if the field cannot hold the type.
std::optional<int64_t> EntriesFor(PayloadField field, ElementType type, int64_t elements) {
  const auto rounded_up = [&](int64_t n) { return elements / n + (elements % n != 0); };
  const int bits = BitsPerElement(type);
  switch (field) {
    case PayloadField::kFloatData:
      if (type == ElementType::kFloat) return elements;
      if (type == ElementType::kComplex64) return 2 * elements;
      return std::nullopt;
    case PayloadField::kDoubleData:
      if (type == ElementType::kDouble) return elements;
      if (type == ElementType::kComplex128) return 2 * elements;
      return std::nullopt;
    case PayloadField::kInt32Data:
      if (bits == 0 || bits > 32 || type == ElementType::kFloat || type == ElementType::kUint32) {
        return std::nullopt;
      }
      return bits == 4 ? rounded_up(2) : bits == 2 ? rounded_up(4) : elements;
    case PayloadField::kInt64Data:
      if (type == ElementType::kInt64) return elements;
      return std::nullopt;
    case PayloadField::kUint64Data:
      if (type == ElementType::kUint32 || type == ElementType::kUint64) return elements;
      return std::nullopt;
    case PayloadField::kStringData:
      if (type == ElementType::kString) return elements;
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

std::string DimsText(absl::Span<const int64_t> dims) {
  return absl::StrCat("[", absl::StrJoin(dims.subspan(0, kShownDims), ", "),
                      dims.size() > kShownDims ? ", ...]" : "]");
}

}  // namespace

ScanStatus ScanPayload(SkimInput& input, const FieldSchema& schema, const WireField& field,
                       std::optional<int32_t> data_type, PayloadScan* scan) {
  if (!schema.repeated) {
    *scan = PayloadScan();  // as protobuf does: the last one counts
  }
  scan->field = schema.payload;
  const HoldLimit limit = LimitOf(schema.payload, data_type);
  if (field.wire == Wire::kBytes) return ScanBytes(input, schema, field, limit, scan);
  return ScanOneNumber(input, field, limit, scan);
}

bool IsIntegerData(int32_t data_type) {
  if (!IsKnownElementType(data_type)) return false;
  const auto type = static_cast<ElementType>(data_type);
  return IsInteger(type) || type == ElementType::kBool;
}

std::optional<int64_t> ElementsOf(absl::Span<const int64_t> dims) {
  bool zero = false;
  for (const int64_t dim : dims) {
    if (dim < 0) return std::nullopt;
    zero |= dim == 0;
  }
  if (zero) return 0;
  int64_t product = 1;
  for (const int64_t dim : dims) {
    if (__builtin_mul_overflow(product, dim, &product)) return std::nullopt;
  }
  return product;
}

std::string TensorText(const TensorSpec& tensor) {
  const std::string type =
      IsKnownElementType(tensor.data_type)
          ? std::string(ElementTypeName(static_cast<ElementType>(tensor.data_type)))
          : absl::StrCat("type ", tensor.data_type);
  return absl::StrCat(type, DimsText(tensor.dims));
}

std::string CheckSparse(const TensorSpec& values, const TensorSpec& indices,
                        absl::Span<const int64_t> dims) {
  const auto rank = static_cast<int64_t>(dims.size());
  const std::optional<int64_t> elements = ElementsOf(dims);
  const bool agree =
      elements.has_value() && values.dims.size() == 1 && !indices.dims.empty() &&
      indices.dims[0] == values.dims[0] && values.dims[0] <= *elements &&
      (indices.dims.size() == 1 || (indices.dims.size() == 2 && indices.dims[1] == rank));
  if (agree && indices.data_type == static_cast<int32_t>(ElementType::kInt64)) return "";
  return absl::StrCat("a sparse tensor of shape ", DimsText(dims), " has values ",
                      TensorText(values), " and indices ", TensorText(indices),
                      "; needed are n values, no more than elements, and int64 indices [n] or [n, ",
                      rank, "]");
}

std::string CheckPayload(const PayloadScan& scan, const TensorSpec& tensor, int64_t elements) {
  const auto type = static_cast<ElementType>(tensor.data_type);
  const std::string text = TensorText(tensor);
  const char* field = FieldName(scan.field);
  if (scan.field == PayloadField::kRawData && type != ElementType::kString) {
    const std::optional<int64_t> needed = BytesOf(type, elements);
    if (!needed) return absl::StrCat(text, " has more bytes than 64 bits can count");
    if (*needed == scan.bytes) return "";
    return absl::StrFormat("%s needs %d bytes, %s has %d", text, *needed, field, scan.bytes);
  }
  // No payload has that many values, and multiples of the count must not overflow.
  if (elements > kNoLimit / (2 * kLongestVarint)) {
    return absl::StrFormat("%s needs %d values, %s has %d bytes", text, elements, field,
                           scan.bytes);
  }
  const std::optional<int64_t> needed = EntriesFor(scan.field, type, elements);
  if (!needed) return absl::StrFormat("the values of %s cannot be in %s", text, field);
  if (scan.entries >= 0) {
    if (*needed == scan.entries) return "";
    return absl::StrFormat("%s needs %d values in %s, there are %d", text, *needed, field,
                           scan.entries);
  }
  if (*needed <= scan.bytes && scan.bytes <= kLongestVarint * *needed) return "";
  return absl::StrFormat("%s needs %d values of 1 to 10 bytes, %s has %d bytes", text, *needed,
                         field, scan.bytes);
}

}  // namespace footprint
