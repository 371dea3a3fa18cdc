#include "ir/ops/lowering/class_facts.h"

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"

namespace footprint {
namespace {

using Up = ClassFact::Up;
using Down = ClassFact::Down;
using FloatLoss = ClassFact::FloatLoss;

// Longer names first where one is the end of another.
constexpr ClassFact kFacts[] = {
    {.class_name = "BloomGelu", .function = "footprint::bloom_gelu",
     .note = "its own autograd function, which saves the input alone"},
    {.class_name = "T5LayerNorm SwitchTransformersLayerNorm Pix2StructLayerNorm Pop2PianoLayerNorm "
                   "UdopLayerNorm",
     .up = Up::kPowOperand, .down = Down::kBeforeWeightToWeight,
     .note = "variance in float32, the product in the weight's type"},
    {.class_name = "torch.nn.modules.normalization.RMSNorm", .note = ""},
    {.class_name = "GemmaRMSNorm Gemma2RMSNorm Gemma3RMSNorm Gemma3nRMSNorm Gemma4RMSNorm "
                   "Qwen3NextRMSNorm Qwen3_5RMSNorm Olmo2RMSNorm Olmo3RMSNorm FlexOlmoRMSNorm "
                   "OlmoHybridRMSNorm GptOssRMSNorm AfmoeRMSNorm HeliumRMSNorm NemotronHRMSNorm "
                   "MoshiRMSNorm KyutaiSpeechToTextRMSNorm NanoChatRMSNorm HrmTextRMSNorm "
                   "Llama4TextL2Norm CohereLayerNorm Cohere2LayerNorm Cohere2MoeLayerNorm "
                   "OlmoLayerNorm",
     .up = Up::kInput, .down = Down::kResultToInput,
     .note = "computed in float32, the result in the input's type"},
    {.class_name = "RMSNorm", .up = Up::kInput, .down = Down::kBeforeWeightToInput,
     .note = "normalised in float32, cast back before the weight"},
    {.class_name = "RotaryEmbedding", .down = Down::kResultToModule,
     .note = "angles in float32, cosine and sine cast back"},
    {.class_name = "DenseActDense DenseGatedActDense", .cast_for = "wo",
     .note = "hidden states in the type of wo.weight"},
    {.class_name = "GPT2Attention", .down = Down::kSoftmaxToHanded,
     .note = "probabilities in the type of the values"},
    {.class_name = "GPTNeoSelfAttention", .up = Up::kScores, .down = Down::kSoftmaxToHanded,
     .note = "scores in float32, probabilities cast back"},
    {.class_name = "GPTJAttention", .up = Up::kScores, .down = Down::kSoftmaxToHanded,
     .note = "scores in float32, probabilities cast back"},
    {.class_name = "CodeGenAttention", .up = Up::kScores, .down = Down::kSoftmaxToHanded,
     .note = "scores in float32, probabilities cast back"},
    {.class_name = "MptAttention", .up = Up::kSoftmaxOperand, .down = Down::kSoftmaxToHanded,
     .note = "softmax in float32, probabilities cast back"},
    {.class_name = "FalconAttention", .softmax_as_hidden = true,
     .note = "softmax in the type of the hidden states"},
    {.class_name = "ModernBertForMaskedLM", .float_loss = FloatLoss::kAlways,
     .note = "logits.float() before the loss"},
    {.class_name = "EuroBertForMaskedLM", .float_loss = FloatLoss::kAlways,
     .note = "logits.float() before the loss"},
    {.class_name = "ForCausalLM", .float_loss = FloatLoss::kOnShiftedLabels,
     .note = "logits.float() before the loss"},
    {.class_name = "ForConditionalGeneration BertGenerationDecoder",
     .float_loss = FloatLoss::kOnShiftedLabels, .note = "logits.float() before the loss"},
    {.class_name = "LMHeadModel", .float_loss = FloatLoss::kOnShiftedLabels,
     .note = "logits.float() before the loss"},
};

}  // namespace

const ClassFact* FindClassFact(absl::string_view class_name) {
  for (const ClassFact& fact : kFacts) {
    for (absl::string_view name : absl::StrSplit(fact.class_name, ' ')) {
      if (absl::EndsWith(class_name, name)) return fact.note.empty() ? nullptr : &fact;
    }
  }
  return nullptr;
}

}  // namespace footprint
