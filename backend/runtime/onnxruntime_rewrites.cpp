#include "backend/runtime/onnxruntime_rewrites.h"

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

}  // namespace

std::vector<std::string> OptimizeGraph(RuntimeGraph& graph, DimEvaluator& evaluator) {
  Rewriter rewriter(graph, evaluator);
  Simplify(rewriter);
  FuseConvolutions(rewriter);
  FuseProductBias(rewriter);
  PropagateQuantization(rewriter);
  MoveTransposes(rewriter);
  MendQuantized(rewriter);
  Simplify(rewriter);
  DropRedundantActivations(rewriter);
  MakeUnsigned(rewriter);
  GroupQuantized(rewriter);
  FuseProductActivation(rewriter);
  FuseIntegerProducts(rewriter);
  FuseErfActivations(rewriter);
  FuseNormalizations(rewriter);
  FuseSelections(rewriter);
  FuseProductTransposes(rewriter);
  FuseActivationBias(rewriter);
  FuseNormalizationsOfSums(rewriter);
  FuseSigmoidAndTanhActivations(rewriter);
  FuseActivationBias(rewriter);
  FuseProductScales(rewriter);
  FuseBlockedProducts(rewriter);
  DropInversePairs(rewriter);
  BlockChannels(rewriter);
  PutChannelsLast(rewriter);
  return rewriter.Summary();
}

}  // namespace footprint
