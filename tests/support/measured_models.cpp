#include "tests/support/measured_models.h"

#include <cctype>
#include <cstdlib>

namespace footprint {
namespace {

// The product of the numbers between the last brackets before `at`.
int64_t ElementsBefore(const std::string& text, size_t at) {
  const size_t close = text.rfind(']', at);
  const size_t open = text.rfind('[', close);
  int64_t elements = 1;
  size_t next = open + 1;
  while (next < close) {
    size_t used = 0;
    elements *= std::stoll(text.substr(next, close - next), &used);
    next = text.find_first_of(",]", next + used) + 1;
  }
  return elements;
}

}  // namespace

std::string TestName(const MeasuredModel& model) {
  std::string name;
  bool starts_word = true;
  for (const char c : std::string(model.name)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      name += starts_word ? static_cast<char>(std::toupper(c)) : c;
      starts_word = false;
    } else {
      starts_word = true;
    }
  }
  return name;
}

std::string FullText(const MeasuredModel& model) {
  const std::string rest = std::string(model.graph) + model.end;
  std::string text = "<ir_version: 8, opset_import: [\"\" : " + std::to_string(model.opset) +
                     ", \"com.microsoft\" : 1]>\ng ";
  size_t done = 0;
  for (size_t dots = rest.find("...}"); dots != std::string::npos; dots = rest.find("...}", done)) {
    const size_t open = rest.rfind('{', dots);
    const std::string number = rest.substr(open + 1, dots - open - 1);
    text += rest.substr(done, open + 1 - done) + number;
    for (int64_t i = ElementsBefore(rest, open); i > 1; --i) text += ", " + number;
    done = dots + 3;
  }
  return text + rest.substr(done);
}

}  // namespace footprint
