// What the mathematics of the gradients needs, and what PyTorch keeps beyond it.
#include <algorithm>
#include <cstddef>
#include <string>

#include "backend/report_text_parts.h"
#include "backend/terminal_table.h"
#include "backend/units.h"

namespace footprint {

std::string GradientNeedsText(const Report& report, int rows, const Terminal& terminal) {
  if (!report.gradient_needs || !report.training) return "";
  const GradientNeeds& needs = *report.gradient_needs;
  std::string text =
      Bold("Graph accounting", terminal) + "  what the mathematics of the gradients needs\n";
  text += FigureLine("PyTorch saves", report.training->saved_bytes);
  text += FigureLine("beyond need", needs.surplus_bytes);
  if (needs.instead_bytes.value_or(1) != 0) {
    text += FigureLine("needed instead", needs.instead_bytes);
  }
  text += Bold(FigureLine("needed", needs.needed_bytes), terminal);
  text += FigureLine("without inputs", needs.needed_excluding_inputs_bytes);
  if (needs.surplus.empty()) return text;
  TerminalTable table(
      {{.title = "beyond need", .align = TableColumn::Align::kRight},
       {.title = "name", .excess = TableColumn::Excess::kElideMiddle, .readable = 28},
       {.title = "why", .excess = TableColumn::Excess::kElideEnd, .readable = 40}});
  const size_t shown = std::min(needs.surplus.size(), static_cast<size_t>(rows));
  for (size_t i = 0; i < shown; ++i) {
    const SurplusStorage& surplus = needs.surplus[i];
    table.AddRow(
        {Figure(surplus.bytes), Printable(surplus.name), Printable(surplus.reason)});
  }
  text += "\n" + table.Render(terminal);
  if (shown < needs.surplus.size()) {
    const auto rest = static_cast<int64_t>(needs.surplus.size() - shown);
    text += Faint("  and " + WithThousands(rest) + " more", terminal) + "\n";
  }
  return text;
}

}  // namespace footprint
