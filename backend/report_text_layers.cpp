// The layer table. Each row shows a layer with everything below it; the paths are indented under
// the nearest layer above that is shown too, so a folded table still reads as a tree. Neighbours
// that are alike in class, name (numbers apart) and bytes are one row with the bytes of each, and
// what is below them is shown once:
//
//   h.0               11.72 MiB
//   h.1…46, 46 alike  11.80 MiB   each
//   h.47              11.72 MiB
#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/report_text_parts.h"
#include "backend/terminal_table.h"
#include "backend/units.h"

namespace footprint {
namespace {

// A table longer than this is folded, unless the user says how deep it shall be.
constexpr size_t kReadableRows = 40;

struct ByteColumn {
  const char* title;
  int leaves_as;  // see TableColumn
  int64_t (*bytes)(const CategoryBytes&);
};

constexpr std::array<ByteColumn, 6> kColumns = {{
    {"parameters", 0, [](const CategoryBytes& b) { return b.parameter; }},
    {"buffers", 4, [](const CategoryBytes& b) { return b.buffer + b.constant; }},
    {"gradients", 3, [](const CategoryBytes& b) { return b.gradient; }},
    {"state", 2, [](const CategoryBytes& b) { return b.optimizer_state; }},
    {"saved", 0, [](const CategoryBytes& b) { return b.saved_activation; }},
    {"outputs", 0, [](const CategoryBytes& b) { return b.transient; }},
}};

using Columns = std::vector<ByteColumn>;

int64_t Sum(const CategoryBytes& bytes, const Columns& columns) {
  int64_t sum = 0;
  for (const ByteColumn& column : columns) sum += column.bytes(bytes);
  return sum;
}

void Add(const CategoryBytes& from, CategoryBytes* to) {
  for (const CategoryField& field : kCategoryFields) to->*field.bytes += from.*field.bytes;
}

// Outputs that nobody keeps are a column of their own where there is no training: in a training
// step their sum is not a figure that anything needs at once.
Columns ColumnsOf(const Report& report, const CategoryBytes& all) {
  Columns columns;
  for (const ByteColumn& column : kColumns) {
    const bool outputs = std::string_view(column.title) == "outputs";
    if (column.bytes(all) != 0 && (!outputs || !report.training)) columns.push_back(column);
  }
  return columns;
}

bool IsBelow(std::string_view path, std::string_view above) {
  return path.size() > above.size() && path.substr(0, above.size()) == above &&
         (path[above.size()] == '/' || path[above.size()] == '.');
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Equal but for the numbers in them.
bool AreNumberedAlike(std::string_view a, std::string_view b) {
  size_t i = 0;
  size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (IsDigit(a[i]) && IsDigit(b[j])) {
      while (i < a.size() && IsDigit(a[i])) ++i;
      while (j < b.size() && IsDigit(b[j])) ++j;
    } else if (a[i++] != b[j++]) {
      return false;
    }
  }
  return i == a.size() && j == b.size();
}

struct LayerRow {
  const ReportLayer* layer;
  const ReportLayer* last;  // of those alike, itself if there is no other
  int64_t alike = 1;
};

bool IsAlike(const LayerRow& row, const ReportLayer& layer, const Columns& columns) {
  if (row.layer->depth != layer.depth || row.layer->class_name != layer.class_name) return false;
  for (const ByteColumn& column : columns) {
    if (column.bytes(row.layer->total) != column.bytes(layer.total)) return false;
  }
  return AreNumberedAlike(row.layer->path, layer.path);
}

// The rows down to `depth`. Layers come in pre-order: whatever lies between two layers of one depth
// is below the first, and the last row of that depth or above is the only one to compare with.
std::vector<LayerRow> RowsOf(const std::vector<const ReportLayer*>& layers, int depth,
                             const Columns& columns) {
  std::vector<LayerRow> rows;
  std::vector<size_t> open;             // rows that a next layer may be below or alike
  const ReportLayer* hidden = nullptr;  // one of several alike: what is below it is shown elsewhere
  for (const ReportLayer* layer : layers) {
    if (layer->depth > depth) continue;
    if (hidden != nullptr && IsBelow(layer->path, hidden->path)) continue;
    hidden = nullptr;
    while (!open.empty() && rows[open.back()].layer->depth > layer->depth) open.pop_back();
    if (!open.empty() && IsAlike(rows[open.back()], *layer, columns)) {
      rows[open.back()].last = layer;
      ++rows[open.back()].alike;
      hidden = layer;
      continue;
    }
    if (!open.empty() && rows[open.back()].layer->depth == layer->depth) open.pop_back();
    open.push_back(rows.size());
    rows.push_back({layer, layer});
  }
  return rows;
}

std::vector<LayerRow> ReadableRows(const std::vector<const ReportLayer*>& layers,
                                   const Columns& columns, int* depth) {
  int deepest = 1;
  for (const ReportLayer* layer : layers) deepest = std::max(deepest, layer->depth);
  std::vector<LayerRow> rows = RowsOf(layers, 1, columns);
  for (*depth = 1; *depth < deepest; ++*depth) {
    std::vector<LayerRow> deeper = RowsOf(layers, *depth + 1, columns);
    if (deeper.size() > kReadableRows) break;
    rows = std::move(deeper);
  }
  return rows;
}

std::string_view Below(std::string_view path, std::string_view above) {
  return above.empty() ? path : path.substr(above.size() + 1);
}

// "h.1", "h.46" -> "h.1…46"
std::string Range(std::string_view first, std::string_view last) {
  size_t differing = 0;
  while (differing < first.size() && first[differing] == last[differing]) ++differing;
  while (differing > 0 && IsDigit(last[differing - 1])) --differing;
  return Printable(first) + "…" + Printable(last.substr(differing));
}

// The path under the nearest shown layer above, indented; keeps the stack of those layers.
std::string IndentedName(const LayerRow& row, std::vector<std::string_view>* above) {
  while (!above->empty() && !IsBelow(row.layer->path, above->back())) above->pop_back();
  const std::string_view parent = above->empty() ? "" : above->back();
  const std::string indent(2 * above->size(), ' ');
  above->push_back(row.layer->path);
  const std::string_view name = Below(row.layer->path, parent);
  if (row.alike == 1) return indent + Printable(name);
  return indent + Range(name, Below(row.last->path, parent)) + ", " + WithThousands(row.alike) +
         " alike";
}

std::string Share(int64_t part, int64_t whole) {
  if (whole <= 0) return "";
  // part / whole in tenths of a percent; shifted down together so that the product fits.
  while (whole > (1LL << 50)) {
    part >>= 1;
    whole >>= 1;
  }
  const int64_t tenths = (part * 1000 + whole / 2) / whole;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + "%";
}

TerminalTable EmptyTable(const Columns& columns) {
  constexpr TableColumn::Align kRight = TableColumn::Align::kRight;
  constexpr TableColumn::Excess kMiddle = TableColumn::Excess::kElideMiddle;
  std::vector<TableColumn> all = {
      {.title = "layer", .excess = kMiddle, .readable = 26},
      {.title = "class", .excess = kMiddle, .readable = 12, .leaves_as = 5}};
  for (const ByteColumn& column : columns) {
    all.push_back({.title = column.title, .align = kRight, .leaves_as = column.leaves_as});
  }
  all.push_back({.title = "sum", .align = kRight});
  all.push_back({.title = "share", .leaves_as = 1});
  return TerminalTable(std::move(all));
}

std::vector<std::string> Cells(std::string name, const std::string& class_name,
                               const CategoryBytes& bytes, const Columns& columns, int64_t whole) {
  std::vector<std::string> cells = {std::move(name), Printable(class_name)};
  for (const ByteColumn& column : columns) {
    const int64_t value = column.bytes(bytes);
    cells.push_back(value == 0 ? "-" : BinaryUnits(value));
  }
  const int64_t sum = Sum(bytes, columns);
  cells.push_back(BinaryUnits(sum));
  cells.push_back(Share(sum, whole));
  return cells;
}

std::string FoldedLine(const std::vector<const ReportLayer*>& layers, int depth,
                       const Terminal& terminal) {
  const auto folded = std::count_if(layers.begin(), layers.end(),
                                    [&](const ReportLayer* layer) { return layer->depth > depth; });
  if (folded == 0) return "";
  const std::string text = "  " + WithThousands(folded) + " deeper layers are folded; --depth " +
                           std::to_string(depth + 1) + " shows more";
  return Faint(text, terminal) + "\n";
}

}  // namespace

std::string LayersText(const Report& report, const TextOptions& options) {
  CategoryBytes all;
  for (const ReportLayer& layer : report.layers) Add(layer.own, &all);
  const Columns columns = ColumnsOf(report, all);
  if (columns.empty() || (options.depth && *options.depth == 0)) return "";

  std::vector<const ReportLayer*> layers;  // that have any bytes to show
  for (const ReportLayer& layer : report.layers) {
    if (!layer.path.empty() && Sum(layer.total, columns) != 0) layers.push_back(&layer);
  }
  int depth = options.depth.value_or(1);
  const std::vector<LayerRow> rows =
      options.depth ? RowsOf(layers, depth, columns) : ReadableRows(layers, columns, &depth);
  const int64_t whole = Sum(all, columns);
  TerminalTable table = EmptyTable(columns);
  std::vector<std::string_view> above;
  for (const LayerRow& row : rows) {
    std::vector<std::string> cells =
        Cells(IndentedName(row, &above), row.layer->class_name, row.layer->total, columns, whole);
    if (row.alike > 1) cells.back() += " each";
    table.AddRow(std::move(cells));
  }
  for (const ReportLayer& layer : report.layers) {
    if (layer.path.empty() && Sum(layer.own, columns) != 0) {
      table.AddRow(Cells("(no layer)", "", layer.own, columns, whole));
    }
  }
  table.AddRow(Cells("all layers", "", all, columns, whole), RowStyle::kBold);
  return Bold("Layers", options.terminal) + "\n" + table.Render(options.terminal) +
         FoldedLine(layers, depth, options.terminal);
}

}  // namespace footprint
