// How ONNX Runtime rewrites a graph before it plans it, as far as known.
#ifndef FOOTPRINT_BACKEND_RUNTIME_ONNXRUNTIME_REWRITES_H_
#define FOOTPRINT_BACKEND_RUNTIME_ONNXRUNTIME_REWRITES_H_

#include <string>
#include <vector>

#include "backend/runtime/rewriter.h"

namespace footprint {

// All of them. What was applied, in words, with counts.
std::vector<std::string> OptimizeGraph(RuntimeGraph& graph, DimEvaluator& evaluator,
                                       const InferredTypes& inferred, const InferredTypes& visible);

// The parts, in the order in which they are applied.
void FoldConstants(Rewriter& rewriter);
void FoldRearranged(Rewriter& rewriter);  // what is stored and transposed or squeezed
// Whether the branch of any If is known.
bool InlineBranches(Rewriter& rewriter, const InferredTypes& inferred,
                    const InferredTypes& visible);
void EliminateNodes(Rewriter& rewriter);
void MergeEqualNodes(Rewriter& rewriter);
void FuseShapes(Rewriter& rewriter);            // that a Reshape copies
void FoldIntoConvolutions(Rewriter& rewriter);  // normalization and numbers by channel
void FuseProductBias(Rewriter& rewriter);
void MoveTransposes(Rewriter& rewriter);
void PropagateQuantization(Rewriter& rewriter);
void DequantizeChoices(Rewriter& rewriter);  // stored numbers beside a dequantized operand
void MendQuantized(Rewriter& rewriter);      // after transpositions were moved
void DropRedundantActivations(Rewriter& rewriter);
void MakeUnsigned(Rewriter& rewriter);    // bytes between quantization and dequantization
void GroupQuantized(Rewriter& rewriter);  // operators on integers
void FuseProductActivation(Rewriter& rewriter);
void FuseIntegerProducts(Rewriter& rewriter);
void FuseConvolutionActivation(Rewriter& rewriter);
void FuseConvolutionSum(Rewriter& rewriter);  // of images that are not in blocks
void FuseErfActivations(Rewriter& rewriter);
void FuseNormalizations(Rewriter& rewriter);
void FuseSelections(Rewriter& rewriter);  // several pieces of one tensor
void FuseProductTransposes(Rewriter& rewriter);
void FuseActivationBias(Rewriter& rewriter);  // a stored row added before
void FuseNormalizationsOfSums(Rewriter& rewriter);
void FuseSigmoidAndTanhActivations(Rewriter& rewriter);
void FuseProductScales(Rewriter& rewriter);
void FuseBlockedProducts(Rewriter& rewriter);  // weights of a few bits, with their bias
void DropInversePairs(Rewriter& rewriter);
void PutChannelsLast(Rewriter& rewriter);
void BlockChannels(Rewriter& rewriter);  // convolutions on blocks of channels

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_RUNTIME_ONNXRUNTIME_REWRITES_H_
