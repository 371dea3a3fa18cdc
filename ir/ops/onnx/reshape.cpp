// Operators whose output has the elements of the input in the same order, in another shape. All of
// them may share its storage.
#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/ops/onnx/families.h"
#include "ir/ops/onnx/rules.h"
#include "ir/ops/onnx/values.h"

// Reshape to a target with a -1. What a 0 copies cancels first, position by position, so that
// unknown sizes do no harm; the -1 is then a quotient of products:
//
//   data    [?, 12, 64]          target [0, -1]
//            |   \___\__ 12*64 / 1 = 768   |
//            +-----------------------------+  copied
//
// Products of symbols cancel in DimTable::FloorDiv. A target that is not known still has a length,
// and its elements are as many as the data's.

namespace footprint {
namespace {

// Sets output 0, remembering the count of elements where dims are missing.
void SetReshaped(InferContext& c, TensorType type) {
  const TensorType* data = c.Input(0);
  type.element = c.InputElement(0);
  if (data != nullptr && !type.AllDimsKnown()) type.element_count = ElementCount(*data, c.dims());
  c.SetOutput(0, std::move(type));
}

bool ReshapeTarget(InferContext& c, std::vector<Dim>* target) {
  if (c.version() < 5 && c.node().Has("shape")) {
    const absl::Span<const int64_t> shape = c.node().Ints("shape");
    target->assign(shape.begin(), shape.end());
  } else {
    const KnownValuePtr value = c.InputValue(1);
    if (value != nullptr && !value->is_float && !value->is_sequence) {
      *target = value->integers;
    } else if (const std::optional<int> rank = RankFromLength(c, 1); rank) {
      target->assign(static_cast<size_t>(*rank), Dim());
    } else {
      return false;
    }
  }
  return static_cast<int64_t>(target->size()) <= kMaxRank;
}

struct ReshapePlan {
  TensorType result;
  // Sizes of the data that no 0 copies, and sizes the target gives itself.
  Dims left;
  Dims given;
  int inferred = -1;  // position of the -1
  int unknown_count = 0;
  int unknown = -1;  // position of the last unknown size
};

// Reads the target; false after an error.
bool Plan(InferContext& c, const TensorType* data, absl::Span<const Dim> target,
          ReshapePlan* plan) {
  const bool zero_copies = c.node().Int("allowzero", 0) == 0;
  std::vector<bool> copied(data != nullptr && data->has_rank ? data->dims.size() : 0, false);
  bool explicit_zero = false;
  plan->result.has_rank = true;
  for (size_t i = 0; i < target.size(); ++i) {
    Dim size = target[i];
    if (size.is_constant() && size.value() < -1) {
      c.Error(absl::StrCat("size ", size.value(), " in the target shape"));
      return false;
    }
    if (size.Is(-1)) {
      if (plan->inferred >= 0) {
        c.Error("the target shape has more than one -1");
        return false;
      }
      plan->inferred = static_cast<int>(i);
      size = Dim();
    } else if (size.Is(0) && zero_copies) {
      if (data != nullptr && data->has_rank && i >= data->dims.size()) {
        c.Error(absl::StrCat("0 at position ", i, " of the target shape copies a size that ",
                             ShapeToString(*data, c.dims()), " does not have"));
        return false;
      }
      size = Dim();
      if (i < copied.size()) {
        copied[i] = true;
        size = data->dims[i];
      }
    } else if (size.is_unknown()) {
      ++plan->unknown_count;
      plan->unknown = static_cast<int>(i);
    } else {
      explicit_zero |= size.Is(0);
      plan->given.push_back(size);
    }
    plan->result.dims.push_back(size);
  }
  if (explicit_zero && plan->inferred >= 0) {
    c.Error("the target shape has both a 0 and a -1, and allowzero is 1");
    return false;
  }
  for (size_t i = 0; i < copied.size(); ++i) {
    if (!copied[i]) plan->left.push_back(data->dims[i]);
  }
  return true;
}

// The size that makes the counts agree.
void Solve(InferContext& c, const TensorType& data, ReshapePlan& plan) {
  DimTable& dims = c.dims();
  const Dim left = data.has_rank && !plan.left.empty() && !data.AllDimsKnown() &&
                           plan.left.size() == data.dims.size()
                       ? ElementCount(data, dims)
                       : dims.Product(plan.left);
  const Dim given = dims.Product(plan.given);
  const int open = plan.inferred >= 0 ? plan.inferred : plan.unknown;
  if (open < 0) {
    if (!left.is_unknown() && !given.is_unknown() && !SameSize(left, given)) {
      c.RequireEqual(left, given, "element counts differ");
    }
    return;
  }
  for (size_t i = 0; i < plan.result.dims.size() && plan.inferred >= 0; ++i) {
    if (static_cast<int>(i) != open && plan.result.dims[i].Is(0)) {
      SetReshaped(c, plan.result);
      return c.Error("-1 is not determined: the product of the remaining sizes is 0");
    }
  }
  if (left.is_unknown() || given.is_unknown() || given.Is(0)) return;
  const Dim size = dims.FloorDiv(left, given);
  plan.result.dims[static_cast<size_t>(open)] = size;
  const Dim product = dims.Mul(size, given);
  if (!size.is_unknown() && product != left) {
    c.RequireEqual(left, product, "the element count is no multiple of the target's other sizes");
  }
}

void ReshapeTypes(InferContext& c) {
  const TensorType* data = c.Input(0);
  std::vector<Dim> target;
  if (!ReshapeTarget(c, &target)) return SetReshaped(c, TensorType());
  ReshapePlan plan;
  if (!Plan(c, data, target, &plan)) return;
  const bool solvable = plan.unknown_count + (plan.inferred >= 0 ? 1 : 0) <= 1;
  if (data != nullptr && data->has_rank && solvable) Solve(c, *data, plan);
  SetReshaped(c, std::move(plan.result));
}

void FlattenTypes(InferContext& c) {
  const TensorType* data = c.RankedInput(0);
  TensorType result = TensorType::Make(c.InputElement(0), {Dim(), Dim()});
  if (data == nullptr) return SetReshaped(c, std::move(result));
  const int rank = data->rank();
  int64_t axis = c.node().Int("axis", 1);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis > rank) {
    return c.Error(
        absl::StrCat("axis ", c.node().Int("axis", 1), " is out of range for rank ", rank));
  }
  const absl::Span<const Dim> dims = data->dims;
  result.dims[0] = c.dims().Product(dims.subspan(0, static_cast<size_t>(axis)));
  result.dims[1] = c.dims().Product(dims.subspan(static_cast<size_t>(axis)));
  SetReshaped(c, std::move(result));
}

void SqueezeTypes(InferContext& c) {
  const TensorType* data = c.RankedInput(0);
  if (data == nullptr) return SetReshaped(c, TensorType());
  Sizes axes;
  const Known known = ReadAxes(c, "axes", 1, data->rank(), &axes);
  std::vector<bool> drop(data->dims.size(), false);
  if (known == Known::kNo) {
    // As many axes as the operand has elements.
    TensorType result;
    const std::optional<int> dropped = RankFromLength(c, 1);
    if (dropped && *dropped <= data->rank()) {
      result.has_rank = true;
      result.dims.resize(data->dims.size() - static_cast<size_t>(*dropped));
    }
    return SetReshaped(c, std::move(result));
  }
  if (known == Known::kYes) {
    for (const int64_t axis : axes) {
      drop[static_cast<size_t>(axis)] = true;
      const Dim size = data->dims[static_cast<size_t>(axis)];
      if (!size.Is(1)) c.RequireEqual(size, 1, absl::StrCat("axis ", axis, " cannot be squeezed"));
    }
  } else {
    for (size_t i = 0; i < drop.size(); ++i) {
      const Dim size = data->dims[i];
      // A size that may or may not be 1 leaves even the rank open.
      if (!size.Is(1) && !c.dims().KnownNotEqual(size, 1)) return SetReshaped(c, TensorType());
      drop[i] = size.Is(1);
    }
  }
  TensorType result;
  result.has_rank = true;
  for (size_t i = 0; i < drop.size(); ++i) {
    if (!drop[i]) result.dims.push_back(data->dims[i]);
  }
  SetReshaped(c, std::move(result));
}

void UnsqueezeTypes(InferContext& c) {
  const TensorType* data = c.RankedInput(0);
  if (data == nullptr) return SetReshaped(c, TensorType());
  Sizes axes;
  const Known known = ReadInts(c, "axes", 1, &axes);
  const std::optional<int> added =
      known == Known::kYes ? std::optional<int>(axes.size()) : RankFromLength(c, 1);
  if (!added) return SetReshaped(c, TensorType());
  const size_t rank = data->dims.size() + static_cast<size_t>(*added);
  TensorType result = TensorType::Make(data->element, Dims(rank));
  if (known != Known::kYes) return SetReshaped(c, std::move(result));
  std::vector<bool> is_new(rank, false);
  for (const int64_t axis : axes) {
    const std::optional<int> normal = NormalAxis(c, axis, static_cast<int>(rank));
    if (!normal) return;
    if (is_new[static_cast<size_t>(*normal)]) {
      return c.Error(absl::StrCat("axis ", axis, " is given twice"));
    }
    is_new[static_cast<size_t>(*normal)] = true;
  }
  for (size_t i = 0, from = 0; i < rank; ++i) {
    result.dims[i] = is_new[i] ? Dim(1) : data->dims[from++];
  }
  SetReshaped(c, std::move(result));
}

constexpr OnnxOp SameStorage(absl::string_view name, Signature signature, InferRule types) {
  return {.name = name, .signature = signature, .types = types, .values = SameElements, .alias = 0};
}

constexpr OnnxOp kRows[] = {
    SameStorage("Flatten", "1->1", FlattenTypes),
    {.name = "Identity",
     .types = SameAsInput0,
     .values = SameElements,
     .alias = 0,
     .is_identity = true},
    SameStorage("Reshape", "1->1; 5: 2->1", ReshapeTypes),
    SameStorage("Squeeze", "1->1; 13: 1-2->1", SqueezeTypes),
    SameStorage("Unsqueeze", "1->1 axes; 13: 2->1", UnsqueezeTypes),
};

}  // namespace

OnnxFamily ReshapeOps() { return kRows; }

}  // namespace footprint
