// If, Loop, Scan and SequenceMap: operators with bodies.
#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/ops/onnx/families.h"
#include "ir/ops/onnx/loop_rules.h"
#include "ir/ops/onnx/rules.h"
#include "ir/ops/onnx/scan_rules.h"
#include "ir/ops/onnx/type_rules.h"
#include "ir/ops/onnx/values.h"

namespace footprint {
namespace {

// Joined, where sizes that differ become symbols bounded by both.
ValueType JoinBranches(InferContext& c, const ValueType& a, const ValueType& b) {
  ValueType result = JoinTypes(a, b, c.dims());
  TensorType& tensor = result.tensor;
  if (!tensor.has_rank || tensor.dims.size() != a.tensor.dims.size() ||
      tensor.dims.size() != b.tensor.dims.size()) {
    return result;
  }
  for (size_t i = 0; i < tensor.dims.size(); ++i) {
    const Dim left = a.tensor.dims[i];
    const Dim right = b.tensor.dims[i];
    if (!tensor.dims[i].is_unknown() || left.is_unknown() || right.is_unknown()) continue;
    const int64_t least = std::min(c.dims().Bounds(left).lower, c.dims().Bounds(right).lower);
    tensor.dims[i] = c.Fresh(std::max<int64_t>(least, 0), c.dims().Max(left, right));
  }
  return result;
}

bool Differ(const ValueType& a, const ValueType& b) {
  constexpr ElementType kUnknown = ElementType::kUndefined;
  return a.is_tensor() && b.is_tensor() && a.tensor.element != b.tensor.element &&
         a.tensor.element != kUnknown && b.tensor.element != kUnknown;
}

// The branch that is not taken is inferred for its own sake, and may be nonsense.
void IfTypes(InferContext& c) {
  const RegionId then_region = BodyOf(c, "then_branch");
  const RegionId else_region = BodyOf(c, "else_branch");
  if (!then_region.valid() || !else_region.valid()) {
    return c.Error("then_branch or else_branch is missing");
  }
  if (!CheckElement(c, 0, ElementType::kBool, "a condition")) return;
  const size_t then_outputs = c.region(then_region).outputs.size();
  const size_t else_outputs = c.region(else_region).outputs.size();
  const auto outputs = static_cast<size_t>(c.num_outputs());
  if (then_outputs != else_outputs || then_outputs < outputs) {
    return c.Error(absl::StrCat("expected branches of ", outputs, " outputs; found ", then_outputs,
                                " in then_branch and ", else_outputs, " in else_branch"));
  }
  const Dim condition = ScalarInput(c, 0);
  const bool decided = condition.is_constant();
  const bool is_true = decided && condition.value() != 0;
  const InferContext::RegionResult yes = c.InferRegion(then_region, {}, {}, !decided || is_true);
  const InferContext::RegionResult no = c.InferRegion(else_region, {}, {}, !decided || !is_true);
  for (int i = 0; i < c.num_outputs(); ++i) {
    const auto at = static_cast<size_t>(i);
    if (decided) {
      c.SetOutputType(i, is_true ? yes.types[at] : no.types[at]);
      c.SetOutputValue(i, is_true ? yes.values[at] : no.values[at]);
      c.SetOutputBounds(i, is_true ? yes.bounds[at] : no.bounds[at]);
    } else if (Differ(yes.types[at], no.types[at])) {
      const absl::string_view one = ElementTypeName(yes.types[at].tensor.element);
      const absl::string_view other = ElementTypeName(no.types[at].tensor.element);
      return c.Error(absl::StrCat("output ", i, " is ", one, " in then_branch and ", other,
                                  " in else_branch"));
    } else {
      c.SetOutputType(i, JoinBranches(c, yes.types[at], no.types[at]));
      c.SetOutputValue(i, JoinValues(yes.values[at], no.values[at]));
      const ElementBounds& bounds = yes.bounds[at];
      const ElementBounds& other = no.bounds[at];
      // Those that only one branch reaches may not be reached.
      if (bounds.least == other.least && bounds.most == other.most) c.SetOutputBounds(i, bounds);
    }
  }
}

void LoopTypes(InferContext& c) { LoopRule(c).Apply(); }

// Elements of the sequences at position `at`, tensors as they are; `at` -1: any element.
std::vector<ValueType> MapInputs(InferContext& c, int64_t at) {
  std::vector<ValueType> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) {
    const ValueType& type = c.InputType(i);
    const KnownValuePtr value = c.InputValue(i);
    if (type.kind != TypeKind::kSequence) {
      inputs.push_back(type);
    } else if (at >= 0 && value != nullptr && at < static_cast<int64_t>(value->elements.size())) {
      inputs.push_back(value->elements[static_cast<size_t>(at)]);
    } else {
      inputs.push_back(ElementTypeOf(type, c.dims()));
    }
  }
  return inputs;
}

void SequenceMapTypes(InferContext& c) {
  const RegionId body = BodyOf(c, "body");
  if (!body.valid()) return c.Error("attribute body is missing");
  const auto inputs = static_cast<size_t>(c.num_inputs());
  if (!CheckBody(c, body, inputs, static_cast<size_t>(c.num_outputs()))) return;
  const KnownValuePtr sequence = c.InputValue(0);
  const bool counted = sequence != nullptr && sequence->is_sequence;
  const auto length = counted ? static_cast<int64_t>(sequence->elements.size()) : int64_t{0};
  std::vector<std::vector<ValueType>> elements(static_cast<size_t>(c.num_outputs()));
  bool known = counted && length <= kMaxUnrolled && c.Afford(body, length);
  for (int64_t at = 0; known && at < length; ++at) {
    const auto result = c.InferRegion(body, MapInputs(c, at), {}, /*report=*/false);
    for (size_t i = 0; i < elements.size() && i < result.types.size(); ++i) {
      elements[i].push_back(result.types[i]);
    }
  }
  const auto result = c.InferRegion(body, MapInputs(c, -1), {}, /*report=*/true);
  for (size_t i = 0; i < elements.size() && i < result.types.size(); ++i) {
    const auto output = static_cast<int>(i);
    c.SetOutputType(output, Containing(TypeKind::kSequence, result.types[i], c.dims()));
    if (known) c.SetOutputValue(output, SequenceOf(std::move(elements[i])));
  }
}

constexpr OnnxOp kRows[] = {
    {.name = "If",
     .signature = "1->1-* else_branch then_branch",
     .types = IfTypes,
     .control = Control::kIf},
    {.name = "Loop",
     .signature = "3-*->1-* body; 11: 2-*->1-* body",
     .types = LoopTypes,
     .control = Control::kLoop},
    {.name = "Scan",
     .since = 8,
     .signature = "2-*->1-* body num_scan_inputs; 9: 1-*->1-* body num_scan_inputs",
     .types = ScanTypes,
     .control = Control::kScan},
    {.name = "SequenceMap",
     .since = 17,
     .signature = "1-*->1-* body",
     .types = SequenceMapTypes,
     .control = Control::kSequenceMap},
};

}  // namespace

OnnxFamily ControlOps() { return kRows; }

}  // namespace footprint
