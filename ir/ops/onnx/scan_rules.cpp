#include "ir/ops/onnx/scan_rules.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/ops/onnx/loop_rules.h"
#include "ir/ops/onnx/rules.h"
#include "ir/ops/onnx/values.h"

// The state keeps its shape, so types are a fixed point of the body. Contents are followed row by
// row, as those of a Loop are:
//
//   sum = 0, x = (3, b, 1)     body: s = Add(sum, row)     sum = b + 4, s = (3, b + 3, b + 4)

namespace footprint {
namespace {

// `type` without its axis `axis`.
ValueType WithoutAxis(InferContext& c, const ValueType& type, int64_t axis, Dim* length) {
  *length = Dim();
  if (!type.is_tensor() || !type.tensor.has_rank) {
    return ValueType::Tensor(TensorType::UnknownRank(type.tensor.element));
  }
  const std::optional<int> at = NormalAxis(c, axis, type.tensor.rank());
  if (!at) return {};
  ValueType result = type;
  *length = type.tensor.dims[static_cast<size_t>(*at)];
  result.tensor.dims.erase(result.tensor.dims.begin() + *at);
  return result;
}

// `type` with a new axis of `length`; negative axes count from the back of the result.
ValueType WithAxis(InferContext& c, const ValueType& type, int64_t axis, Dim length) {
  if (!type.is_tensor() || !type.tensor.has_rank) {
    return ValueType::Tensor(TensorType::UnknownRank(type.tensor.element));
  }
  const std::optional<int> at = NormalAxis(c, axis, type.tensor.rank() + 1);
  if (!at) return {};
  ValueType result = type;
  result.tensor.dims.insert(result.tensor.dims.begin() + *at, length);
  return result;
}

int64_t AxisOf(const InferContext& c, absl::string_view attribute, size_t i) {
  const absl::Span<const int64_t> axes = c.node().Ints(attribute);
  return i < axes.size() ? axes[i] : 0;
}

class ScanRule {
 public:
  explicit ScanRule(InferContext& c)
      : c_(c),
        body_(BodyOf(c, "body")),
        batched_(c.version() < 9),
        first_(batched_ ? 1 : 0),
        scans_(c.node().Int("num_scan_inputs", 0)),
        states_(c.num_inputs() - first_ - scans_) {}

  void Apply();

 private:
  void ReadInputs();
  void FollowContents();
  KnownValuePtr Row(int64_t scan, int64_t at) const;
  void SetStacked(int output, std::vector<KnownValuePtr> rows);

