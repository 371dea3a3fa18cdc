#include "passes/lower_fx_arguments.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace footprint {
namespace {

using Kind = FxArgument::Kind;

TorchArgument Written(const FxArgument& argument) {
  switch (argument.kind) {
    case Kind::kInt:
      return TorchArgument::Int(argument.int_value);
    case Kind::kFloat:
      return TorchArgument::Float(argument.float_value);
    case Kind::kBool:
      return TorchArgument::Bool(argument.int_value != 0);
    case Kind::kString:
      return TorchArgument::String(argument.text);
    case Kind::kOther: {
      absl::string_view text = argument.text;
      absl::ConsumePrefix(&text, "torch.");
      const std::optional<ElementType> element = ElementTypeFromName(text);
      return element.has_value() ? TorchArgument::Element(*element)
                                 : TorchArgument::String(std::string(text));
    }
    default:
      return TorchArgument();
  }
}

bool SameDims(const TensorType& type, const Dims& dims) {
  return type.has_rank && type.dims == dims;
}

bool IsTurned(const TensorType& type, const Dims& dims) {
  return type.rank() == 2 && dims.size() == 2 && type.dims[0] == dims[1] && type.dims[1] == dims[0];
}

}  // namespace

void FxArguments::Begin(const FxGroup& group) {
  now_ = GroupState();
  now_.group = &group;
  const auto is_constant = [this](ValueId value) {
    return graph_.values[value].kind == ValueKind::kConstant;
  };
  for (const FxArgument& argument : group.fx->arguments) CollectKnown(argument);
  for (const auto& [keyword, argument] : group.fx->keyword_arguments) CollectKnown(argument);
  for (ValueId input : group.inputs) {
    const TorchValueId tensor = builder_.IsBound(input) ? builder_.TensorOf(input) : TorchValueId();
    const bool is_known = tensor.valid() && now_.known.contains(tensor);
    const bool is_inside_call = !tensor.valid() && !is_constant(input);  // a step of an earlier one
    if (!is_known && !is_inside_call && !now_.named.contains(input)) now_.operands.push_back(input);
  }
  if (now_.operands.empty() && now_.known.empty()) AddSharedSources();
  std::stable_partition(now_.operands.begin(), now_.operands.end(),
                        [&](ValueId value) { return !is_constant(value); });
}

// Equal steps of two calls are one, made by the first: the other reads what that was made from.
void FxArguments::AddSharedSources() {
  constexpr int kSteps = 8;
  for (ValueId input : now_.group->inputs) {
    for (int i = 0; i < kSteps && input.valid() && !builder_.IsBound(input); ++i) {
      const NodeId producer = graph_.values[input].producer;
      input = producer.valid() ? graph_.nodes[producer].input(0) : ValueId();
      if (input.valid()) input = facts_.Resolve(input);
    }
    if (input.valid() && builder_.IsBound(input)) now_.operands.push_back(input);
  }
}

void FxArguments::CollectKnown(const FxArgument& argument) {
  std::vector<const FxArgument*> open = {&argument};
  while (!open.empty()) {
    const FxArgument& next = *open.back();
    open.pop_back();
    if (next.kind == Kind::kReference && !names_.IsSize(next.text)) {
      const TorchValueId tensor = names_.Find(next.text);
      if (tensor.valid()) now_.known.insert(tensor);
      const auto source = stood_for_.find(tensor);
      if (source != stood_for_.end()) now_.known.insert(source->second);
      const ValueId folded = names_.FoldedConstant(next.text);
      if (folded.valid()) now_.named.insert(folded);
    }
    for (const FxArgument& item : next.items) open.push_back(&item);
  }
}

// What the group makes `value` from, one operand after the other.
ValueId FxArguments::SourceInGroup(ValueId value) const {
  const std::vector<NodeId>& nodes = now_.group->nodes;
  for (size_t i = 0; i < nodes.size() && value.valid(); ++i) {
    const NodeId producer = graph_.values[value].producer;
    if (std::find(nodes.begin(), nodes.end(), producer) == nodes.end()) break;
    value = graph_.nodes[producer].input(0);
  }
  return value.valid() ? facts_.Resolve(value) : value;
}

