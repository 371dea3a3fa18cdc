// The bookkeeping that articles teach, beside what PyTorch keeps where both were computed.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/report_text_parts.h"
#include "backend/terminal_table.h"
#include "backend/units.h"

namespace footprint {
namespace {

// Layers of one kind and size: "48 x attention".
struct Group {
  std::string kind;
  std::string name;
  int64_t bytes = 0;
  int64_t count = 0;
};

std::vector<Group> GroupsOf(const TextbookReport& textbook) {
  std::vector<Group> groups;
  for (const TextbookLayer& layer : textbook.layers) {
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& g) {
      return g.kind == layer.kind && g.bytes == layer.bytes;
    });
    if (group == groups.end()) {
      groups.push_back({layer.kind, layer.name, layer.bytes, 1});
    } else {
      ++group->count;
    }
  }
  return groups;
}

std::string GroupsText(const TextbookReport& textbook, const Terminal& terminal) {
  constexpr TableColumn::Align kRight = TableColumn::Align::kRight;
  TerminalTable table(
      {{.title = "layers", .align = kRight},
       {.title = "kind"},
       {.title = "such as", .excess = TableColumn::Excess::kElideMiddle, .leaves_as = 1},
       {.title = "bytes each", .align = kRight},
       {.title = "bytes", .align = kRight},
       {.title = "", .align = kRight}});
  for (const Group& group : GroupsOf(textbook)) {
    const int64_t all = group.bytes * group.count;
    table.AddRow({WithThousands(group.count), Printable(group.kind), Printable(group.name),
                  WithThousands(group.bytes), WithThousands(all), BinaryUnits(all)});
  }
  return table.empty() ? "" : table.Render(terminal);
}

std::string Exact(const Bytes& bytes) { return bytes ? WithThousands(*bytes) : "unknown"; }

Bytes SumOf(const std::vector<Bytes>& parts) {
  int64_t sum = 0;
  for (const Bytes& part : parts) {
    if (!part || __builtin_add_overflow(sum, *part, &sum)) return std::nullopt;
  }
  return sum;
}

std::string TotalsText(const TextbookReport& textbook,
                       const std::optional<TrainingReport>& training, const Terminal& terminal) {
  constexpr TableColumn::Align kRight = TableColumn::Align::kRight;
  std::vector<TableColumn> columns = {{.title = ""},
                                      {.title = "textbook", .align = kRight},
                                      {.title = "GB", .align = kRight, .leaves_as = 2},
                                      {.title = "GiB", .align = kRight, .leaves_as = 1}};
  if (training) columns.push_back({.title = "PyTorch keeps", .align = kRight});
  if (training) columns.push_back({.title = "", .align = kRight, .leaves_as = 3});
  TerminalTable table(std::move(columns));
  const auto add = [&](const char* label, const Bytes& taught, const Bytes& kept, RowStyle style) {
    table.AddRow({label, Exact(taught), taught ? DecimalUnits(*taught) : "", Figure(taught),
                  training ? Exact(kept) : "", training ? Figure(kept) : ""},
                 style);
  };
  const TrainingReport kept = training.value_or(TrainingReport{});
  add("parameters", textbook.parameter_bytes, kept.parameter_bytes, RowStyle::kPlain);
  add("gradients", textbook.gradient_bytes, kept.gradient_bytes, RowStyle::kPlain);
  add("optimizer state", textbook.optimizer_state_bytes, kept.optimizer_state_bytes,
      RowStyle::kPlain);
  add("activations", textbook.activation_bytes, kept.saved_excluding_inputs_bytes,
      RowStyle::kPlain);
  add("sum", textbook.total_bytes,
      SumOf({kept.parameter_bytes, kept.gradient_bytes, kept.optimizer_state_bytes,
             kept.saved_excluding_inputs_bytes}),
      RowStyle::kBold);
  return table.Render(terminal);
}

}  // namespace

std::string TextbookText(const Report& report, const Terminal& terminal) {
  if (!report.textbook) return "";
  const TextbookReport& textbook = *report.textbook;
  std::string text = Bold("Textbook accounting", terminal) + "  " +
                     WithThousands(textbook.parameter_count) + " parameters\n";
  text += GroupsText(textbook, terminal) + "\n";
  text += TotalsText(textbook, report.training, terminal);
  for (const std::string& note : textbook.notes) {
    text += Wrap("  " + Printable(note), 4, terminal) + "\n";
  }
  return text;
}

}  // namespace footprint
