#include "passes/optimizer_step.h"

#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"

namespace footprint {
namespace {

// What the names of a step are bound to.
using Bindings = absl::flat_hash_map<absl::string_view, std::vector<Tensor>>;

// A new tensor of the kind that the first character of a name says.
Tensor NewTemporary(Eager& eager, char kind, bool master_weights, const Tensor& parameter) {
  constexpr absl::string_view kWhat = "temporary";
  const Dims& shape = parameter.shape();
  switch (kind) {
    case '~':
      return eager.New({}, ElementType::kFloat, kWhat);
    case '?':
      return eager.NewStrided(shape, parameter.strides(), ElementType::kBool, kWhat);
    case '%':
      return eager.NewStrided(shape, parameter.strides(), ElementType::kBfloat16, kWhat);
    case '#': {
      if (shape.size() < 2) return eager.New(shape, ElementType::kBfloat16, kWhat);
      const Dim side = eager.dims().Min(shape[shape.size() - 2], shape.back());
      return eager.New({side, side}, ElementType::kBfloat16, kWhat);
    }
    default:
      return eager.NewStrided(shape, parameter.strides(),
                              master_weights ? ElementType::kFloat : parameter.element(), kWhat);
  }
}

void RunNames(Eager& eager, absl::string_view names, bool master_weights,
              absl::Span<const Tensor> parameters, Bindings& bindings) {
  for (absl::string_view name : absl::StrSplit(names, ' ', absl::SkipEmpty())) {
    const char kind = name[0];
    const bool is_plain = absl::ascii_isalpha(kind);
    if (!is_plain) name.remove_prefix(1);
    if (kind == '-') {
      bindings.erase(name);
      continue;
    }
    std::vector<Tensor> made;
    made.reserve(parameters.size());
    for (const Tensor& parameter : parameters) {
      made.push_back(NewTemporary(eager, kind, master_weights, parameter));
    }
    bindings[name] = std::move(made);
  }
}

}  // namespace

void RunOptimizerStep(Eager& eager, const Optimizer& optimizer, bool master_weights,
                      absl::Span<const Tensor> parameters) {
  Bindings lists;
  if (master_weights) RunNames(eager, "master_gradient", true, parameters, lists);
  RunNames(eager, optimizer.lists, master_weights, parameters, lists);
  Bindings bindings;
  for (const Tensor& parameter : parameters) {
    RunNames(eager, optimizer.each, master_weights, {&parameter, 1}, bindings);
  }
}

std::vector<Tensor> UnscaleGradients(Eager& eager, bool in_kernel) {
  const auto scalar = [&](ElementType element, absl::string_view what) {
    return eager.New({}, element, what);
  };
  if (in_kernel) {
    const Tensor one = scalar(ElementType::kFloat, "scale of the check");
    const Tensor found = scalar(ElementType::kFloat, "found_inf");
    return {found, scalar(ElementType::kFloat, "sum of found_inf"),
            scalar(ElementType::kFloat, "grad_scale")};
  }
  // scale.double().reciprocal().float()
  Tensor inverse = scalar(ElementType::kDouble, "temporary");
  inverse = scalar(ElementType::kDouble, "temporary");
  inverse = scalar(ElementType::kFloat, "inverse scale");
  return {scalar(ElementType::kFloat, "found_inf")};
}

}  // namespace footprint