// Queries meet keys in the first product, values come in by the second: a scale of 1 leaves no node
// that reads the queries first.
void FxArguments::OrderByProducts() {
  std::vector<ValueId> order;
  for (NodeId id : now_.group->nodes) {
    const Node& node = graph_.nodes[id];
    if (node.op_type != kMergedProduct) continue;
    if (order.empty()) order.push_back(SourceInGroup(node.input(0)));
    order.push_back(SourceInGroup(node.input(1)));
  }
  if (order.size() != 3) return;
  const auto place = [&](ValueId operand) {
    return std::find(order.begin(), order.end(), operand) - order.begin();
  };
  std::stable_sort(now_.operands.begin(), now_.operands.end(),
                   [&](ValueId a, ValueId b) { return place(a) < place(b); });
}

std::vector<TorchArgument> FxArguments::All(const FxLowering& row, const TorchOp* op) {
  const FxNode& fx = *now_.group->fx;
  if (row.batched_operands > 0) OrderByProducts();
  now_.indexes = row.form == FxForm::kIndex;
  now_.float_operands = row.float_operands;
  now_.own_operand = row.skipped_argument;
  std::vector<TorchArgument> arguments;
  for (size_t i = 0; i < fx.arguments.size(); ++i) {
    const bool may_be_tensor = i == 0 || row.form == FxForm::kCall ||
                               row.form == FxForm::kSeveral || row.form == FxForm::kIndex ||
                               row.form == FxForm::kConvolution;
    if (i == 1 && row.form == FxForm::kView) {
      arguments.push_back(TorchArgument::Ints(ResultType().dims));
    } else {
      arguments.push_back(Convert(fx.arguments[i], static_cast<int>(i), may_be_tensor));
    }
  }
  if (op == nullptr) return arguments;
  for (const auto& [keyword, argument] : fx.keyword_arguments) {
    for (int i = 0; !ArgumentName(*op, i).empty(); ++i) {
      if (ArgumentName(*op, i) != keyword) continue;
      if (arguments.size() <= static_cast<size_t>(i)) arguments.resize(static_cast<size_t>(i) + 1);
      arguments[static_cast<size_t>(i)] = Convert(argument, i, true);
    }
  }
  return arguments;
}

TorchValueId FxArguments::Tensor(size_t position) {
  const FxNode& fx = *now_.group->fx;
  if (position >= fx.arguments.size()) return TorchValueId();
  return Convert(fx.arguments[position], static_cast<int>(position), true).tensor;
}

TorchArgument FxArguments::Convert(const FxArgument& argument, int position, bool may_be_tensor) {
  if (argument.kind == Kind::kList) return ConvertList(argument, position, may_be_tensor);
  if (argument.kind != Kind::kReference) return Written(argument);
  // Scalars of the code that the export turned into tensors.
  const bool is_number = FxStem(argument.text) == kScalarName;
  if (!may_be_tensor || is_number || names_.IsSize(argument.text)) return TorchArgument::Int(Dim());
  const TorchValueId tensor = Resolve(argument.text, position);
  if (!tensor.valid()) return TorchArgument::Int(Dim());
  if (!now_.first.valid() && names_.Stored(argument.text) == nullptr) now_.first = tensor;
  return TorchArgument::Tensor(tensor);
}

// All numbers, or tensors with Nones between them.
TorchArgument FxArguments::ConvertList(const FxArgument& list, int position, bool may_be_tensor) {
  const bool has_numbers =
      std::any_of(list.items.begin(), list.items.end(), [this](const FxArgument& item) {
        return item.kind == Kind::kInt || item.kind == Kind::kFloat ||
               (item.kind == Kind::kReference && names_.IsSize(item.text));
      });
  if (has_numbers || !may_be_tensor || list.items.empty()) {
    std::vector<Dim> dims;
    for (const FxArgument& item : list.items) {
      dims.push_back(item.kind == Kind::kInt ? Dim(item.int_value) : Dim());
    }
    return TorchArgument::Ints(dims);
  }
  std::vector<TorchValueId> tensors;
  for (const FxArgument& item : list.items) {
    if (item.kind != Kind::kReference) {
      tensors.push_back(TorchValueId());
    } else if (now_.indexes) {
      tensors.push_back(Index(item.text, tensors.size()));
    } else {
      tensors.push_back(Convert(item, position, true).tensor);
    }
  }
  return TorchArgument::Tensors(std::move(tensors));
}

