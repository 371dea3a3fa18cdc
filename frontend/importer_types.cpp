#include "frontend/importer_types.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "frontend/printable.h"

namespace footprint {

using ONNX_NAMESPACE::TensorShapeProto;
using ONNX_NAMESPACE::TypeProto;

ValueType TypeReader::Read(const TypeProto& type, absl::string_view name, bool model_symbols) {
  const auto tensor = [&](const auto& proto) {
    return ReadTensor(proto.elem_type(), proto.has_shape() ? &proto.shape() : nullptr, name,
                      model_symbols);
  };
  switch (type.value_case()) {
    case TypeProto::kTensorType:
      return ValueType::Tensor(tensor(type.tensor_type()));
    case TypeProto::kSparseTensorType:
      return {TypeKind::kSparseTensor, tensor(type.sparse_tensor_type()), {}};
    case TypeProto::kSequenceType:
    case TypeProto::kOptionalType: {
      const bool sequence = type.has_sequence_type();
      const TypeKind kind = sequence ? TypeKind::kSequence : TypeKind::kOptional;
      const TypeProto& element =
          sequence ? type.sequence_type().elem_type() : type.optional_type().elem_type();
      if (element.has_tensor_type()) return {kind, tensor(element.tensor_type()), {}};
      return {kind, {}, Spell(type, name)};
    }
    case TypeProto::kMapType:
      return {TypeKind::kMap, {}, Spell(type, name)};
    case TypeProto::kOpaqueType:
      return {TypeKind::kOpaque, {}, Spell(type, name)};
    case TypeProto::VALUE_NOT_SET:
      break;
  }
  return {};
}

// Types nest without branching: what is around the innermost one is a prefix and closing brackets.
std::string TypeReader::Spell(const TypeProto& type, absl::string_view name) {
  std::string text;
  int open = 0;
  const TypeProto* inner = &type;
  for (;; ++open) {
    if (inner->has_sequence_type()) {
      text += "sequence(";
      inner = &inner->sequence_type().elem_type();
    } else if (inner->has_optional_type()) {
      text += "optional(";
      inner = &inner->optional_type().elem_type();
    } else if (inner->has_map_type()) {
      absl::StrAppend(&text, "map(",
                      ElementTypeName(ReadElement(inner->map_type().key_type(), name)), ", ");
      inner = &inner->map_type().value_type();
    } else {
      break;
    }
  }
  if (inner->has_tensor_type()) {
    const auto& tensor = inner->tensor_type();
    text += ToString(
        ReadTensor(tensor.elem_type(), tensor.has_shape() ? &tensor.shape() : nullptr, name, true),
        dims_);
  } else if (inner->has_sparse_tensor_type()) {
    absl::StrAppend(&text, "sparse ",
                    ElementTypeName(ReadElement(inner->sparse_tensor_type().elem_type(), name)));
  } else if (inner->has_opaque_type()) {
    absl::StrAppend(&text, "opaque(", inner->opaque_type().domain(), ", ",
                    inner->opaque_type().name(), ")");
  } else {
    text += "?";
  }
  return text.append(static_cast<size_t>(open), ')');
}

ElementType TypeReader::ReadElement(int32_t element, absl::string_view name) {
  if (element == 0 || IsKnownElementType(element)) return static_cast<ElementType>(element);
  sink_.Error("unknown-element-type", Printable(name),
              absl::StrCat("has element type ", element,
                           ", which ONNX does not define; is the file newer than this program?"));
  return ElementType::kUndefined;
}

TensorType TypeReader::ReadTensor(int32_t element, const TensorShapeProto* shape,
                                  absl::string_view name, bool model_symbols) {
  TensorType type = TensorType::UnknownRank(ReadElement(element, name));
  if (shape == nullptr) return type;
  type.has_rank = true;
  type.dims.reserve(static_cast<size_t>(shape->dim_size()));
  for (const auto& dim : shape->dim()) {
    const Dim size = ReadDim(dim, name, model_symbols);
    if (model_symbols && dim.has_dim_param() && !size.is_unknown() && !size.is_constant()) {
      const auto [first, is_new] = first_texts_.try_emplace(size, dim.dim_param());
      if (!is_new && first->second != dim.dim_param()) {
        spellings_.push_back({type.dims.size(), dim.dim_param()});
      }
    }
    type.dims.push_back(size);
  }
  return type;
}

Dim TypeReader::ReadDim(const TensorShapeProto::Dimension& dim, absl::string_view name,
                        bool model_symbols) {
  if (dim.has_dim_param()) return model_symbols ? ReadSymbol(dim.dim_param()) : Dim();
  if (!dim.has_dim_value()) return Dim();
  if (dim.dim_value() >= 0) return dim.dim_value();
  if (!warned_of_negative_) {
    sink_.Warning("negative-dimension", Printable(name),
                  absl::StrCat("a dimension is given as ", dim.dim_value(),
                               "; negative sizes are read as unknown, here and elsewhere in the "
                               "model; name them (dim_param) to bind them"));
    warned_of_negative_ = true;
  }
  return Dim();
}

Dim TypeReader::ReadSymbol(const std::string& text) {
  if (text.empty()) return Dim();
  const auto [found, is_new] = symbols_.try_emplace(text);
  if (is_new) {
    const std::optional<Dim> parsed = dims_.Parse(text);
    found->second = parsed.has_value() ? *parsed : dims_.Symbol(text);
    const Dim size = found->second;
    if (size.is_constant() && size.value() < 0) found->second = Dim();  // as a negative number is
  }
  return found->second;
}

}  // namespace footprint
