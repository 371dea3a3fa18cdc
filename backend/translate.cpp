#include "backend/translate.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "passes/optimizer.h"

namespace footprint {
namespace {

LossKind ToLossKind(Loss loss) {
  switch (loss) {
    case Loss::kAuto:
      return LossKind::kAuto;
    case Loss::kNone:
      return LossKind::kNone;
    case Loss::kCrossEntropy:
      return LossKind::kCrossEntropy;
    case Loss::kMse:
      return LossKind::kMse;
    case Loss::kSum:
      return LossKind::kSum;
  }
  return LossKind::kAuto;
}

AttentionKernel ToKernel(Attention attention) {
  switch (attention) {
    case Attention::kAuto:
      return AttentionKernel::kAuto;
    case Attention::kMath:
      return AttentionKernel::kMath;
    case Attention::kEfficient:
      return AttentionKernel::kEfficient;
    case Attention::kFlash:
      return AttentionKernel::kFlash;
    case Attention::kCudnn:
      return AttentionKernel::kCudnn;
  }
  return AttentionKernel::kAuto;
}

bool IsFused(Attention attention) {
  return attention == Attention::kEfficient || attention == Attention::kFlash ||
         attention == Attention::kCudnn;
}

std::string OptimizerNameList() {
  std::string names;
  for (const Optimizer& optimizer : AllOptimizers()) {
    absl::StrAppend(&names, names.empty() ? "" : ", ", optimizer.name);
  }
  return names;
}

}  // namespace

LowerOptions ToLowerOptions(const Options& options) {
  LowerOptions result;
  result.loss = ToLossKind(options.loss);
  result.recompose_modules = options.modules == Modules::kRecomposed;
  result.fuse_attention = IsFused(options.attention);
  return result;
}

bool ScalesLoss(const Options& options) {
  if (options.grad_scaler == GradScaler::kAuto) return options.precision == Precision::kAmpFp16;
  return options.grad_scaler == GradScaler::kOn;
}

ReplayOptions ToReplayOptions(const Options& options, DiagnosticSink& sink) {
  ReplayOptions result;
  result.attention = ToKernel(options.attention);
  result.optimizer = FindOptimizer(options.optimizer);
  if (result.optimizer == nullptr) {
    sink.UsageError("unknown-optimizer", absl::StrCat("--optimizer ", options.optimizer),
                    absl::StrCat("expected one of ", OptimizerNameList()));
  }
  const bool takes_16_bits = options.attention == Attention::kFlash ||
                             options.attention == Attention::kCudnn;
  if (takes_16_bits && options.precision == Precision::kFp32) {
    sink.Note("attention-kernel", "--attention",
              "PyTorch's flash and cuDNN kernels take float16 and bfloat16 alone; float32 runs in "
              "the efficient kernel, and the figures are of that one");
  }
  result.scales_loss = ScalesLoss(options);
  result.accumulates = options.accumulate > 1;
  result.drop_inputs_before_optimizer = options.drop_step_inputs;
  switch (options.precision) {
    case Precision::kBf16:
      result.module = ElementType::kBfloat16;
      break;
    case Precision::kFp16:
      result.module = ElementType::kFloat16;
      break;
    case Precision::kAmpBf16:
      result.autocast = ElementType::kBfloat16;
      break;
    case Precision::kAmpFp16:
      result.autocast = ElementType::kFloat16;
      break;
    case Precision::kMixedMaster:
      result.module = ElementType::kBfloat16;
      result.master_weights = true;
      sink.Note("assumed", "--precision mixed:master",
                "a bf16 module; the optimizer keeps float32 copies and float32 state, and casts "
                "the gradients for its step");
      break;
    case Precision::kFp32:
      break;
  }
  return result;
}

std::string DescribeLoss(const TorchProgram& program, const Options& options) {
  if (!program.loss.valid()) return "none: the model has no floating-point output";
  if (program.values[program.loss].onnx_value.valid()) return "from the model";
  const char* origin = options.loss == Loss::kAuto ? " (assumed)" : " (asked for)";
  for (size_t i = program.calls.size(); i-- > 0;) {
    const TorchCall& call = program.calls[CallId(i)];
    if (std::find(call.results.begin(), call.results.end(), program.loss) != call.results.end()) {
      return absl::StrCat(absl::StripPrefix(call.op->name, "aten::"), origin);
    }
  }
  return absl::StrCat("the output itself", origin);
}

}  // namespace footprint
