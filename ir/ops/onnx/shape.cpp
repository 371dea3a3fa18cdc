// Where sizes become values and values become sizes.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/ops/onnx/families.h"
#include "ir/ops/onnx/rules.h"
#include "ir/ops/onnx/values.h"

namespace footprint {
namespace {

// The axes [first, last) that Shape reports (all of them before version 15).
std::pair<int, int> ShapeRange(const InferContext& c, int rank) {
  const auto clamp = [rank](int64_t axis) {
    if (axis < 0) axis = axis < -rank ? 0 : axis + rank;
    return static_cast<int>(std::min<int64_t>(axis, rank));
  };
  const int first = clamp(c.node().Int("start", 0));
  const int last = clamp(c.node().Int("end", rank));
  return {first, std::max(first, last)};
}

void ShapeTypes(InferContext& c) {
  const TensorType* data = c.RankedInput(0);
  if (data == nullptr) return SetRankOnly(c, 0, ElementType::kInt64, 1);
  const auto [first, last] = ShapeRange(c, data->rank());
  SetRanked(c, 0, ElementType::kInt64, {last - first});
}

void ShapeValues(InferContext& c) {
  const TensorType* data = c.RankedInput(0);
  if (data == nullptr) return;
  const auto [first, last] = ShapeRange(c, data->rank());
  c.SetOutputValue(
      0, IntegerValue(std::vector<Dim>(data->dims.begin() + first, data->dims.begin() + last)));
}

void SizeTypes(InferContext& c) { SetRanked(c, 0, ElementType::kInt64, {}); }

void SizeValues(InferContext& c) {
  const TensorType* data = c.Input(0);
  if (data != nullptr) c.SetOutputValue(0, IntegerValue({ElementCount(*data, c.dims())}));
}

// The contents of a shape operand as dims; single ones may be unknown. False if not even their
// number is known. Negative sizes are errors.
bool ShapeOperand(InferContext& c, int input, Dims* dims) {
  const KnownValuePtr value = c.InputValue(input);
  if (value == nullptr || value->is_float || value->is_sequence) {
    const std::optional<int> rank = RankFromLength(c, input);
    if (rank) dims->assign(static_cast<size_t>(*rank), Dim());
    return rank.has_value();
  }
  if (static_cast<int64_t>(value->integers.size()) > kMaxRank) return false;
  dims->assign(value->integers.begin(), value->integers.end());
  for (const Dim& dim : *dims) {
    if (dim.is_constant() && dim.value() < 0) {
      c.Error(absl::StrCat("negative size ", dim.value(), " in the shape"));
      return false;
    }
  }
  return true;
}

const Constant* FillTensor(InferContext& c) {
  const Attribute* value = c.node().Find("value");
  return value != nullptr && value->constant.valid() ? &c.constant(value->constant) : nullptr;
}

void ConstantOfShapeTypes(InferContext& c) {
  const Constant* fill = FillTensor(c);
  const ElementType element = fill != nullptr ? fill->type.element : ElementType::kFloat;
  Dims dims;
  if (!ShapeOperand(c, 0, &dims)) return SetUnranked(c, 0, element);
  SetRanked(c, 0, element, dims);
}

// Floats decide shapes as scales and bounds only: a filled weight is not kept.
constexpr int64_t kMaxFilledFloats = 64;

void ConstantOfShapeValues(InferContext& c) {
  Sizes sizes;
  if (!SmallSizes(c.OutputType(0), &sizes)) return;
  const Constant* fill = FillTensor(c);
  KnownValuePtr element;
  if (fill == nullptr) {
    element = FloatValue({0});
  } else if (fill->has_integers && fill->integers.size() == 1) {
    element = IntegerValue({fill->integers[0]});
  } else if (fill->has_floats && fill->floats.size() == 1) {
    element = FloatValue({fill->floats[0]});
  } else {
    return;
  }
  const int64_t count = Product(sizes);
  if (element->is_float && count > kMaxFilledFloats) return;
  c.SetOutputValue(0, Filled(*element, count));
}

void ExpandTypes(InferContext& c) {
  const TensorType* data = c.RankedInput(0);
  const ElementType element = c.InputElement(0);
  Dims shape;
  if (!ShapeOperand(c, 1, &shape) || data == nullptr) return SetUnranked(c, 0, element);
  SetRanked(c, 0, element, BroadcastDims(c, data->dims, shape));
}

void ExpandValues(InferContext& c) {
  KeepBounds(c);
  const KnownValuePtr value = c.InputValue(0);
  Sizes from;
  Sizes to;
  if (value == nullptr || !SmallSizes(c.InputType(0), &from) || !SmallSizes(c.OutputType(0), &to)) {
    return;
  }
  c.SetOutputValue(0, Pick(*value, BroadcastIndex(from, to)));
}

// ceil((limit - start) / delta), never negative.
Dim IntegerRange(DimTable& dims, Dim start, Dim limit, Dim delta) {
  const Dim span = dims.Sub(limit, start);
  if (dims.IsPositive(delta)) return dims.Max(dims.CeilDiv(span, delta), 0);
  if (dims.IsPositive(dims.Neg(delta))) {
    return dims.Max(dims.CeilDiv(dims.Neg(span), dims.Neg(delta)), 0);
  }
  return Dim();
}

// Widened to double before dividing, as the standard's own inference does: ceil((0.3 - 0)/0.1) is 4
// in float32 inputs.
Dim FloatRange(InferContext& c, double start, double limit, double delta) {
  const double count = std::ceil((limit - start) / delta);
  if (!std::isfinite(count) || count > 9e15) return Dim();
  const double narrow = std::ceil((static_cast<float>(limit) - static_cast<float>(start)) /
                                  static_cast<float>(delta));
  if (narrow != count) {
    c.Note(absl::StrCat("runtimes that divide in float32 make ", narrow, " elements instead of ",
                        count));
  }
  return static_cast<int64_t>(std::max(count, 0.0));
}

Dim RangeLength(InferContext& c) {
  KnownValuePtr operands[3];
  for (int i = 0; i < 3; ++i) {
    operands[i] = c.InputValue(i);
    // com.microsoft's Range may leave the step out.
    if (i == 2 && !c.HasInput(2) && operands[0]->is_float) operands[2] = FloatValue({1});
    if (i == 2 && !c.HasInput(2) && !operands[0]->is_float) operands[2] = IntegerValue({1});
    if (operands[i] == nullptr || ElementsOf(*operands[i]) != 1) return Dim();
    if (operands[i]->is_float != operands[0]->is_float) return Dim();
  }
  if (!operands[0]->is_float) {
    if (operands[2]->integers[0].Is(0)) {
      c.Error("delta is 0");
      return Dim();
    }
    const Dim start = operands[0]->integers[0];
    const Dim limit = operands[1]->integers[0];
    const Dim delta = operands[2]->integers[0];
    const Dim length = IntegerRange(c.dims(), start, limit, delta);
    if (length.is_unknown() && start.is_constant() && limit.is_constant() && delta.is_constant()) {
      c.Error(absl::StrCat("expected a count of at most 64 bits; the numbers from ", start.value(),
                           " to ", limit.value(), " by ", delta.value(), " are more"));
    }
    return length;
  }
  double floats[3];
  for (int i = 0; i < 3; ++i) {
    if (!operands[i]->floats.empty()) {
      floats[i] = operands[i]->floats[0];
      continue;
    }
    // A size among them: in whole numbers over a common denominator.
    KnownValuePtr ratios[3];
    Dim scaled[3];
    int64_t common = 1;
    for (int j = 0; j < 3; ++j) {
      ratios[j] = AsRatios(*operands[j]);
      if (ratios[j] == nullptr || ratios[j]->denominator > 1 << 20) return Dim();
      common = std::max(common, ratios[j]->denominator);
    }
    for (int j = 0; j < 3; ++j) {
      if (common % ratios[j]->denominator != 0) return Dim();
      scaled[j] = c.dims().Mul(ratios[j]->integers[0], common / ratios[j]->denominator);
    }
    return IntegerRange(c.dims(), scaled[0], scaled[1], scaled[2]);
  }
  return FloatRange(c, floats[0], floats[1], floats[2]);
}

void RangeTypes(InferContext& c) {
  Dim length = RangeLength(c);
  if (length.is_unknown()) length = c.Fresh(0, Dim());
  SetRanked(c, 0, c.InputElement(0), {length});
}

void SetRangeBounds(InferContext& c, Dim start, Dim delta) {
  DimTable& dims = c.dims();
  const Dim steps = dims.Sub(c.OutputType(0).tensor.dims[0], 1);
  const Dim last = dims.Add(start, dims.Mul(steps, delta));
  if (!delta.is_constant()) return;
  c.SetOutputBounds(0, delta.value() > 0 ? ElementBounds{start, last} : ElementBounds{last, start});
}

void RangeValues(InferContext& c) {
  if (!c.HasOutput(0)) return;
  Sizes sizes;
  const KnownValuePtr start = c.InputValue(0);
  const KnownValuePtr delta = c.InputValue(2);
  if (start == nullptr || delta == nullptr || ElementsOf(*start) != 1 || ElementsOf(*delta) != 1) {
    return;
  }
  if (start->is_sequence || delta->is_sequence) return;
  if (!start->is_float && !delta->is_float) {
    SetRangeBounds(c, start->integers[0], delta->integers[0]);
  }
  if (start->is_float != delta->is_float || !SmallSizes(c.OutputType(0), &sizes)) return;
  if (start->is_float) {
    if (start->floats.empty() || delta->floats.empty()) return;
    std::vector<double> floats;
    for (int64_t i = 0; i < sizes[0]; ++i) {
      floats.push_back(start->floats[0] + static_cast<double>(i) * delta->floats[0]);
    }
    return SetRounded(c, std::move(floats));
  }
  std::vector<Dim> integers;
  for (int64_t i = 0; i < sizes[0]; ++i) {
    integers.push_back(c.dims().Add(start->integers[0], c.dims().Mul(i, delta->integers[0])));
  }
  SetWrapped(c, std::move(integers));
}

// Constant nodes become constants of the graph; what is left here is what has no tensor to keep.
void ConstantTypes(InferContext& c) {
  const Node& node = c.node();
  for (const absl::string_view name : {"value", "sparse_value"}) {
    const Attribute* tensor = node.Find(name);
    if (tensor != nullptr && tensor->constant.valid()) {
      return c.SetOutput(0, c.constant(tensor->constant).type);
    }
  }
  const auto list = [&](absl::string_view name, ElementType element) {
    const Attribute* attribute = node.Find(name);
    if (attribute == nullptr) return false;
    const size_t kept =
        attribute->ints.size() + attribute->floats.size() + attribute->strings.size();
    SetRanked(c, 0, element, {static_cast<int64_t>(kept) + attribute->dropped_elements});
    return true;
  };
  if (node.Has("value_int")) return SetRanked(c, 0, ElementType::kInt64, {});
  if (node.Has("value_float")) return SetRanked(c, 0, ElementType::kFloat, {});
  if (node.Has("value_string")) return SetRanked(c, 0, ElementType::kString, {});
  if (list("value_ints", ElementType::kInt64) || list("value_floats", ElementType::kFloat)) return;
  list("value_strings", ElementType::kString);
}

void EyeLikeTypes(InferContext& c) {
  const TensorType* data = RequireRank(c, 0, 2, "input");
  const ElementType element = ElementAttribute(c, "dtype", c.InputElement(0));
  if (data == nullptr) return SetRankOnly(c, 0, element, 2);
  CopyShape(c, 0, 0, element);
}

constexpr OnnxOp kRows[] = {
    {.name = "Constant", .signature = "0->1 value; 11: 0->1", .types = ConstantTypes},
    {.name = "ConstantOfShape",
     .since = 9,
     .types = ConstantOfShapeTypes,
     .values = ConstantOfShapeValues},
    {.name = "Expand",
     .since = 8,
     .signature = "2->1",
     .types = ExpandTypes,
     .values = ExpandValues},
    {.name = "EyeLike", .since = 9, .types = EyeLikeTypes},
    {.name = "Range", .since = 11, .signature = "3->1", .types = RangeTypes, .values = RangeValues},
    {.name = "Range", .domain = "com.microsoft", .signature = "2-3->1", .types = RangeTypes},
    {.name = "Shape", .types = ShapeTypes, .values = ShapeValues},
    {.name = "Size", .types = SizeTypes, .values = SizeValues},
};

}  // namespace

OnnxFamily ShapeOps() { return kRows; }

}  // namespace footprint