TorchValueId FxArguments::Resolve(absl::string_view name, int position) {
  const TorchValueId known = names_.Find(name);
  if (known.valid()) return known;
  const ValueId folded = names_.FoldedConstant(name);
  const TorchValueId weight = position == kWeightArgument ? Multiply(name, folded) : TorchValueId();
  if (weight.valid()) return weight;
  if (folded.valid()) return Folded(name, folded, position);
  const SignatureEntry* entry = names_.Stored(name);
  return entry != nullptr ? ResolveMissing(*entry, position) : Repair(name, position);
}

TorchValueId FxArguments::ResolveMissing(const SignatureEntry& entry, int position) {
  const TensorType result = ResultType();
  if (entry.kind == SignatureEntry::Kind::kBuffer && position == 0) {
    const std::optional<Dims> table = FindFoldedOperand(entry.target, result.dims);
    if (table.has_value()) {
      now_.first = names_.AddMissing(entry, TensorType::Make(ElementType::kFloat, *table), {});
      return now_.first;
    }
  }
  const TensorType first = now_.first.valid() ? builder_.value(now_.first).type : TensorType();
  const std::optional<Dims> dims = FxParameterDims(*now_.group->fx, position, first, result);
  const ValueId constant = MatchingConstant(dims.has_value() ? &*dims : nullptr);
  // Of a parameter that shares another one's tensor the size at least is known.
  const ValueId measure = constant.valid() || dims.has_value() ? constant : SharedConstant();
  TensorType type;
  if (measure.valid()) type = facts_.types().types[measure].tensor;
  if (!IsFloatingPoint(type.element) && entry.kind == SignatureEntry::Kind::kParameter) {
    type.element = ElementType::kFloat;
  }
  if (type.element == ElementType::kUndefined) type.element = ElementType::kFloat;
  if (dims.has_value()) type = TensorType::Make(type.element, *dims);
  // A tensor under the module's own name belongs to that parameter; this one was equal to it.
  const bool claims =
      constant.valid() && !names_.IsListed(constant) && claimed_.insert(constant).second;
  return names_.AddMissing(entry, std::move(type), claims ? constant : ValueId());
}

ValueId FxArguments::MatchingConstant(const Dims* dims) const {
  for (ValueId operand : now_.operands) {
    if (graph_.values[operand].kind != ValueKind::kConstant || claimed_.contains(operand)) continue;
    const TensorType& type = facts_.types().types[operand].tensor;
    if (dims == nullptr || SameDims(type, *dims) || IsTurned(type, *dims)) return operand;
  }
  return ValueId();
}

ValueId FxArguments::SharedConstant() const {
  for (ValueId operand : now_.operands) {
    if (graph_.values[operand].kind == ValueKind::kConstant) return operand;
  }
  return ValueId();
}

// One that a node reads twice (x + x) may stand for two arguments.
ValueId FxArguments::TwiceReadOperand() const {
  for (NodeId id : now_.group->nodes) {
    const absl::Span<const ValueId> inputs = graph_.nodes[id].inputs;
    for (size_t i = 0; i + 1 < inputs.size(); ++i) {
      if (!inputs[i].valid() || facts_.IsArithmetic(inputs[i])) continue;
      if (std::find(inputs.begin() + static_cast<int64_t>(i) + 1, inputs.end(), inputs[i]) !=
          inputs.end()) {
        return facts_.Resolve(inputs[i]);
      }
    }
  }
  return ValueId();
}

// One that another argument names may stand for a parameter of the module of equal value too.
ValueId FxArguments::SharedFoldedConstant() const {
  const std::vector<std::string>& path = now_.group->fx->module_path;
  if (path.size() < 2 || names_.UnreadParameterOf(path[path.size() - 2]) == nullptr) {
    return ValueId();
  }
  for (ValueId input : now_.group->inputs) {
    if (now_.named.contains(input)) return input;
  }
  return ValueId();
}

