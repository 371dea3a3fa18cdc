// What must hold for a node to run: decided here, or recorded until sizes are bound to numbers.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/ops/onnx/node_check.h"
#include "passes/infer_shapes_state.h"

namespace footprint {
namespace {

constexpr int kMaxReported = 100;

}  // namespace

bool Inference::MayReport() { return quiet_ == 0 && reported_++ < kMaxReported; }

// "(2, -1)" where the contents are a short list of whole numbers: they say more than that it has
// two elements. Empty otherwise.
std::string Inference::DescribeContents(ValueId id) const {
  constexpr size_t kMost = 16;
  const KnownValuePtr& value = result_.values[id];
  const TensorType& type = result_.types[id].tensor;
  if (value == nullptr || value->is_float || value->is_sequence || type.rank() != 1 ||
      type.element == ElementType::kBool || value->integers.size() > kMost) {
    return "";
  }
  std::string text;
  for (const Dim element : value->integers) {
    absl::StrAppend(&text, text.empty() ? "(" : ", ", graph_.dims->ToString(element));
  }
  return text.empty() ? text : text + ")";
}

std::string Inference::DescribeOperands() const {
  std::string shapes;
  std::string names;
  for (size_t i = 0; i < node_->inputs.size(); ++i) {
    const ValueId id = node_->inputs[i];
    if (!id.valid() || !result_.types[id].is_tensor()) continue;
    const std::string contents = DescribeContents(id);
    absl::StrAppend(
        &shapes, shapes.empty() ? "" : " x ",
        contents.empty() ? ShapeToString(result_.types[id].tensor, *graph_.dims) : contents);
    if (graph_.values[id].kind == ValueKind::kConstant) {
      absl::StrAppend(&names, "; input ", i, " is ", Describe(graph_, id));
    }
  }
  return absl::StrCat(shapes, names);
}

void Inference::Fail(std::string kind, std::string message) {
  failed_ = true;
  if (!MayReport()) return;
  sink_.Error(std::move(kind), Describe(graph_, node_id_), std::move(message));
}

void Inference::RefuseMalformed() {
  for (size_t i = 0; i < graph_.nodes.size(); ++i) {
    std::string problem = CheckNode(graph_.nodes[NodeId(i)]);
    if (problem.empty()) continue;
    malformed_.insert(NodeId(i));
    if (!MayReport()) continue;
    sink_.Error("invalid-node", Describe(graph_, NodeId(i)), std::move(problem));
  }
}

// No runtime takes such a node, but exporters write them, and sizes do not depend on it.
void Inference::CheckElements(const OnnxOp& op) {
  int first = -1;
  for (int i = 0; i < num_inputs(); ++i) {
    if ((op.same_element >> std::min(i, 31) & 1) == 0) continue;
    const ElementType element = InputElement(i);
    if (element == ElementType::kUndefined) continue;
    if (first < 0) first = i;
    if (element == InputElement(first)) continue;
    if (!MayReport()) return;
    sink_.Warning(
        "element-types-differ", Describe(graph_, node_id_),
        absl::StrCat("inputs ", first, " and ", i, " must have one element type; they are ",
                     ElementTypeName(InputElement(first)), " and ", ElementTypeName(element)));
    return;
  }
}

void Inference::CheckSizes(int i, TensorType* type) {
  const DimTable& dims = *graph_.dims;
  const auto is_negative = [&](Dim dim) {
    return dim.is_constant() ? dim.value() < 0 : !dim.is_unknown() && dims.Bounds(dim).upper < 0;
  };
  if (std::none_of(type->dims.begin(), type->dims.end(), is_negative)) {
    return RecordSizes(*type);
  }
  if (!failed_) {
    Error(absl::StrCat("expected sizes of 0 or more; output ", i, " would be ",
                       ShapeToString(*type, dims), ", made from ", DescribeOperands()));
  }
  for (Dim& dim : type->dims) {
    if (is_negative(dim)) dim = Dim();
  }
  type->element_count = Dim();
}

// Sizes that are negative at some bindings only. A body may be one that does not run.
void Inference::RecordSizes(const TensorType& type) {
  if (depth_ > 0) return;
  for (const Dim dim : type.dims) {
    if (dim.is_unknown() || dim.is_constant() || graph_.dims->Bounds(dim).lower >= 0) continue;
    Record(0, dim, Relation::kLessEqual, "expected sizes of 0 or more");
  }
}

// Integers that can be computed, but do not fit, or not divided by zero.
void Inference::CheckContents() {
  if (quiet_ > 0) return;
  const auto is_constant = [](Dim dim) { return dim.is_constant(); };
  for (const ValueId id : node_->inputs) {
    if (!id.valid()) continue;
    const KnownValuePtr& value = result_.values[id];
    if (value == nullptr || value->is_float || value->is_sequence ||
        !std::all_of(value->integers.begin(), value->integers.end(), is_constant)) {
      return;
    }
  }
  for (const ValueId id : node_->outputs) {
    if (!id.valid() || result_.values[id] == nullptr || result_.values[id]->is_float) continue;
    const std::vector<Dim>& integers = result_.values[id]->integers;
    if (std::all_of(integers.begin(), integers.end(), is_constant) || !MayReport()) continue;
    sink_.Warning(
        "overflow", Describe(graph_, node_id_),
        absl::StrCat("the contents do not fit 64 bits, or are divided by zero; they are taken for "
                     "unknown: ", DescribeOperands()));
    return;
  }
}

// At the least sizes that the names in it can have; with a size of 0 it is empty.
bool Inference::FitsAtLeast(const TensorType& type) const {
  if (!type.has_rank) return true;
  int64_t elements = 1;
  bool overflows = false;
  for (const Dim dim : type.dims) {
    const int64_t least = dim.is_unknown() ? 0 : graph_.dims->Bounds(dim).lower;
    if (least <= 0) return true;
    overflows |= __builtin_mul_overflow(elements, least, &elements);
  }
  return !overflows && (BitsPerElement(type.element) == 0 || BytesOf(type.element, elements));
}

void Inference::CheckBytes(ValueId id) {
  const ValueType& type = result_.types[id];
  if (overflowed_ || !type.is_tensor() || FitsAtLeast(type.tensor)) return;
  overflowed_ = true;  // what is computed from it is no news
  if (!MayReport()) return;
  sink_.Error("overflow", Describe(graph_, id),
              absl::StrCat("expected a size of at most 64 bits; the bytes of ",
                           ToString(type.tensor, *graph_.dims), " do not fit"));
}

// Whether sizes that could not be computed from the inputs can only have been too large: neither
// values are missing nor expressions too long.
bool Inference::HasPlainInputs() const {
  DimTable& dims = *graph_.dims;
  const auto is_plain = [&dims](Dim dim) {
    return dim.is_constant() || (!dim.is_unknown() && dims.SymbolsIn(dim).size() == 1);
  };
  for (const ValueId id : node_->inputs) {
    if (!id.valid() || result_.types[id].kind == TypeKind::kUnknown) continue;
    const TensorType& type = result_.types[id].tensor;
    if (!type.has_rank || !std::all_of(type.dims.begin(), type.dims.end(), is_plain)) return false;
    const KnownValuePtr& value = result_.values[id];
    if (value == nullptr) continue;
    if (!std::all_of(value->integers.begin(), value->integers.end(), is_plain)) return false;
  }
  return true;
}

void Inference::CheckOverflow() {
  if (failed_ || overflowed_ || !HasPlainInputs()) return;
  for (size_t i = 0; i < node_->outputs.size(); ++i) {
    const ValueId id = node_->outputs[i];
    if (!id.valid() || !result_.types[id].is_tensor()) continue;
    const TensorType& type = result_.types[id].tensor;
    if (!type.has_rank || type.AllDimsKnown()) continue;
    overflowed_ = true;
    return Fail("overflow", absl::StrCat("expected sizes of at most 64 bits; output ", i,
                                         " would be ", ShapeToString(type, *graph_.dims),
                                         ", where ? does not fit, made from ", DescribeOperands()));
  }
}

void Inference::Error(std::string message) { Fail("invalid-node", std::move(message)); }

void Inference::Note(std::string message) {
  if (!MayReport()) return;
  sink_.Note("ambiguous-shape", Describe(graph_, node_id_), std::move(message));
}

void Inference::Record(Dim a, Dim b, Relation relation, absl::string_view what) {
  DimTable& dims = *graph_.dims;
  if (quiet_ > 0 || dims.IsDataDependent(a) || dims.IsDataDependent(b)) return;
  if (!recorded_.emplace(a, b, static_cast<uint8_t>(relation)).second) return;
  result_.constraints.push_back({a, b, relation, node_id_, std::string(what), undecided_ > 0});
}

Dim Inference::RequireEqual(Dim a, Dim b, absl::string_view what) {
  if (a.is_unknown() || a == b) return b;
  if (b.is_unknown()) return a;
  DimTable& dims = *graph_.dims;
  if (dims.KnownNotEqual(a, b)) {
    Fail("shape-mismatch", absl::StrCat(what, ": ", DescribeOperands()));
    return a;
  }
  if (!dims.KnownEqual(a, b)) Record(a, b, Relation::kEqual, what);
  if (b.is_constant()) return b;
  return !a.is_constant() && dims.IsDataDependent(a) && !dims.IsDataDependent(b) ? b : a;
}

void Inference::RequireLessEqual(Dim a, Dim b, absl::string_view what) {
  if (a.is_unknown() || b.is_unknown()) return;
  DimTable& dims = *graph_.dims;
  if (dims.KnownLessEqual(a, b)) return;
  if (dims.KnownLessEqual(dims.Add(b, 1), a)) {
    return Fail("shape-mismatch", absl::StrCat(what, ": ", DescribeOperands()));
  }
  Record(a, b, Relation::kLessEqual, what);
}

// Of two sizes that broadcast, the result is the larger one, unless one of them is 0.
Dim Inference::RequireBroadcast(Dim a, Dim b, absl::string_view what) {
  if (a.Is(1) || (a == b && !a.is_unknown())) return b;
  if (b.Is(1)) return a;
  // Beside a size other than 1, an unknown one can only be that size or 1.
  const auto decides = [](Dim dim) { return dim.is_constant(); };
  if (a.is_unknown() || b.is_unknown()) return decides(a) ? a : decides(b) ? b : Dim();
  DimTable& dims = *graph_.dims;
  const bool never_one = dims.KnownNotEqual(a, 1) && dims.KnownNotEqual(b, 1);
  if (never_one) return RequireEqual(a, b, what);
  if (dims.KnownEqual(a, b)) return a;
  Record(a, b, Relation::kBroadcast, what);
  if (decides(a) || decides(b)) return decides(a) ? a : b;
  if (!dims.IsPositive(a) || !dims.IsPositive(b)) return Fresh(0, dims.Max(a, b));
  if (dims.KnownLessEqual(a, b)) return b;
  return dims.KnownLessEqual(b, a) ? a : dims.Max(a, b);
}

namespace {

// "; H = 1 is assumed: bind it with --dim H=..."
std::string AssumedIn(const DimTable& dims, const DimConstraint& constraint,
                      const DimEvaluator& evaluator) {
  std::string text;
  for (const std::string& name : evaluator.assumed()) {
    for (const Dim side : {constraint.left, constraint.right}) {
      const std::vector<std::string> names = dims.SymbolsIn(side);
      if (std::find(names.begin(), names.end(), name) == names.end()) continue;
      absl::StrAppend(&text, "; ", name, " = 1 is assumed: bind it with --dim ", name, "=...");
      break;
    }
  }
  return text;
}

}  // namespace

void CheckConstraints(const Graph& graph, const InferredTypes& inferred, DimEvaluator& evaluator,
                      DiagnosticSink& sink) {
  using Relation = DimConstraint::Relation;
  for (const DimConstraint& constraint : inferred.constraints) {
    const std::optional<int64_t> left = evaluator.Evaluate(constraint.left);
    const std::optional<int64_t> right = evaluator.Evaluate(constraint.right);
    if (!left || !right) continue;
    bool holds = *left == *right;
    if (constraint.relation == Relation::kLessEqual) holds = *left <= *right;
    if (constraint.relation == Relation::kBroadcast) holds |= *left == 1 || *right == 1;
    if (holds) continue;
    const auto side = [&graph](Dim dim, int64_t value) {
      return dim.is_constant() ? absl::StrCat(value)
                               : absl::StrCat(graph.dims->ToString(dim), " = ", value);
    };
    const bool is_size = constraint.relation == Relation::kLessEqual && constraint.left.Is(0);
    std::string message = absl::StrCat(constraint.what, " at these sizes: ",
                                       is_size ? "" : side(constraint.left, *left) + ", ",
                                       side(constraint.right, *right),
                                       AssumedIn(*graph.dims, constraint, evaluator));
    if (constraint.may_not_run) {
      sink.Note("constraint-violated", Describe(graph, constraint.node),
                absl::StrCat(message, "; the model can run if this branch is not taken"));
    } else {
      sink.UsageError("constraint-violated", Describe(graph, constraint.node), std::move(message));
    }
  }
}

}  // namespace footprint