  InferContext& c_;
  RegionId body_;
  // Scan-8 had lengths as first input, and a batch axis before everything, the scanned axis second.
  bool batched_;
  int first_;
  int64_t scans_;
  int64_t states_;
  Dim batch_;
  Dim length_;
  std::vector<ValueType> inputs_;  // of the body
  // What is known after the last row: of the state, and of each row of the stacked outputs.
  std::vector<KnownValuePtr> state_;
  std::vector<std::vector<KnownValuePtr>> stacked_;
};

void ScanRule::ReadInputs() {
  Dim ignored;
  for (int64_t i = 0; i < states_ + scans_; ++i) {
    ValueType type = c_.InputType(first_ + static_cast<int>(i));
    if (batched_) {
      type = WithoutAxis(c_, type, 0, &ignored);
      if (batch_.is_unknown()) batch_ = ignored;
    }
    if (i >= states_) {
      Dim steps;
      type = WithoutAxis(
          c_, type, batched_ ? 0 : AxisOf(c_, "scan_input_axes", static_cast<size_t>(i - states_)),
          &steps);
      length_ = length_.is_unknown() || SameSize(length_, steps)
                    ? steps
                    : c_.RequireEqual(length_, steps, "lengths of the scanned inputs differ");
    }
    inputs_.push_back(std::move(type));
  }
}

// Contents of row `at` of a scanned input; null if they are not known.
KnownValuePtr ScanRule::Row(int64_t scan, int64_t at) const {
  const auto input = static_cast<int>(states_ + scan);
  const KnownValuePtr value = c_.InputValue(input);
  Sizes sizes;
  if (value == nullptr || value->is_sequence || !SmallSizes(c_.InputType(input), &sizes)) {
    return nullptr;
  }
  const int64_t given = AxisOf(c_, "scan_input_axes", static_cast<size_t>(scan));
  const auto axis =
      static_cast<size_t>(given < 0 ? given + static_cast<int64_t>(sizes.size()) : given);
  if (axis >= sizes.size() || at >= sizes[axis]) return nullptr;
  const int64_t inner = Strides(sizes)[axis];
  std::vector<int64_t> index;
  for (int64_t block = at * inner; block < Product(sizes); block += sizes[axis] * inner) {
    for (int64_t i = 0; i < inner; ++i) index.push_back(block + i);
  }
  return Pick(*value, index);
}

void ScanRule::FollowContents() {
  bool any = false;
  for (int i = 0; i < c_.num_inputs(); ++i) any |= c_.InputValue(i) != nullptr;
  if (!any || batched_ || !length_.is_constant() || length_.value() > kMaxUnrolled ||
      !c_.Afford(body_, length_.value())) {
    return;
  }
  for (int64_t i = 0; i < states_; ++i) state_.push_back(c_.InputValue(static_cast<int>(i)));
  for (int64_t step = 0; step < length_.value(); ++step) {
    std::vector<KnownValuePtr> values = state_;
    for (int64_t scan = 0; scan < scans_; ++scan) {
      const bool backward = AxisOf(c_, "scan_input_directions", static_cast<size_t>(scan)) != 0;
      values.push_back(Row(scan, backward ? length_.value() - 1 - step : step));
    }
    auto result = c_.InferRegion(body_, inputs_, values, /*report=*/false);
    const auto states = static_cast<size_t>(states_);
    if (result.values.size() < states) return state_.assign(states, nullptr);
    stacked_.resize(result.values.size() - states);
    for (size_t i = 0; i < stacked_.size(); ++i) {
      stacked_[i].push_back(std::move(result.values[states + i]));
    }
    result.values.resize(states);
    state_ = std::move(result.values);
  }
}

void ScanRule::SetStacked(int output, std::vector<KnownValuePtr> rows) {
  const auto scan = static_cast<size_t>(output - states_);
  if (AxisOf(c_, "scan_output_axes", scan) != 0) return;
  if (AxisOf(c_, "scan_output_directions", scan) != 0) std::reverse(rows.begin(), rows.end());
  c_.SetOutputValue(output, Join(rows));
}

void ScanRule::Apply() {
  if (!body_.valid() || scans_ < 1 || states_ < 0) {
    return c_.Error(absl::StrCat("num_scan_inputs is ", scans_, " and the node has ",
                                 c_.num_inputs() - first_, " inputs"));
  }
  const int64_t outputs = std::max<int64_t>(states_, c_.num_outputs());
  if (!CheckBody(c_, body_, static_cast<size_t>(states_ + scans_), static_cast<size_t>(outputs))) {
    return;
  }
  ReadInputs();
  FollowContents();
  const InferContext::RegionResult result =
      IterateBody(c_, body_, inputs_, 0, static_cast<size_t>(states_), 0);
  for (int i = 0; i < c_.num_outputs() && static_cast<size_t>(i) < result.types.size(); ++i) {
    const auto at = static_cast<size_t>(i);
    ValueType type = result.types[at];
    if (i >= states_) {
      const auto scan = static_cast<size_t>(i - states_);
      type = WithAxis(c_, type, batched_ ? 0 : AxisOf(c_, "scan_output_axes", scan), length_);
    }
    if (batched_) type = WithAxis(c_, type, 0, batch_);
    c_.SetOutputType(i, std::move(type));
    if (i < states_ && at < state_.size()) c_.SetOutputValue(i, state_[at]);
    const size_t scan = at - static_cast<size_t>(std::min<int64_t>(i, states_));
    if (i >= states_ && scan < stacked_.size()) SetStacked(i, std::move(stacked_[scan]));
  }
}

}  // namespace

void ScanTypes(InferContext& c) { ScanRule(c).Apply(); }

}  // namespace footprint
