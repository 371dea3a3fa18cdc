// Bodies that run more than once.
#ifndef FOOTPRINT_IR_OPS_ONNX_LOOP_RULES_H_
#define FOOTPRINT_IR_OPS_ONNX_LOOP_RULES_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "ir/infer_context.h"

namespace footprint {

// Loops of up to this many iterations are followed one by one.
constexpr int64_t kMaxUnrolled = 1024;

// The body that an attribute holds; invalid if there is none.
RegionId BodyOf(const InferContext& c, absl::string_view attribute);

// Infers a body whose inputs [first_state, first_state + states) take the values of its outputs
// [first_output, first_output + states) in the next iteration: repeats until no type changes. The
// result describes every iteration.
InferContext::RegionResult IterateBody(InferContext& c, RegionId body,
                                       std::vector<ValueType> inputs, size_t first_state,
                                       size_t states, size_t first_output,
                                       std::vector<KnownValuePtr> values = {},
                                       absl::Span<const ElementBounds> bounds = {});

// The body takes as many inputs and gives at least as many outputs as the node needs; false after
// an error.
bool CheckBody(InferContext& c, RegionId body, size_t inputs, size_t outputs);

// Input i, where its type is known, has this element type; false after an error.
bool CheckElement(InferContext& c, int i, ElementType element, absl::string_view what);

// Sets the outputs of a Loop node.
class LoopRule {
 public:
  explicit LoopRule(InferContext& c);
  void Apply();

 private:
  struct Iterations {
    int64_t count = 0;
    // What the state was at the begin of each, joined.
    std::vector<ValueType> joined;
    std::vector<KnownValuePtr> joined_values;
    // What it is after the last one.
    std::vector<ValueType> state;
    std::vector<KnownValuePtr> state_values;
    // What each added to the stacked outputs: types joined, contents by output.
    std::vector<ValueType> scanned;
    std::vector<std::vector<KnownValuePtr>> scanned_values;
  };

  // False if the number of iterations is not known, or too high.
  bool Unroll(Iterations* all);
  void Advance(const InferContext::RegionResult& result, Iterations* all);
  void Widen();
  std::vector<ValueType> BodyInputs(std::vector<ValueType> state) const;
  std::vector<KnownValuePtr> BodyValues(Dim iteration, std::vector<KnownValuePtr> state) const;
  void SetOutputs(const std::vector<ValueType>& state, const std::vector<KnownValuePtr>& values,
                  const std::vector<ValueType>& scanned, Dim iterations);

  InferContext& c_;
  RegionId body_;
  // The body never ends the loop by itself.
  bool RunsToTheEnd();

  Dim trip_count_;  // unknown if not known; no limit if has_trip_count_ is false
  bool has_trip_count_ = false;
  Dim condition_;  // before the first iteration
  std::vector<ValueType> state_;
  std::vector<KnownValuePtr> state_values_;
};

}  // namespace footprint

#endif  // FOOTPRINT_IR_OPS_ONNX_LOOP_RULES_H_
