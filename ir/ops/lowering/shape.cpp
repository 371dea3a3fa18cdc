#include "ir/ops/lowering/shape.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/ascii.h"

namespace footprint {
namespace {

constexpr absl::string_view kCommutative[] = {"Add", "Mul", "Max", "Min", "And", "Or", "Equal"};

// The text is ours and a few parts deep, so the parser may be recursive.
class Parser {
 public:
  explicit Parser(absl::string_view text) : text_(text) {}

  Shape Run() {
    ParsePart();
    if (at_ != text_.size()) Fail("end expected");
    return std::move(shape_);
  }

 private:
  [[noreturn]] void Fail(const char* what) const {
    std::fprintf(stderr, "shape '%.*s', column %zu: %s\n", static_cast<int>(text_.size()),
                 text_.data(), at_ + 1, what);
    std::abort();
  }

  void SkipBlanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool Take(char c) {
    SkipBlanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  absl::string_view Word() {
    const size_t begin = at_;
    while (at_ < text_.size() && (absl::ascii_isalnum(text_[at_]) || text_[at_] == '_')) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  int Variable(absl::string_view name) {
    const auto it = std::find(shape_.variables.begin(), shape_.variables.end(), name);
    if (it == shape_.variables.end()) {
      shape_.variables.push_back(name);
      return static_cast<int>(shape_.variables.size()) - 1;
    }
    return static_cast<int>(it - shape_.variables.begin());
  }

  int ParsePart() {
    ShapePart part;
    part.shared = Take('&');
    if (Take('#')) {
      part.kind = ShapePart::Kind::kNumber;
      if (const absl::string_view name = Word(); !name.empty()) part.variable = Variable(name);
    } else {
      const absl::string_view word = Word();
      if (word.empty()) Fail("operator, variable or # expected");
      if (absl::ascii_isupper(word[0])) {
        ParseOperator(word, part);
      } else if (word != "_") {
        part.kind = ShapePart::Kind::kVariable;
        part.variable = Variable(word);
      }
    }
    shape_.parts.push_back(std::move(part));
    return static_cast<int>(shape_.parts.size()) - 1;
  }

  void ParseOperator(absl::string_view word, ShapePart& part) {
    part.kind = ShapePart::Kind::kOperator;
    part.operators.push_back(word);
    while (Take('|')) part.operators.push_back(Word());
    part.commutes = std::find(std::begin(kCommutative), std::end(kCommutative),
                              part.operators[0]) != std::end(kCommutative);
    if (Take('.')) part.output = std::atoi(std::string(Word()).c_str());
    part.optional = Take('?');
    if (Take(':')) part.variable = Variable(Word());
    if (Take('[')) ParseAttributes(part);
    if (!Take('(')) return;
    do {
      SkipBlanks();
      part.operands.push_back(ParsePart());
    } while (Take(','));
    if (!Take(')')) Fail(") expected");
  }

  void ParseAttributes(ShapePart& part) {
    const absl::string_view name = Word();
    if (!Take('=')) Fail("= expected");
    std::vector<int64_t> values;
    do {
      values.push_back(std::atoll(std::string(Word()).c_str()));
    } while (Take(','));
    part.attributes.emplace_back(name, std::move(values));
    if (!Take(']')) Fail("] expected");
  }

  absl::string_view text_;
  size_t at_ = 0;
  Shape shape_;
};

}  // namespace

Shape ParseShape(absl::string_view text) { return Parser(text).Run(); }

}  // namespace footprint
