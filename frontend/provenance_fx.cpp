// The text of one fx node, as torch.fx prints it:
//
//   %add : [num_users=2] = call_function[target=torch.ops.aten.add.Tensor](args = (%x, [1, %n]),
//                                                                          kwargs = {alpha: 2})
//
// Brackets are followed with a stack of open lists. Strings have no quotes: a word is a string, and
// so is all of "bhqd, bhkd -> bhqk", which is known by its arrow. Text that fits none of this ends
// up whole in one argument of kind kOther.
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "frontend/provenance.h"

namespace footprint {
namespace {

using Kind = FxArgument::Kind;

constexpr size_t kMaxDepth = 32;
constexpr size_t kMaxEquation = 512;

FxArgument Text(Kind kind, absl::string_view text) {
  FxArgument argument;
  argument.kind = kind;
  argument.text = std::string(text);
  return argument;
}

bool IsWordChar(char c) { return !absl::StrContains(",()[]{} \n\t", absl::string_view(&c, 1)); }

FxArgument ParseWord(absl::string_view word) {
  FxArgument argument;
  if (absl::StartsWith(word, "%")) return Text(Kind::kReference, word.substr(1));
  if (word == "None") return argument;
  if (word == "True" || word == "False") {
    argument.kind = Kind::kBool;
    argument.int_value = word == "True" ? 1 : 0;
    return argument;
  }
  if (absl::SimpleAtoi(word, &argument.int_value)) {
    argument.kind = Kind::kInt;
    return argument;
  }
  const char first = word[0];
  const bool number = absl::ascii_isdigit(static_cast<unsigned char>(first)) || first == '-' ||
                      first == '.' || word == "inf" || word == "nan";
  if (number && absl::SimpleAtod(word, &argument.float_value)) {
    argument.kind = Kind::kFloat;
    argument.int_value = 0;
    return argument;
  }
  return Text(absl::StartsWith(word, "torch.") ? Kind::kOther : Kind::kString, word);
}

// The length of an einsum equation at the start of `text`, 0 if there is none.
size_t EquationLength(absl::string_view text) {
  const auto in_equation = [](char c) {
    return absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == '.' || c == ' ';
  };
  text = text.substr(0, kMaxEquation);
  size_t end = 0;
  while (end < text.size() && (in_equation(text[end]) || text[end] == ',')) ++end;
  if (end == 0 || !absl::StartsWith(text.substr(end), "->")) return 0;
  end += 2;
  while (end < text.size() && in_equation(text[end])) ++end;
  return end;
}

class ArgumentParser {
 public:
  explicit ArgumentParser(absl::string_view text) : rest_(text) {}

  // Parses "(a, b)" and leaves the rest. Not understood: false.
  bool List(FxArgument* list) {
    std::vector<FxArgument> open;
    do {
      SkipBlanks();
      if (rest_.empty()) return false;
      const char c = rest_[0];
      if (c == '(' || c == '[') {
        if (open.size() == kMaxDepth) return false;
        rest_.remove_prefix(1);
        open.emplace_back().kind = Kind::kList;
      } else if (open.empty()) {
        return false;
      } else if (c == ')' || c == ']') {
        rest_.remove_prefix(1);
        FxArgument closed = std::move(open.back());
        open.pop_back();
        (open.empty() ? *list : open.back().items.emplace_back()) = std::move(closed);
      } else if (c == ',') {
        rest_.remove_prefix(1);
      } else if (!Scalar(&open.back().items.emplace_back())) {
        return false;
      }
    } while (!open.empty());
    return true;
  }

  // Parses "{key: value, ...}".
  bool Keywords(std::vector<std::pair<std::string, FxArgument>>* keywords) {
    SkipBlanks();
    if (!absl::ConsumePrefix(&rest_, "{")) return false;
    while (true) {
      SkipBlanks();
      if (absl::ConsumePrefix(&rest_, "}")) return true;
      if (absl::ConsumePrefix(&rest_, ",")) continue;
      const size_t colon = rest_.find(':');
      if (colon == absl::string_view::npos) return false;
      auto& [key, value] = keywords->emplace_back();
      key = std::string(absl::StripAsciiWhitespace(rest_.substr(0, colon)));
      rest_.remove_prefix(colon + 1);
      SkipBlanks();
      const bool list = absl::StartsWith(rest_, "(") || absl::StartsWith(rest_, "[");
      if (!(list ? List(&value) : Scalar(&value))) return false;
    }
  }

  absl::string_view rest() const { return rest_; }
  bool Consume(absl::string_view prefix) {
    SkipBlanks();
    return absl::ConsumePrefix(&rest_, prefix);
  }

 private:
  void SkipBlanks() { rest_ = absl::StripLeadingAsciiWhitespace(rest_); }

  bool Scalar(FxArgument* result) {
    if (absl::StartsWith(rest_, "{")) return Bracketed(0, result);
    if (const size_t equation = EquationLength(rest_)) {
      *result = Text(Kind::kString, absl::StripAsciiWhitespace(rest_.substr(0, equation)));
      rest_.remove_prefix(equation);
      return true;
    }
    size_t end = 0;
    while (end < rest_.size() && IsWordChar(rest_[end])) ++end;
    if (end == 0) return false;
    if (end < rest_.size() && rest_[end] == '(') return Bracketed(end, result);  // slice(0, 3)
    *result = ParseWord(rest_.substr(0, end));
    rest_.remove_prefix(end);
    return true;
  }

  // Takes everything up to the bracket that closes the one at `at`, as written.
  bool Bracketed(size_t at, FxArgument* result) {
    int depth = 0;
    for (size_t i = at; i < rest_.size(); ++i) {
      if (absl::StrContains("([{", rest_.substr(i, 1))) ++depth;
      if (absl::StrContains(")]}", rest_.substr(i, 1)) && --depth == 0) {
        *result = Text(Kind::kOther, rest_.substr(0, i + 1));
        rest_.remove_prefix(i + 1);
        return true;
      }
    }
    return false;
  }

  absl::string_view rest_;
};

}  // namespace

FxNode ParseFxNode(absl::string_view text) {
  constexpr absl::string_view kTarget = "[target=";
  FxNode node;
  absl::string_view rest = absl::StripAsciiWhitespace(text);
  if (absl::StartsWith(rest, "%")) node.name = std::string(rest.substr(1, rest.find(' ') - 1));
  const size_t target = rest.find(kTarget);
  if (target == absl::string_view::npos) {
    node.arguments.push_back(Text(Kind::kOther, text));
    return node;
  }
  rest.remove_prefix(target + kTarget.size());
  size_t end = rest.find("](");
  if (end == absl::string_view::npos) end = rest.rfind(']');
  node.target = std::string(absl::StripPrefix(rest.substr(0, end), "torch.ops."));
  if (end == absl::string_view::npos) return node;
  rest.remove_prefix(end + 1);

  ArgumentParser parser(rest);
  FxArgument arguments;
  if (!parser.Consume("(args = ")) return node;  // placeholders and the like have none
  if (!parser.List(&arguments) || !parser.Consume(", kwargs = ") ||
      !parser.Keywords(&node.keyword_arguments)) {
    node.keyword_arguments.clear();
    arguments.items = {Text(Kind::kOther, rest)};
  }
  node.arguments = std::move(arguments.items);
  return node;
}

}  // namespace footprint
