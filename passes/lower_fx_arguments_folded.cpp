// Arguments that are constants the exporter computed: what they were computed from. Numbers of
// which the file has the contents alone.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ir/ops/lowering/folded_tables.h"
#include "ir/ops/lowering/habits.h"
#include "ir/ops/lowering/lowering.h"
#include "passes/lower_fx_arguments.h"

namespace footprint {

// The bias of the module whose weight the call reads, if no text reads it.
const SignatureEntry* FxArguments::OwnBias() const {
  for (const FxArgument& argument : now_.group->fx->arguments) {
    const SignatureEntry* weight =
        argument.kind == FxArgument::Kind::kReference ? names_.Stored(argument.text) : nullptr;
    if (weight == nullptr || weight->kind != SignatureEntry::Kind::kParameter) continue;
    return names_.BiasBeside(weight->target);
  }
  return nullptr;
}

// A constant that the exporter computed: from a parameter of the reader's module that no text
// reads, if there is one; else a table that the step makes, where it can be no buffer. Parameters
// of equal value share one constant.
TorchValueId FxArguments::Folded(absl::string_view name, ValueId constant, int position) {
  const TensorType& type = facts_.types().types[constant].tensor;
  const std::vector<std::string>& path = now_.group->fx->module_path;
  const SignatureEntry* entry = nullptr;
  if (IsFloatingPoint(type.element) && path.size() >= 2) {
    entry = FxIsBias(*now_.group->fx, position) ? OwnBias() : nullptr;
    if (entry == nullptr) entry = names_.UnreadParameterOf(path[path.size() - 2]);
    // Tables come from the module's frequencies, if it has them.
    const SignatureEntry* buffer = names_.UnreadBufferOf(path[path.size() - 2]);
    const bool has_frequencies =
        buffer != nullptr && absl::EndsWith(buffer->target, kFrequenciesName);
    if (has_frequencies && FxElementwise(name).empty()) entry = nullptr;
  }
  if (FxStem(name) == kLookupName && path.size() >= 2) {
    const SignatureEntry* looked_up = names_.UnreadTableBelow(path[path.size() - 2]);
    if (looked_up != nullptr) {
      const TorchValueId rows = LookUp(name, *looked_up, type);
      names_.Set(name, rows);
      return rows;
    }
  }
  TorchValueId result;
  const std::optional<FoldedTable> table =
      entry == nullptr ? std::nullopt : FindFoldedTable(entry->target, type.dims);
  if (table.has_value()) {
    result = Gather(name, *entry, *table, type);
  } else if (entry == nullptr) {
    result = names_.has_all_buffers() ? builder_.LiteralOf(constant) : builder_.TensorOf(constant);
    if (absl::StartsWith(now_.group->fx->target, kScalingText)) AddFrequencies(type);
  } else {
    // The constant may be another one of the call's, where the parameter's own was merged away.
    const std::optional<Dims> dims =
        FxParameterDims(*now_.group->fx, position, TensorType(), ResultType());
    const bool fits = !dims.has_value() || *dims == type.dims;
    const absl::string_view op = FxElementwise(name);
    const bool claims = fits && op.empty() && claimed_.insert(constant).second;
    const TorchValueId parameter =
        names_.AddMissing(*entry, fits ? type : TensorType::Make(type.element, *dims),
                          claims ? constant : ValueId());
    result = op.empty() ? StandIn(name, parameter)
                        : Compute(op, name, {TorchArgument::Tensor(parameter)}, type);
  }
  names_.Set(name, result);
  return result;
}

// The weight that the module computes from parameters, if the exporter did that.
TorchValueId FxArguments::Multiply(absl::string_view name, ValueId product) {
  const std::vector<std::string>& path = now_.group->fx->module_path;
  if (path.size() < 2) return TorchValueId();
  const std::string& module = path[path.size() - 2];
  const TensorType first = now_.first.valid() ? builder_.value(now_.first).type : TensorType();
  std::optional<Dims> dims = FxParameterDims(*now_.group->fx, kWeightArgument, first, ResultType());
  if (!dims.has_value() && product.valid()) dims = facts_.types().types[product].tensor.dims;
  if (!dims.has_value() || dims->empty()) return TorchValueId();
  const auto missing = [this](const SignatureEntry& entry, const Dims& size) {
    return TorchArgument::Tensor(
        names_.AddMissing(entry, TensorType::Make(ElementType::kFloat, size), {}));
  };
  const TensorType type = TensorType::Make(ElementType::kFloat, *dims);
  for (const FxFactors& factors : kFxFactors) {
    const std::string folder = absl::StrCat(module, factors.folder, ".");
    const SignatureEntry* length = names_.Unread(absl::StrCat(folder, factors.length));
    const SignatureEntry* direction = names_.Unread(absl::StrCat(folder, factors.direction));
    if (length == nullptr || direction == nullptr) continue;
    Dims outputs(dims->size(), Dim(1));
    outputs[0] = (*dims)[0];
    return Compute(kFactorsCall, name, {missing(*direction, *dims), missing(*length, outputs)},
                   type);
  }
  const std::string folder = absl::StrCat(module, kFxSpectralFolder, ".");
  const SignatureEntry* weight = names_.Unread(absl::StrCat(folder, kFxSpectralWeight));
  const SignatureEntry* rows = names_.Unread(absl::StrCat(folder, kFxSpectralRows));
  const SignatureEntry* columns = names_.Unread(absl::StrCat(folder, kFxSpectralColumns));
  if (weight == nullptr || rows == nullptr || columns == nullptr) return TorchValueId();
  missing(*rows, {(*dims)[0]});
  const Dim width = graph_.dims->Product(absl::MakeConstSpan(*dims).subspan(1));
  const TorchArgument original = missing(*weight, *dims);
  return Compute(kSpectralCall, name, {original, missing(*columns, {width})}, type);
}

// Cosines and sines are all that is left of the frequencies that they were made from.
void FxArguments::AddFrequencies(const TensorType& turns) {
  const std::optional<Dims> dims = FrequenciesOf(turns.dims);
  if (!dims.has_value()) return;
  for (const SignatureEntry* entry : names_.UnreadFrequencies()) {
    names_.AddMissing(*entry, TensorType::Make(turns.element, *dims), {});
  }
}

// Rows of a table that depend on no input: positions, or what all tokens share.
TorchValueId FxArguments::LookUp(absl::string_view name, const SignatureEntry& entry,
                                 const TensorType& type) {
  const Dims dims = LookedUpTable(entry.target, type.dims, 0);
  const TorchValueId table =
      names_.AddMissing(entry, TensorType::Make(type.element, dims), ValueId());
  const Dims places(type.dims.begin(), type.dims.end() - 1);
  const TensorType index_type = TensorType::Make(ElementType::kInt64, places);
  const TorchValueId index =
      builder_.AddComputed(absl::StrCat(name, "/positions"), index_type);
  const TorchValueId rows = builder_.AddComputed(std::string(name), type);
  builder_.Append(kLookupCall, {TorchArgument::Tensor(table), TorchArgument::Tensor(index)},
                  {rows});
  builder_.last().evidence = Evidence::kAssumption;
  builder_.last().note = "looked up in a table, assumed to have the rows that are read alone";
  return rows;
}

// Gathered by a buffer of the same module, if it lists one.
TorchValueId FxArguments::Gather(absl::string_view name, const SignatureEntry& entry,
                                 const FoldedTable& table, const TensorType& type) {
  const TorchValueId stored =
      names_.AddMissing(entry, TensorType::Make(type.element, table.dims), ValueId());
  const SignatureEntry* positions = names_.UnreadBufferOf(FxNames::OwnerOf(entry));
  const TensorType index_type =
      TensorType::Make(ElementType::kInt64, {table.gathered[table.by_rows ? 0 : 1]});
  const TorchValueId index = positions != nullptr
                                 ? names_.AddMissing(*positions, index_type, ValueId())
                                 : builder_.AddComputed("positions", index_type);
  std::vector<TorchValueId> indices = {index};
  if (!table.by_rows) indices = {TorchValueId(), index};
  const auto call = [&](absl::string_view op, TorchValueId from, TorchArgument argument,
                        const Dims& dims) {
    const TorchValueId made = builder_.AddComputed(
        dims == type.dims ? std::string(name) : absl::StrCat(name, "/gathered"),
        TensorType::Make(type.element, dims));
    builder_.Append(op, {TorchArgument::Tensor(from), std::move(argument)}, {made});
    builder_.last().evidence = Evidence::kName;
    builder_.last().note = "gathered from a table, whose size follows from the window";
    return made;
  };
  const auto ints = [](const Dims& dims) {
    return TorchArgument::Ints(std::vector<Dim>(dims.begin(), dims.end()));
  };
  TorchValueId result =
      call(kGatherCall, stored, TorchArgument::Tensors(std::move(indices)), table.gathered);
  if (table.is_turned) {
    const Dims turned = {table.gathered[1], table.gathered[0]};
    result = call(kMergedOrderCall, result, ints({Dim(1), Dim(0)}), turned);
    result = call(kContiguousCall, result, TorchArgument(), turned);
  }
  if (type.dims == table.gathered) return result;
  return call(kMergedAxesCall, result, ints(type.dims), type.dims);
}

// Numbers that the code wrote out (x[:, [-1]]) are a tensor of the step, of which the node has the
// contents alone.
TorchValueId FxArguments::Index(absl::string_view name, size_t axis) {
  const auto is_number = [this](ValueId operand) {
    return !IsFloatingPoint(facts_.types().types[operand].tensor.element);
  };
  const bool is_named = names_.Find(name).valid() || names_.FoldedConstant(name).valid() ||
                        names_.Stored(name) != nullptr;
  if (is_named || std::any_of(now_.operands.begin(), now_.operands.end(), is_number)) {
    return Resolve(name, 1);
  }
  const Dims& result = ResultType().dims;
  // What moves the axes of indices back may have been merged with a transposition behind it.
  const bool is_moved = graph_.values[now_.group->result].name != now_.group->fx->name;
  const size_t place = is_moved ? 0 : axis;
  const Dim count = place < result.size() ? result[place] : Dim(1);
  return Literal(name, TensorType::Make(ElementType::kInt64, {count}));
}

// A number as a tensor, made by a call that was merged with an equal one.
TorchValueId FxArguments::RepeatNumber(absl::string_view name) {
  for (NodeId id : now_.group->nodes) {
    for (ValueId input : graph_.nodes[id].inputs) {
      if (!input.valid() || !facts_.IsOneNumber(input)) continue;
      const std::string& made_as = graph_.values[input].name;
      if (made_as == name || FxStem(made_as) != FxStem(name)) continue;
      const TensorType& type = facts_.types().types[input].tensor;
      return Literal(name, TensorType::Make(type.element, type.dims));
    }
  }
  return TorchValueId();
}

TorchValueId FxArguments::Literal(absl::string_view name, TensorType type) {
  const TorchArgument sizes = TorchArgument::Ints(type.dims);
  const TorchValueId made = builder_.AddComputed(std::string(name), std::move(type));
  builder_.Append(kLiteralCall, {sizes, TorchArgument::Float(0)}, {made});
  builder_.last().note = "the file lacks this call; its name is left";
  names_.Set(name, made);
  return made;
}

}  // namespace footprint
