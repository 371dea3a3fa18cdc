// What the file declares about a value, against what was inferred. Inference wins; what it does not
// know the file may tell; what provably differs is reported.
#include <utility>

#include "absl/strings/str_cat.h"
#include "passes/infer_shapes_state.h"

namespace footprint {
namespace {

void CollectSymbols(const DimTable& dims, const TensorType& type,
                    absl::flat_hash_set<std::string>* symbols) {
  for (const Dim& dim : type.dims) {
    for (std::string& name : dims.SymbolsIn(dim)) symbols->insert(std::move(name));
  }
}

}  // namespace

// Names that occur nowhere in the inputs' shapes stand for whatever the exporter did not know.
bool Inference::NamesInputSizes(Dim dim) {
  if (!has_input_symbols_) {
    has_input_symbols_ = true;
    for (const ValueId input : graph_.top().inputs) {
      CollectSymbols(*graph_.dims, result_.types[input].tensor, &input_symbols_);
    }
  }
  for (const std::string& name : graph_.dims->SymbolsIn(dim)) {
    if (!input_symbols_.contains(name)) return false;
  }
  return true;
}

Dim Inference::RefineDim(Dim inferred, Dim declared, bool* contradicts) {
  if (declared.is_unknown() || inferred == declared) return inferred;
  if (inferred.is_unknown()) return declared;
  DimTable& dims = *graph_.dims;
  if (dims.KnownNotEqual(inferred, declared)) {
    *contradicts = true;
    return inferred;
  }
  if (limits_ != nullptr) return inferred;  // has what is declared already
  return dims.IsDataDependent(inferred) && NamesInputSizes(declared) ? declared : inferred;
}

// False if they contradict.
bool Inference::RefineDims(TensorType& inferred, const TensorType& declared) {
  if (inferred.element == ElementType::kUndefined) inferred.element = declared.element;
  bool contradicts =
      declared.element != ElementType::kUndefined && declared.element != inferred.element;
  if (!declared.has_rank) return !contradicts;
  if (!inferred.has_rank) {
    inferred.has_rank = true;
    inferred.dims = declared.dims;
    return !contradicts;
  }
  if (inferred.dims.size() != declared.dims.size()) return false;
  for (size_t i = 0; i < declared.dims.size(); ++i) {
    inferred.dims[i] = RefineDim(inferred.dims[i], declared.dims[i], &contradicts);
  }
  return !contradicts;
}

void Inference::Refine(ValueId id, bool report_mismatch) {
  const ValueType& declared = graph_.values[id].declared;
  ValueType& inferred = result_.types[id];
  if (declared.kind == TypeKind::kUnknown) return;
  if (inferred.kind == TypeKind::kUnknown) {
    inferred = declared;
    return;
  }
  const bool agrees =
      inferred.kind == declared.kind && RefineDims(inferred.tensor, declared.tensor);
  if (agrees || !report_mismatch || !MayReport()) return;
  sink_.Warning(
      "declared-shape-mismatch", Describe(graph_, id),
      absl::StrCat("the file declares ", ToString(declared.tensor, *graph_.dims), ", but it is ",
                   ToString(inferred.tensor, *graph_.dims), "; the inferred one is used"));
}

}  // namespace footprint
