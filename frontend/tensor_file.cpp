// A .npy file is a header in the syntax of a Python dictionary and the elements behind it:
//
//   \x93NUMPY 1 0 <length> {'descr': '<i8', 'fortran_order': False, 'shape': (2, 3), }\n <elements>
//
// It is brought to the form of a TensorProto with raw data, and from there both go the same way.
#include "frontend/tensor_file.h"

#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "frontend/importer_contents.h"
#include "ir/tensor_type.h"
#include "onnx/onnx_pb.h"

namespace footprint {
namespace {

using ONNX_NAMESPACE::TensorProto;

constexpr absl::string_view kNpyMagic = "\x93NUMPY";

// What stands behind 'key': in the header, up to `end`; empty if it is not there.
absl::string_view HeaderField(absl::string_view header, absl::string_view key, char end) {
  const size_t at = header.find(absl::StrCat("'", key, "':"));
  if (at == absl::string_view::npos) return "";
  absl::string_view field = header.substr(at + key.size() + 3);
  while (absl::ConsumePrefix(&field, " ")) {
  }
  const size_t length = field.find(end);
  return length == absl::string_view::npos ? "" : field.substr(0, length);
}

std::optional<ElementType> ElementOfDescr(absl::string_view descr) {
  static constexpr std::pair<absl::string_view, ElementType> kTypes[] = {
      {"b1", ElementType::kBool},    {"i1", ElementType::kInt8},    {"i2", ElementType::kInt16},
      {"i4", ElementType::kInt32},   {"i8", ElementType::kInt64},   {"u1", ElementType::kUint8},
      {"u2", ElementType::kUint16},  {"u4", ElementType::kUint32},  {"u8", ElementType::kUint64},
      {"f2", ElementType::kFloat16}, {"f4", ElementType::kFloat},   {"f8", ElementType::kDouble}};
  if (descr.size() != 3 || (descr[0] != '<' && descr[0] != '|')) return std::nullopt;
  for (const auto& [code, element] : kTypes) {
    if (descr.substr(1) == code) return element;
  }
  return std::nullopt;
}

// The header and where the elements begin; 0: no header.
size_t ReadHeader(absl::string_view bytes, absl::string_view* header) {
  constexpr size_t kVersionAt = 6;
  if (bytes.size() < 12) return 0;
  const auto byte = [bytes](size_t i) { return size_t{static_cast<uint8_t>(bytes[i])}; };
  const bool first_version = byte(kVersionAt) == 1;
  const size_t start = first_version ? 10 : 12;
  size_t length = byte(8) | byte(9) << 8;
  if (!first_version) length |= byte(10) << 16 | byte(11) << 24;
  if (length > bytes.size() - start) return 0;
  *header = bytes.substr(start, length);
  return start + length;
}

std::variant<TensorProto, std::string> TensorOfNpy(absl::string_view bytes) {
  absl::string_view header;
  const size_t begin = ReadHeader(bytes, &header);
  if (begin == 0) return std::string("the header of the .npy file is cut off");
  const absl::string_view quoted = HeaderField(header, "descr", ',');
  const std::optional<ElementType> element =
      ElementOfDescr(quoted.size() < 2 ? "" : quoted.substr(1, quoted.size() - 2));
  if (!element) {
    return absl::StrCat("expected little-endian integers, booleans or floating-point numbers in ",
                        "the .npy file; got descr ", quoted);
  }
  TensorProto tensor;
  tensor.set_data_type(static_cast<int>(*element));
  absl::string_view shape = HeaderField(header, "shape", ')');
  if (!absl::ConsumePrefix(&shape, "(")) return std::string("the .npy file has no shape");
  for (const absl::string_view part : absl::StrSplit(shape, ',', absl::SkipWhitespace())) {
    int64_t size = 0;
    if (!absl::SimpleAtoi(part, &size)) return std::string("the .npy file has no shape");
    tensor.add_dims(size);
  }
  if (HeaderField(header, "fortran_order", ',') == "True" && tensor.dims_size() > 1) {
    return std::string("the .npy file is in Fortran order; save it in C order");
  }
  tensor.set_raw_data(std::string(bytes.substr(begin)));
  return tensor;
}

std::variant<TensorContents, std::string> ContentsOf(const TensorProto& tensor) {
  if (!IsKnownElementType(tensor.data_type())) return std::string("the tensor has no element type");
  const auto element = static_cast<ElementType>(tensor.data_type());
  TensorContents contents;
  int64_t elements = 1;
  for (const int64_t size : tensor.dims()) {
    if (size < 0 || __builtin_mul_overflow(elements, size, &elements)) {
      return absl::StrCat("a tensor with a size of ", size);
    }
    contents.shape.push_back(size);
  }
  // More than any file that is read can hold; a bound before anything is allocated for them.
  constexpr int64_t kMaxElements = int64_t{1} << 29;
  std::optional<std::vector<int64_t>> integers;
  std::optional<std::vector<double>> floats;
  if (elements <= kMaxElements && IsFloatingPoint(element)) {
    floats = FloatsOf(tensor, element, elements);
  } else if (elements <= kMaxElements && (IsInteger(element) || element == ElementType::kBool)) {
    integers = IntegersOf(tensor, element, elements);
  }
  if (!integers && !floats) {
    return absl::StrCat("the file does not hold the ", elements, " elements of a tensor of ",
                        ElementTypeName(element));
  }
  if (integers) contents.integers = *std::move(integers);
  if (floats) contents.floats = *std::move(floats);
  return contents;
}

}  // namespace

bool IsNpy(const std::string& bytes) { return absl::StartsWith(bytes, kNpyMagic); }

std::variant<TensorContents, std::string> ParseTensorFile(const std::string& bytes) {
  TensorProto tensor;
  if (IsNpy(bytes)) {
    std::variant<TensorProto, std::string> read = TensorOfNpy(bytes);
    if (std::string* problem = std::get_if<std::string>(&read)) return std::move(*problem);
    tensor = std::get<TensorProto>(std::move(read));
  } else if (!tensor.ParseFromString(bytes)) {
    return std::string("the file is no TensorProto");
  }
  return ContentsOf(tensor);
}

}  // namespace footprint
