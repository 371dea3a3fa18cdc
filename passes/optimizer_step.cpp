#include "passes/optimizer_step.h"

#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_split.h"

namespace footprint {
namespace {

// What the names of a step are bound to.
using Bindings = absl::flat_hash_map<absl::string_view, std::vector<Tensor>>;

void RunNames(Eager& eager, absl::string_view names, bool master_weights,
              absl::Span<const Tensor> parameters, Bindings& bindings) {
  for (absl::string_view name : absl::StrSplit(names, ' ', absl::SkipEmpty())) {
    if (name[0] == '-') {
      bindings.erase(name.substr(1));
      continue;
    }
    const char kind = name[0];
    std::vector<Tensor> made;
    made.reserve(parameters.size());
    for (const Tensor& parameter : parameters) {
      if (kind == '~') {
        made.push_back(eager.New({}, ElementType::kFloat, "temporary"));
        continue;
      }
      const ElementType own = master_weights ? ElementType::kFloat : parameter.element();
      made.push_back(eager.NewStrided(parameter.shape(), parameter.strides(),
                                      kind == '?' ? ElementType::kBool : own, "temporary"));
    }
    bindings[kind == '?' || kind == '~' ? name.substr(1) : name] = std::move(made);
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
