// Tensors from nothing, and like another one. No gradient. Where the call names no type,
// inference's does; its float32 is the module's own type, because exporters write the type of the
// module they saw.
#include <vector>

#include "ir/ops/torch/families.h"

namespace footprint {
namespace {

TorchOp FromSizes(absl::string_view name, absl::string_view arguments) {
  return {.name = name, .arguments = arguments, .operands = 0, .shape = ResultShape::kDeclared,
          .strides = ResultStrides::kContiguous, .element = ResultElement::kDeclared};
}

TorchOp Like(absl::string_view name, absl::string_view arguments) {
  return {.name = name, .arguments = arguments, .shape = ResultShape::kLikeFirst,
          .element = ResultElement::kLikeFirst};
}

// The sizes are given, the type is that of `self`.
TorchOp TypedLike(absl::string_view name, absl::string_view arguments) {
  return {.name = name, .arguments = arguments, .shape = ResultShape::kDeclared,
          .strides = ResultStrides::kContiguous, .element = ResultElement::kLikeFirst};
}

}  // namespace

absl::Span<const TorchOp> CreationTorchOps() {
  static const std::vector<TorchOp> rows = {
      FromSizes("aten::zeros", "size"),
      FromSizes("aten::ones", "size"),
      FromSizes("aten::full", "size, fill_value"),
      FromSizes("aten::empty", "size"),
      FromSizes("aten::arange", "start, end, step"),
      FromSizes("aten::linspace", "start, end, steps"),
      FromSizes("aten::eye", "n, m"),
      FromSizes("aten::scalar_tensor", "s"),
      FromSizes("aten::rand", "size"),
      FromSizes("aten::randn", "size"),
      FromSizes("aten::randint", "low, high, size"),
      FromSizes("aten::randperm", "n"),
      Like("aten::zeros_like", "self"),
      Like("aten::ones_like", "self"),
      Like("aten::full_like", "self, fill_value"),
      Like("aten::empty_like", "self"),
      Like("aten::rand_like", "self"),
      Like("aten::randn_like", "self"),
      Like("aten::bernoulli", "self, p"),
      TypedLike("aten::new_zeros", "self, size"),
      TypedLike("aten::new_ones", "self, size"),
      TypedLike("aten::new_full", "self, size, fill_value"),
      TypedLike("aten::new_empty", "self, size"),
  };
  return rows;
}

}  // namespace footprint
