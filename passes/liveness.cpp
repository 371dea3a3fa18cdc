#include "passes/liveness.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

// One walk in execution order gives each node a tick; a second one hands out storages. A value
// lives from the tick of the node that makes it to the tick of its last reader:
//
//   tick      0      1      2      3
//   node      Conv   Relu   Conv   Add        storage 1 = {conv1.y, relu.y}   (Relu in place)
//   storage 1 [======================)        storage 2 = {conv2.y, add.y}    (Add in place)
//   storage 2               [========...
//
// Bodies of If, Loop and Scan run between the tick at which their node starts and the one at which
// it ends. Branches follow each other in time, so a peak over time is the maximum over branches. A
// body's inputs and outputs are handed over: what goes in dies when the body starts, what comes out
// dies when the node's own outputs appear, so neither is counted twice.

namespace footprint {
namespace {

constexpr int64_t kNever = -1;

struct Lifetime {
  int64_t first = kNever;
  int64_t last = kNever;  // tick of the last reader, inclusive
};

// Where a node stands in time. `end` differs from `start` for nodes with bodies only.
struct NodeTicks {
  int64_t start = 0;
  int64_t end = 0;
};

class LivenessPass {
 public:
  LivenessPass(const Graph& graph, const InferredTypes& inferred, const Roles& roles,
               DimEvaluator& evaluator, const LivenessOptions& options)
      : graph_(graph),
        inferred_(inferred),
        roles_(roles),
        evaluator_(evaluator),
        options_(options),
        ticks_(graph.nodes.size()),
        lifetimes_(graph.values.size()),
        has_inputs_(graph.regions.size(), false) {
    trace_.storage_of.resize(graph.values.size());
  }

  MemoryTrace Run() {
    OrderNodes();
    CollectLifetimes();
    AddPersistent();
    for (NodeId node : order_) AddOutputs(node);
    Finish();
    return std::move(trace_);
  }

 private:
  // Execution order with an explicit stack of (region, position): bodies after the start of their
  // node.
  void OrderNodes() {
    struct Frame {
      RegionId region;
      size_t position = 0;
      std::vector<RegionId> bodies;  // of the node at `position`, still to run, last first
      bool entered = false;
    };
    std::vector<Frame> stack;
    stack.push_back({RegionId(0), 0, {}, false});
    region_ticks_.resize(graph_.regions.size());
    while (!stack.empty()) {
      Frame& frame = stack.back();
      const Region& region = graph_.regions[frame.region];
      if (frame.position == region.nodes.size()) {
        region_ticks_[frame.region].end = now_;
        stack.pop_back();
        continue;
      }
      const NodeId node = region.nodes[frame.position];
      if (!frame.entered) {
        frame.entered = true;
        StartNode(node);
        for (const Attribute& attribute : graph_.nodes[node].attributes) {
          if (attribute.region.valid()) frame.bodies.push_back(attribute.region);
        }
        std::reverse(frame.bodies.begin(), frame.bodies.end());
        if (frame.bodies.empty()) ticks_[node].end = ticks_[node].start;
      }
      if (!frame.bodies.empty()) {
        const RegionId body = frame.bodies.back();
        frame.bodies.pop_back();
        region_ticks_[body].start = now_;
        stack.push_back({body, 0, {}, false});
        continue;
      }
      if (ticks_[node].end == kNever) StartStep(node, &ticks_[node].end);
      order_.push_back(node);
      ++frame.position;
      frame.entered = false;
    }
  }

  void StartNode(NodeId node) {
    StartStep(node, &ticks_[node].start);
    ticks_[node].end = kNever;
  }

  void StartStep(NodeId node, int64_t* tick) {
    *tick = now_++;
    const Node& row = graph_.nodes[node];
    Step step;
    step.name = row.op_type;
    step.node = node;
    step.scope = row.scope;
    step.first_tick = *tick;
    trace_.steps.push_back(std::move(step));
  }

  void Read(ValueId value, int64_t tick) {
    if (!value.valid()) return;
    lifetimes_[value].last = std::max(lifetimes_[value].last, tick);
  }

  void CollectLifetimes() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const NodeId id(i);
      const Node& node = graph_.nodes[id];
      for (ValueId input : node.inputs) Read(input, ticks_[id].start);
      for (ValueId output : node.outputs) {
        if (!output.valid()) continue;
        lifetimes_[output].first = ticks_[id].end;
        Read(output, ticks_[id].end);
      }
      // Stacked results of a loop grow while it runs: their whole size is there from the start.
      for (size_t k = FirstStackedOutput(node); k < node.outputs.size(); ++k) {
        if (node.outputs[k].valid()) lifetimes_[node.outputs[k]].first = ticks_[id].start;
      }
    }
    for (size_t i = 1; i < graph_.regions.size(); ++i) {
      const Region& region = graph_.regions[RegionId(i)];
      const NodeTicks& span = region_ticks_[RegionId(i)];
      for (ValueId input : region.inputs) {
        lifetimes_[input].first = span.start;
        Read(input, span.start);
      }
      for (ValueId output : region.outputs) Read(output, span.end - 1);
    }
    ExtendCaptures();
    for (ValueId output : graph_.top().outputs) {
      if (output.valid()) lifetimes_[output].last = now_;
    }
  }

