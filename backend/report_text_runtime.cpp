// What ONNX Runtime takes: the figure, what lies between it and the ideal, and the buffers that are
// there at its peak, each with the tensor in it and the one that had it before.
#include <algorithm>
#include <string>
#include <vector>

#include "backend/report_text_parts.h"
#include "backend/terminal_table.h"
#include "backend/units.h"

namespace footprint {
namespace {

std::string GapText(const RuntimeReport& runtime, int rows, const Terminal& terminal) {
  std::string text;
  // Largest first; a hundredth of that explains nothing.
  const auto is_small = [&](const RuntimeGap& gap) {
    return gap.bytes.value_or(0) < runtime.gaps.front().bytes.value_or(0) / 100;
  };
  const auto small = std::find_if(runtime.gaps.begin(), runtime.gaps.end(), is_small);
  const size_t shown =
      std::min(static_cast<size_t>(small - runtime.gaps.begin()), static_cast<size_t>(rows));
  for (size_t i = 0; i < shown; ++i) {
    const RuntimeGap& gap = runtime.gaps[i];
    text +=
        Wrap("  " + BinaryUnits(gap.bytes.value_or(0)) + " " + Printable(gap.reason), 4, terminal) +
        "\n";
  }
  if (shown < runtime.gaps.size()) {
    const auto rest = static_cast<int64_t>(runtime.gaps.size() - shown);
    text += Faint("  and " + WithThousands(rest) + " more", terminal) + "\n";
  }
  return text;
}

std::string BuffersText(const RuntimeReport& runtime, int rows, const Terminal& terminal) {
  std::vector<const RuntimeBuffer*> alive;
  for (const RuntimeBuffer& buffer : runtime.buffers) {
    if (buffer.at_peak) alive.push_back(&buffer);
  }
  if (alive.empty()) return "";
  std::stable_sort(alive.begin(), alive.end(), [](const RuntimeBuffer* a, const RuntimeBuffer* b) {
    return a->bytes.value_or(0) > b->bytes.value_or(0);
  });
  TerminalTable table(
      {{.title = "buffer", .align = TableColumn::Align::kRight},
       {.title = "steps", .leaves_as = 1},
       {.title = "tensors, in order", .excess = TableColumn::Excess::kElideEnd, .readable = 60}});
  const size_t shown = std::min(alive.size(), static_cast<size_t>(rows));
  for (size_t i = 0; i < shown; ++i) {
    const RuntimeBuffer& buffer = *alive[i];
    std::string tensors;
    for (const PlannedTensor& tensor : buffer.tensors) {
      if (!tensors.empty()) tensors += ", " + tensor.placement + " ";
      tensors += Printable(tensor.name);
    }
    table.AddRow({buffer.bytes ? BinaryUnits(*buffer.bytes) : "unknown",
                  WithThousands(buffer.first_step) + " to " + WithThousands(buffer.last_step),
                  tensors});
  }
  std::string text = table.Render(terminal);
  if (shown < alive.size()) {
    const auto rest = static_cast<int64_t>(alive.size() - shown);
    text += Faint("  and " + WithThousands(rest) + " more", terminal) + "\n";
  }
  return text;
}

std::string RewritesText(const RuntimeReport& runtime, const Terminal& terminal) {
  if (runtime.rewrites.empty()) return "";
  std::string text = "  rewritten: ";
  for (const std::string& rewrite : runtime.rewrites) {
    if (&rewrite != &runtime.rewrites.front()) text += ", ";
    text += rewrite;
  }
  return Wrap(text, 4, terminal) + "\n";
}

}  // namespace

std::string KvCacheText(const Report& report, const Terminal& terminal) {
  if (!report.inference || !report.inference->kv_cache) return "";
  const KvCacheReport& cache = *report.inference->kv_cache;
  std::string text = Bold("Cache of keys and values", terminal) + "  " +
                     WithThousands(cache.tensors) + " tensors" +
                     (cache.assumed ? ", by their names (assumed)" : "") +
                     (cache.shared ? ", past and present in one buffer" : "") + "\n";
  text += FigureLine("past", cache.past_bytes);
  text += FigureLine("present", cache.present_bytes);
  text += FigureLine("per token", cache.bytes_per_token);
  if (!cache.bytes_per_token_expression.empty()) {
    text += Wrap("    = " + Printable(cache.bytes_per_token_expression), 6, terminal) + "\n";
  }
  if (cache.full_at_length) {
    text += "  the device is full at a length of " + WithThousands(*cache.full_at_length) + "\n";
  }
  return text;
}

std::string RuntimeText(const Report& report, int rows, const Terminal& terminal) {
  if (!report.inference || report.inference->runtimes.empty()) return "";
  const InferenceReport& inference = *report.inference;
  const RuntimeReport& runtime = inference.runtimes.back();
  if (runtime.name != "onnxruntime") return "";
  const std::string sign = runtime.unknown_buffers > 0 ? ">= " : "";
  std::string text = Bold("Inference by ONNX Runtime", terminal) +
                     (runtime.optimization == "all" ? "  graph optimization all"
                                                    : "  without graph optimization") +
                     "\n";
  text += Bold(FigureLine("activation peak", runtime.activation_peak_bytes, sign), terminal);
  if (runtime.scratch_bytes > 0) text += FigureLine("of it scratch", runtime.scratch_bytes);
  if (runtime.activation_peak_bytes && inference.activation_peak_bytes) {
    const int64_t gap = *runtime.activation_peak_bytes - *inference.activation_peak_bytes;
    text += FigureLine(gap < 0 ? "below the ideal" : "above the ideal", gap < 0 ? -gap : gap);
  }
  if (!runtime.peak_step.empty()) {
    text += Wrap("    at " + Printable(runtime.peak_step), 4, terminal) + "\n";
  }
  if (runtime.folded_constant_bytes > 0) {
    text += FigureLine("folded constants", runtime.folded_constant_bytes);
  }
  if (runtime.dequantized_weight_bytes > 0) {
    text += FigureLine("dequantized weights", runtime.dequantized_weight_bytes);
  }
  text += FigureLine("weights", runtime.weight_bytes);
  if (runtime.prepacked_weight_bytes > 0) {
    text += FigureLine("of them packed", runtime.prepacked_weight_bytes);
    text += FigureLine("given up for them", runtime.released_weight_bytes);
    text += Wrap("    as measured with " + runtime.prepacked_for, 4, terminal) + "\n";
  }
  text += FigureLine("with patterns", runtime.pattern_peak_bytes);
  text += FigureLine("arena, doubling", runtime.arena_power_of_two_bytes);
  text += FigureLine("arena, as requested", runtime.arena_as_requested_bytes);
  constexpr int kGaps = 5;
  text += GapText(runtime, kGaps, terminal);
  text += RewritesText(runtime, terminal);
  return text + "\n" + BuffersText(runtime, rows, terminal);
}

}  // namespace footprint
