#include "backend/csv_writer.h"

#include "backend/terminal.h"

namespace footprint {

void CsvWriter::Cell(std::string_view text) {
  Separate();
  const std::string printable = Printable(text);
  if (printable.find_first_of(",\"") == std::string::npos) {
    text_ += printable;
    return;
  }
  text_ += '"';
  for (const char c : printable) text_.append(c == '"' ? 2 : 1, c);
  text_ += '"';
}

void CsvWriter::Cell(int64_t number) {
  Separate();
  text_ += std::to_string(number);
}

void CsvWriter::Cell(const std::optional<int64_t>& number) {
  if (number) {
    Cell(*number);
  } else {
    Separate();
  }
}

void CsvWriter::Cell(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) joined += (joined.empty() ? "" : "; ") + text;
  Cell(std::string_view(joined));
}

void CsvWriter::EndRow() {
  text_ += '\n';
  in_row_ = false;
}

void CsvWriter::Separate() {
  if (in_row_) text_ += ',';
  in_row_ = true;
}

}  // namespace footprint
