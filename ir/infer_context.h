// InferContext: what a type or value rule may ask about the node it is applied to, and where it
// puts its answer. Rules never see the graph.
#ifndef FOOTPRINT_IR_INFER_CONTEXT_H_
#define FOOTPRINT_IR_INFER_CONTEXT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ir/dim.h"
#include "ir/graph.h"
#include "ir/tensor_type.h"

namespace footprint {

// Known contents of a small tensor, row-major. Integers (and booleans as 0 / 1) may be symbolic;
// single elements may be unknown. Floats are plain doubles, or, where a size was cast to float,
// symbolic: `floats` is empty then and element i is integers[i] / denominator. For a sequence of
// known length: the types of its elements. Shared, immutable.
struct KnownValue {
  std::vector<Dim> integers;
  std::vector<double> floats;
  bool is_float = false;
  int64_t denominator = 1;
  bool is_sequence = false;
  std::vector<ValueType> elements;
};
using KnownValuePtr = std::shared_ptr<const KnownValue>;

// What every element of an integer tensor lies between, and some element reaches, although the
// elements are not known one by one: positions that Range counts. Unknown: nothing is known.
struct ElementBounds {
  Dim least;
  Dim most;
};

class InferContext {
 public:
  virtual ~InferContext() = default;

  virtual const Node& node() const = 0;
  virtual DimTable& dims() = 0;
  // The tensor an attribute holds.
  virtual const Constant& constant(ConstantId id) const = 0;
  // A body: how many inputs and outputs it has.
  virtual const Region& region(RegionId id) const = 0;

  // Counts as written, omitted optionals included.
  int num_inputs() const { return static_cast<int>(node().inputs.size()); }
  int num_outputs() const { return static_cast<int>(node().outputs.size()); }
  int version() const { return node().version; }
  // Present (not omitted).
  bool HasInput(int i) const { return node().input(static_cast<size_t>(i)).valid(); }
  bool HasOutput(int i) const { return node().output(static_cast<size_t>(i)).valid(); }

  // Type of input i; kind kUnknown if absent or not known.
  virtual const ValueType& InputType(int i) const = 0;
  // The tensor type of input i; null if it is absent, no tensor or unknown. Rank may still be
  // missing.
  const TensorType* Input(int i) const;
  // The same, null also if the rank is unknown.
  const TensorType* RankedInput(int i) const;
  ElementType InputElement(int i) const;
  // Contents of input i, null if not known.
  virtual KnownValuePtr InputValue(int i) const = 0;
  // Contents of input i as integers, all of them known to be symbolic or constant; false otherwise.
  bool InputInts(int i, std::vector<Dim>* result) const;

  // Also of elements that are known one by one.
  virtual ElementBounds InputBounds(int i) const = 0;

  virtual void SetOutputType(int i, ValueType type) = 0;
  void SetOutput(int i, TensorType type) { SetOutputType(i, ValueType::Tensor(std::move(type))); }
  virtual void SetOutputValue(int i, KnownValuePtr value) = 0;
  virtual void SetOutputBounds(int i, ElementBounds bounds) = 0;
  // What `types` has set so far (for value rules).
  virtual const ValueType& OutputType(int i) const = 0;

  // A fresh data-dependent size at this node, in [lower, upper].
  Dim Fresh(int64_t lower, Dim upper) { return dims().Fresh("u", lower, upper); }

  // The two must be equal. Known different: an error at this node ("inner dimensions differ ...").
  // Undecidable: recorded as a constraint that is checked at binding time. Returns the more
  // precise.
  virtual Dim RequireEqual(Dim a, Dim b, absl::string_view what) = 0;
  // a <= b must hold; as above.
  virtual void RequireLessEqual(Dim a, Dim b, absl::string_view what) = 0;
  // a == b, a == 1 or b == 1 must hold; as above. Returns the size of the result.
  virtual Dim RequireBroadcast(Dim a, Dim b, absl::string_view what) = 0;

  // The node cannot be run as it is. The message needs no place; outputs already set are kept.
  virtual void Error(std::string message) = 0;
  // Worth saying: rounding that runtimes disagree about, ambiguity of the standard.
  virtual void Note(std::string message) = 0;

  // For control-flow rules: infers a body with the given types (and known values) of its inputs;
  // types and values of its outputs. Captures are resolved by the pass. A body may be inferred more
  // than once: the last time is what remains, and only `report`ed ones find problems.
  struct RegionResult {
    std::vector<ValueType> types;
    std::vector<KnownValuePtr> values;
    std::vector<ElementBounds> bounds;
  };
  virtual RegionResult InferRegion(RegionId region, absl::Span<const ValueType> input_types,
                                   absl::Span<const KnownValuePtr> input_values, bool report,
                                   absl::Span<const ElementBounds> input_bounds = {}) = 0;
  // Whether the pass can afford to infer this node's bodies `times` more times.
  virtual bool Afford(RegionId region, int64_t times) = 0;
};

}  // namespace footprint

#endif  // FOOTPRINT_IR_INFER_CONTEXT_H_
