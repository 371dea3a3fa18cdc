#include "passes/roles.h"

#include <fnmatch.h>

#include <algorithm>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "ir/onnx_op.h"
#include "ir/ops/lowering/folded_tables.h"
#include "ir/ops/lowering/fx.h"
#include "ir/ops/lowering/habits.h"
#include "ir/ops/lowering/lowering.h"
#include "ir/suggest.h"

// The file stores constants; the module has parameters and buffers. What tells them apart,
// strongest first:
//
//   1. the exporter's signature, by name;
//   2. the operand at which a constant is read: statistics of a norm, the weight of an operator;
//   3. where it is stored: PyTorch's exporters keep a module's own tensors as initializers and
//      literals of the code as Constant nodes;
//   4. its name, for the few float buffers that are used like parameters.
//
// What the module computed from the sizes of its inputs is a constant too where those sizes are
// fixed; it is neither.
//
// An Identity of a parameter is how TorchScript files say that two equal parameters were merged:
// its output is a parameter of its own.

namespace footprint {
namespace {

// Integer tables shorter than this are shape arithmetic unless the exporter says otherwise.
constexpr int64_t kTableElements = 64;

// Float buffers of well-known modules that the graph uses as it uses parameters.
constexpr absl::string_view kBufferNames[] = {
    "running_mean", "running_var",       "inv_freq",         "masked_bias",
    "attn_mask",    "final_logits_bias", "original_inv_freq", "relative_coords_table",
    "cos_cached",   "sin_cached",        "freqs_cos",         "freqs_sin",
    "pe",           "cos",               "sin",               "pos_enc"};

struct Uses {
  bool any = false;
  bool by_identity_only = true;
  bool as_weight = false;
  bool as_filler = false;
  bool as_statistics = false;
  bool as_quantization = false;
  bool as_numbers = false;  // a weight that is no scale or zero point of another
  bool as_tensor = false;   // not only as numbers
  bool as_given = false;    // not only where code makes what is read
};

int64_t Elements(const Constant& constant) {
  int64_t count = 1;
  for (const Dim& dim : constant.type.dims) {
    if (!dim.is_constant() || __builtin_mul_overflow(count, dim.value(), &count)) return -1;
  }
  return count;
}

bool IsTrainableType(ElementType type) {
  return IsFloatingPoint(type) && BitsPerElement(type) >= 16;
}

bool HasBufferName(absl::string_view name) {
  const size_t dot = name.rfind('.');
  const absl::string_view last = dot == absl::string_view::npos ? name : name.substr(dot + 1);
  return std::find(std::begin(kBufferNames), std::end(kBufferNames), last) !=
         std::end(kBufferNames);
}

class RoleAssigner {
 public:
  RoleAssigner(const Graph& graph, const Provenance& provenance, DiagnosticSink& sink)
      : graph_(graph), sink_(sink), uses_(graph.values.size()) {
    result_.of.resize(graph.values.size(), Role::kNone);
    result_.trainable.resize(graph.values.size(), false);
    result_.is_quantization.resize(graph.values.size(), false);
    result_.is_repeated.resize(graph.values.size(), false);
    for (ValueId input : graph.top().inputs) {
      const TensorType& type = graph.values[input].declared.tensor;
      if (graph.values[input].kind != ValueKind::kInput || !IsInteger(type.element)) continue;
      for (size_t i = 0; i < type.dims.size(); ++i) {
        if (type.dims[i].is_constant()) (i == 0 ? batches_ : lengths_).push_back(type.dims[i]);
      }
    }
    for (const SignatureEntry& entry : provenance.signature) {
      if (!entry.is_output && !entry.target.empty()) signature_.emplace(entry.target, entry.kind);
    }
    FindMissingBuffers();
  }

  Roles Run(const std::vector<std::string>& freeze) {
    CollectUses();
    IdVector<ConstantId, bool> seen(graph_.constants.size(), false);
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      const ValueId id(i);
      if (graph_.values[id].kind != ValueKind::kConstant) continue;
      result_.of[id] = RoleOf(id);
      const ConstantId constant = graph_.values[id].constant;
      result_.is_repeated[id] = seen[constant];
      seen[constant] = true;
    }
    SplitMergedTensors();
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      const ValueId id(i);
      result_.is_quantization[id] = uses_[id].as_quantization && !uses_[id].as_numbers;
      result_.trainable[id] = result_.IsParameter(id) && !result_.is_quantization[id] &&
                              IsTrainableType(StoredType(id).element);
    }
    Freeze(freeze);
    WarnAboutUnused();
    return std::move(result_);
  }

