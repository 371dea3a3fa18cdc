#include "backend/runtime/onnxruntime.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "backend/runtime/onnxruntime_rewrites.h"

// Bodies of If, Loop and Scan are planned on their own, innermost first; what a body takes counts
// as scratch of the node that owns it.

namespace footprint {
namespace {

// What does not fit is as much as does; a sum with it overflows and is said to.
int64_t Narrow(Wide bytes) {
  constexpr Wide kMost = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::clamp<Wide>(bytes, 0, kMost));
}

// What a body takes at its peak, and what it hands out.
struct BodyBytes {
  int64_t peak = 0;
  int64_t outputs = 0;
};

class RegionPlanner {
 public:
  RegionPlanner(const InferredTypes& inferred, const InferredTypes& visible,
                DimEvaluator& evaluator, const IdVector<RegionId, BodyBytes>& bodies,
                WeightLedger& weights)
      : inferred_(inferred),
        visible_(visible),
        evaluator_(evaluator),
        bodies_(bodies),
        weights_(weights) {}

  RuntimePlan Run(const Graph& graph, RegionId region, bool optimize) {
    graph_ = &graph;
    region_ = region;
    owner_ = OwnerOf(region);
    result_.graph = MakeRuntimeGraph(graph, region, inferred_, visible_);
    DuplicateDequantization(result_.graph);
    if (optimize) {
      result_.rewrites = OptimizeGraph(result_.graph, evaluator_, inferred_, visible_);
    }
    ExpandFunctions(result_.graph, optimize);
    if (!optimize && HasHalf(result_.graph)) CastHalf(result_.graph, evaluator_, false);
    CopyStoredOutputs();
    PlanNodes();
    return std::move(result_);
  }

  BodyBytes RunBody(const Graph& graph, RegionId region, bool optimize) {
    const RuntimePlan plan = Run(graph, region, optimize);
    BodyBytes body;
    body.peak = plan.bytes.overflow ? std::numeric_limits<int64_t>::max() : plan.bytes.peak_bytes;
    body.outputs = Narrow(outputs_);
    return body;
  }

 private:
  // What is stored and handed out is copied before anything else.
  void CopyStoredOutputs() {
    RuntimeGraph& graph = result_.graph;
    for (size_t i = 0; i < graph.values.size(); ++i) {
      if (!graph.values[i].output || !graph.values[i].constant) continue;
      const auto stored = static_cast<int32_t>(i);
      const int32_t copy = graph.AddLike(stored, graph.values[i].name);
      graph.value(copy).output = true;
      graph.value(stored).output = false;
      graph.nodes.push_back(Unary("Identity", "", NodeId(), stored, copy));
    }
  }

  void PlanNodes() {
    result_.order = ExecutionOrder(result_.graph, FindUses(result_.graph));
    for (const RuntimeValue& value : result_.graph.values) AddTensor(value);
    for (const int32_t node : result_.order) {
      AddStep(result_.graph.node(node));
      AddWeights(node);
    }
    result_.plan = MakePlan(result_.problem);
    const std::vector<std::optional<int64_t>> taken = TakenBytes();
    result_.bytes = MeasurePlan(result_.problem, result_.plan, taken, kRuntimeAlignment);
    for (size_t i = 0; i < taken.size(); ++i) {
      if (result_.problem.tensors[i].output) outputs_ += Aligned(taken[i].value_or(0));
    }
  }

  // What a Scan's body hands out is written where the node keeps it; so is what a branch does, if
  // it is declared how large it is.
  bool IsWrittenOutside(size_t i) const {
    if (!result_.problem.tensors[i].output) return false;
    if (owner_ == Control::kScan) return true;
    const ValueId value = result_.graph.values[i].value;
    if (owner_ != Control::kIf || !value.valid()) return false;
    const TensorType& seen = result_.graph.values[i].visible;
    return graph_->values[value].declared.tensor.has_rank && seen.has_rank &&
           seen.AllDimsConstant();
  }

  std::vector<std::optional<int64_t>> TakenBytes() const {
    std::vector<std::optional<int64_t>> bytes = result_.tensor_bytes;
    for (size_t i = 0; i < bytes.size(); ++i) {
      if (IsWrittenOutside(i)) bytes[i] = 0;
    }
    return bytes;
  }

  // Of a Scan that a function is written with.
  int64_t WrittenBodyPeak(const RuntimeGraph& body) {
    RegionPlanner planner(inferred_, visible_, evaluator_, bodies_, weights_);
    planner.graph_ = graph_;
    planner.region_ = region_;
    planner.owner_ = Control::kScan;
    planner.result_.graph = body;
    planner.PlanNodes();
    const PlanBytes& bytes = planner.result_.bytes;
    return bytes.overflow ? std::numeric_limits<int64_t>::max() : bytes.peak_bytes;
  }

