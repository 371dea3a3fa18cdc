// What type rules of several families are made of.
#ifndef FOOTPRINT_IR_OPS_ONNX_RULES_H_
#define FOOTPRINT_IR_OPS_ONNX_RULES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ir/infer_context.h"

namespace footprint {

// Tensors of a higher rank are taken as tensors of unknown rank.
constexpr int64_t kMaxRank = 256;

using Sizes = absl::InlinedVector<int64_t, 8>;

// Output 0 has the type of input 0. Also for sequences and optionals.
void SameAsInput0(InferContext& c);
// Every output has the type of input 0.
void AllSameAsInput0(InferContext& c);
// Outputs take the types of the inputs in turn: output i that of input i.
void OutputsLikeInputs(InferContext& c);
// Output 0 has the shape of input 0 and is boolean.
void BoolLikeInput0(InferContext& c);

void CopyType(InferContext& c, int input, int output);
void CopyShape(InferContext& c, int input, int output, ElementType element);
void SetRanked(InferContext& c, int output, ElementType element, absl::Span<const Dim> dims);
void SetUnranked(InferContext& c, int output, ElementType element);
// Of known rank, no size known.
void SetRankOnly(InferContext& c, int output, ElementType element, int64_t rank);
// Output 0 of the given element type broadcasts inputs [first, first + count).
void SetBroadcast(InferContext& c, ElementType element, int first, int count);

// Output 0 joins inputs first, first + step, ... along `axis`, which may be negative.
void SetConcat(InferContext& c, ElementType element, int first, int step, int64_t axis);

// The dims that `operands` broadcast to; false if a rank is unknown. Null operands are skipped.
bool BroadcastDims(InferContext& c, absl::Span<const TensorType* const> operands, Dims* result);
Dims BroadcastDims(InferContext& c, absl::Span<const Dim> a, absl::Span<const Dim> b);

// `axis` counted from the front; nullopt after an error if it is out of range.
std::optional<int> NormalAxis(InferContext& c, int64_t axis, int rank);

enum class Known : uint8_t { kAbsent, kYes, kNo };
// Integers of attribute `attribute`, or of input `input` (-1: never an input).
Known ReadInts(InferContext& c, absl::string_view attribute, int input, Sizes* result);
// As ReadInts, counted from the front. `rank` is that of what they index. kNo after an error too.
Known ReadAxes(InferContext& c, absl::string_view attribute, int input, int rank, Sizes* axes);

// As ReadInts, but symbolic elements and single unknown ones are fine.
Known ReadDims(InferContext& c, absl::string_view attribute, int input, std::vector<Dim>* result);

// The element type an integer attribute names; `otherwise` if absent, kUndefined after an error.
ElementType ElementAttribute(InferContext& c, absl::string_view name, ElementType otherwise);
// The only element of an integer input; unknown if its contents are not known.
Dim ScalarInput(InferContext& c, int input);
// The number of elements of a one-dimensional input; unknown if not known.
Dim LengthOf(InferContext& c, int input);
// LengthOf as a usable rank, or nullopt.
std::optional<int> RankFromLength(InferContext& c, int input);

// Input `i` if its rank is known to be at least `rank`. Null if it is not known; an error and null
// if it is known to be less. `name` is the operand's name in the standard.
const TensorType* RequireRankAtLeast(InferContext& c, int i, int rank, absl::string_view name);
const TensorType* RequireRank(InferContext& c, int i, int rank, absl::string_view name);

// Negative axes count from the back; unknown if there is no such axis.
Dim DimOf(const TensorType* type, int axis);

}  // namespace footprint

#endif  // FOOTPRINT_IR_OPS_ONNX_RULES_H_
