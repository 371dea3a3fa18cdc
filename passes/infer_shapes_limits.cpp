// What an inference with limits sees of a type. A number that was inferred wins, then what the file
// declares, then a name; a size that was computed from names is unknown.
#include "passes/infer_shapes_state.h"

namespace footprint {

// A number, or a name of the model.
bool Inference::IsSeen(Dim dim) {
  if (dim.is_unknown() || dim.is_constant()) return dim.is_constant();
  const auto found = seen_.find(dim);
  if (found != seen_.end()) return found->second;
  DimTable& dims = *graph_.dims;
  const std::vector<std::string> names = dims.SymbolsIn(dim);
  const bool seen = names.size() == 1 && !dims.IsDataDependent(dim) && dims.Symbol(names[0]) == dim;
  seen_.emplace(dim, seen);
  return seen;
}

bool Inference::IsFolded() const {
  if (limits_->folds == nullptr || !limits_->folds(*node_)) return false;
  if (limits_->needs_sizes != nullptr && limits_->needs_sizes(*node_)) {
    return InputType(0).tensor.AllDimsConstant();
  }
  for (const ValueId input : node_->inputs) {
    if (input.valid() && !folded_[input]) return false;
  }
  return true;
}

bool Inference::IsComputed() const {
  std::vector<bool> stored;
  for (const ValueId input : node_->inputs) {
    const bool is_constant = input.valid() && graph_.values[input].kind == ValueKind::kConstant;
    stored.push_back(is_constant || (input.valid() && limits_->folds != nullptr && folded_[input]));
  }
  return limits_->computes(*node_, stored) || IsFolded();
}

// Names that are spelled in another way are other names.
Dim Inference::SpelledAs(ValueId id, size_t axis, Dim declared) {
  const auto found = graph_.spellings.find(id);
  if (found == graph_.spellings.end()) return declared;
  for (const SizeSpelling& spelling : found->second) {
    if (spelling.axis == axis) return graph_.dims->Symbol(spelling.text);
  }
  return declared;
}

void Inference::Limit(ValueId id) {
  TensorType& inferred = result_.types[id].tensor;
  if (!inferred.has_rank) return;
  if (limits_->forget != nullptr) {
    std::vector<KnownValuePtr> contents;
    for (const ValueId input : node_->inputs) {
      contents.push_back(input.valid() ? result_.values[input] : nullptr);
    }
    limits_->forget(*node_, contents, inferred);
    if (!inferred.has_rank) return;
  }
  const TensorType& declared = graph_.values[id].declared.tensor;
  const bool same_rank = declared.has_rank && declared.dims.size() == inferred.dims.size();
  for (size_t i = 0; i < inferred.dims.size(); ++i) {
    Dim& dim = inferred.dims[i];
    if (dim.is_constant()) continue;
    if (same_rank && !declared.dims[i].is_unknown()) {
      dim = SpelledAs(id, i, declared.dims[i]);
      seen_.emplace(dim, true);
    } else if (!IsSeen(dim)) {
      dim = Dim();
    }
  }
}

}  // namespace footprint
