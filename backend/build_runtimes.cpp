// What runtimes make of an inference run: the ideal, where every storage is a buffer of its own,
// and ONNX Runtime's plan, with what it holds at its peak although nobody needs it then.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backend/build_report.h"
#include "backend/names.h"
#include "passes/arena.h"

namespace footprint {
namespace {

constexpr const char* kPackedFor = "ONNX Runtime 1.32 on x86-64 with AVX-512 and VNNI";

std::string BufferName(size_t index) { return absl::StrCat("b", index); }

RuntimeReport BuildIdealRuntime(const Analysis& analysis, const InferenceReport& inference) {
  const MemoryTrace& trace = analysis.inference->trace;
  const Timeline& timeline = analysis.inference->timeline;
  RuntimeReport report;
  report.name = "ideal";
  report.optimization = "none";
  report.activation_peak_bytes = inference.activation_peak_bytes;
  report.unknown_buffers = inference.unknown_storages;
  report.weight_bytes = inference.weight_bytes.value_or(0);
  report.peak_step = absl::StrCat(inference.peak.step, " ", inference.peak.node);
  const int64_t peak = timeline.live_bytes.empty() ? 0 : timeline.PeakTick(0, trace.end_tick);
  IdVector<StorageId, int32_t> buffer_of(trace.storages.size(), -1);
  for (size_t i = 0; i < trace.storages.size(); ++i) {
    const StorageRecord& storage = trace.storages[StorageId(i)];
    if (!IsActivation(storage) || storage.end_tick <= storage.first_tick) continue;
    buffer_of[StorageId(i)] = static_cast<int32_t>(report.buffers.size());
    RuntimeBuffer buffer;
    buffer.id = BufferName(report.buffers.size());
    buffer.bytes = timeline.bytes[StorageId(i)];
    buffer.first_step = StepAt(trace, storage.first_tick);
    buffer.last_step = StepAt(trace, storage.end_tick - 1);
    buffer.at_peak = storage.first_tick <= peak && peak < storage.end_tick;
    report.buffers.push_back(std::move(buffer));
  }
  const Graph& graph = analysis.graph();
  for (size_t i = 0; i < graph.values.size(); ++i) {
    const StorageId storage = trace.storage_of[ValueId(i)];
    if (!storage.valid() || buffer_of[storage] < 0) continue;
    RuntimeBuffer& buffer = report.buffers[static_cast<size_t>(buffer_of[storage])];
    const char* placement = buffer.tensors.empty() ? "own" : "shared";
    buffer.tensors.push_back({graph.values[ValueId(i)].name, buffer.bytes, placement});
  }
  return report;
}

class RuntimeBuilder {
 public:
  explicit RuntimeBuilder(const Analysis& analysis)
      : analysis_(analysis), plan_(*analysis.inference->runtime) {}

  RuntimeReport Run() {
    RuntimeReport report;
    report.name = "onnxruntime";
    report.optimization = NameOf(analysis_.options.graph_optimization, kGraphOptimizations);
    report.rewrites = plan_.rewrites;
    report.unknown_buffers = plan_.bytes.unknown_buffers;
    FindLastReads();
    AddConstants(report);
    if (!plan_.bytes.overflow) report.activation_peak_bytes = plan_.bytes.peak_bytes;
    if (!plan_.problem.steps.empty()) {
      const auto peak = static_cast<size_t>(plan_.bytes.peak_step);
      report.scratch_bytes = plan_.problem.steps[peak].scratch_bytes;
      report.peak_step = StepName(plan_.bytes.peak_step);
    }
    constexpr int64_t kSensible = int64_t{1} << 60;  // doubled, it still fits
    if (!plan_.bytes.overflow && plan_.bytes.peak_bytes < kSensible) AddAllocators(report);
    for (size_t i = 0; i < plan_.plan.buffers.size(); ++i) AddBuffer(i, report);
    std::stable_sort(report.gaps.begin(), report.gaps.end(),
                     [](const RuntimeGap& a, const RuntimeGap& b) { return *a.bytes > *b.bytes; });
    return report;
  }

 private:
  const PlanTensor& Tensor(int32_t id) const {
    return plan_.problem.tensors[static_cast<size_t>(id)];
  }
  const std::string& NameOfTensor(int32_t id) const { return plan_.graph.value(id).name; }

  std::string StepName(int32_t step) const {
    const RuntimeNode& node = plan_.graph.node(plan_.order[static_cast<size_t>(step)]);
    const std::string name =
        node.source.valid() ? analysis_.graph().nodes[node.source].name : std::string();
    return name.empty() ? node.op_type : absl::StrCat(node.op_type, " ", name);
  }

  int64_t BytesOf(int32_t tensor) const {
    return plan_.tensor_bytes[static_cast<size_t>(tensor)].value_or(0);
  }

