#include "backend/terminal_table.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

namespace footprint {
namespace {

constexpr int kIndent = 2;
constexpr int kGap = 2;
constexpr int kLeftOut = -1;
constexpr int kReadable = std::numeric_limits<int>::max();
constexpr int kNarrowest = 8;

int TotalWidth(const std::vector<int>& widths) {
  int total = kIndent - kGap;
  for (const int width : widths) {
    if (width != kLeftOut) total += width + kGap;
  }
  return total;
}

std::string Spaces(int count) { return std::string(static_cast<size_t>(std::max(count, 0)), ' '); }

std::string FitCell(const std::string& cell, const TableColumn& column, int width) {
  switch (column.excess) {
    case TableColumn::Excess::kElideMiddle:
      return ElideMiddle(cell, width);
    case TableColumn::Excess::kElideEnd:
      return ElideEnd(cell, width);
    case TableColumn::Excess::kKeep:
      break;
  }
  return cell;
}

// Takes `excess` columns from the elastic ones, always from the one that is widest now; none gets
// narrower than is readable or, in need, than `narrowest`.
void Shrink(const std::vector<TableColumn>& columns, int excess, int narrowest,
            std::vector<int>* widths) {
  for (; excess > 0; --excess) {
    int* widest = nullptr;
    for (size_t i = 0; i < columns.size(); ++i) {
      int& width = (*widths)[i];
      const bool elastic = columns[i].excess != TableColumn::Excess::kKeep;
      if (!elastic || width <= std::min(columns[i].readable, narrowest)) continue;
      if (widest == nullptr || width > *widest) widest = &width;
    }
    if (widest == nullptr) return;
    --*widest;
  }
}

}  // namespace

void TerminalTable::AddRow(std::vector<std::string> cells, RowStyle style) {
  cells.resize(columns_.size());
  rows_.push_back({std::move(cells), style});
}

std::vector<int> TerminalTable::FitWidths(int width, std::vector<std::string>* dropped) const {
  std::vector<int> natural;
  for (size_t i = 0; i < columns_.size(); ++i) {
    int widest = 0;
    for (const Row& row : rows_) widest = std::max(widest, DisplayWidth(row.cells[i]));
    const bool says_nothing = widest == 0 && columns_[i].leaves_as != 0;
    natural.push_back(says_nothing ? kLeftOut : std::max(widest, DisplayWidth(columns_[i].title)));
  }
  while (true) {
    std::vector<int> fitted = natural;
    Shrink(columns_, TotalWidth(fitted) - width, kReadable, &fitted);
    if (TotalWidth(fitted) <= width) return fitted;
    size_t leaving = columns_.size();
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (natural[i] == kLeftOut || columns_[i].leaves_as == 0) continue;
      if (leaving == columns_.size() || columns_[i].leaves_as > columns_[leaving].leaves_as) {
        leaving = i;
      }
    }
    if (leaving == columns_.size()) {
      Shrink(columns_, TotalWidth(fitted) - width, kNarrowest, &fitted);
      return fitted;
    }
    natural[leaving] = kLeftOut;
    dropped->push_back(columns_[leaving].title);
  }
}

std::string TerminalTable::RenderRow(const Row& row, const std::vector<int>& widths,
                                     const Terminal& terminal) const {
  std::string line;
  int pending = kIndent;
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (widths[i] == kLeftOut) continue;
    const std::string cell = FitCell(row.cells[i], columns_[i], widths[i]);
    const int padding = widths[i] - DisplayWidth(cell);
    const bool right = columns_[i].align == TableColumn::Align::kRight;
    if (!cell.empty()) line += Spaces(pending + (right ? padding : 0)) + cell;
    pending = cell.empty() ? pending + widths[i] + kGap : kGap + (right ? 0 : padding);
  }
  switch (row.style) {
    case RowStyle::kBold:
      return Bold(line, terminal) + "\n";
    case RowStyle::kDim:
      return Faint(line, terminal) + "\n";
    case RowStyle::kPlain:
      break;
  }
  return line + "\n";
}

std::string TerminalTable::Render(const Terminal& terminal) const {
  std::vector<std::string> dropped;
  const std::vector<int> widths = FitWidths(terminal.width, &dropped);
  std::string text;
  Row titles{{}, RowStyle::kDim};
  for (const TableColumn& column : columns_) titles.cells.push_back(column.title);
  const bool titled = std::any_of(columns_.begin(), columns_.end(),
                                  [](const TableColumn& column) { return !column.title.empty(); });
  if (titled) text += RenderRow(titles, widths, terminal);
  for (const Row& row : rows_) text += RenderRow(row, widths, terminal);
  std::string names;
  for (auto title = dropped.rbegin(); title != dropped.rend(); ++title) {
    if (!title->empty()) names += (names.empty() ? "" : ", ") + *title;
  }
  if (!names.empty()) {
    text += Faint(Wrap("  too narrow for: " + names, 4, terminal), terminal) + "\n";
  }
  return text;
}

}  // namespace footprint