  size_t FirstStackedOutput(const Node& node) const {
    const Control control = node.op == nullptr ? Control::kNone : node.op->control;
    if (control == Control::kLoop) return node.inputs.size() < 2 ? 0 : node.inputs.size() - 2;
    if (control == Control::kSequenceMap) return 0;
    if (control != Control::kScan) return node.outputs.size();
    const int64_t scanned = node.Int("num_scan_inputs", 0);
    return node.inputs.size() - std::min(node.inputs.size(), static_cast<size_t>(scanned));
  }

  // A value read inside a body must stay for all its iterations: until the node that owns the body
  // ends, seen from the region in which the value is defined.
  void ExtendCaptures() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[NodeId(i)];
      if (node.region == RegionId(0)) continue;
      for (ValueId input : node.inputs) ExtendCapture(input, node.region);
    }
    for (size_t i = 1; i < graph_.regions.size(); ++i) {
      for (ValueId output : graph_.regions[RegionId(i)].outputs) {
        ExtendCapture(output, RegionId(i));
      }
    }
  }

  void ExtendCapture(ValueId value, RegionId reader) {
    if (!value.valid()) return;
    const RegionId home = graph_.values[value].region;
    while (reader != home && reader.valid()) {
      const NodeId owner = graph_.regions[reader].owner;
      if (!owner.valid()) return;
      Read(value, ticks_[owner].end - 1);
      reader = graph_.nodes[owner].region;
    }
  }

  StorageId AddStorage(ValueId value, Category category) {
    const Value& row = graph_.values[value];
    StorageRecord storage;
    storage.name = row.name;
    storage.value = value;
    storage.category = category;
    if (row.producer.valid()) storage.scope = graph_.nodes[row.producer].scope;
    const ValueType& type = inferred_.types[value];
    if (type.is_tensor()) {
      storage.element = type.tensor.element;
      storage.bytes = ByteCount(type.tensor, *graph_.dims);
    }
    if (storage.bytes.is_unknown()) {
      storage.certainty = Certainty::kUnknown;
    } else if (graph_.dims->IsDataDependent(storage.bytes)) {
      storage.certainty = Certainty::kBounded;
    }
    const StorageId id = trace_.storages.Add(std::move(storage));
    trace_.storage_of[value] = id;
    last_read_.resize(trace_.storages.size(), kNever);
    pinned_.resize(trace_.storages.size(), false);
    return id;
  }

  // The caller's inputs and the stored constants live for the whole run.
  void AddPersistent() {
    IdVector<ConstantId, StorageId> of_constant(graph_.constants.size());
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      const ValueId id(i);
      const Value& value = graph_.values[id];
      if (value.kind == ValueKind::kInput) {
        Pin(AddStorage(id, Category::kInput), "given by the caller");
      } else if (value.kind == ValueKind::kConstant && roles_.of[id] != Role::kUnused) {
        StorageId& shared = of_constant[value.constant];
        if (!shared.valid()) {
          shared = AddStorage(id, CategoryOfConstant(id));
          StorageRecord& storage = trace_.storages[shared];
          const Constant& constant = graph_.constants[value.constant];
          storage.scope = constant.scope;
          if (constant.is_sparse || storage.bytes.is_unknown()) {
            storage.bytes = constant.stored_bytes;
            storage.certainty = Certainty::kExact;
          }
          Pin(shared, constant.origin == ConstantOrigin::kInitializer
                          ? "stored in the model"
                          : "stored in a node of the model");
        }
        trace_.storage_of[id] = shared;
      }
    }
  }

  Category CategoryOfConstant(ValueId id) const {
    // A merged parameter whose bytes belong to Identity outputs is still stored once.
    if (roles_.of[id] == Role::kBuffer) return Category::kBuffer;
    return roles_.of[id] == Role::kConstant ? Category::kConstant : Category::kParameter;
  }

  void Pin(StorageId id, const char* reason) {
    trace_.storages[id].reason = reason;
    trace_.storages[id].first_tick = 0;
    pinned_[id] = true;
  }

  void AddOutputs(NodeId id) {
    const Node& node = graph_.nodes[id];
    AddRegionInputs(node.region);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId output = node.outputs[i];
      if (!output.valid()) continue;
      StorageId storage = i == 0 ? SharedStorage(id) : StorageId();
      if (!storage.valid()) {
        storage = AddStorage(output, Category::kTransient);
        trace_.storages[storage].first_tick = lifetimes_[output].first;
      }
      trace_.storage_of[output] = storage;
      last_read_[storage] = std::max(last_read_[storage], lifetimes_[output].last);
    }
  }

  // order_ lists a node after its bodies, so a body may be reached before its surroundings' first
  // node.
  void AddRegionInputs(RegionId region) {
    while (region.valid() && !has_inputs_[region]) {
      has_inputs_[region] = true;
      const Region& row = graph_.regions[region];
      if (row.owner.valid()) {
        for (ValueId input : row.inputs) {
          const StorageId storage = AddStorage(input, Category::kTransient);
          trace_.storages[storage].first_tick = lifetimes_[input].first;
          last_read_[storage] = lifetimes_[input].last;
        }
      }
      region = row.owner.valid() ? graph_.nodes[row.owner].region : RegionId();
    }
  }

  // The operand's storage that output 0 shares or overwrites, if any.
  StorageId SharedStorage(NodeId id) {
    const Node& node = graph_.nodes[id];
    if (node.op == nullptr) return StorageId();
    if (node.op->alias >= 0) {
      const ValueId source = node.input(static_cast<size_t>(node.op->alias));
      if (source.valid() && trace_.storage_of[source].valid() && !IsSparse(source)) {
        return trace_.storage_of[source];
      }
    }
    if (!options_.in_place || node.op->inplace == 0 || !HasSingleOutput(node)) return StorageId();
    for (size_t i = 0; i < node.inputs.size() && i < 32; ++i) {
      if ((node.op->inplace >> i & 1) == 0 || !node.inputs[i].valid()) continue;
      const StorageId candidate = trace_.storage_of[node.inputs[i]];
      if (candidate.valid() && !pinned_[candidate] && last_read_[candidate] <= ticks_[id].start &&
          SameBytes(trace_.storages[candidate], node.outputs[0])) {
        return candidate;
      }
    }
    return StorageId();
  }

  bool IsSparse(ValueId id) const {
    const ConstantId constant = graph_.values[id].constant;
    return constant.valid() && graph_.constants[constant].is_sparse;
  }

  static bool HasSingleOutput(const Node& node) {
    return std::count_if(node.outputs.begin(), node.outputs.end(),
                         [](ValueId id) { return id.valid(); }) == 1 &&
           node.outputs[0].valid();
  }

  bool SameBytes(const StorageRecord& storage, ValueId output) {
    const ValueType& type = inferred_.types[output];
    if (!type.is_tensor()) return false;
    const Dim bytes = ByteCount(type.tensor, *graph_.dims);
    if (SameSize(bytes, storage.bytes)) return true;
    const std::optional<int64_t> left = evaluator_.Evaluate(storage.bytes);
    const std::optional<int64_t> right = evaluator_.Evaluate(bytes);
    if (!left.has_value() || !right.has_value()) return false;
    if (storage.bytes.is_constant() && bytes.is_constant()) return *left == *right;
    trace_.guards.push_back(
        {storage.bytes, bytes,
         *left == *right ? Guard::Relation::kEqual : Guard::Relation::kNotEqual});
    return *left == *right;
  }

  void Finish() {
    trace_.end_tick = now_;
    trace_.saved_by.resize(trace_.storages.size());
    for (size_t i = 0; i < trace_.storages.size(); ++i) {
      StorageRecord& storage = trace_.storages[StorageId(i)];
      storage.end_tick =
          pinned_[StorageId(i)] ? now_ : std::min(last_read_[StorageId(i)] + 1, now_);
      if (storage.reason.empty()) storage.reason = ReasonFor(StorageId(i));
    }
  }

  std::string ReasonFor(StorageId id) const {
    const int64_t last = last_read_[id];
    if (last >= now_) return "output of the model";
    const Step& step = trace_.steps[static_cast<size_t>(last)];
    const StorageRecord& storage = trace_.storages[id];
    if (storage.first_tick == last) return "read by no later node";
    return absl::StrCat("until ", Describe(graph_, step.node));
  }

  const Graph& graph_;
  const InferredTypes& inferred_;
  const Roles& roles_;
  DimEvaluator& evaluator_;
  const LivenessOptions options_;
  MemoryTrace trace_;
  int64_t now_ = 0;
  std::vector<NodeId> order_;
  IdVector<NodeId, NodeTicks> ticks_;
  IdVector<RegionId, NodeTicks> region_ticks_;
  IdVector<ValueId, Lifetime> lifetimes_;
  IdVector<RegionId, bool> has_inputs_;
  IdVector<StorageId, int64_t> last_read_;  // of all values placed in it so far
  IdVector<StorageId, bool> pinned_;
};

}  // namespace

MemoryTrace ComputeLiveness(const Graph& graph, const InferredTypes& inferred, const Roles& roles,
                            DimEvaluator& evaluator, const LivenessOptions& options) {
  return LivenessPass(graph, inferred, roles, evaluator, options).Run();
}

}  // namespace footprint