 private:
  bool IsIdentity(const Node& node) const {
    return node.op != nullptr && node.op->is_identity && node.inputs.size() == 1 &&
           node.outputs.size() == 1 && node.inputs[0].valid();
  }

  void CollectUses() {
    for (const Node& node : graph_.nodes) {
      const bool identity = IsIdentity(node);
      const Lowering* row = FindLowering(node.domain, node.op_type);
      const uint32_t numbers = row == nullptr ? 0 : row->number_operands;
      const uint32_t made = row == nullptr ? 0 : row->made_operands;
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        if (!node.inputs[i].valid()) continue;
        Uses& uses = uses_[node.inputs[i]];
        uses.any = true;
        uses.by_identity_only &= identity;
        uses.as_tensor |= i >= 32 || (numbers >> i & 1) == 0;
        uses.as_given |= i >= 32 || (made >> i & 1) == 0;
        if (node.op == nullptr || i >= 32) continue;
        const uint32_t bit = uint32_t{1} << i;
        const bool describes = (node.op->quantization & bit) != 0;
        uses.as_quantization |= describes;
        if ((node.op->weights & bit) != 0) {
          (IsFiller(node, node.inputs[i]) ? uses.as_filler : uses.as_weight) = true;
          uses.as_numbers |= !describes;
          if (!describes) CountPacked(node, i);
        }
        uses.as_statistics |= (node.op->statistics & bit) != 0;
      }
    }
    for (const Region& region : graph_.regions) {
      for (ValueId output : region.outputs) {
        if (!output.valid()) continue;
        uses_[output].any = true;
        uses_[output].as_tensor = true;
        uses_[output].as_given = true;
        uses_[output].by_identity_only = false;
      }
    }
    // What an Identity hands on counts for a source that has no other readers.
    for (size_t i = graph_.nodes.size(); i-- > 0;) {
      const Node& node = graph_.nodes[NodeId(i)];
      if (!IsIdentity(node) || !node.outputs[0].valid()) continue;
      if (!uses_[node.inputs[0]].by_identity_only) continue;
      uses_[node.inputs[0]].as_weight |= uses_[node.outputs[0]].as_weight;
      uses_[node.inputs[0]].as_statistics |= uses_[node.outputs[0]].as_statistics;
    }
  }

  void CountPacked(const Node& node, size_t operand) {
    const Value& value = graph_.values[node.inputs[operand]];
    if (node.op->weight_count == nullptr || !value.constant.valid()) return;
    const Constant& constant = graph_.constants[value.constant];
    if (!IsInteger(constant.type.element) || BitsPerElement(constant.type.element) != 8) return;
    result_.packed_weights[node.inputs[operand]] =
        node.op->weight_count(node, static_cast<int>(operand), Elements(constant));
  }

  // Constants where a norm wants weights: how exporters spell a norm without them. PyTorch's own
  // are initializers; others fill with ones and zeros.
  bool IsFiller(const Node& node, ValueId operand) const {
    const Constant* constant = ConstantNode(operand);
    if (!node.op->has_filler_weights || constant == nullptr) return false;
    return FromPyTorch() || constant->is_all_one || constant->is_all_zero;
  }

  const Constant* ConstantNode(ValueId id) const {
    if (!id.valid() || graph_.values[id].kind != ValueKind::kConstant) return nullptr;
    const Constant& constant = graph_.constants[graph_.values[id].constant];
    return constant.origin == ConstantOrigin::kInitializer ? nullptr : &constant;
  }

  const TensorType& StoredType(ValueId id) const {
    ValueId source = id;
    while (graph_.values[source].kind == ValueKind::kNodeOutput) {
      source = graph_.nodes[graph_.values[source].producer].inputs[0];
    }
    return graph_.constants[graph_.values[source].constant].type;
  }

  Role RoleOf(ValueId id) {
    const Constant& constant = graph_.constants[graph_.values[id].constant];
    const Uses& uses = uses_[id];
    if (!uses.any) {
      return constant.origin == ConstantOrigin::kInitializer ? Role::kUnused : Role::kConstant;
    }
    const auto listed = signature_.find(constant.name);
    if (listed != signature_.end()) {
      if (listed->second == SignatureEntry::Kind::kParameter) return Role::kParameter;
      if (listed->second == SignatureEntry::Kind::kBuffer) return Role::kBuffer;
    }
    if (uses.as_statistics) return Role::kBuffer;
    if (IsComputed(constant)) {  // a few fractions may be a parameter, computed with
      const bool is_few = Elements(constant) > 1 && Elements(constant) <= kTableElements;
      return is_few && IsFloatingPoint(constant.type.element) ? Role::kBuffer : Role::kConstant;
    }
    const bool initializer = constant.origin == ConstantOrigin::kInitializer;
    if (!initializer && !uses.as_tensor) return Role::kConstant;
    const int64_t elements = Elements(constant);
    if (IsMadeFromSizes(constant) || IsLiteral(id, constant)) return Role::kConstant;
    // Zeros and ones are made anew in every step, but for the segments of texts.
    const bool is_uniform = IsFloatingPoint(constant.type.element) &&
                            (constant.is_all_zero || constant.is_all_one);
    if (!initializer && (is_uniform || !uses.as_given) && FromPyTorch()) return Role::kConstant;
    if (!IsFloatingPoint(constant.type.element)) return IntegerRole(constant, uses, elements);
    if (initializer && signature_.empty() && IsComparedOnly(id)) return Role::kBuffer;
    if (uses.as_weight && (initializer || (elements > 1 && !FromPyTorch()))) {
      return HasBufferName(constant.name) ? Role::kBuffer : Role::kParameter;
    }
    if (uses.as_filler) return Role::kConstant;
    const bool own_tensor = initializer && signature_.empty();
    if (own_tensor && (elements != 1 || FromPyTorch())) {
      return HasBufferName(constant.name) ? Role::kBuffer : Role::kParameter;
    }
    return elements > 1 ? Role::kBuffer : Role::kConstant;
  }

  // A buffer may be left as a view of it alone. Counters of norms are in no file.
  void FindMissingBuffers() {
    absl::flat_hash_set<absl::string_view> stored;
    for (const Constant& constant : graph_.constants) stored.insert(constant.name);
    for (const auto& [target, kind] : signature_) {
      if (kind != SignatureEntry::Kind::kBuffer || stored.contains(target)) continue;
      lacks_buffers_ |= !absl::EndsWith(target, kStepCounterName) && !IsFoldedAway(target);
    }
  }

  // By the exporter, from what depends on no input: the module computes it in every step.
  bool IsComputed(const Constant& constant) const {
    if (signature_.empty() || !FxIsComputed(constant.name) || Elements(constant) == 1) return false;
    const bool may_be_buffer = FxIsView(constant.name) && lacks_buffers_;
    return !may_be_buffer || (constant.type.element == ElementType::kBool &&
                              FxStem(constant.name) == kSpreadName);  // a mask for all samples
  }

  // A mask: all that is made of it says yes or no, so it never gets a gradient.
  bool IsComparedOnly(ValueId id) {
    if (from_sizes_.empty()) FindFromSizes();
    constexpr size_t kMost = 16;
    std::vector<ValueId> open = {id};
    for (size_t i = 0; i < open.size(); ++i) {
      if (open.size() > kMost || readers_[open[i]].empty()) return false;
      for (NodeId reader : readers_[open[i]]) {
        const Node& node = graph_.nodes[reader];
        if (Compares(node)) continue;
        if (!Rearranges(node) || node.input(0) != open[i]) return false;
        open.push_back(node.outputs[0]);
      }
    }
    return true;
  }

  // A short list of numbers that only meets sizes (slopes of a position bias); frequencies of a
  // rotary embedding, which do so too, belong to the module.
  bool IsLiteral(ValueId id, const Constant& constant) {
    if (constant.origin == ConstantOrigin::kInitializer || !FromPyTorch() ||
        Elements(constant) > kTableElements || !signature_.empty()) {
      return false;
    }
    if (from_sizes_.empty()) FindFromSizes();
    return absl::c_all_of(readers_[id],
                          [this](NodeId reader) { return from_sizes_[reader] && !turns_[reader]; });
  }

  // Nodes whose results rest on shapes and Constant nodes alone, and those of them that a rotation
  // follows.
  void FindFromSizes() {
    from_sizes_.resize(graph_.nodes.size(), false);
    readers_.resize(graph_.values.size());
    for (NodeId id : graph_.top().nodes) {
      const Node& node = graph_.nodes[id];
      const Lowering* row = FindLowering(node.domain, node.op_type);
      bool from_sizes = true;
      for (ValueId input : node.inputs) {
        if (!input.valid()) continue;
        readers_[input].push_back(id);
        const Value& value = graph_.values[input];
        const bool is_output = value.kind == ValueKind::kNodeOutput;
        if (is_output ? !from_sizes_[value.producer] : ConstantNode(input) == nullptr) {
          from_sizes = false;
        }
      }
      from_sizes_[id] = from_sizes || (row != nullptr && row->lower == nullptr);
    }
    turns_.resize(graph_.nodes.size(), false);
    for (size_t i = graph_.top().nodes.size(); i-- > 0;) {
      const NodeId id = graph_.top().nodes[i];
      bool turns = IsRotation(graph_.nodes[id]);
      for (ValueId output : graph_.nodes[id].outputs) {
        if (!output.valid() || !from_sizes_[id]) continue;
        turns |= absl::c_any_of(readers_[output], [this](NodeId next) { return turns_[next]; });
      }
      turns_[id] = turns;
    }
  }

  // Positions and masks: every axis is one that the inputs of whole numbers have, and one of them
  // counts within a sample.
  bool IsMadeFromSizes(const Constant& constant) const {
    if (constant.origin == ConstantOrigin::kInitializer || !FromPyTorch()) return false;
    bool within_sample = false;
    for (const Dim& dim : constant.type.dims) {
      if (dim.Is(1)) continue;
      const bool length = absl::c_linear_search(lengths_, dim);
      if (!length && !absl::c_linear_search(batches_, dim)) return false;
      within_sample |= length;
    }
    return within_sample;
  }

  Role IntegerRole(const Constant& constant, const Uses& uses, int64_t elements) const {
    const int bits = BitsPerElement(constant.type.element);
    const bool quantized = IsInteger(constant.type.element) && bits <= 8;
    if (uses.as_weight && quantized) return Role::kParameter;
    const bool own_tensor =
        constant.origin == ConstantOrigin::kInitializer && signature_.empty() && FromPyTorch();
    if (bits == 0) return Role::kConstant;
    return own_tensor || elements > kTableElements ? Role::kBuffer : Role::kConstant;
  }

  bool FromPyTorch() const { return graph_.producer_name == "pytorch"; }

  void SplitMergedTensors() {
    for (const Node& node : graph_.nodes) {
      if (!IsIdentity(node) || !node.outputs[0].valid()) continue;
      const ValueId source = node.inputs[0];
      const ValueId output = node.outputs[0];
      const Uses& uses = uses_[output];
      if (!uses.any || graph_.values[output].is_graph_output) continue;
      if (uses.as_statistics && IsTensorOfModule(source)) {
        result_.of[output] = Role::kBuffer;
      } else if (result_.IsParameter(source) || (uses.as_weight && IsTensorOfModule(source))) {
        result_.of[output] = Role::kParameter;
      }
      if (IsTensorOfModule(output)) copies_.insert(source);
    }
    // A stored tensor that only Identities read is the copy that lost its own name: its bytes are
    // those of the outputs.
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      const ValueId id(i);
      if (IsTensorOfModule(id) && uses_[id].any && uses_[id].by_identity_only &&
          copies_.contains(id)) {
        result_.of[id] = Role::kNone;
      }
    }
  }

  bool IsTensorOfModule(ValueId id) const {
    return result_.of[id] == Role::kParameter || result_.of[id] == Role::kBuffer;
  }

  void Freeze(const std::vector<std::string>& freeze) {
    std::vector<std::string> names;
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      if (result_.IsParameter(ValueId(i))) names.push_back(graph_.values[ValueId(i)].name);
    }
    // The signature lists parameters that the file has no tensor of its own for.
    for (const auto& [name, kind] : signature_) {
      if (kind == SignatureEntry::Kind::kParameter) names.push_back(name);
    }
    FreezeSinusoids(names);
    for (const std::string& pattern : freeze) {
      if (FreezeNames(names, pattern, /*wrapped=*/false)) continue;
      if (!FreezeNames(names, pattern, /*wrapped=*/true)) UnknownParameter(pattern);
    }
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      const ValueId id(i);
      if (!result_.IsParameter(id) || !result_.frozen.contains(graph_.values[id].name)) continue;
      result_.trainable[id] = false;
    }
  }

  // Whisper fills the positions of its encoder with sinusoids and takes no gradient of them: a
  // table beside the two convolutions that only that encoder starts with.
  void FreezeSinusoids(const std::vector<std::string>& names) {
    const absl::flat_hash_set<absl::string_view> all(names.begin(), names.end());
    for (absl::string_view name : names) {
      absl::string_view module = name;
      if (!absl::ConsumeSuffix(&module, "embed_positions.weight")) continue;
      if (!all.contains(absl::StrCat(module, "conv1.weight")) ||
          !all.contains(absl::StrCat(module, "conv2.weight"))) {
        continue;
      }
      if (!result_.frozen.insert(std::string(name)).second) continue;
      sink_.Note("assumed", absl::StrCat("parameter ", name),
                 "frozen: sinusoids in the encoder of Whisper, by name");
    }
  }

  // `wrapped`: without the first component of a name. False if none matches.
  bool FreezeNames(const std::vector<std::string>& names, const std::string& pattern,
                   bool wrapped) {
    bool matched = false;
    for (const std::string& name : names) {
      const size_t dot = wrapped ? name.find('.') : 0;
      if (dot == std::string::npos) continue;
      const char* text = name.c_str() + (wrapped ? dot + 1 : 0);
      if (fnmatch(pattern.c_str(), text, 0) != 0) continue;
      matched = true;
      result_.frozen.insert(name);
    }
    return matched;
  }

  void UnknownParameter(const std::string& pattern) {
    std::vector<std::string> names;
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      if (result_.IsParameter(ValueId(i))) names.push_back(graph_.values[ValueId(i)].name);
    }
    sink_.UsageError("unknown-parameter", "--freeze",
                     absl::StrCat("no parameter matches '", pattern, "'",
                                  DidYouMean(pattern, names)));
  }

  void WarnAboutUnused() {
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      const ValueId id(i);
      if (result_.of[id] != Role::kUnused) continue;
      sink_.Warning(
          "unused-initializer", absl::StrCat("initializer ", graph_.values[id].name),
          absl::StrCat("stored (", graph_.constants[graph_.values[id].constant].stored_bytes,
                       " bytes) but read by no node; not counted as a parameter"));
    }
  }

  const Graph& graph_;
  DiagnosticSink& sink_;
  Roles result_;
  IdVector<ValueId, Uses> uses_;
  absl::flat_hash_map<std::string, SignatureEntry::Kind> signature_;
  absl::flat_hash_set<ValueId> copies_;
  IdVector<NodeId, bool> from_sizes_;
  IdVector<NodeId, bool> turns_;
  IdVector<ValueId, std::vector<NodeId>> readers_;
  bool lacks_buffers_ = false;  // the signature lists some that the file has under no name
  std::vector<Dim> batches_, lengths_;  // constant axes of integer inputs: the first, the others
};

}  // namespace

int64_t Roles::WeightCount(ValueId value, int64_t elements) const {
  if (!value.valid()) return elements;
  if (is_quantization[value] || is_repeated[value]) return 0;
  const auto packed = packed_weights.find(value);
  return packed == packed_weights.end() ? elements : packed->second;
}

Roles AssignRoles(const Graph& graph, const Provenance& provenance,
                  const std::vector<std::string>& freeze, DiagnosticSink& sink) {
  return RoleAssigner(graph, provenance, sink).Run(freeze);
}

}  // namespace footprint
