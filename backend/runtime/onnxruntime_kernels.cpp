// The kernels of ONNX Runtime's CPU provider, as far as they differ from "every output has a buffer
// of its own and nothing is taken beside". In place and scratch are as measured, one small graph
// each, with arena and memory patterns off.
#include <algorithm>
#include <iterator>
#include <utility>

#include "backend/runtime/onnxruntime_scratch.h"

namespace footprint {
namespace {

constexpr absl::string_view kMicrosoft = "com.microsoft";
constexpr absl::string_view kNchwc = "com.microsoft.nchwc";

const std::vector<Kernel>& Kernels() {
  static const auto& kernels = *new std::vector<Kernel>{
      {.name = "Relu", .inplace = 1},
      {.name = "Sigmoid", .inplace = 1},
      {.name = "Tanh", .inplace = 1},
      {.name = "HardSigmoid", .inplace = 1},
      {.name = "LeakyRelu", .inplace = 1},
      {.name = "Elu", .inplace = 1},
      {.name = "Selu", .inplace = 1},
      {.name = "Celu", .inplace = 1},
      {.name = "Softplus", .inplace = 1},
      {.name = "Softsign", .inplace = 1},
      {.name = "ThresholdedRelu", .inplace = 1},
      {.name = "Shrink", .inplace = 1},
      {.name = "Clip", .inplace = 1},
      {.name = "Softmax",
       .inplace = 1,
       .inplace_element = ElementType::kFloat,
       .scratch = SoftmaxScratch},
      {.name = "LogSoftmax",
       .inplace = 1,
       .inplace_element = ElementType::kFloat,
       .scratch = SoftmaxScratch},
      {.name = "Hardmax", .scratch = SoftmaxScratch},
      {.name = "LogSoftmaxOfChannels", .inplace = 1, .scratch = TwoMoreScratch},
      {.name = "LoopOfNumbers", .scratch = LoopOfNumbersScratch},
      {.name = "Trilu", .inplace = 1},
      {.name = "TensorScatter", .inplace = 1},
      {.name = "Multinomial", .scratch = MultinomialScratch},
      {.name = "Cast", .inplace = 1},
      {.name = "ScatterElements", .inplace = 1},
      // Running statistics of training are written over the stored ones.
      {.name = "BatchNormalization",
       .scratch = BatchStatisticsScratch,
       .also_alias = {{3, 1}, {4, 2}}},
      {.name = "Conv", .scratch = ConvScratch},
      {.name = "ConvTranspose", .scratch = ConvTransposeScratch, .packs = PackTransposedFilter},
      {.name = "Where", .scratch = WhereScratch},
      {.name = "LRN", .scratch = LrnScratch},
      {.name = "MeanVarianceNormalization", .scratch = TwoMoreScratch},
      {.name = "Einsum", .scratch = EinsumScratch},
      {.name = "Resize", .scratch = ResizeScratch},
      {.name = "LSTM", .scratch = LstmScratch, .packs = PackGates},
      {.name = "GRU", .scratch = GruScratch, .packs = PackGatesApart},
      {.name = "RNN", .scratch = RnnScratch},
      {.name = "Sum", .scratch = ManyOperandsScratch},
      {.name = "Max", .scratch = ManyOperandsScratch},
      {.name = "Min", .scratch = ManyOperandsScratch},
      {.name = "Mean", .scratch = ManyOperandsScratch},
      {.name = "Attention", .scratch = AttentionScratch},
      {.name = "DeformConv", .scratch = DeformConvScratch},
      {.name = "DFT", .scratch = DftScratch},
      {.name = "STFT", .scratch = StftScratch},
      {.name = "ConvInteger", .scratch = IntegerConvScratch},
      {.name = "SequenceErase", .also_alias = {{0, 0}}},  // the rest is not copied
      {.name = "QLinearConv", .scratch = QuantizedConvScratch, .packs = PackIntegerFilter},
      {.name = "QLinearMatMul", .scratch = SumsScratch, .packs = PackIntegers},
      {.name = "MatMul", .packs = PackMatrix},
      {.name = "Gemm", .packs = PackMatrix},
      {.name = "MatMulInteger", .packs = PackIntegers},
      {.name = "LayerNormalization", .scratch = HalfScalesScratch, .packs = PackWideScales},
      {.name = "SimplifiedLayerNormalization",
       .scratch = HalfScalesScratch,
       .packs = PackWideScales},
      {.name = "RMSNormalization", .scratch = HalfScalesScratch, .packs = PackWideScales},
      {.name = "SkipLayerNormalization",
       .domain = kMicrosoft,
       .scratch = HalfSkipScratch,
       .packs = PackWideScales},
      {.name = "SkipSimplifiedLayerNormalization",
       .domain = kMicrosoft,
       .scratch = HalfSkipScratch,
       .packs = PackWideScales},
      {.name = "FusedMatMul", .domain = kMicrosoft, .packs = PackMatrix},
      {.name = "FusedGemm", .domain = kMicrosoft, .packs = PackMatrix},
      {.name = "MatMulIntegerToFloat", .domain = kMicrosoft, .packs = PackIntegers},
      {.name = "DynamicQuantizeLSTM", .domain = kMicrosoft, .packs = PackIntegerGates},
      {.name = "QLinearConv",
       .domain = kMicrosoft,
       .scratch = QuantizedConvLastScratch,
       .packs = PackIntegerFilter},
      {.name = "MatMulNBits",
       .domain = kMicrosoft,
       .scratch = BlockedOperandScratch,
       .packs = PackFewBits},
      {.name = "QLinearAveragePool", .domain = kMicrosoft, .scratch = QuantizedPoolScratch},
      {.name = "QLinearSoftmax", .domain = kMicrosoft, .scratch = SoftmaxScratch},
      {.name = "QLinearWhere", .domain = kMicrosoft, .scratch = QuantizedWhereScratch},
      {.name = "NhwcMaxPool", .domain = kMicrosoft, .scratch = PoolLastScratch},
      {.name = "QGemm",
       .domain = kMicrosoft,
       .scratch = QuantizedGemmScratch,
       .packs = PackIntegers},
      {.name = "FusedConv", .domain = kMicrosoft, .inplace = 1 << 3, .scratch = ConvScratch},
      {.name = "BiasGelu", .domain = kMicrosoft, .scratch = OneMoreScratch},
      {.name = "FastGelu", .domain = kMicrosoft, .scratch = WithBiasScratch},
      {.name = "DynamicQuantizeMatMul",
       .domain = kMicrosoft,
       .scratch = QuantizedOperandScratch,
       .packs = PackIntegers},
      {.name = "Attention",
       .domain = kMicrosoft,
       .scratch = PackedAttentionScratch,
       .packs = PackHeads},
      {.name = "QAttention",
       .domain = kMicrosoft,
       .scratch = QuantizedAttentionScratch,
       .packs = PackIntegerHeads},
      {.name = "MultiHeadAttention", .domain = kMicrosoft, .scratch = MultiHeadAttentionScratch},
      {.name = "GroupQueryAttention",
       .domain = kMicrosoft,
       .scratch = GroupQueryAttentionScratch,
       .also_inplace = {{3, 1}, {4, 2}}},
      {.name = "SparseAttention",  // the past is shared
       .domain = kMicrosoft,
       .scratch = SparseAttentionScratch,
       .also_alias = {{3, 1}, {4, 2}}},
      {.name = "DecoderMaskedMultiHeadAttention",
       .domain = kMicrosoft,
       .scratch = DecoderMaskedAttentionScratch},
      {.name = "LinearAttention", .domain = kMicrosoft, .scratch = LinearAttentionScratch},
      {.name = "Trilu", .domain = kMicrosoft, .inplace = 1},
      {.name = "SampleOp", .domain = kMicrosoft, .inplace = 1},
      {.name = "ExpandDims", .domain = kMicrosoft, .also_alias = {{0, 0}}},
      {.name = "ConvTransposeWithDynamicPads",
       .domain = kMicrosoft,
       .scratch = ConvTransposeScratch},
      {.name = "MoE", .domain = kMicrosoft, .scratch = MoeScratch},
      {.name = "QMoE", .domain = kMicrosoft, .scratch = QuantizedMoeScratch},
      {.name = "WordConvEmbedding", .domain = kMicrosoft, .scratch = WordConvolutionScratch},
      {.name = "AttnLSTM", .domain = kMicrosoft, .scratch = AttentionLstmScratch},
      {.name = "MatMulBnb4", .domain = kMicrosoft, .scratch = WholeMatrixScratch},
      {.name = "Conv", .domain = kNchwc, .inplace = 1 << 3, .packs = PackBlockedFilter},
  };
  return kernels;
}

}  // namespace

absl::Span<const Kernel> OnnxRuntimeKernels() { return Kernels(); }

const Kernel* FindKernel(const RuntimeNode& node) {
  for (const Kernel& kernel : Kernels()) {
    if (kernel.name == node.op_type && kernel.domain == node.domain) return &kernel;
  }
  return nullptr;
}

}  // namespace footprint
