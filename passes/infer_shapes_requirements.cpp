// What must hold for a node to run: decided here, or recorded until sizes are bound to numbers.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "passes/infer_shapes_state.h"

namespace footprint {
namespace {

constexpr int kMaxReported = 100;

}  // namespace

bool Inference::MayReport() { return quiet_ == 0 && reported_++ < kMaxReported; }

std::string Inference::DescribeOperands() const {
  std::string shapes;
  std::string names;
  for (size_t i = 0; i < node_->inputs.size(); ++i) {
    const ValueId id = node_->inputs[i];
    if (!id.valid() || !result_.types[id].is_tensor()) continue;
    absl::StrAppend(&shapes, shapes.empty() ? "" : " x ",
                    ShapeToString(result_.types[id].tensor, *graph_.dims));
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
    sink_.Warning("element-types-differ", Describe(graph_, node_id_),
                  absl::StrCat("inputs ", first, " and ", i,
                               " must have one element type; they are ",
                               ElementTypeName(InputElement(first)), " and ",
                               ElementTypeName(element)));
    return;
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
  result_.constraints.push_back({a, b, relation, node_id_, std::string(what)});
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
    sink.UsageError("constraint-violated", Describe(graph, constraint.node),
                    absl::StrCat(constraint.what, " at these sizes: ", side(constraint.left, *left),
                                 ", ", side(constraint.right, *right)));
  }
}

}  // namespace footprint
