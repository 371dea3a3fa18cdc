// What value rules of several families are made of: contents of small tensors, row-major.
#ifndef FOOTPRINT_IR_OPS_ONNX_VALUES_H_
#define FOOTPRINT_IR_OPS_ONNX_VALUES_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "ir/infer_context.h"
#include "ir/ops/onnx/rules.h"

namespace footprint {

// Contents of larger tensors are not followed.
constexpr int64_t kMaxKnownElements = 4096;

KnownValuePtr IntegerValue(std::vector<Dim> integers);
KnownValuePtr FloatValue(std::vector<double> floats);
// `count` times the same element.
KnownValuePtr Filled(const KnownValue& element, int64_t count);
int64_t ElementsOf(const KnownValue& value);

// The sizes of a tensor if all are constant and it is small enough to be followed.
bool SmallSizes(const ValueType& type, Sizes* sizes);
int64_t Product(const Sizes& sizes);
// Row-major strides, in elements.
Sizes Strides(const Sizes& sizes);

// Steps through all positions of `sizes` in row-major order: call Next() until it is false.
class Odometer {
 public:
  explicit Odometer(const Sizes& sizes) : sizes_(sizes), at_(sizes.size(), 0) {}
  int64_t operator[](size_t axis) const { return at_[axis]; }
  const Sizes& at() const { return at_; }
  bool Next();

 private:
  const Sizes& sizes_;
  Sizes at_;
};

// result[i] = source[index[i]]; where index[i] is -1, `fill` (a single element; null: unknown, or
// nothing at all for floats).
KnownValuePtr Pick(const KnownValue& source, absl::Span<const int64_t> index,
                   const KnownValue* fill = nullptr);
// All elements of `parts`, one after the other; null if they do not fit together.
KnownValuePtr Join(absl::Span<const KnownValuePtr> parts);
// For each position of `to`, the one that a tensor of sizes `from` broadcasts there.
std::vector<int64_t> BroadcastIndex(const Sizes& from, const Sizes& to);

// A double as numerator / denominator (a power of two), if both are small enough.
bool AsRatio(double value, int64_t* numerator, int64_t* denominator);
// A float value whose elements are ratios instead of doubles; null if one is no such ratio.
KnownValuePtr AsRatios(const KnownValue& value);

// Rounds or wraps to what an element of the given type can hold.
double RoundedTo(ElementType type, double value);
Dim WrappedTo(ElementType type, Dim value);

// Elements of output 0 are elements of input 0: what bounds these bounds those.
void KeepBounds(InferContext& c);
// Output 0 holds the elements of input 0 in the same order.
void SameElements(InferContext& c);
// Set the elements of output 0, as its element type can hold them.
void SetRounded(InferContext& c, std::vector<double> floats);
void SetWrapped(InferContext& c, std::vector<Dim> integers);

}  // namespace footprint

#endif  // FOOTPRINT_IR_OPS_ONNX_VALUES_H_
