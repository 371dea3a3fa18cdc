#include "frontend/importer_constants.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "frontend/importer_contents.h"

namespace footprint {
namespace {

using ONNX_NAMESPACE::AttributeProto;
using ONNX_NAMESPACE::SparseTensorProto;
using ONNX_NAMESPACE::TensorProto;

constexpr int64_t kMaxVisibleIntegers = 4096;
constexpr int64_t kMaxVisibleFloatBytes = 1024;

Dims DimsOf(const google::protobuf::RepeatedField<int64_t>& dims) {
  return Dims(dims.begin(), dims.end());
}

template <typename T>
bool AllAre(const std::vector<T>& elements, T value) {
  return !elements.empty() &&
         std::all_of(elements.begin(), elements.end(), [&](T element) { return element == value; });
}

void SetIntegers(std::vector<int64_t> integers, Constant* constant) {
  constant->is_all_zero = AllAre<int64_t>(integers, 0);
  constant->is_all_one = AllAre<int64_t>(integers, 1);
  constant->integers = std::move(integers);
  constant->has_integers = true;
}

void SetFloats(std::vector<double> floats, Constant* constant) {
  constant->is_all_zero = AllAre<double>(floats, 0);
  constant->is_all_one = AllAre<double>(floats, 1);
  constant->floats = std::move(floats);
  constant->has_floats = true;
}

// The product of constant dims; nullopt on a negative one or overflow.
std::optional<int64_t> ElementsOf(absl::Span<const Dim> dims) {
  int64_t product = 1;
  bool overflow = false;
  for (const Dim dim : dims) {
    if (dim.value() < 0) return std::nullopt;
    overflow |= __builtin_mul_overflow(product, dim.value(), &product);
  }
  const bool zero = std::any_of(dims.begin(), dims.end(), [](Dim dim) { return dim.Is(0); });
  if (zero) return 0;
  return overflow ? std::nullopt : std::optional(product);
}

struct NodeValueForm {
  absl::string_view name;
  AttributeProto::AttributeType type;
};

constexpr NodeValueForm kNodeValueForms[] = {
    {"value", AttributeProto::TENSOR},          {"value_int", AttributeProto::INT},
    {"value_ints", AttributeProto::INTS},       {"value_float", AttributeProto::FLOAT},
    {"value_floats", AttributeProto::FLOATS},   {"value_string", AttributeProto::STRING},
    {"value_strings", AttributeProto::STRINGS}, {"sparse_value", AttributeProto::SPARSE_TENSOR},
};

const NodeValueForm* FindForm(absl::string_view name) {
  for (const NodeValueForm& form : kNodeValueForms) {
    if (form.name == name) return &form;
  }
  return nullptr;
}

// Indices of a sparse tensor: positions in it, or a row of coordinates each; they ascend. Where
// there is one, the tensor has elements, and their count fits 64 bits.
std::string WrongIndices(const Constant& indices, const Constant& tensor) {
  if (!indices.has_integers) return "";
  const auto& dims = tensor.type.dims;
  const size_t rank = dims.size();
  const bool linear = indices.type.dims.size() == 1;
  const size_t width = linear ? 1 : rank;
  int64_t before = -1;
  for (size_t row = 0; width > 0 && row + width <= indices.integers.size(); row += width) {
    int64_t position = 0;
    for (size_t axis = 0; axis < width; ++axis) {
      const int64_t index = indices.integers[row + axis];
      int64_t size = 1;
      for (size_t i = axis; i < (linear ? rank : axis + 1); ++i) size *= dims[i].value();
      if (index < 0 || index >= size) {
        return absl::StrCat("index ", index, " is not below ", size);
      }
      position = position * size + index;
    }
    if (position <= before) return "indices must ascend, each once";
    before = position;
  }
  return "";
}

}  // namespace

std::optional<Constant> ConstantReader::Typed(ElementType element, absl::Span<const Dim> dims,
                                              Place place) const {
  Constant constant;
  constant.type = TensorType::Make(element, dims);
  const std::optional<int64_t> elements = ElementsOf(dims);
  const bool is_string = element == ElementType::kString;
  const std::optional<int64_t> bytes =
      elements.has_value() && !is_string ? BytesOf(element, *elements) : elements;
  if (!bytes.has_value()) {
    std::string shape;
    for (const Dim dim : dims) absl::StrAppend(&shape, shape.empty() ? "" : ", ", dim.value());
    sink_.Error("bad-dims", place(),
                absl::StrCat("[", shape,
                             "] is no shape of a stored tensor: sizes must not be "
                             "negative and their product must fit into 63 bits"));
    return std::nullopt;
  }
  constant.stored_bytes = is_string ? 0 : *bytes;
  return constant;
}

std::optional<Constant> ConstantReader::Read(const TensorProto& tensor, Place place) const {
  if (!IsKnownElementType(tensor.data_type())) {
    sink_.Error("unknown-element-type", place(),
                absl::StrCat("has element type ", tensor.data_type(), ", which ",
                             tensor.data_type() == 0 ? "means none"
                                                     : "ONNX does not define; is the file newer "
                                                       "than this program?"));
    return std::nullopt;
  }
  const auto element = static_cast<ElementType>(tensor.data_type());
  std::optional<Constant> constant = Typed(element, DimsOf(tensor.dims()), place);
  if (!constant.has_value()) return std::nullopt;
  constant->is_external = tensor.data_location() == TensorProto::EXTERNAL;
  if (element == ElementType::kString) {
    const Payload* payload = file_.PayloadOf(tensor);
    if (payload != nullptr) {
      constant->stored_bytes = payload->stored_bytes;
    } else {
      for (const std::string& text : tensor.string_data()) {
        constant->stored_bytes += static_cast<int64_t>(text.size());
      }
    }
    return constant;
  }
  ReadContents(tensor, *ElementsOf(constant->type.dims), &*constant);
  return constant;
}

void ConstantReader::ReadContents(const TensorProto& tensor, int64_t elements,
                                  Constant* constant) const {
  const ElementType element = constant->type.element;
  if (IsInteger(element) || element == ElementType::kBool) {
    if (elements > kMaxVisibleIntegers) return;
    if (auto integers = IntegersOf(tensor, element, elements)) {
      SetIntegers(*std::move(integers), constant);
    }
  } else if (constant->stored_bytes <= kMaxVisibleFloatBytes) {
    if (auto floats = FloatsOf(tensor, element, elements)) SetFloats(*std::move(floats), constant);
  }
}

std::optional<Constant> ConstantReader::Read(const SparseTensorProto& tensor, Place place) const {
  const std::optional<Constant> values = Read(tensor.values(), place);
  const std::optional<Constant> indices = Read(tensor.indices(), place);
  if (!values.has_value() || !indices.has_value()) return std::nullopt;
  std::optional<Constant> constant = Typed(values->type.element, DimsOf(tensor.dims()), place);
  if (!constant.has_value()) return std::nullopt;
  constant->is_sparse = true;
  constant->is_external = values->is_external || indices->is_external;
  if (__builtin_add_overflow(values->stored_bytes, indices->stored_bytes,
                             &constant->stored_bytes)) {
    sink_.Error("bad-dims", place(), "values and indices together exceed 2^63 bytes");
    return std::nullopt;
  }
  if (const std::string wrong = WrongIndices(*indices, *constant); !wrong.empty()) {
    sink_.Error("bad-indices", place(), wrong);
    return std::nullopt;
  }
  return constant;
}

bool ConstantReader::IsNodeValue(absl::string_view name) { return FindForm(name) != nullptr; }

std::optional<Constant> ConstantReader::ReadNodeValue(absl::string_view name,
                                                      const AttributeProto& attribute,
                                                      Place place) const {
  const AttributeProto::AttributeType expected = FindForm(name)->type;
  if (attribute.type() != AttributeProto::UNDEFINED && attribute.type() != expected) {
    sink_.Error("attribute-type", place(),
                absl::StrCat("attribute ", name, " must be of type ",
                             AttributeProto::AttributeType_Name(expected)));
    return std::nullopt;
  }
  if (name == "value") return Read(attribute.t(), place);
  if (name == "sparse_value") return Read(attribute.sparse_tensor(), place);
  Constant constant;
  const Payload* left_out = file_.LeftOutOf(attribute);
  // A list that was left out is -1 long if even its length is not known.
  const auto list = [&](ElementType element, int64_t length) {
    if (left_out != nullptr) length = left_out->entries;
    constant.type = TensorType::Make(element, {length < 0 ? Dim() : Dim(length)});
    constant.stored_bytes = BytesOf(element, length).value_or(0);
  };
  const auto scalar = [&](ElementType element) {
    constant.type = TensorType::Make(element, {});
    constant.stored_bytes = BytesOf(element, 1).value_or(0);
  };
  if (name == "value_int") {
    scalar(ElementType::kInt64);
    SetIntegers({attribute.i()}, &constant);
  } else if (name == "value_float") {
    scalar(ElementType::kFloat);
    SetFloats({attribute.f()}, &constant);
  } else if (name == "value_string") {
    scalar(ElementType::kString);
    constant.stored_bytes =
        left_out != nullptr ? left_out->stored_bytes : static_cast<int64_t>(attribute.s().size());
  } else if (name == "value_ints") {
    list(ElementType::kInt64, attribute.ints_size());
    if (left_out == nullptr && attribute.ints_size() <= kMaxVisibleIntegers) {
      SetIntegers({attribute.ints().begin(), attribute.ints().end()}, &constant);
    }
  } else if (name == "value_floats") {
    list(ElementType::kFloat, attribute.floats_size());
    if (left_out == nullptr && constant.stored_bytes <= kMaxVisibleFloatBytes) {
      SetFloats({attribute.floats().begin(), attribute.floats().end()}, &constant);
    }
  } else {
    list(ElementType::kString, attribute.strings_size());
    for (const std::string& text : attribute.strings()) {
      constant.stored_bytes += static_cast<int64_t>(text.size());
    }
    if (left_out != nullptr) constant.stored_bytes = left_out->stored_bytes;
  }
  return constant;
}

}  // namespace footprint
