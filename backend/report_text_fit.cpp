#include <algorithm>
#include <cstddef>
#include <vector>

#include "backend/report_text_parts.h"
#include "backend/terminal_table.h"
#include "backend/units.h"

namespace footprint {
namespace {

constexpr size_t kPoints = 16;
constexpr size_t kPieces = 4;
constexpr TableColumn::Align kRight = TableColumn::Align::kRight;

}  // namespace

std::string FitText(const Report& report, const Terminal& terminal) {
  if (!report.fit) return "";
  const FitReport& fit = *report.fit;
  const std::string name = Printable(fit.name);
  std::string text = Bold("Fit", terminal) + "\n";
  if (fit.largest) {
    text += Wrap("  the largest " + name + " that fits is " + WithThousands(*fit.largest) + ": " +
                     Figure(fit.needed_bytes) + " needed, " + BinaryUnits(fit.margin_bytes) +
                     " left; the next " +
                     (fit.next_needed_bytes
                          ? "needs " + Figure(fit.next_needed_bytes) + ", most of it " + fit.binds
                          : "is not possible: " + Printable(fit.binds)),
                 4, terminal) +
            "\n";
  } else {
    text += Wrap("  not even " + name + " = 1 fits: " + Figure(fit.needed_bytes) +
                     " needed, most of it " + fit.binds,
                 4, terminal) +
            "\n";
  }
  if (fit.changes.empty()) return text;
  text += "  at " + name + " = " + WithThousands(fit.asked) + ", each change on its own:\n";
  TerminalTable table({{.title = ""}, {.title = "", .align = kRight}, {.title = ""}});
  for (const FitChange& change : fit.changes) {
    table.AddRow({change.change, Figure(change.needed_bytes),
                  change.fits.value_or(false) ? "fits" : "does not fit"});
  }
  return text + table.Render(terminal);
}

std::string SweepText(const Report& report, const Terminal& terminal) {
  if (!report.sweep) return "";
  const SweepReport& sweep = *report.sweep;
  std::string text = Bold("Values of " + Printable(sweep.name), terminal) + "\n";
  TerminalTable table({{.title = Printable(sweep.name), .align = kRight},
                       {.title = "saved + inputs", .align = kRight},
                       {.title = "training peak", .align = kRight},
                       {.title = "inference peak", .align = kRight},
                       {.title = "", .excess = TableColumn::Excess::kElideEnd}});
  const size_t step = (sweep.points.size() + kPoints - 1) / kPoints;
  std::vector<size_t> shown;
  for (size_t i = 0; i < sweep.points.size(); i += step) shown.push_back(i);
  if (shown.back() + 1 < sweep.points.size()) shown.push_back(sweep.points.size() - 1);
  for (const size_t i : shown) {
    const SweepPoint& point = sweep.points[i];
    const auto size = [](const Bytes& bytes) { return bytes ? BinaryUnits(*bytes) : "-"; };
    table.AddRow({WithThousands(point.value), size(point.saved_bytes),
                  size(point.training_peak_bytes), size(point.inference_peak_bytes),
                  Printable(point.error)});
  }
  text += table.Render(terminal);
  if (step > 1) text += "  every value is in --format csv:sweep and json\n";
  for (size_t i = 0; i < std::min(kPieces, sweep.pieces.size()); ++i) {
    const SweepPiece& piece = sweep.pieces[i];
    text += Wrap("  peak of " + std::to_string(piece.first) + " to " + std::to_string(piece.last) +
                     " = " + Printable(piece.expression) + ", rounding left out",
                 6, terminal) +
            "\n";
  }
  if (sweep.pieces.size() > kPieces) text += "  further formulas are in --format json\n";
  return text;
}

}  // namespace footprint
