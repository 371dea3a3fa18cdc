// A table of text that fits the terminal. When it is too wide, columns give way in this order: the
// elastic ones shrink to what is still readable, optional ones are left out, the elastic ones
// shrink further. An optional column without any text is not shown; a line below the table names
// those that did not fit.
#ifndef FOOTPRINT_BACKEND_TERMINAL_TABLE_H_
#define FOOTPRINT_BACKEND_TERMINAL_TABLE_H_

#include <string>
#include <utility>
#include <vector>

#include "backend/terminal.h"

namespace footprint {

struct TableColumn {
  enum class Align { kLeft, kRight };
  enum class Excess { kKeep, kElideMiddle, kElideEnd };

  std::string title;
  Align align = Align::kLeft;
  Excess excess = Excess::kKeep;
  int readable = 16;  // an elastic one gets narrower only in need
  int leaves_as = 0;  // 0: always shown; else the highest is left out first
};

enum class RowStyle { kPlain, kBold, kDim };

class TerminalTable {
 public:
  explicit TerminalTable(std::vector<TableColumn> columns) : columns_(std::move(columns)) {}

  void AddRow(std::vector<std::string> cells, RowStyle style = RowStyle::kPlain);
  bool empty() const { return rows_.empty(); }

  // Titles (unless all are empty), then rows, each indented by two and ended by a line break.
  std::string Render(const Terminal& terminal) const;

 private:
  struct Row {
    std::vector<std::string> cells;
    RowStyle style;
  };

  // `dropped`: titles of columns that did not fit.
  std::vector<int> FitWidths(int width, std::vector<std::string>* dropped) const;
  std::string RenderRow(const Row& row, const std::vector<int>& widths,
                        const Terminal& terminal) const;

  std::vector<TableColumn> columns_;
  std::vector<Row> rows_;
};

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_TERMINAL_TABLE_H_