  void AddConstants(RuntimeReport& report) const {
    const Graph& graph = analysis_.graph();
    std::vector<bool> is_read(plan_.graph.values.size(), false);
    for (const PlanStep& step : plan_.problem.steps) {
      for (const int32_t read : step.reads) is_read[static_cast<size_t>(read)] = true;
    }
    for (size_t i = 0; i < plan_.graph.values.size(); ++i) {
      const RuntimeValue& value = plan_.graph.values[i];
      if (!value.constant || !is_read[i] || !value.value.valid()) continue;
      if (graph.values[value.value].kind == ValueKind::kConstant) continue;
      report.folded_constant_bytes += BytesOf(static_cast<int32_t>(i));
    }
    for (const int32_t value : DequantizedWeights(plan_.graph)) {
      report.dequantized_weight_bytes += BytesOf(value);
    }
    report.weight_bytes = plan_.weights.held;
    report.prepacked_weight_bytes = plan_.weights.packed;
    report.released_weight_bytes = plan_.weights.released;
    if (plan_.weights.packed > 0) report.prepacked_for = kPackedFor;
  }

  void AddAllocators(RuntimeReport& report) const {
    const PackedPlan packed = PackPlan(plan_.problem, plan_.plan, plan_.bytes);
    report.pattern_block_bytes = packed.block_bytes;
    report.pattern_peak_bytes = packed.peak_bytes;
    const auto reserved = [&](ArenaGrowth growth) {
      return ReservedBytes(plan_.problem, plan_.plan, plan_.bytes, growth);
    };
    report.arena_power_of_two_bytes = reserved(ArenaGrowth::kNextPowerOfTwo);
    report.arena_as_requested_bytes = reserved(ArenaGrowth::kSameAsRequested);
  }

  void FindLastReads() {
    const size_t count = plan_.problem.tensors.size();
    written_.assign(count, 0);
    read_.assign(count, 0);
    for (size_t i = 0; i < plan_.problem.steps.size(); ++i) {
      const auto step = static_cast<int32_t>(i);
      for (const int32_t read : plan_.problem.steps[i].reads)
        read_[static_cast<size_t>(read)] = step;
      for (const PlanWrite& write : plan_.problem.steps[i].writes) {
        written_[static_cast<size_t>(write.tensor)] = step;
        int32_t& last = read_[static_cast<size_t>(write.tensor)];
        last =
            Tensor(write.tensor).output ? static_cast<int32_t>(plan_.problem.steps.size()) : step;
      }
    }
  }

  void AddBuffer(size_t index, RuntimeReport& report) {
    const PlanBuffer& row = plan_.plan.buffers[index];
    if (row.given) return;
    RuntimeBuffer buffer;
    buffer.id = BufferName(index);
    const std::optional<int64_t>& size =
        plan_.tensor_bytes[static_cast<size_t>(row.tensors.front())];
    if (size) buffer.bytes = plan_.bytes.buffer_bytes[index];
    buffer.first_step = row.first_step;
    buffer.last_step = row.end_step - 1;
    const int32_t peak = plan_.bytes.peak_step;
    buffer.at_peak = row.first_step <= peak && peak < row.end_step;
    for (const int32_t tensor : row.tensors) {
      const Placement placement = plan_.plan.placements[static_cast<size_t>(tensor)];
      buffer.tensors.push_back({NameOfTensor(tensor),
                                plan_.tensor_bytes[static_cast<size_t>(tensor)],
                                PlacementName(placement)});
    }
    if (buffer.at_peak && buffer.bytes.value_or(0) > 0) AddGap(row, buffer, report);
    report.buffers.push_back(std::move(buffer));
  }

  // A buffer that is there at the peak while no tensor in it is needed.
  void AddGap(const PlanBuffer& row, const RuntimeBuffer& buffer, RuntimeReport& report) const {
    const int32_t peak = plan_.bytes.peak_step;
    int32_t before = -1;
    int32_t next = -1;
    for (const int32_t tensor : row.tensors) {
      const int32_t first = written_[static_cast<size_t>(tensor)];
      if (first <= peak && peak <= read_[static_cast<size_t>(tensor)]) return;
      if (first <= peak) before = tensor;
      if (first > peak && next < 0) next = tensor;
    }
    if (before < 0) return;
    RuntimeGap gap;
    gap.bytes = buffer.bytes;
    gap.buffer = buffer.id;
    if (next >= 0) {
      gap.held_for = NameOfTensor(next);
      gap.reason =
          absl::StrCat("kept after ", NameOfTensor(before), " until it is used again for ",
                       gap.held_for, " by ", StepName(written_[static_cast<size_t>(next)]));
    } else {
      gap.held_for = NameOfTensor(before);
      gap.reason = absl::StrCat(gap.held_for, " is read by no later step, which would free it");
    }
    report.gaps.push_back(std::move(gap));
  }

  const Analysis& analysis_;
  const RuntimePlan& plan_;
  std::vector<int32_t> written_;  // by tensor: the step
  std::vector<int32_t> read_;     // the last one
};

}  // namespace

std::vector<RuntimeReport> BuildRuntimes(Analysis& analysis, const InferenceReport& inference) {
  std::vector<RuntimeReport> runtimes;
  if (analysis.options.runtime != Runtime::kOnnxRuntime) {
    runtimes.push_back(BuildIdealRuntime(analysis, inference));
  }
  if (analysis.inference->runtime) runtimes.push_back(RuntimeBuilder(analysis).Run());
  return runtimes;
}

}  // namespace footprint
