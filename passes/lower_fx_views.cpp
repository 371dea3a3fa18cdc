// Views, and axes in another order, of which the exporter merges neighbours into one node.
#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/ops/lowering/lowering.h"
#include "passes/lower_fx_texts.h"

namespace footprint {

// The ONNX nodes gather along the first axes; what moves the result's axes back may have been
// merged with a transpose behind it.
void TextLowering::LowerIndex(absl::string_view op, const FxLowering& row) {
  std::vector<TorchArgument> arguments = arguments_.All(row, FindTorchOp(op));
  const TorchValueId source = arguments_.first();
  const std::vector<FxArgument>& texts = group_->fx->arguments;
  const bool is_moved = source.valid() && texts.size() > 1 && repeated_.empty() &&
                        graph_.values[group_->result].name != group_->fx->name;
  if (!is_moved) return Finish(op, std::move(arguments));
  const auto is_index = [](const FxArgument& item) {
    return item.kind == FxArgument::Kind::kReference;
  };
  const std::vector<FxArgument>& items = texts[1].items;
  const auto first = std::find_if(items.begin(), items.end(), is_index);
  const auto last = std::find_if_not(first, items.end(), is_index);
  const int64_t kept = builder_.value(source).type.rank() - (last - first);
  TensorType type = Type(group_->result);
  const int64_t moved = type.rank() - kept;
  const bool is_one_block = std::none_of(last, items.end(), is_index);
  if (first != items.begin() && is_one_block && moved >= 0 && kept >= first - items.begin()) {
    std::rotate(type.dims.begin(), type.dims.begin() + moved,
                type.dims.begin() + moved + (first - items.begin()));
  }
  const TorchValueId result = builder_.AddComputed(group_->fx->name, std::move(type));
  builder_.Append(op, std::move(arguments), {result});
  BindResult(result);
}

bool TextLowering::IsReadByAttention(ValueId value) const {
  const absl::Span<const NodeId> readers = facts_.Readers(value);
  return std::any_of(readers.begin(), readers.end(), [this](NodeId reader) {
    const int32_t text = provenance_.fx_of_node[reader];
    return text >= 0 && absl::StrContains(provenance_.fx_nodes[static_cast<size_t>(text)].target,
                                          kAttentionText);
  });
}

// The bias itself where the mask lets all positions see each other; else what is seen of it up to
// each position, for all samples at once.
bool TextLowering::LowerMaskedBias(absl::string_view op, std::vector<TorchArgument>& arguments) {
  if (arguments.size() < 2 || !arguments[0].tensor.valid() || !arguments[1].tensor.valid()) {
    return false;
  }
  const ValueId mask = builder_.value(arguments[0].tensor).onnx_value;
  const TensorType type = builder_.value(arguments[1].tensor).type;
  const bool is_bias = IsFloatingPoint(type.element) && type.rank() > 2;
  if (!is_bias || !mask.valid() || !facts_.IsFromShapes(mask)) return false;
  if (!IsReadByAttention(group_->result)) return false;
  const TorchCall* maker = builder_.MakerOf(arguments[0].tensor);
  if (maker != nullptr && maker->op->name == kExpandCall) {
    arguments[0] = maker->arguments[0];
    maker = builder_.MakerOf(arguments[0].tensor);
  }
  while (maker != nullptr && HandsOn(*maker->op)) {
    maker = builder_.MakerOf(maker->arguments[0].tensor);
  }
  if (maker == nullptr || maker->op->name != kCausalCall) {
    biases_.insert(arguments[1].tensor);
    BindResult(arguments[1].tensor);
    return true;
  }
  const TorchValueId result = builder_.AddComputed(group_->fx->name, type);
  builder_.Append(op, std::move(arguments), {result});
  builder_.last().evidence = Evidence::kAssumption;
  builder_.last().note = "its mask comes from shapes alone: one for all samples";
  BindResult(result);
  return true;
}

// Views of both operands, the product of matrices and a view of the result are one node under the
// text of the last.
bool TextLowering::LowerMergedProduct() {
  const Node& node = graph_.nodes[group_->nodes.back()];
  const std::vector<FxArgument>& texts = group_->fx->arguments;
  if (node.op_type != kMergedProduct || texts.empty() || !repeated_.empty()) return false;
  const absl::string_view name = texts[0].text;
  const bool is_flat = FxStem(name) == kFlatProductName;
  const size_t own = is_flat ? 1 : 2;  // axes behind those that are one
  std::vector<TorchArgument> operands;
  TensorType type;
  for (size_t i = 0; i < 2; ++i) {
    if (!node.input(i).valid()) return false;
    const TorchValueId tensor = builder_.TensorOf(facts_.Resolve(node.input(i)));
    type = builder_.value(tensor).type;
    if (type.rank() < 2) return false;
    operands.push_back(TorchArgument::Tensor(tensor));
    if (type.dims.size() <= own + 1) continue;
    const auto kept = type.dims.end() - static_cast<int64_t>(own);
    Dims dims = {graph_.dims->Product(Dims(type.dims.begin(), kept))};
    dims.insert(dims.end(), kept, type.dims.end());
    type = TensorType::Make(type.element, dims);
    const absl::string_view side = i == 0 ? "/left" : "/right";
    const TorchValueId merged = builder_.AddComputed(absl::StrCat(name, side), type);
    builder_.Append(kReshapeCall,
                    {operands[i], TorchArgument::Ints(std::vector<Dim>(dims.begin(), dims.end()))},
                    {merged});
    operands[i] = TorchArgument::Tensor(merged);
  }
  Dims dims = builder_.value(operands[0].tensor).type.dims;
  dims.back() = type.dims.back();
  const TorchValueId product =
      builder_.AddComputed(std::string(name), TensorType::Make(type.element, dims));
  const absl::string_view call = is_flat ? kFlatProductCall : kBatchedProductCall;
  classes_.CastArguments(call, operands);
  builder_.Append(call, std::move(operands), {product});
  builder_.last().note = "calls that the exporter merged";
  const Dims& viewed = Type(group_->result).dims;
  Finish(kViewCall, {TorchArgument::Tensor(product),
                     TorchArgument::Ints(std::vector<Dim>(viewed.begin(), viewed.end()))});
  return true;
}

void TextLowering::LowerView(const FxLowering& row, absl::string_view op) {
  if (LowerMergedProduct()) return;
  std::vector<TorchArgument> arguments = arguments_.All(row, FindTorchOp(op));
  const TorchValueId source = arguments_.first();
  if (row.form == FxForm::kSlice && source.valid()) {
    const TensorType& from = builder_.value(source).type;
    const TensorType& to = Type(group_->result);
    if (from.has_rank && to.has_rank && from.dims == to.dims && from.AllDimsKnown()) {
      return BindResult(source);  // indexing with a whole axis makes no view
    }
  }
  Finish(op, std::move(arguments));
}

// Two transposes in a row, or two unsqueezes, are one node under the text of the second.
void TextLowering::LowerAxes(const FxLowering& row, absl::string_view op) {
  std::vector<TorchArgument> arguments = arguments_.All(row, FindTorchOp(op));
  if (!arguments_.first_is_merged()) {
    PutOrderBack(arguments);
    return Finish(op, std::move(arguments));
  }
  const TorchArgument source = TorchArgument::Tensor(arguments_.first());
  const Node& node = graph_.nodes[group_->nodes.back()];
  const bool reorders = node.op_type == kMergedOrder;
  std::vector<Dim> axes;
  for (int64_t axis : node.Ints("perm")) axes.push_back(Dim(axis));
  Finish(reorders ? kMergedOrderCall : kMergedAxesCall,
         {source, TorchArgument::Ints(reorders ? axes : std::vector<Dim>(
                      Type(group_->result).dims.begin(), Type(group_->result).dims.end()))});
  builder_.last().note = "calls that the exporter merged";
}

// x.transpose(1, 2).contiguous().transpose(2, 3) is one node under the text of the last: the copy
// between was of what the first transpose had made.
void TextLowering::PutOrderBack(std::vector<TorchArgument>& arguments) {
  const Node& node = graph_.nodes[group_->nodes.back()];
  const TorchValueId source = arguments_.StoodFor(arguments_.first());
  if (!source.valid() || node.op_type != kMergedOrder || arguments.size() != 3) return;
  const TensorType type = builder_.value(source).type;
  const absl::Span<const int64_t> all = node.Ints("perm");
  const int64_t rank = type.rank();
  if (rank < 2 || static_cast<int64_t>(all.size()) != rank) return;
  std::vector<int64_t> own(all.size());
  std::iota(own.begin(), own.end(), 0);
  const auto axis = [&](size_t i) {
    const Dim at = arguments[i].integer;
    return static_cast<size_t>(((at.is_constant() ? at.value() : 0) + rank) % rank);
  };
  std::swap(own[axis(1)], own[axis(2)]);
  std::vector<Dim> before(own.size());
  for (size_t i = 0; i < own.size(); ++i) before[static_cast<size_t>(own[i])] = Dim(all[i]);
  Dims dims;
  bool moves = false;
  for (size_t i = 0; i < before.size(); ++i) {
    moves |= !before[i].Is(static_cast<int64_t>(i));
    dims.push_back(type.dims[static_cast<size_t>(before[i].value())]);
  }
  if (!moves) return;
  const std::string& name = group_->fx->arguments[0].text;
  const TensorType moved = TensorType::Make(type.element, dims);
  const TorchValueId ordered = builder_.AddComputed(absl::StrCat(name, "/order"), moved);
  builder_.Append(kMergedOrderCall, {TorchArgument::Tensor(source), TorchArgument::Ints(before)},
                  {ordered});
  builder_.last().note = "calls that the exporter merged";
  const TorchValueId copy = builder_.AddComputed(absl::StrCat(name, "/copy"), moved);
  builder_.Append(kContiguousCall, {TorchArgument::Tensor(ordered)}, {copy});
  names_.Set(name, copy);
  arguments[0] = TorchArgument::Tensor(copy);
}

// [B * H, S, D] or [B, K, H / K, S, D] where argument 0 is [B, H, ...]: the view between is gone.
void TextLowering::Unmerge(int count, std::vector<TorchArgument>& arguments) {
  constexpr size_t kOwn = 2;
  for (size_t i = 1; i < static_cast<size_t>(count) && i < arguments.size(); ++i) {
    if (!arguments[0].tensor.valid() || !arguments[i].tensor.valid()) continue;
    const Dims& first = builder_.value(arguments[0].tensor).type.dims;
    const TensorType& type = builder_.value(arguments[i].tensor).type;
    if (type.dims.size() < kOwn || type.dims.size() == first.size()) continue;
    const auto own = type.dims.end() - kOwn;
    Dims dims(first.begin(), first.end() - kOwn);
    const Dims merged(type.dims.begin(), own);
    if (graph_.dims->Product(dims) != graph_.dims->Product(merged)) continue;
    dims.insert(dims.end(), own, type.dims.end());
    const std::string name = absl::StrCat(group_->fx->name, "/view");
    const TorchValueId view = builder_.AddComputed(name, TensorType::Make(type.element, dims));
    const std::vector<Dim> sizes(dims.begin(), dims.end());
    builder_.Append(kViewCall, {arguments[i], TorchArgument::Ints(sizes)}, {view});
    builder_.last().note = "the file lacks this call; its name is left";
    arguments[i] = TorchArgument::Tensor(view);
  }
}

}  // namespace footprint