  void AddTensor(const RuntimeValue& value) {
    PlanTensor tensor;
    tensor.given = value.input || value.constant;
    tensor.output = value.output && !tensor.given;
    tensor.shape = ShapeClass(value);
    tensor.reusable = !value.visible.dims.empty();
    tensor.is_free_unread = value.visible.has_rank && value.visible.AllDimsConstant();
    result_.problem.tensors.push_back(tensor);
    result_.tensor_bytes.push_back(BytesOf(value));
  }

  Control OwnerOf(RegionId region) const {
    const NodeId owner = graph_->regions[region].owner;
    const OnnxOp* op = owner.valid() ? graph_->nodes[owner].op : nullptr;
    return op == nullptr ? Control::kNone : op->control;
  }

  std::optional<int64_t> BytesOf(const RuntimeValue& value) {
    if (!value.is_tensor) return SequenceBytes(value);
    return evaluator_.Evaluate(ByteCount(value.type, *graph_->dims));
  }

  // A sequence of known length holds copies.
  std::optional<int64_t> SequenceBytes(const RuntimeValue& value) {
    if (!value.value.valid()) return std::nullopt;
    const KnownValuePtr& contents = inferred_.values[value.value];
    if (contents == nullptr || !contents->is_sequence) return std::nullopt;
    Wide bytes = 0;
    for (const ValueType& element : contents->elements) {
      if (!element.is_tensor()) return std::nullopt;
      const std::optional<int64_t> size =
          evaluator_.Evaluate(ByteCount(element.tensor, *graph_->dims));
      if (!size) return std::nullopt;
      bytes += Aligned(*size);
    }
    return Narrow(bytes);
  }

  // Strings share nothing.
  int32_t ShapeClass(const RuntimeValue& value) {
    const TensorType& type = value.visible;
    const int bits = BitsPerElement(value.type.element);
    if (!value.is_tensor || !type.has_rank || bits == 0) return -1;
    Dims key = type.dims;
    for (const Dim& dim : key) {
      if (dim.is_unknown()) return -1;
    }
    key.push_back(std::max(bits, 8));
    return shapes_.emplace(std::move(key), static_cast<int32_t>(shapes_.size())).first->second;
  }

