#include "ir/ops/onnx/loop_rules.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/ops/onnx/rules.h"
#include "ir/ops/onnx/type_rules.h"
#include "ir/ops/onnx/values.h"

// A Loop whose number of iterations is known is followed one by one, with the contents of its
// state: counters, growing sequences and tensors come out exactly. Otherwise the state is joined
// with what an iteration makes of it until nothing changes,
//
//   state 0   [4, 8]      body: Concat(state, x)    [4 + n, 8]
//   state 1   [?, 8]                                [?, 8]      fixed point
//
// and only then is the body inferred for good. What still changes after a few rounds is given up.

namespace footprint {
namespace {

constexpr int kMaxRounds = 8;

ValueType GivenUp(const ValueType& type) {
  if (!type.is_tensor()) return type.kind == TypeKind::kUnknown ? ValueType() : type;
  return ValueType::Tensor(TensorType::UnknownRank(type.tensor.element));
}

ValueType Scalar(ElementType element) { return ValueType::Tensor(TensorType::Make(element, {})); }

}  // namespace

RegionId BodyOf(const InferContext& c, absl::string_view attribute) {
  const Attribute* body = c.node().Find(attribute);
  return body != nullptr && body->kind == Attribute::Kind::kRegion ? body->region : RegionId();
}

bool CheckBody(InferContext& c, RegionId body, size_t inputs, size_t outputs) {
  const Region& region = c.region(body);
  if (region.inputs.size() == inputs && region.outputs.size() >= outputs) return true;
  c.Error(absl::StrCat("expected a body of ", inputs, " inputs and at least ", outputs,
                       " outputs; found ", region.inputs.size(), " and ",
                       region.outputs.size()));
  return false;
}

bool CheckElement(InferContext& c, int i, ElementType element, absl::string_view what) {
  const ElementType found = c.InputElement(i);
  if (found == ElementType::kUndefined || found == element) return true;
  c.Error(absl::StrCat("expected ", what, " of type ", ElementTypeName(element), "; found ",
                       ElementTypeName(found)));
  return false;
}

InferContext::RegionResult IterateBody(InferContext& c, RegionId body,
                                       std::vector<ValueType> inputs, size_t first_state,
                                       size_t states, size_t first_output,
                                       std::vector<KnownValuePtr> values,
                                       absl::Span<const ElementBounds> bounds) {
  values.resize(inputs.size());
  bool changes = true;
  for (int round = 0; changes && round < kMaxRounds && c.Afford(body, 2); ++round) {
    const auto result = c.InferRegion(body, inputs, values, /*report=*/false);
    changes = false;
    for (size_t i = 0; i < states && first_output + i < result.types.size(); ++i) {
      ValueType& type = inputs[first_state + i];
      ValueType joined = JoinTypes(type, result.types[first_output + i], c.dims());
      KnownValuePtr& value = values[first_state + i];
      KnownValuePtr joined_value = JoinValues(value, result.values[first_output + i]);
      changes |= !SameType(type, joined) || !SameValue(value, joined_value);
      type = std::move(joined);
      value = std::move(joined_value);
    }
  }
  for (size_t i = first_state; changes && i < first_state + states; ++i) {
    inputs[i] = GivenUp(inputs[i]);
    values[i] = nullptr;
  }
  auto result = c.InferRegion(body, inputs, values, /*report=*/true, bounds);
  for (size_t i = 0; i < states && first_output + i < result.types.size(); ++i) {
    ValueType& type = result.types[first_output + i];
    type = JoinTypes(inputs[first_state + i], type, c.dims());
    KnownValuePtr& value = result.values[first_output + i];
    value = JoinValues(values[first_state + i], value);
  }
  return result;
}

LoopRule::LoopRule(InferContext& c)
    : c_(c), body_(BodyOf(c, "body")), has_trip_count_(c.HasInput(0)) {
  trip_count_ = ScalarInput(c, 0);
  condition_ = c.HasInput(1) ? ScalarInput(c, 1) : Dim(1);
  for (int i = 2; i < c.num_inputs(); ++i) {
    state_.push_back(c.InputType(i));
    state_values_.push_back(c.InputValue(i));
  }
}

// The iteration number and the condition, which is true in every iteration, come first.
std::vector<ValueType> LoopRule::BodyInputs(std::vector<ValueType> state) const {
  std::vector<ValueType> inputs = {Scalar(ElementType::kInt64), Scalar(ElementType::kBool)};
  for (ValueType& type : state) inputs.push_back(std::move(type));
  return inputs;
}

std::vector<KnownValuePtr> LoopRule::BodyValues(Dim iteration,
                                                std::vector<KnownValuePtr> state) const {
  std::vector<KnownValuePtr> values = {IntegerValue({iteration}), IntegerValue({1})};
  for (KnownValuePtr& value : state) values.push_back(std::move(value));
  return values;
}

void LoopRule::Advance(const InferContext::RegionResult& result, Iterations* all) {
  for (size_t i = 0; i < state_.size(); ++i) {
    if (all->count == 0) {
      all->joined[i] = all->state[i];
      all->joined_values[i] = all->state_values[i];
    } else {
      all->joined[i] = JoinTypes(all->joined[i], all->state[i], c_.dims());
      all->joined_values[i] = JoinValues(all->joined_values[i], all->state_values[i]);
    }
    all->state[i] = result.types[1 + i];
    all->state_values[i] = result.values[1 + i];
  }
  const size_t first = 1 + state_.size();
  for (size_t i = first; i < result.types.size(); ++i) {
    if (all->count == 0) {
      all->scanned.push_back(result.types[i]);
      all->scanned_values.emplace_back();
    }
    ValueType& type = all->scanned[i - first];
    type = JoinTypes(type, result.types[i], c_.dims());
    all->scanned_values[i - first].push_back(result.values[i]);
  }
}

bool LoopRule::Unroll(Iterations* all) {
  if (has_trip_count_ && !trip_count_.is_constant()) return false;
  if (has_trip_count_ && trip_count_.value() > kMaxUnrolled) return false;
  Dim condition = condition_;
  all->state = all->joined = state_;
  all->state_values = all->joined_values = state_values_;
  for (;; ++all->count) {
    if (has_trip_count_ && all->count >= trip_count_.value()) return true;
    if (!condition.is_constant()) return false;
    if (condition.Is(0)) return true;
    if (all->count >= kMaxUnrolled || !c_.Afford(body_, 1)) return false;
    const auto result =
        c_.InferRegion(body_, BodyInputs(all->state), BodyValues(all->count, all->state_values),
                       /*report=*/false);
    if (result.types.size() < 1 + state_.size()) return false;
    const KnownValuePtr goes_on = result.values[0];
    condition = goes_on != nullptr && goes_on->integers.size() == 1 ? goes_on->integers[0] : Dim();
    Advance(result, all);
  }
}

void LoopRule::SetOutputs(const std::vector<ValueType>& state,
                          const std::vector<KnownValuePtr>& values,
                          const std::vector<ValueType>& scanned, Dim iterations) {
  for (int i = 0; i < c_.num_outputs(); ++i) {
    const auto at = static_cast<size_t>(i);
    if (at < state.size()) {
      c_.SetOutputType(i, state[at]);
      c_.SetOutputValue(i, values[at]);
      continue;
    }
    if (at - state.size() >= scanned.size()) return;
    ValueType type = scanned[at - state.size()];
    if (!type.is_tensor()) continue;
    if (type.tensor.has_rank) {
      type.tensor.dims.insert(type.tensor.dims.begin(), iterations);
    }
    type.tensor.element_count = Dim();
    c_.SetOutputType(i, std::move(type));
  }
}

bool LoopRule::RunsToTheEnd() {
  if (!condition_.Is(1) || !c_.Afford(body_, 1)) return false;
  const auto result = c_.InferRegion(body_, BodyInputs(state_), BodyValues(Dim(), state_values_),
                                     /*report=*/false);
  const KnownValuePtr goes_on = result.values.empty() ? nullptr : result.values[0];
  return goes_on != nullptr && goes_on->integers.size() == 1 && goes_on->integers[0].Is(1);
}

void LoopRule::Widen() {
  std::vector<ValueType> inputs = BodyInputs(state_);
  std::vector<KnownValuePtr> values = BodyValues(Dim(), state_values_);
  // Positions that the loop counts, if it counts them all.
  ElementBounds iteration[1];
  if (c_.dims().IsPositive(trip_count_) && RunsToTheEnd()) {
    iteration[0] = {0, c_.dims().Sub(trip_count_, 1)};
  }
  const auto result =
      IterateBody(c_, body_, std::move(inputs), 2, state_.size(), 1, values, iteration);
  if (result.types.size() < 1 + state_.size()) return;
  const auto middle = static_cast<int64_t>(1 + state_.size());
  std::vector<ValueType> state(result.types.begin() + 1, result.types.begin() + middle);
  // Sizes that iterations change.
  for (size_t i = 0; i < state.size(); ++i) {
    for (Dim& dim : state[i].tensor.dims) {
      if (dim.is_unknown() && state_[i].tensor.has_rank) dim = c_.Fresh(0, Dim());
    }
  }
  const KnownValuePtr goes_on = result.values[0];
  const bool always = goes_on != nullptr && goes_on->integers.size() == 1 &&
                      goes_on->integers[0].Is(1) && condition_.Is(1) && has_trip_count_;
  Dim iterations = c_.dims().Max(trip_count_, 0);
  if (!always || iterations.is_unknown()) iterations = c_.Fresh(0, iterations);
  SetOutputs(state, {result.values.begin() + 1, result.values.begin() + middle},
             {result.types.begin() + middle, result.types.end()}, iterations);
}

void LoopRule::Apply() {
  if (!body_.valid()) return c_.Error("attribute body is missing");
  if (!CheckElement(c_, 0, ElementType::kInt64, "a number of iterations") ||
      !CheckElement(c_, 1, ElementType::kBool, "a condition")) {
    return;
  }
  const size_t outputs = std::max(state_.size(), static_cast<size_t>(c_.num_outputs()));
  if (!CheckBody(c_, body_, 2 + state_.size(), 1 + outputs)) return;
  Iterations all;
  if (!Unroll(&all)) return Widen();
  // Once more for what holds in every iteration: that is what remains of the body.
  const ElementBounds iteration[] = {{0, std::max<int64_t>(all.count - 1, 0)}};
  const auto result =
      c_.InferRegion(body_, BodyInputs(all.joined), BodyValues(Dim(), all.joined_values),
                     /*report=*/true, iteration);
  if (all.count == 0 && result.types.size() > state_.size()) {
    all.scanned.assign(result.types.begin() + 1 + static_cast<int64_t>(state_.size()),
                       result.types.end());
  }
  SetOutputs(all.state, all.state_values, all.scanned, all.count);
  for (size_t i = 0; i < all.scanned_values.size(); ++i) {
    c_.SetOutputValue(static_cast<int>(state_.size() + i), Join(all.scanned_values[i]));
  }
}

}  // namespace footprint
