#include "backend/report_json_runtimes.h"

namespace footprint {
namespace {

using Layout = JsonWriter::Layout;

void WriteBuffer(const RuntimeBuffer& buffer, JsonWriter* json) {
  json->BeginObject(Layout::kOneLine);
  json->Field("id", buffer.id);
  json->Field("bytes", buffer.bytes);
  json->Field("first_step", buffer.first_step);
  json->Field("last_step", buffer.last_step);
  json->Field("at_peak", buffer.at_peak);
  json->Key("tensors");
  json->BeginArray(Layout::kOneLine);
  for (const PlannedTensor& tensor : buffer.tensors) {
    json->BeginObject(Layout::kOneLine);
    json->Field("name", tensor.name);
    json->Field("bytes", tensor.bytes);
    json->Field("placement", tensor.placement);
    json->EndObject();
  }
  json->EndArray();
  json->EndObject();
}

void WriteGap(const RuntimeGap& gap, JsonWriter* json) {
  json->BeginObject(Layout::kOneLine);
  json->Field("bytes", gap.bytes);
  json->Field("buffer", gap.buffer);
  json->Field("held_for", gap.held_for);
  json->Field("reason", gap.reason);
  json->EndObject();
}

void WriteRuntime(const RuntimeReport& runtime, JsonWriter* json) {
  json->BeginObject(Layout::kLines);
  json->Field("name", runtime.name);
  json->Field("optimization", runtime.optimization);
  json->Field("activation_peak_bytes", runtime.activation_peak_bytes);
  json->Field("scratch_bytes", runtime.scratch_bytes);
  json->Field("unknown_buffers", runtime.unknown_buffers);
  json->FieldOrNull("peak_step", runtime.peak_step);
  json->Field("folded_constant_bytes", runtime.folded_constant_bytes);
  json->Field("dequantized_weight_bytes", runtime.dequantized_weight_bytes);
  json->Field("pattern_block_bytes", runtime.pattern_block_bytes);
  json->Field("pattern_peak_bytes", runtime.pattern_peak_bytes);
  json->Field("arena_power_of_two_bytes", runtime.arena_power_of_two_bytes);
  json->Field("arena_as_requested_bytes", runtime.arena_as_requested_bytes);
  json->Field("weight_bytes", runtime.weight_bytes);
  json->Field("prepacked_weight_bytes", runtime.prepacked_weight_bytes);
  json->Field("released_weight_bytes", runtime.released_weight_bytes);
  json->FieldOrNull("prepacked_for", runtime.prepacked_for);
  json->Strings("rewrites", runtime.rewrites);
  json->Key("gaps");
  json->BeginArray(Layout::kLines);
  for (const RuntimeGap& gap : runtime.gaps) WriteGap(gap, json);
  json->EndArray();
  json->Key("buffers");
  json->BeginArray(Layout::kLines);
  for (const RuntimeBuffer& buffer : runtime.buffers) WriteBuffer(buffer, json);
  json->EndArray();
  json->EndObject();
}

}  // namespace

void WriteKvCache(const std::optional<KvCacheReport>& cache, JsonWriter* json) {
  json->Key("kv_cache");
  if (!cache) return json->Null();
  json->BeginObject(Layout::kLines);
  json->Field("tensors", cache->tensors);
  json->Field("past_bytes", cache->past_bytes);
  json->Field("present_bytes", cache->present_bytes);
  json->Field("shared", cache->shared);
  json->Field("assumed", cache->assumed);
  json->Field("bytes_per_token", cache->bytes_per_token);
  json->FieldOrNull("bytes_per_token_expression", cache->bytes_per_token_expression);
  json->Field("full_at_length", cache->full_at_length);
  json->EndObject();
}

void WriteRuntimes(const std::vector<RuntimeReport>& runtimes, JsonWriter* json) {
  json->Key("runtimes");
  json->BeginArray(Layout::kLines);
  for (const RuntimeReport& runtime : runtimes) WriteRuntime(runtime, json);
  json->EndArray();
}

}  // namespace footprint
