// Files that carry the exporter's own text: which PyTorch operator each ONNX node came from. The
// texts are the program; what is left to say here is where a text does not read like the call it
// was, and what to put back for texts that an optimizer removed.
#ifndef FOOTPRINT_IR_OPS_LOWERING_FX_H_
#define FOOTPRINT_IR_OPS_LOWERING_FX_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ir/provenance.h"
#include "ir/tensor_type.h"

namespace footprint {

enum class FxForm : uint8_t {
  kCall,         // arguments as written
  kView,         // argument 1 is the size of the result
  kSlice,        // no call where it takes the whole axis
  kPart,         // only argument 0 is a tensor, the rest are sizes
  kAxes,         // the same; the exporter merges it with others of its kind
  kSize,         // a Python number: no tensor
  kSame,         // hands argument 0 on
  kConvolution,  // a padding in front of it may have been folded into it
  kBatchNorm,    // the convolution in front of it may have swallowed it
  kParts,        // several results
  kSeveral,      // the same, those of one ONNX node
  kIndex,        // axes of indices stand where they were, which the exporter moves to the front
  kNoise,        // has the type of the tensor that it will meet
};

struct FxLowering {
  absl::string_view target;  // without overload
  FxForm form = FxForm::kCall;
  absl::string_view torch = "";  // the operator to call, if not the target
  // Written into argument 0 where that was made by this operator just before (noise.bernoulli_()).
  absl::string_view in_place_after = "";
  // Asked for float32 by this argument; what follows was cast back to the module's type, which is
  // no call where that is float32 too. -1: no such argument.
  int float_argument = -1;
  // Left out by the module where it comes from shapes alone: a mask that a traced module cannot
  // leave out, which plain calls replace by a flag. -1: no such argument.
  int skipped_argument = -1;
  // Leading arguments that are floating point: what stands for a missing one is so too.
  int float_operands = 0;
  // Leading arguments whose last two axes are theirs and all others those of argument 0: a view in
  // front of them that the exporter merged with its own is put back.
  int batched_operands = 0;
  // Masks argument 1, a bias by position, with argument 0, for attention. A mask from shapes alone
  // is made by traced modules only: others have no mask, or a causal one for all samples at once.
  bool masks_bias = false;
};

// "aten.view.default", "torch.ops.aten.view.default". Targets without a row are calls.
FxLowering FindFxLowering(absl::string_view target);

// A call that the exporter's decompositions write as several texts in a row.
struct FxSequence {
  absl::string_view texts;  // targets, by spaces; "?" behind those that may be absent
  absl::string_view torch;
  // What the call takes: argument 1 of text 0 is "0.1".
  absl::string_view operands = "0.0";
  // A text behind them that hands the result on times a parameter, which the call takes too: its
  // arguments are the operands, the sizes of the reduced axes and the parameter.
  absl::string_view parameter_text = "";
  // Argument that says how a loss is reduced, by a text behind them; -1: it is no loss.
  int reduction_argument = -1;
  bool of_parameters = false;  // it takes nothing else
};
absl::Span<const FxSequence> FxSequences();
// What reduces a loss, by PyTorch's numbers.
inline constexpr absl::string_view kFxReductions[] = {"", "aten.mean.default", "aten.sum.default"};
// Stem of the names of scalars of the code that the export turned into tensors.
inline constexpr absl::string_view kScalarName = "scalar_tensor_default";
// Stem of the names of casts that the export wrote where operands of several types meet: PyTorch
// reads each as it is.
inline constexpr absl::string_view kPromotionName = "convert_element_type_default";

// The operator of one tensor, element by element, that a removed text of this name was ("exp_1");
// empty: none.
absl::string_view FxElementwise(absl::string_view name);
// What stands for a removed text of this name ("clone_2"), given the tensor that takes its place.
enum class FxRepair : uint8_t {
  kSame,        // views and no-ops
  kContiguous,  // a copy if the tensor is not contiguous
  kJoin,        // a list of this tensor and empty ones, put together
  kCopy,        // always a copy
  kNew,         // arithmetic with 0 or 1: a new tensor
};
FxRepair FindFxRepair(absl::string_view name);
// The calls that repairs make.
inline constexpr absl::string_view kContiguousCall = "aten::contiguous";
inline constexpr absl::string_view kCopyCall = "aten::clone";
inline constexpr absl::string_view kJoinCall = "aten::cat";
inline constexpr absl::string_view kScaleCall = "aten::mul";
inline constexpr absl::string_view kToCall = "aten::to";
inline constexpr absl::string_view kTypeAsCall = "aten::type_as";
inline constexpr absl::string_view kToModuleTypeCall = "footprint::to_module_type";
inline constexpr absl::string_view kProductCall = "aten::matmul";
inline constexpr absl::string_view kLinearCall = "aten::linear";
inline constexpr absl::string_view kSoftmaxCall = "aten::softmax";
inline constexpr absl::string_view kPowCall = "aten::pow";
// Of the labels, in losses that predict the next token.
inline constexpr absl::string_view kShiftCall = "aten::pad";
inline constexpr absl::string_view kEmptyCall = "aten::empty";
inline constexpr absl::string_view kNoiseCall = "aten::new_empty";
inline constexpr absl::string_view kPadCall = "aten::constant_pad_nd";
inline constexpr absl::string_view kSliceCall = "aten::slice";
inline constexpr absl::string_view kSplitCall = "aten::split_with_sizes";
inline constexpr absl::string_view kExpandCall = "aten::expand";
// Makes a mask causal: positions up to the own one.
inline constexpr absl::string_view kCausalCall = "aten::le";
inline constexpr absl::string_view kAttentionText = "aten.scaled_dot_product_attention";
// Stem of the names that texts have for elements of a list.
inline constexpr absl::string_view kItemName = "getitem";
// What is left of axes that the exporter merged: the order of the ONNX node, or the sizes alone.
inline constexpr absl::string_view kMergedOrder = "Transpose";
inline constexpr absl::string_view kMergedOrderCall = "aten::permute";
inline constexpr absl::string_view kMergedAxesCall = "aten::view";
// A product of matrices, between views of its operands and of its result.
inline constexpr absl::string_view kMergedProduct = "MatMul";
inline constexpr absl::string_view kBatchedProductCall = "aten::bmm";
inline constexpr absl::string_view kFlatProductCall = "aten::mm";
inline constexpr absl::string_view kFlatProductName = "mm";
inline constexpr absl::string_view kReshapeCall = "aten::reshape";
inline constexpr absl::string_view kBatchNormCall = "aten::batch_norm";

// A weight that the module keeps as a length and a direction for each output, and multiplies in
// each step; of small ones the exporter keeps the product alone.
struct FxFactors {
  absl::string_view folder;  // below the module
  absl::string_view length;
  absl::string_view direction;
};
inline constexpr FxFactors kFxFactors[] = {
    {".parametrizations.weight", "original0", "original1"},
    {"", "weight_g", "weight_v"},
};
inline constexpr absl::string_view kFactorsCall = "aten::weight_norm";
// Divided by its largest singular value instead, which two vectors follow.
inline constexpr absl::string_view kFxSpectralFolder = ".parametrizations.weight";
inline constexpr absl::string_view kFxSpectralWeight = "original";
inline constexpr absl::string_view kFxSpectralRows = "0._u";
inline constexpr absl::string_view kFxSpectralColumns = "0._v";
inline constexpr absl::string_view kSpectralCall = "footprint::spectral_norm";
inline constexpr int kWeightArgument = 1;

// Of buffers that hold what another one of the module was at first ("original_inv_freq"): equal
// when exported, so the file has one tensor for both.
inline constexpr absl::string_view kOriginalPrefix = "original_";

// Operators that a norm behind them is folded into.
bool SwallowsNorm(absl::string_view onnx_op);
inline constexpr size_t kBiasArgument = 2;  // of the calls that they stand for
// The rewrite that folds a padding into the convolution behind it.
inline constexpr absl::string_view kPadNode = "Pad";
inline constexpr absl::string_view kFoldedPadRule = "FuseConvPad";

// The name without its number: "clone" for "clone_2".
absl::string_view FxStem(absl::string_view name);

// A dropout that is active, or noise that drops whole paths: the module was in training mode.
bool FxDrops(const FxNode& node);

// A constant of this name was computed when the file was made: it is what a call gave ("where_1"),
// not a tensor of the module's ("m.weight") nor one of the exporter's own ("val_3").
bool FxIsComputed(absl::string_view name);
// The call gave a view of its operand.
bool FxIsView(absl::string_view name);
inline constexpr absl::string_view kSpreadName = "expand";
// Stem of the names of rows that were looked up in a table.
inline constexpr absl::string_view kLookupName = "embedding";
inline constexpr absl::string_view kTableName = ".weight";
inline constexpr absl::string_view kLookupCall = "aten::embedding";
inline constexpr absl::string_view kScalingText = "aten.mul";

// Size of a parameter that the file has no tensor for, from the operator that reads it as argument
// `argument`: `first` is the type of argument 0 (1 for addmm), `result` that of the result.
std::optional<Dims> FxParameterDims(const FxNode& node, int argument, const TensorType& first,
                                    const TensorType& result);
// Argument `argument` of the operator is a bias.
bool FxIsBias(const FxNode& node, int argument);
// What modules call theirs ends so.
inline constexpr absl::string_view kBiasName = "bias";

}  // namespace footprint

#endif  // FOOTPRINT_IR_OPS_LOWERING_FX_H_
