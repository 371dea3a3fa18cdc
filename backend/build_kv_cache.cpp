// The cache of keys and values: what a token adds to it, and the length at which a device is full.
#include <algorithm>
#include <vector>

#include "backend/build_report.h"
#include "backend/runtime/kv_cache.h"

namespace footprint {
namespace {

// Of one position along the axis that grows.
Dim BytesPerToken(const TensorType& type, int axis, DimTable& dims) {
  TensorType one = type;
  one.element_count = Dim();
  one.dims[static_cast<size_t>(axis)] = Dim(1);
  return ByteCount(one, dims);
}

std::optional<int64_t> MemoryOf(const Analysis& analysis) {
  if (analysis.options.device_memory) return analysis.options.device_memory;
  return analysis.device ? std::optional<int64_t>(analysis.device->memory_bytes) : std::nullopt;
}

}  // namespace

std::optional<KvCacheReport> BuildKvCache(Analysis& analysis, const InferenceReport& inference) {
  const std::vector<CacheTensor> cache = FindKvCache(analysis.graph(), analysis.inferred);
  if (cache.empty()) return std::nullopt;
  KvCacheReport report;
  report.tensors = static_cast<int64_t>(cache.size());
  report.shared = true;
  DimTable& dims = analysis.dims();
  Dim per_token = 0;
  Dim past = 0;
  Dim present = 0;
  for (const CacheTensor& tensor : cache) {
    const TensorType& type = analysis.inferred.types[tensor.past].tensor;
    past = dims.Add(past, ByteCount(type, dims));
    report.shared &= tensor.shared;
    report.assumed |= tensor.named;
    if (tensor.present.valid()) {
      present = dims.Add(present, ByteCount(analysis.inferred.types[tensor.present].tensor, dims));
    }
    per_token =
        dims.Add(per_token, tensor.axis < 0 ? Dim() : BytesPerToken(type, tensor.axis, dims));
  }
  report.past_bytes = analysis.evaluator.Evaluate(past);
  report.present_bytes = analysis.evaluator.Evaluate(present);
  report.bytes_per_token = analysis.evaluator.Evaluate(per_token);
  if (report.bytes_per_token) report.bytes_per_token_expression = dims.ToString(per_token);
  const std::optional<int64_t> memory = MemoryOf(analysis);
  if (!memory || report.bytes_per_token.value_or(0) <= 0) return report;
  if (!inference.weight_bytes || inference.runtimes.empty() || !report.past_bytes) return report;
  const Bytes peak = inference.runtimes.back().activation_peak_bytes;
  if (!peak) return report;
  // Past and present are both there unless they are one buffer; the rest of the peak stays.
  const int64_t copies = report.shared ? 1 : 2;
  const int64_t rest = std::max<int64_t>(*peak - report.present_bytes.value_or(0), 0);
  const int64_t other_inputs =
      std::max<int64_t>(inference.input_bytes.value_or(0) - *report.past_bytes, 0);
  const int64_t left = *memory - *inference.weight_bytes - rest - other_inputs;
  report.full_at_length = std::max<int64_t>(left, 0) / copies / *report.bytes_per_token;
  return report;
}

}  // namespace footprint
