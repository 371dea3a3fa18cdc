#include "passes/lower_fx_classes.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ir/ops/lowering/fx.h"
#include "ir/ops/lowering/lowering.h"

namespace footprint {
namespace {

using Up = ClassFact::Up;
using Down = ClassFact::Down;
using FloatLoss = ClassFact::FloatLoss;

// The innermost module of a text: the last entry is the operator itself.
const std::string& ModuleOf(const FxNode& node) {
  static const std::string none;
  return node.module_path.size() < 2 ? none : node.module_path[node.module_path.size() - 2];
}

const std::string& ClassOf(const FxNode& node) {
  static const std::string none;
  return node.classes.size() < 2 ? none : node.classes[node.classes.size() - 2];
}

bool MakesTensor(const FxGroup& group) {
  return group.fx != nullptr && FindFxLowering(group.fx->target).form != FxForm::kSize;
}

}  // namespace

void FxClasses::Begin(const std::vector<FxGroup>& groups, size_t index) {
  const FxGroup* before = group_;
  group_ = &groups[index];
  const std::string& module = ModuleOf(*group_->fx);
  starts_module_ = before == nullptr || ModuleOf(*before->fx) != module;
  if (starts_module_) {
    fact_ = FindClassFact(ClassOf(*group_->fx));
    handed_ = TorchValueId();
    floats_.clear();
    made_.clear();
  }
  size_t next = index + 1;
  while (next < groups.size() && !MakesTensor(groups[next])) ++next;
  ends_module_ = next == groups.size() || ModuleOf(*groups[next].fx) != module;
}

void FxClasses::CastArguments(absl::string_view op, std::vector<TorchArgument>& arguments) {
  const TorchOp* row = FindTorchOp(op);
  if (row == nullptr) return;
  op = row->name;
  if (op == kCrossEntropyCall) CastLogits(arguments);
  if (op == kLinearCall) CastForSubmodule(arguments);
  if (fact_ == nullptr) return;
  CastAttention(op, arguments);
  for (TorchArgument& argument : arguments) {
    const TorchValueId tensor = argument.tensor;
    if (!tensor.valid() || made_.contains(tensor)) continue;
    const TorchValue& value = builder_.value(tensor);
    const bool is_weight = value.kind == TorchValueKind::kParameter;
    if (!IsFloatingPoint(value.type.element) || value.kind == TorchValueKind::kBuffer) continue;
    if (!is_weight && !handed_.valid()) handed_ = tensor;
    if (!is_weight || fact_->down == Down::kResultToInput) CastUp(op, argument);
  }
  if (op == kScaleCall) CastBeforeWeight(arguments);
}

void FxClasses::CastForSubmodule(std::vector<TorchArgument>& arguments) {
  const std::vector<std::string>& classes = group_->fx->classes;
  if (classes.size() < 3 || !arguments[0].tensor.valid()) return;
  const std::string& owner = classes[classes.size() - 3];
  const ClassFact* fact = FindClassFact(owner);
  if (fact == nullptr || fact->cast_for.empty()) return;
  if (!absl::EndsWith(ModuleOf(*group_->fx), absl::StrCat(".", fact->cast_for))) return;
  arguments[0].tensor = Cast(kTypeAsCall, arguments[0].tensor, {arguments[1]}, "cast");
  builder_.last().note = std::string(fact->note);
  ScopeId& scope = builder_.last().scope;
  if (scope.valid()) scope = facts_.graph().scopes[scope].parent;  // the owner casts
  Report(*fact, owner);
}

void FxClasses::CastAttention(absl::string_view op, std::vector<TorchArgument>& arguments) {
  constexpr size_t kSoftmaxType = 2;
  if (fact_->softmax_as_hidden && op == kSoftmaxCall && arguments.size() > kSoftmaxType) {
    arguments.resize(kSoftmaxType);
    Report();
  }
  const bool is_scores = fact_->up == Up::kScores && op == kProductCall &&
                         scored_.insert(ModuleOf(*group_->fx)).second;
  const bool casts = is_scores || (fact_->up == Up::kSoftmaxOperand && op == kSoftmaxCall);
  if (!casts) return;
  for (TorchArgument& argument : arguments) {
    if (!argument.tensor.valid()) continue;
    argument.tensor = Cast(kToCall, argument.tensor,
                           {TorchArgument::Element(ElementType::kFloat)}, "float");
  }
  Report();
}

void FxClasses::CastUp(absl::string_view op, TorchArgument& argument) {
  const bool casts = fact_->up == Up::kInput || (fact_->up == Up::kPowOperand && op == kPowCall);
  if (!casts) return;
  TorchValueId& copy = floats_[argument.tensor];
  if (!copy.valid()) {
    copy = Cast(kToCall, argument.tensor, {TorchArgument::Element(ElementType::kFloat)}, "float");
    Report();
  }
  argument.tensor = copy;
}

void FxClasses::CastBeforeWeight(std::vector<TorchArgument>& arguments) {
  const bool to_input = fact_->down == Down::kBeforeWeightToInput;
  if ((!to_input && fact_->down != Down::kBeforeWeightToWeight) || arguments.size() < 2) return;
  for (size_t i : {0, 1}) {
    TorchArgument& other = arguments[1 - i];
    const TorchValueId weight = arguments[i].tensor;
    const TorchValueId like = to_input ? handed_ : weight;
    if (!weight.valid() || !other.tensor.valid() || !like.valid()) continue;
    if (builder_.value(weight).kind != TorchValueKind::kParameter) continue;
    other.tensor = Cast(kTypeAsCall, other.tensor, {TorchArgument::Tensor(like)}, "cast");
    Report();
    return;
  }
}

TorchValueId FxClasses::CastResult(TorchValueId result) {
  if (fact_ == nullptr) return result;
  made_.insert(result);
  if (fact_->down == Down::kSoftmaxToHanded) {
    if (builder_.last().op->name != kSoftmaxCall || !handed_.valid()) return result;
    Report();
    return Cast(kTypeAsCall, result, {TorchArgument::Tensor(handed_)}, "cast");
  }
  const bool to_input = fact_->down == Down::kResultToInput;
  if (!to_input && fact_->down != Down::kResultToModule) return result;
  if (!IsFloatingPoint(builder_.value(result).type.element) || !LeavesModule()) return result;
  if (to_input && !handed_.valid()) return result;
  Report();
  return to_input ? Cast(kTypeAsCall, result, {TorchArgument::Tensor(handed_)}, "cast")
                  : Cast(kToModuleTypeCall, result, {}, "cast");
}

bool FxClasses::LeavesModule() const {
  const Graph& graph = facts_.graph();
  if (graph.values[group_->result].is_graph_output) return true;
  const absl::Span<const NodeId> readers = facts_.Readers(group_->result);
  return std::any_of(readers.begin(), readers.end(), [this](NodeId reader) {
    const int32_t text = provenance_.fx_of_node[reader];
    return text < 0 || ModuleOf(provenance_.fx_nodes[static_cast<size_t>(text)]) !=
                           ModuleOf(*group_->fx);
  });
}

// Language models that predict the next token pad the labels and cut them again.
void FxClasses::CastLogits(std::vector<TorchArgument>& arguments) {
  if (arguments.size() < 2 || !arguments[0].tensor.valid()) return;
  for (const std::string& name : group_->fx->classes) {
    const ClassFact* fact = FindClassFact(name);
    if (fact == nullptr || fact->float_loss == FloatLoss::kNo) continue;
    const bool is_always = fact->float_loss == FloatLoss::kAlways;
    if (!is_always && !HasShiftedTarget(arguments[1].tensor)) continue;
    arguments[0].tensor = Cast(kToCall, arguments[0].tensor,
                               {TorchArgument::Element(ElementType::kFloat)}, "float");
    builder_.last().note = std::string(fact->note);
    return Report(*fact, name);
  }
}

bool FxClasses::HasShiftedTarget(TorchValueId target) const {
  const IdVector<CallId, TorchCall>& calls = builder_.program().calls;
  for (size_t i = calls.size(); i-- > 0 && target.valid();) {
    const TorchCall& call = calls[CallId(i)];
    if (call.results.empty() || call.results[0] != target) continue;
    if (call.op->name == kShiftCall) return true;
    if (!HandsOn(*call.op) || call.arguments.empty()) return false;
    target = call.arguments[0].tensor;
  }
  return false;
}

TorchValueId FxClasses::Cast(absl::string_view op, TorchValueId tensor,
                             std::vector<TorchArgument> to, absl::string_view suffix) {
  const TorchValue& value = builder_.value(tensor);
  const TorchValueId result =
      builder_.AddComputed(absl::StrCat(value.name, "/", suffix), value.type);
  to.insert(to.begin(), TorchArgument::Tensor(tensor));
  builder_.Append(op, std::move(to), {result});
  builder_.last().evidence = Evidence::kName;
  if (fact_ != nullptr) builder_.last().note = std::string(fact_->note);
  made_.insert(result);
  return result;
}

void FxClasses::Report() { Report(*fact_, ClassOf(*group_->fx)); }

void FxClasses::Report(const ClassFact& fact, const std::string& class_name) {
  if (!reported_.insert(class_name).second) return;
  sink_.Note("class-name", absl::StrCat("class ", class_name),
             absl::StrCat("taken from the name of the class: ", fact.note));
}

}  // namespace footprint