ValueId FxArguments::NextOperand(int position) {
  if (now_.operands.empty()) {
    const ValueId twice = TwiceReadOperand();
    return twice.valid() || position == now_.own_operand ? twice : SharedFoldedConstant();
  }
  if (position < now_.float_operands && now_.next_operand < now_.operands.size()) {
    const auto next = now_.operands.begin() + static_cast<int64_t>(now_.next_operand);
    const auto fits = std::find_if(next, now_.operands.end(), [this](ValueId operand) {
      const bool is_tensor =  // not a step inside another call
          builder_.IsBound(operand) || graph_.values[operand].kind == ValueKind::kConstant;
      return is_tensor && IsFloatingPoint(facts_.types().types[operand].tensor.element);
    });
    if (fits != now_.operands.end()) std::rotate(next, fits, fits + 1);
  }
  if (position == now_.own_operand && now_.next_operand >= now_.operands.size()) return ValueId();
  const size_t index = std::min(now_.next_operand++, now_.operands.size() - 1);
  return now_.operands[index];
}

TorchValueId FxArguments::Repair(absl::string_view name, int position) {
  const ValueId operand = NextOperand(position);
  if (!operand.valid()) return RepeatNumber(name);
  if (graph_.values[operand].kind == ValueKind::kConstant) {
    return names_.IsListed(operand) ? StandIn(name, builder_.TensorOf(operand))
                                    : Folded(name, operand, position);
  }
  if (!builder_.IsBound(operand)) return TorchValueId();
  const TorchValueId source = builder_.TensorOf(operand);
  // The producer's own operator under another name: equal calls were merged into one.
  const auto producer = producers_.find(operand);
  if (producer != producers_.end() && producer->second->fx->name != name &&
      FxStem(producer->second->fx->name) == FxStem(name) && IsWorthRepeating(*producer->second)) {
    return repeat_(*producer->second, name);
  }
  return StandIn(name, source);
}

// Its result takes a gradient, or bytes of its own that one may be computed from: not masks, which
// modules leave out where they can.
bool FxArguments::IsWorthRepeating(const FxGroup& group) const {
  if (group.inputs.empty() || builder_.MayRequireGrad(builder_.TensorOf(group.result))) return true;
  return FindFxLowering(group.fx->target).form == FxForm::kCall &&
         !facts_.IsFromShapes(group.result) &&
         IsFloatingPoint(facts_.types().types[group.result].tensor.element);
}

TorchValueId FxArguments::Compute(absl::string_view op, absl::string_view name,
                                  std::vector<TorchArgument> arguments, TensorType type) {
  const TorchValueId result = builder_.AddComputed(std::string(name), std::move(type));
  builder_.Append(op, std::move(arguments), {result});
  builder_.last().note = "the file lacks this call; its name is left";
  names_.Set(name, result);
  return result;
}

// The result of a removed call, of which its name is left and what it was computed from.
TorchValueId FxArguments::StandIn(absl::string_view name, TorchValueId source) {
  const TorchArgument tensor = TorchArgument::Tensor(source);
  absl::string_view op;
  std::vector<TorchArgument> arguments = {tensor};
  switch (FindFxRepair(name)) {
    case FxRepair::kSame:
      // Another reader may have absorbed another part of the view: asked again there.
      now_.merged = source;
      return source;
    case FxRepair::kContiguous:
      op = kContiguousCall;
      break;
    case FxRepair::kJoin:
      op = kJoinCall;
      arguments = {TorchArgument::Tensors({source}), TorchArgument::Int(0)};
      break;
    case FxRepair::kCopy:
      op = kCopyCall;
      break;
    case FxRepair::kNew:
      op = kScaleCall;
      arguments.push_back(TorchArgument::Int(1));
      break;
  }
  const TensorType type = builder_.value(source).type;
  const TorchValueId result = Compute(op, name, std::move(arguments), type);
  stood_for_.emplace(result, source);
  return result;
}

void FxArguments::AddProducer(const FxGroup& group) {
  for (ValueId output : group.outputs) producers_[output] = &group;
}

}  // namespace footprint
