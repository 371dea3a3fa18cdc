// CsvWriter: comma-separated values (RFC 4180), row by row. An unknown figure is an empty cell.
#ifndef FOOTPRINT_BACKEND_CSV_WRITER_H_
#define FOOTPRINT_BACKEND_CSV_WRITER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace footprint {

class CsvWriter {
 public:
  void Cell(std::string_view text);
  void Cell(const std::string& text) { Cell(std::string_view(text)); }
  void Cell(const char* text) { Cell(std::string_view(text)); }
  void Cell(int64_t number);
  void Cell(const std::optional<int64_t>& number);
  void Cell(const std::vector<std::string>& texts);  // "a; b; c"

  template <typename... Cells>
  void Row(const Cells&... cells) {
    (Cell(cells), ...);
    EndRow();
  }
  void EndRow();
  std::string Take() { return std::move(text_); }

 private:
  void Separate();

  std::string text_;
  bool in_row_ = false;
};

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_CSV_WRITER_H_
