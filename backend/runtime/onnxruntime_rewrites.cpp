#include "backend/runtime/onnxruntime_rewrites.h"

#include "backend/runtime/onnxruntime.h"

namespace footprint {

namespace {

void Simplify(Rewriter& rewriter) {
  constexpr int kRounds = 2;  // what one takes out another may need gone
  int64_t before = -1;
  for (int round = 0; round < kRounds && rewriter.changes() > before; ++round) {
    before = rewriter.changes();
    EliminateNodes(rewriter);
    MergeEqualNodes(rewriter);
    FoldConstants(rewriter);
  }
}

// Whatever runs the nodes.
void OptimizeAny(Rewriter& rewriter, const InferredTypes& inferred, const InferredTypes& visible) {
  Simplify(rewriter);
  while (InlineBranches(rewriter, inferred, visible)) Simplify(rewriter);
  FuseShapes(rewriter);
  FoldIntoConvolutions(rewriter);
  FuseProductBias(rewriter);
  if (DuplicateDequantization(rewriter.graph())) rewriter.FindUsesAgain();
  PropagateQuantization(rewriter);
  DequantizeChoices(rewriter);
  MoveTransposes(rewriter);
  MendQuantized(rewriter);
  Simplify(rewriter);
}

// One round of what has kernels of the CPU.
void FuseForKernels(Rewriter& rewriter) {
  FuseProductActivation(rewriter);
  FuseIntegerProducts(rewriter);
  FuseConvolutionActivation(rewriter);
  FuseErfActivations(rewriter);
  FuseNormalizations(rewriter);
  FuseSelections(rewriter);
  FuseProductTransposes(rewriter);
  FuseActivationBias(rewriter);
  FuseNormalizationsOfSums(rewriter);
  FuseSigmoidAndTanhActivations(rewriter);
  FuseProductScales(rewriter);
  FuseBlockedProducts(rewriter);
  DropInversePairs(rewriter);
}

void OptimizeKernels(Rewriter& rewriter) {
  DropRedundantActivations(rewriter);
  MakeUnsigned(rewriter);
  GroupQuantized(rewriter);
  FoldRearranged(rewriter);
  constexpr int kRounds = 3;  // one may make what another looks for
  int64_t before = -1;
  for (int round = 0; round < kRounds && rewriter.changes() > before; ++round) {
    before = rewriter.changes();
    FuseForKernels(rewriter);
  }
  BlockChannels(rewriter);
  FuseConvolutionSum(rewriter);
  PutChannelsLast(rewriter);
}

}  // namespace

std::vector<std::string> OptimizeGraph(RuntimeGraph& graph, DimEvaluator& evaluator,
                                       const InferredTypes& inferred,
                                       const InferredTypes& visible) {
  Rewriter rewriter(graph, evaluator);
  OptimizeAny(rewriter, inferred, visible);
  if (HasHalf(graph)) {
    FuseSelections(rewriter);
    ExpandFunctions(graph, true, true);
    CastHalf(graph, evaluator, true);
    rewriter.FindUsesAgain();
    MoveTransposes(rewriter);
  }
  OptimizeKernels(rewriter);
  return rewriter.Summary();
}

}  // namespace footprint
