// Where text goes and how wide it is there.
#ifndef FOOTPRINT_BACKEND_TERMINAL_H_
#define FOOTPRINT_BACKEND_TERMINAL_H_

#include <string>
#include <string_view>

namespace footprint {

struct Terminal {
  int width = 100;      // columns; what a pipe or a file gets unless COLUMNS says otherwise
  bool styled = false;  // bold and dim; never anything else
};

// Honours NO_COLOR, TERM=dumb and COLUMNS; a pipe or a file is never styled.
Terminal DescribeTerminal(int file_descriptor);

// Columns that UTF-8 text takes. Bytes that are not UTF-8 count one each.
int DisplayWidth(std::string_view text);

// At most `width` columns: the middle, or the end, gives way to an ellipsis.
std::string ElideMiddle(std::string_view text, int width);
std::string ElideEnd(std::string_view text, int width);

// Text from a model, safe to print: control characters and bytes that are not UTF-8 are replaced.
std::string Printable(std::string_view text);

std::string Bold(std::string_view text, const Terminal& terminal);
std::string Faint(std::string_view text, const Terminal& terminal);

// Breaks at spaces to fit the terminal; every line but the first begins with `indent` spaces.
std::string Wrap(std::string_view text, int indent, const Terminal& terminal);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_TERMINAL_H_
