#include "passes/infer_shapes.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/ops/onnx/values.h"
#include "passes/infer_shapes_state.h"

// One walk over the nodes in execution order. A node's row sets the types of its outputs from those
// of its inputs, and, where the operator computes shapes, their contents:
//
//   x [batch, 3, H, W] -> Shape -> [4], contents (batch, 3, H, W) -> Gather 0 -> batch
//                    \--------------- Reshape <- (batch, -1) <- Concat <-/
//                                     = [batch, 3*H*W]
//
// so that a Reshape far down the graph still knows its sizes in the model's own names. What the
// file declares is a hint: it fills in what is not known, and a contradiction is reported. A node
// that cannot run is reported, its outputs are what the file declares, and the walk goes on.
//
// Bodies of If, Loop and Scan are walked when their node's rule asks, once or until nothing
// changes; the depth of bodies is limited, and so is the work on them.

namespace footprint {
namespace {

constexpr int kMaxRegionDepth = 64;
// Visits of nodes in bodies beyond which bodies are walked once only.
constexpr int64_t kVisitBudget = 400'000;

const ValueType& UnknownType() {
  static const ValueType& unknown = *new ValueType();
  return unknown;
}

bool AreNumbers(const KnownValue& value) {
  return std::all_of(value.integers.begin(), value.integers.end(),
                     [](const Dim& element) { return element.is_constant(); });
}

}  // namespace

const ValueType& Inference::InputType(int i) const {
  const ValueId id = node_->input(static_cast<size_t>(i));
  return id.valid() ? result_.types[id] : UnknownType();
}

KnownValuePtr Inference::InputValue(int i) const {
  const ValueId id = node_->input(static_cast<size_t>(i));
  if (!id.valid()) return nullptr;
  const KnownValuePtr& value = result_.values[id];
  if (limits_ == nullptr || !decides_shapes_ || value == nullptr) return value;
  return AreNumbers(*value) ? value : nullptr;
}

ElementBounds Inference::InputBounds(int i) const {
  return BoundsOf(node_->input(static_cast<size_t>(i)));
}

ElementBounds Inference::BoundsOf(ValueId id) const {
  if (!id.valid()) return {};
  const auto found = bounds_.find(id);
  if (found != bounds_.end()) return found->second;
  const KnownValuePtr& value = result_.values[id];
  if (value == nullptr || value->is_float || value->integers.empty()) return {};
  ElementBounds bounds = {value->integers[0], value->integers[0]};
  for (const Dim& element : value->integers) {
    if (element == bounds.least && element == bounds.most) continue;
    if (!element.is_constant() || !bounds.least.is_constant()) return {};
    bounds.least = std::min(bounds.least.value(), element.value());
    bounds.most = std::max(bounds.most.value(), element.value());
  }
  return bounds;
}

// Whatever a rule made of hostile attributes: ranks stay bounded, and sizes are not negative, at
// no binding of the names in them.
void Inference::SetOutputType(int i, ValueType type) {
  const ValueId id = node_->output(static_cast<size_t>(i));
  if (!id.valid()) return;
  if (type.tensor.dims.size() > static_cast<size_t>(kMaxRank)) {
    type.tensor = TensorType::UnknownRank(type.tensor.element);
  }
  CheckSizes(i, &type.tensor);
  result_.types[id] = std::move(type);
}

const ValueType& Inference::OutputType(int i) const {
  const ValueId id = node_->output(static_cast<size_t>(i));
  return id.valid() ? result_.types[id] : UnknownType();
}

// Kept only if it has as many elements as the type says.
void Inference::SetOutputValue(int i, KnownValuePtr value) {
  const ValueId id = node_->output(static_cast<size_t>(i));
  if (!id.valid() || value == nullptr) return;
  if (limits_ != nullptr && (!IsComputed() || !AreNumbers(*value))) return;
  if (!value->is_sequence) {
    Sizes sizes;
    if (!SmallSizes(result_.types[id], &sizes) || Product(sizes) != ElementsOf(*value)) return;
  }
  result_.values[id] = std::move(value);
}

void Inference::SetOutputBounds(int i, ElementBounds bounds) {
  KeepBounds(node_->output(static_cast<size_t>(i)), bounds);
}

void Inference::KeepBounds(ValueId id, ElementBounds bounds) {
  if (!id.valid() || bounds.least.is_unknown() || bounds.most.is_unknown()) return;
  // Narrow and unsigned numbers may wrap around.
  const ElementType element = result_.types[id].tensor.element;
  if (element != ElementType::kInt32 && element != ElementType::kInt64) return;
  bounds_[id] = bounds;
}

namespace {

KnownValuePtr ContentsOf(const Constant& constant) {
  if (constant.has_integers) {
    return IntegerValue(std::vector<Dim>(constant.integers.begin(), constant.integers.end()));
  }
  return constant.has_floats ? FloatValue(constant.floats) : nullptr;
}

}  // namespace

void Inference::Seed(const InferOptions& options) {
  result_.types.resize(graph_.values.size());
  result_.values.resize(graph_.values.size());
  folded_.resize(graph_.values.size(), false);
  region_seen_.assign(graph_.regions.size(), false);
  for (size_t i = 0; i < graph_.values.size(); ++i) {
    const ValueId id(i);
    const Value& value = graph_.values[id];
    if (value.kind == ValueKind::kInput) {
      result_.types[id] = value.declared;
    } else if (value.kind == ValueKind::kConstant && value.constant.valid()) {
      const Constant& constant = graph_.constants[value.constant];
      result_.types[id] = ValueType::Tensor(constant.type);
      result_.values[id] = ContentsOf(constant);
      folded_[id] = true;
    }
  }
  for (const auto& [id, type] : options.input_types) {
    ValueType& input = result_.types[id];
    const ElementType declared = input.tensor.element;
    input = ValueType::Tensor(type);
    if (type.element == ElementType::kUndefined) input.tensor.element = declared;
  }
  for (const auto& [id, value] : options.input_values) result_.values[id] = value;
}

void Inference::AskFallback() {
  const size_t count = node_->outputs.size();
  if (fallback_ != nullptr) {
    std::vector<ValueType> inputs;
    for (size_t i = 0; i < node_->inputs.size(); ++i)
      inputs.push_back(InputType(static_cast<int>(i)));
    std::vector<ValueType> outputs;
    if (fallback_->InferTypes(graph_, *node_, inputs, &outputs)) {
      for (size_t i = 0; i < count && i < outputs.size(); ++i) {
        SetOutputType(static_cast<int>(i), std::move(outputs[i]));
      }
      if (quiet_ == 0) result_.fallback_nodes.push_back(node_id_);
      return;
    }
  }
  if (quiet_ == 0) result_.unknown_nodes.push_back(node_id_);
}

void Inference::FinishOutputs() {
  for (const ValueId id : node_->outputs) {
    if (!id.valid()) continue;
    ValueType& type = result_.types[id];
    if (type.is_tensor() && !type.tensor.has_rank &&
        type.tensor.element == ElementType::kUndefined && type.tensor.element_count.is_unknown()) {
      type.kind = TypeKind::kUnknown;
    }
    if (limits_ != nullptr) Limit(id);
    Refine(id, /*report_mismatch=*/!failed_);
    CheckBytes(id);
  }
}

void Inference::InferForgottenRegions() {
  if (graph_.regions.size() == 1) return;
  for (const Attribute& attribute : node_->attributes) {
    if (attribute.kind != Attribute::Kind::kRegion || !attribute.region.valid()) continue;
    if (region_seen_[static_cast<size_t>(attribute.region.index())]) continue;
    InferRegion(attribute.region, {}, {}, /*report=*/true);
  }
}

void Inference::InferNode(NodeId id) {
  const NodeId outer_id = std::exchange(node_id_, id);
  const Node* const outer_node = std::exchange(node_, &graph_.nodes[id]);
  const bool outer_failed = std::exchange(failed_, false);
  const bool outer_decides = std::exchange(decides_shapes_, false);
  if (depth_ > 0) {
    ++visits_;
    for (const ValueId output : node_->outputs) {
      if (!output.valid()) continue;
      result_.types[output] = ValueType();
      result_.values[output] = nullptr;
      bounds_.erase(output);
    }
  }
  const OnnxOp* op = node_->op;
  if (!malformed_.empty() && malformed_.contains(id)) {
    failed_ = true;
  } else if (op != nullptr && op->types != nullptr) {
    const int64_t overflows = graph_.dims->overflows();
    decides_shapes_ = true;
    op->types(*this);
    decides_shapes_ = false;
    if (graph_.dims->overflows() > overflows) CheckOverflow();
    if (op->same_element != 0) CheckElements(*op);
    if (op->values != nullptr && !failed_) {
      op->values(*this);
      CheckContents();
    }
  } else {
    AskFallback();
  }
  InferForgottenRegions();
  FinishOutputs();
  if (limits_ != nullptr && IsFolded()) {
    for (const ValueId output : node_->outputs) {
      if (output.valid()) folded_[output] = true;
    }
  }
  node_id_ = outer_id;
  node_ = outer_node;
  failed_ = outer_failed;
  decides_shapes_ = outer_decides;
}

InferContext::RegionResult Inference::InferRegion(RegionId id,
                                                  absl::Span<const ValueType> input_types,
                                                  absl::Span<const KnownValuePtr> input_values,
                                                  bool report,
                                                  absl::Span<const ElementBounds> input_bounds) {
  const Region& region = graph_.regions[id];
  RegionResult result;
  result.types.resize(region.outputs.size());
  result.values.resize(region.outputs.size());
  result.bounds.resize(region.outputs.size());
  region_seen_[static_cast<size_t>(id.index())] = true;
  if (depth_ >= kMaxRegionDepth) {
    Error(absl::StrCat("bodies are nested deeper than ", kMaxRegionDepth));
    return result;
  }
  // A branch that is reported although nothing is known of the condition.
  const bool undecided = report && node_->op != nullptr && node_->op->control == Control::kIf &&
                         !ScalarInput(*this, 0).is_constant();
  ++depth_;
  quiet_ += report ? 0 : 1;
  undecided_ += undecided ? 1 : 0;
  for (size_t i = 0; i < region.inputs.size(); ++i) {
    const ValueId input = region.inputs[i];
    result_.types[input] = i < input_types.size() ? input_types[i] : ValueType();
    result_.values[input] = i < input_values.size() ? input_values[i] : nullptr;
    Refine(input, /*report_mismatch=*/false);
    bounds_.erase(input);
    if (i < input_bounds.size()) KeepBounds(input, input_bounds[i]);
  }
  for (const NodeId node : region.nodes) InferNode(node);
  for (size_t i = 0; i < region.outputs.size(); ++i) {
    if (!region.outputs[i].valid()) continue;
    result.types[i] = result_.types[region.outputs[i]];
    result.values[i] = result_.values[region.outputs[i]];
    result.bounds[i] = BoundsOf(region.outputs[i]);
  }
  undecided_ -= undecided ? 1 : 0;
  quiet_ -= report ? 0 : 1;
  --depth_;
  return result;
}

bool Inference::Afford(RegionId region, int64_t times) {
  const auto nodes = static_cast<int64_t>(graph_.regions[region].nodes.size());
  const int64_t left = kVisitBudget - visits_;
  return left > 0 && times <= left / (nodes + 1);
}

InferredTypes Inference::Run(const InferOptions& options) {
  limits_ = options.limits;
  Seed(options);
  RefuseMalformed();
  for (const ValueId input : graph_.top().inputs) CheckBytes(input);
  for (const NodeId node : graph_.top().nodes) InferNode(node);
  return std::move(result_);
}

InferredTypes InferShapes(const Graph& graph, const InferOptions& options, OpFallback* fallback,
                          DiagnosticSink& sink) {
  return Inference(graph, fallback, sink).Run(options);
}

}  // namespace footprint
