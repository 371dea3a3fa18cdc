#include "passes/lower_fx.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/ops/lowering/lowering.h"
#include "passes/lower_fx_texts.h"
#include "passes/lower_node.h"

// A dynamo file says of each ONNX node which PyTorch operator it came from, with the operator's
// arguments by name. Nodes with one text are one call:
//
//   %addmm = aten.addmm(%bias, %x, %w)    <-  Transpose, MatMul, Add
//
// so the program is read off the texts, and ONNX decides nothing. What the exporter's optimizer did
// leaves gaps, which are repaired from the ONNX edges:
//
//   removed texts       an argument whose text is gone (a clone, x * 1.0, a view) stands for an
//                       operand of the group that no other argument accounts for
//   folded norms        a convolution that carries a norm's text is the convolution, then the norm
//   merged parameters   parameters of equal value share one tensor, others are stored transposed or
//                       not at all: sizes follow from the operator that reads them
//   lost texts          splits and casts that a rewrite made

namespace footprint {

void TextLowering::SetOrigin(const FxGroup& group) {
  ProgramBuilder::Origin origin;
  origin.node = group.nodes.back();
  origin.scope = graph_.nodes[origin.node].scope;
  origin.evidence = group.fx != nullptr ? Evidence::kExporter : Evidence::kOperator;
  builder_.SetOrigin(std::move(origin));
}

void TextLowering::LowerGroup() {
  FxLowering row = FindFxLowering(group_->fx->target);
  if (row.form == FxForm::kSize || !group_->result.valid()) return;
  if (FxStem(group_->fx->name) == kPromotionName) row.form = FxForm::kSame;
  arguments_.Begin(*group_);
  const absl::string_view op = row.torch.empty() ? group_->fx->target : row.torch;
  switch (row.form) {
    case FxForm::kSame: {
      const TorchValueId tensor = arguments_.Tensor(0);
      if (tensor.valid()) BindResult(tensor);
      return;
    }
    case FxForm::kView:
    case FxForm::kSlice:
      return LowerView(row, op);
    case FxForm::kAxes:
      return LowerAxes(row, op);
    case FxForm::kNoise:
      return LowerNoise(op, row);
    case FxForm::kIndex:
      return LowerIndex(op, row);
    case FxForm::kConvolution:
      return LowerConvolution(op, row);
    case FxForm::kBatchNorm:
      return LowerBatchNorm();
    default:
      break;
  }
  std::vector<TorchArgument> arguments = arguments_.All(row, FindTorchOp(op));
  const bool in_float = row.float_argument >= 0 &&
                        arguments.size() > static_cast<size_t>(row.float_argument) &&
                        arguments[static_cast<size_t>(row.float_argument)].element ==
                            ElementType::kFloat;
  if (row.masks_bias && LowerMaskedBias(op, arguments)) return;
  const bool skips = LeaveOut(row.skipped_argument, arguments);
  Unmerge(row.batched_operands, arguments);
  const bool into_first = !row.in_place_after.empty() && !group_->fx->arguments.empty() &&
                          FxStem(group_->fx->arguments[0].text) == row.in_place_after;
  if (into_first && !arguments.empty() && !arguments[0].tensor.valid()) {
    arguments[0] = TorchArgument::Tensor(MakeNoise(group_->fx->arguments[0].text));
  }
  if (row.form == FxForm::kSeveral) return FinishSeveral(op, std::move(arguments));
  Finish(op, std::move(arguments), row.form == FxForm::kParts);
  if (skips) {
    builder_.last().evidence = Evidence::kAssumption;
    builder_.last().note = "its mask comes from shapes alone: left out by the module";
  }
  if (in_float) CastBack();
  if (into_first) builder_.last().in_place = InPlace::kYes;
}

// A module that is one call: made where its last text stands, on what the first one reads.
void TextLowering::LowerFunction() {
  if (classes_.starts_module()) {
    arguments_.Begin(*group_);
    arguments_.All({}, nullptr);
    classes_.SetHanded(arguments_.first());
  }
  if (!classes_.ends_module() || !classes_.handed().valid()) return;
  Finish(classes_.function(), {TorchArgument::Tensor(classes_.handed())});
  builder_.last().evidence = Evidence::kName;
  builder_.last().note = std::string(classes_.note());
  classes_.Report();
}

// Several texts that are one call, made where the last of them stands.
void TextLowering::LowerSequence(const std::vector<FxGroup>& groups,
                                 const FxSequenceMatch& match) {
  const FxSequence& row = *match.row;
  std::vector<TorchArgument> arguments;
  for (const FxSequenceMatch::Operand& operand : match.operands) {
    group_ = &groups[operand.group];
    SetOrigin(*group_);
    arguments_.Begin(*group_);
    const TorchValueId tensor = arguments_.Tensor(operand.argument);
    if (!tensor.valid()) return;
    arguments.push_back(TorchArgument::Tensor(tensor));
  }
  for (size_t i = match.begin; i < match.end; ++i) classes_.Begin(groups, i);
  group_ = &groups[match.end - 1];
  SetOrigin(*group_);
  if (!row.parameter_text.empty()) {
    const Dims& dims = builder_.value(arguments[0].tensor).type.dims;
    const size_t reduced = std::min(dims.size(), static_cast<size_t>(match.axes));
    arguments.push_back(TorchArgument::Ints(std::vector<Dim>(dims.end() - reduced, dims.end())));
  }
  if (match.parameter >= 0) {
    arguments_.Begin(*group_);
    arguments.push_back(
        TorchArgument::Tensor(arguments_.Tensor(static_cast<size_t>(match.parameter))));
  }
  if (row.reduction_argument >= 0) {
    arguments.resize(static_cast<size_t>(row.reduction_argument));
    arguments.push_back(TorchArgument::Int(match.reduction));
  }
  const TorchValueId result = builder_.AddComputedFor(group_->result);
  names_.Set(group_->fx->name, result);
  builder_.Append(row.torch, std::move(arguments), {result});
  builder_.last().note = "one call in the module, which the exporter decomposed";
  arguments_.AddProducer(*group_);
}

// Only rewrites make nodes without a text: a split by its number of pieces, slices of one tensor
// that became one split, and casts.
void TextLowering::LowerWithoutText() {
  const NodeId id = group_->nodes.back();
  const Node& node = graph_.nodes[id];
  if (node.outputs.size() > 1 && node.input(0).valid()) return LowerCuts(node);
  LowerNodeAlone(id);
}

// A reader calls the piece an item of a list, so it was one call that cut.
bool TextLowering::IsReadAsItem(ValueId piece) const {
  for (NodeId reader : facts_.Readers(piece)) {
    const int32_t text = provenance_.fx_of_node[reader];
    if (text < 0) continue;
    for (const FxArgument& argument : provenance_.fx_nodes[static_cast<size_t>(text)].arguments) {
      if (argument.kind == FxArgument::Kind::kReference && FxStem(argument.text) == kItemName) {
        return true;
      }
    }
  }
  return false;
}

// A parameter of another module than the readers' stands for their own, which was equal to it.
TorchValueId TextLowering::CutTensor(const Node& node, ValueId input) {
  const TorchValueId tensor = builder_.TensorOf(input);
  const std::string name = builder_.value(tensor).name;
  if (!names_.IsListed(input)) return tensor;
  for (ValueId piece : node.outputs) {
    for (NodeId reader : facts_.Readers(piece)) {
      const int32_t text = provenance_.fx_of_node[reader];
      if (text < 0) continue;
      const std::vector<std::string>& path =
          provenance_.fx_nodes[static_cast<size_t>(text)].module_path;
      if (path.size() < 2) continue;
      const std::string& module = path[path.size() - 2];
      const size_t dot = name.rfind('.');
      if (dot == std::string::npos || name.substr(0, dot) == module) return tensor;
      const SignatureEntry* entry = names_.UnreadParameterOf(module);
      const bool is_same = entry != nullptr && entry->target == module + name.substr(dot);
      return is_same ? names_.AddMissing(*entry, Type(input), ValueId()) : tensor;
    }
  }
  return tensor;
}

void TextLowering::LowerCuts(const Node& node) {
  const ValueId input = facts_.Resolve(node.input(0));
  const TorchValueId source = CutTensor(node, input);
  const int64_t rank = Type(input).rank();
  int64_t axis = node.Int("axis", 0);
  if (axis < 0) axis += rank;
  if (axis >= 0 && std::all_of(node.outputs.begin(), node.outputs.end(), [&](ValueId piece) {
        return piece.valid() && Type(piece).rank() > axis && IsReadAsItem(piece);
      })) {
    std::vector<Dim> sizes;
    absl::InlinedVector<TorchValueId, 1> pieces;
    for (ValueId piece : node.outputs) {
      sizes.push_back(Type(piece).dims[static_cast<size_t>(axis)]);
      pieces.push_back(builder_.AddComputedFor(piece));
    }
    return builder_.Append(
        kSplitCall, {TorchArgument::Tensor(source), TorchArgument::Ints(sizes),
                     TorchArgument::Int(axis)}, std::move(pieces));
  }
  Dim start(0);
  for (ValueId output : node.outputs) {
    if (!output.valid() || axis < 0 || Type(output).rank() <= axis) continue;
    const Dim size = Type(output).dims[static_cast<size_t>(axis)];
    const Dim end = graph_.dims->Add(start, size);
    builder_.Append(kSliceCall,
                    {TorchArgument::Tensor(source), TorchArgument::Int(axis),
                     TorchArgument::Int(start), TorchArgument::Int(end), TorchArgument::Int(1)},
                    {builder_.AddComputedFor(output)});
    builder_.last().note = "slices that the exporter joined into a split";
    start = end;
  }
}

void TextLowering::LowerNodeAlone(NodeId id) {
  const Node& node = graph_.nodes[id];
  PlannedNode planned;
  planned.row = FindLowering(node.domain, node.op_type);
  bool has_tensors = true;
  for (ValueId input : node.inputs) {
    planned.operands.push_back(input.valid() ? facts_.Resolve(input) : ValueId());
  }
  for (ValueId output : node.outputs)
    has_tensors &= !output.valid() || !facts_.IsArithmetic(output);
  if (!has_tensors) return;
  NodeContext context(facts_, &builder_, id, planned);
  if (planned.row != nullptr && planned.row->lower != nullptr && planned.row->lower(context))
    return;
  std::vector<TorchValueId> tensors;
  for (ValueId operand : planned.operands) {
    if (operand.valid() && !facts_.IsArithmetic(operand)) {
      tensors.push_back(builder_.TensorOf(operand));
    }
  }
  absl::InlinedVector<TorchValueId, 1> results;
  for (ValueId output : node.outputs) results.push_back(builder_.AddComputedFor(output));
  builder_.AppendGeneric(tensors, std::move(results));
}

void TextLowering::Finish(absl::string_view op, std::vector<TorchArgument> arguments,
                          bool several) {
  if (repeated_.empty()) {
    classes_.CastArguments(op, arguments);
  } else {
    ReplaceParameters(arguments);
  }
  absl::InlinedVector<TorchValueId, 1> results;
  if (!repeated_.empty()) {
    results.push_back(builder_.AddComputed(std::string(repeated_), Type(group_->result)));
    names_.Set(repeated_, results[0]);
  } else if (facts_.types().types[group_->result].kind == TypeKind::kSequence) {
    results = Items();
  } else if (several && !group_->outputs.empty()) {
    for (ValueId output : group_->outputs) results.push_back(builder_.AddComputedFor(output));
  } else {
    results.push_back(builder_.AddComputedFor(group_->result));
    names_.Set(group_->fx->name, results[0]);
  }
  const TorchValueId result = results.empty() ? TorchValueId() : results[0];
  builder_.Append(op, std::move(arguments), std::move(results));
  if (!repeated_.empty() || several || !result.valid()) return;
  const TorchValueId seen = classes_.CastResult(result);
  if (seen != result) BindResult(seen);
}

// The tensors of a list that the file keeps as a sequence, which texts of their own take out.
absl::InlinedVector<TorchValueId, 1> TextLowering::Items() {
  constexpr int64_t kMost = 1 << 16;
  absl::InlinedVector<TorchValueId, 1> items;
  for (NodeId reader : facts_.Readers(group_->result)) {
    const int32_t text = provenance_.fx_of_node[reader];
    if (text < 0) continue;
    const FxNode& fx = provenance_.fx_nodes[static_cast<size_t>(text)];
    if (FxStem(fx.name) != kItemName || fx.arguments.size() < 2) continue;
    const FxArgument& place = fx.arguments[1];
    if (place.kind != FxArgument::Kind::kInt || place.int_value < 0 || place.int_value >= kMost) {
      continue;
    }
    const auto at = static_cast<size_t>(place.int_value);
    if (items.size() <= at) items.resize(at + 1);
    items[at] = builder_.AddComputedFor(graph_.nodes[reader].output(0));
    names_.Set(fx.name, items[at]);
  }
  return items;
}

// Also those that nothing reads: which they are is known by their place.
void TextLowering::FinishSeveral(absl::string_view op, std::vector<TorchArgument> arguments) {
  const Node* maker = nullptr;
  for (NodeId id : group_->nodes) {
    if (graph_.nodes[id].outputs.size() > 1) maker = &graph_.nodes[id];
  }
  if (maker == nullptr || !repeated_.empty()) return Finish(op, std::move(arguments));
  absl::InlinedVector<TorchValueId, 1> results;
  for (ValueId output : maker->outputs) {
    results.push_back(output.valid() ? builder_.AddComputedFor(output) : TorchValueId());
  }
  builder_.Append(op, std::move(arguments), std::move(results));
}

void TextLowering::BindResult(TorchValueId tensor) {
  names_.Set(repeated_.empty() ? absl::string_view(group_->fx->name) : repeated_, tensor);
  if (repeated_.empty()) builder_.Bind(group_->result, tensor);
}

bool TextLowering::LeaveOut(int index, std::vector<TorchArgument>& arguments) const {
  if (index < 0 || arguments.size() <= static_cast<size_t>(index)) return false;
  TorchArgument& argument = arguments[static_cast<size_t>(index)];
  if (!argument.tensor.valid()) return false;
  const ValueId value = builder_.value(argument.tensor).onnx_value;
  if (!value.valid() || !facts_.IsFromShapes(value)) return false;
  if (biases_.contains(argument.tensor)) return false;
  argument = TorchArgument();
  return true;
}

void TextLowering::CastBack() {
  const TorchValueId result = builder_.last().results[0];
  const TorchValue& value = builder_.value(result);
  const TorchValueId cast = builder_.AddComputed(absl::StrCat(value.name, "/cast"), value.type);
  builder_.Append(kToModuleTypeCall, {TorchArgument::Tensor(result)}, {cast});
  builder_.last().evidence = Evidence::kAssumption;
  builder_.last().note = "asked for float32 by name: cast back to the module's type";
  BindResult(cast);
}

// A call that the exporter merged with an equal one, made again. Its own arguments are known, so
// this goes one level deep.
TorchValueId TextLowering::Repeat(const FxGroup& group, absl::string_view name) {
  if (!repeated_.empty()) return names_.Find(group.fx->name);
  const FxGroup* const reader = group_;
  reader_ = reader;
  FxArguments::GroupState state = arguments_.Pause();
  const ProgramBuilder::Origin origin = builder_.origin();
  group_ = &group;
  repeated_ = name;
  SetOrigin(group);
  LowerGroup();
  repeated_ = absl::string_view();
  group_ = reader;
  reader_ = nullptr;
  arguments_.Resume(std::move(state));
  builder_.SetOrigin(origin);
  return names_.Find(name);
}

// Equal calls have equal parameters, but not the same ones.
void TextLowering::ReplaceParameters(std::vector<TorchArgument>& arguments) {
  for (TorchArgument& argument : arguments) {
    if (!argument.tensor.valid()) continue;
    const TorchValue value = builder_.value(argument.tensor);
    if (value.kind != TorchValueKind::kParameter) continue;
    const SignatureEntry* entry = names_.MergedParameter(value.name);
    if (entry != nullptr) argument.tensor = names_.AddMissing(*entry, value.type, ValueId());
  }
}

// Parameters and buffers of the module that no text reads but the file has.
void TextLowering::AddUnread() {
  for (const SignatureEntry& entry : provenance_.signature) {
    if (entry.is_output || names_.Stored(entry.name) != &entry) continue;
    const ValueId value = names_.StoredValue(entry);
    const ValueId merged = value.valid() ? ValueId() : names_.MergedBuffer(entry);
    if (merged.valid() && !names_.Find(entry.name).valid()) {
      names_.AddMissing(entry, Type(merged), ValueId());
    }
    if (!value.valid() || builder_.IsBound(value)) continue;
    if (facts_.roles().IsStored(value) && facts_.roles().of[value] != Role::kUnused) {
      builder_.TensorOf(value);
    }
  }
}

void LowerTexts(const LowerFacts& facts, const Provenance& provenance,
                const std::function<bool(const std::string&)>& is_frozen, ProgramBuilder& builder,
                DiagnosticSink& sink) {
  TextLowering(facts, provenance, is_frozen, builder, sink).Run();
}

}  // namespace footprint
