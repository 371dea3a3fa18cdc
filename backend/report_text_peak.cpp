// Who is alive at a peak: first by category, adding up to the peak to the byte, then the largest
// storages with the reason for which each is still there.
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "backend/report_text_parts.h"
#include "backend/terminal_table.h"
#include "backend/units.h"

namespace footprint {
namespace {

struct Share {
  std::string category;
  int64_t bytes = 0;
  int64_t count = 0;
};

std::vector<Share> SharesOf(const Peak& peak) {
  std::vector<Share> shares;  // a handful of categories
  for (const LiveStorage& live : peak.live) {
    auto share = std::find_if(shares.begin(), shares.end(),
                              [&](const Share& s) { return s.category == live.category; });
    if (share == shares.end()) share = shares.insert(share, {live.category, 0, 0});
    share->bytes += live.bytes.value_or(0);
    ++share->count;
  }
  std::stable_sort(shares.begin(), shares.end(),
                   [](const Share& a, const Share& b) { return a.bytes > b.bytes; });
  return shares;
}

std::string SharesText(const Peak& peak, const Terminal& terminal) {
  constexpr TableColumn::Align kRight = TableColumn::Align::kRight;
  TerminalTable table({{.title = ""},
                       {.title = "", .align = kRight},
                       {.title = "", .align = kRight},
                       {.title = "", .align = kRight}});
  int64_t sum = 0;
  for (const Share& share : SharesOf(peak)) {
    sum += share.bytes;
    table.AddRow({CategoryWords(share.category), BinaryUnits(share.bytes),
                  WithThousands(share.bytes),
                  Counted(share.count, "storage")});
  }
  const int64_t rest = peak.live_bytes.value_or(sum) - sum;
  if (rest > 0) table.AddRow({"rounding to 512 B", BinaryUnits(rest), WithThousands(rest)});
  if (rest < 0) {
    table.AddRow({"not all at most at once", "-" + BinaryUnits(-rest), WithThousands(rest)});
  }
  return table.Render(terminal);
}

}  // namespace

std::string PeakText(const std::string& title, const Peak& peak, int rows,
                     const Terminal& terminal) {
  if (peak.live.empty()) return "";
  TerminalTable table(
      {{.title = "largest", .align = TableColumn::Align::kRight},
       {.title = "category", .leaves_as = 1},
       {.title = "name", .excess = TableColumn::Excess::kElideMiddle, .readable = 28},
       {.title = "why it is alive", .excess = TableColumn::Excess::kElideEnd, .readable = 40}});
  const size_t shown = std::min(peak.live.size(), static_cast<size_t>(rows));
  for (size_t i = 0; i < shown; ++i) {
    const LiveStorage& live = peak.live[i];
    table.AddRow({live.bytes ? BinaryUnits(*live.bytes) : "unknown",
                  CategoryWords(live.category), Printable(live.name), Printable(live.reason)});
  }
  std::string text =
      Bold(title, terminal) + "\n" + SharesText(peak, terminal) + "\n" + table.Render(terminal);
  if (shown < peak.live.size()) {
    const auto rest = static_cast<int64_t>(peak.live.size() - shown);
    text += Faint("  and " + WithThousands(rest) + " more", terminal) + "\n";
  }
  return text;
}

}  // namespace footprint
