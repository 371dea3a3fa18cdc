#include "backend/runtime/onnxruntime_rewrites.h"

namespace footprint {

std::vector<std::string> OptimizeGraph(RuntimeGraph& graph, DimEvaluator& evaluator) {
  Rewriter rewriter(graph, evaluator);
  constexpr int kRounds = 2;  // what one takes out another may need gone
  int64_t before = -1;
  for (int round = 0; round < kRounds && rewriter.changes() > before; ++round) {
    before = rewriter.changes();
    EliminateNodes(rewriter);
    MergeEqualNodes(rewriter);
    FoldConstants(rewriter);
  }
  FuseConvolutions(rewriter);
  FuseLinear(rewriter);
  FuseActivations(rewriter);
  FuseNormalizations(rewriter);
  FuseSelections(rewriter);
  BlockChannels(rewriter);
  return rewriter.Summary();
}

}  // namespace footprint