  void AddStep(const RuntimeNode& node) {
    PlanStep step;
    for (const int32_t input : node.inputs) {
      if (input >= 0) step.reads.push_back(input);
    }
    step.reads.insert(step.reads.end(), node.captures.begin(), node.captures.end());
    const Kernel* kernel = FindKernel(node);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] >= 0) step.writes.push_back(Write(node, kernel, static_cast<int>(i)));
    }
    step.scratch_bytes = ScratchOf(node, kernel);
    result_.problem.steps.push_back(std::move(step));
  }

  const OnnxOp* RowOf(const RuntimeNode& node) const {
    if (node.source.valid()) {
      const Node& source = graph_->nodes[node.source];
      if (source.op_type == node.op_type && source.domain == node.domain) return source.op;
    }
    return FindOnnxOp(node.domain, node.op_type, OnnxOp::kLatest);
  }

  PlanWrite Write(const RuntimeNode& node, const Kernel* kernel, int output) const {
    PlanWrite write;
    write.tensor = node.outputs[static_cast<size_t>(output)];
    const auto operand = [&](int i) {
      return i < static_cast<int>(node.inputs.size()) ? node.inputs[static_cast<size_t>(i)] : -1;
    };
    const OnnxOp* row = RowOf(node);
    if (output == 0 && row != nullptr && row->alias >= 0) write.alias = operand(row->alias);
    if (kernel == nullptr) return write;
    for (int i = 0; output == 0 && i < 32; ++i) {
      if ((kernel->inplace >> i & 1) == 0 || operand(i) < 0) continue;
      const bool is_of_any = kernel->inplace_element == ElementType::kUndefined;
      const ElementType element = result_.graph.value(operand(i)).type.element;
      if (is_of_any || kernel->inplace_element == element) write.overwrites.push_back(operand(i));
    }
    for (const auto& [from, to] : kernel->also_alias) {
      if (to == output) write.alias = operand(from);
    }
    for (const auto& [from, to] : kernel->also_inplace) {
      if (to == output && operand(from) >= 0) write.overwrites.push_back(operand(from));
    }
    return write;
  }

  std::vector<int64_t> DimsOf(int32_t id) {
    std::vector<int64_t> dims;
    if (id < 0) return dims;
    for (const Dim& dim : result_.graph.value(id).type.dims) {
      const std::optional<int64_t> size = evaluator_.Evaluate(dim);
      if (!size) return {};
      dims.push_back(*size);
    }
    return dims;
  }

  int64_t SizeOf(int32_t id) const {
    return id < 0 ? 0 : result_.tensor_bytes[static_cast<size_t>(id)].value_or(0);
  }

  SizedNode SizedOf(const RuntimeNode& node) {
    SizedNode sized;
    sized.graph = &result_.graph;
    sized.node = &node;
    sized.source = node.source.valid() ? &graph_->nodes[node.source] : nullptr;
    for (const int32_t input : node.inputs) {
      sized.inputs.push_back(DimsOf(input));
      sized.input_bytes.push_back(SizeOf(input));
    }
    for (const int32_t output : node.outputs) {
      sized.outputs.push_back(DimsOf(output));
      sized.output_bytes.push_back(SizeOf(output));
    }
    return sized;
  }

  int64_t ScratchOf(const RuntimeNode& node, const Kernel* kernel) {
    const Wide body = BodyScratch(node);
    if (kernel == nullptr || kernel->scratch == nullptr) return Narrow(body);
    return Narrow(body + Aligned(std::max<Wide>(kernel->scratch(SizedOf(node)), 0)));
  }

  WeightLedger::Key WeightKey(int32_t id) const {
    const RuntimeValue& value = result_.graph.value(id);
    if (value.value.valid()) return {-1, static_cast<int64_t>(value.value.index())};
    return {static_cast<int64_t>(region_.index()), id};
  }

  // What a body stores itself is kept beside its copy.
  bool IsOfBody(const RuntimeValue& value) const {
    return region_ != RegionId(0) &&
           (!value.value.valid() || graph_->values[value.value].region == region_);
  }

  void AddWeights(int32_t id) {
    const RuntimeNode& node = result_.graph.node(id);
    for (const int32_t held : node.held_constants) weights_.Read(WeightKey(held), SizeOf(held));
    const Kernel* kernel = FindKernel(node);
    std::vector<PackedOperand> copies;
    if (kernel != nullptr && kernel->packs != nullptr) copies = kernel->packs(SizedOf(node));
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const int32_t input = node.inputs[i];
      if (input < 0 || !result_.graph.value(input).constant) continue;
      const RuntimeValue& value = result_.graph.value(input);
      bool is_copied = false;
      for (size_t part = 0; part < copies.size(); ++part) {
        if (copies[part].operand != i) continue;
        const WeightLedger::Key by(static_cast<int64_t>(region_.index()), id);
        weights_.Copy(WeightKey(input), SizeOf(input),
                      {absl::StrCat(node.domain, "::", node.op_type), by, part}, copies[part]);
        is_copied = true;
      }
      if (!is_copied || IsOfBody(value)) {
        weights_.Read(WeightKey(input), SizeOf(input));
      }
    }
  }

  // If: what the branch takes beside what it hands out. Loop and Scan: an iteration beside the
  // state of others.
  Wide BodyScratch(const RuntimeNode& node) {
    if (node.body != nullptr) {
      constexpr size_t kScanned = 1;
      const std::vector<int64_t> dims = DimsOf(node.inputs[kScanned]);
      return WrittenBodyPeak(*node.body) + TurnBytes(node, 1, dims.empty() ? kTurns + 1 : dims[0]);
    }
    if (!node.source.valid()) return 0;
    const Node& source = graph_->nodes[node.source];
    const Control control = source.op == nullptr ? Control::kNone : source.op->control;
    Wide most = 0;
    for (const Attribute& attribute : source.attributes) {
      if (!attribute.region.valid()) continue;
      const BodyBytes& body = bodies_[attribute.region];
      Wide taken = body.peak;
      if (control == Control::kIf) taken -= body.outputs;
      if (control == Control::kLoop) taken = LoopScratch(node, attribute.region);
      if (control == Control::kScan) taken += ScanScratch(node, source);
      most = std::max(most, taken);
    }
    return most;
  }

  // What an iteration hands to the next one: the first results.
  Wide StateBytes(const RuntimeNode& node, size_t states) const {
    Wide bytes = 0;
    for (size_t i = 0; i < states && i < node.outputs.size(); ++i) {
      bytes += Aligned(SizeOf(node.outputs[i]));
    }
    return bytes;
  }

  // A Scan's states take turns, but for those of the last step, which are the node's own results.
  static constexpr int64_t kTurns = 2;
  Wide TurnBytes(const RuntimeNode& node, size_t states, int64_t steps) const {
    return StateBytes(node, states) * std::clamp<int64_t>(steps - 1, 0, kTurns);
  }

  Wide ScanScratch(const RuntimeNode& node, const Node& source) {
    constexpr int kBatched = 8;  // the version whose first operand is the length of sequences
    const size_t operands = node.inputs.size();
    const auto scanned = static_cast<size_t>(source.Int("num_scan_inputs", 1));
    if (scanned == 0 || scanned > operands) return 0;
    const bool is_batched = source.version == kBatched;
    const size_t states = operands - scanned - (is_batched ? 1 : 0);
    const std::vector<int64_t> dims = DimsOf(node.inputs[operands - scanned]);
    const auto rank = static_cast<int64_t>(dims.size());
    const absl::Span<const int64_t> axes = source.Ints("scan_input_axes");
    int64_t axis = is_batched || axes.empty() ? is_batched : axes[0];
    if (axis < 0) axis += rank;
    const bool is_known = axis >= 0 && axis < rank;
    const int64_t steps = is_known ? dims[static_cast<size_t>(axis)] : kTurns + 1;
    return TurnBytes(node, states, steps) + TurnedBytes(node.inputs, operands - scanned, axes) +
           TurnedBytes(node.outputs, states, source.Ints("scan_output_axes"));
  }

  // What is sliced along another axis than the first is laid out anew.
  Wide TurnedBytes(const std::vector<int32_t>& values, size_t first,
                   absl::Span<const int64_t> axes) const {
    Wide bytes = 0;
    for (size_t i = 0; i < axes.size() && first + i < values.size(); ++i) {
      if (axes[i] != 0) bytes += Aligned(SizeOf(values[first + i]));
    }
    return bytes;
  }

  // Counter and condition, the state before and after a step, and the rows of stacked results one
  // by one. All is copied to the node's own results at the end.
  Wide LoopScratch(const RuntimeNode& node, RegionId body) {
    constexpr size_t kGiven = 2;  // trip count and condition
    const size_t states = node.inputs.size() - std::min(node.inputs.size(), kGiven);
    Wide outputs = 0;
    Wide rows = 0;
    Wide row = 0;
    bool is_one_step = false;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const Wide bytes = SizeOf(node.outputs[i]);
      outputs += Aligned(bytes);
      const std::vector<int64_t> dims = DimsOf(node.outputs[i]);
      if (i < states || dims.empty() || dims[0] <= 0) continue;
      is_one_step = dims[0] == 1;
      row += Aligned(bytes / dims[0]);
      rows += dims[0] * Aligned(bytes / dims[0]);
    }
    const Wide state = StateBytes(node, states);
    const Wide condition = MakesCondition(body) ? kRuntimeAlignment : 0;
    const Wide last_step = bodies_[body].peak + rows - row - outputs;
    const Wide end = rows + state + condition;
    const Wide before = is_one_step ? Wide{0} : state;
    return std::max(last_step, end) + before + Wide{2} * kRuntimeAlignment;
  }

  // Another one than it was given.
  bool MakesCondition(RegionId body) const {
    const std::vector<ValueId>& outputs = graph_->regions[body].outputs;
    if (outputs.empty() || !outputs[0].valid()) return false;
    const NodeId producer = graph_->values[outputs[0]].producer;
    return producer.valid() && graph_->nodes[producer].op_type != "Identity";
  }

  const InferredTypes& inferred_;
  const InferredTypes& visible_;
  DimEvaluator& evaluator_;
  const IdVector<RegionId, BodyBytes>& bodies_;
  WeightLedger& weights_;
  const Graph* graph_ = nullptr;
  RegionId region_;
  Control owner_ = Control::kNone;  // of what the nodes are a body
  RuntimePlan result_;
  Wide outputs_ = 0;  // what the nodes hand out in buffers of their own
  absl::flat_hash_map<Dims, int32_t> shapes_;
};

}  // namespace

RuntimePlan PlanOnnxRuntime(const Graph& graph, const InferredTypes& inferred,
                            const InferredTypes& visible, DimEvaluator& evaluator, bool optimize) {
  IdVector<RegionId, BodyBytes> bodies(graph.regions.size());
  WeightLedger weights;
  for (size_t i = graph.regions.size(); i-- > 1;) {
    const RegionId region(i);
    RegionPlanner planner(inferred, visible, evaluator, bodies, weights);
    bodies[region] = planner.RunBody(graph, region, optimize);
  }
  RegionPlanner planner(inferred, visible, evaluator, bodies, weights);
  RuntimePlan plan = planner.Run(graph, RegionId(0), optimize);
  plan.weights = weights.Total();
  return plan;
}

}  // namespace footprint
