#include "tests/support/torch_text.h"

#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace footprint {
namespace {

// Text cut at commas that are outside of brackets and quotes.
std::vector<absl::string_view> SplitOutside(absl::string_view text) {
  std::vector<absl::string_view> parts;
  int depth = 0;
  bool quoted = false;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '"') quoted = !quoted;
    if (!quoted && (c == '[' || c == '(')) ++depth;
    if (!quoted && (c == ']' || c == ')')) --depth;
    const bool ends = i == text.size() || (c == ',' && depth == 0 && !quoted);
    if (!ends) continue;
    const absl::string_view part = absl::StripAsciiWhitespace(text.substr(begin, i - begin));
    if (!part.empty() || i < text.size()) parts.push_back(part);
    begin = i + 1;
  }
  return parts;
}

class Parser {
 public:
  explicit Parser(DimTable& dims) : dims_(dims) {}

  bool ParseLine(absl::string_view line) {
    line = absl::StripAsciiWhitespace(line.substr(0, line.find('#')));
    if (line.empty()) return true;
    if (absl::ConsumePrefix(&line, "loss ")) {
      program_.loss = Find(line);
      return program_.loss.valid();
    }
    if (absl::ConsumePrefix(&line, "parameter ")) return Stored(TorchValueKind::kParameter, line);
    if (absl::ConsumePrefix(&line, "buffer ")) return Stored(TorchValueKind::kBuffer, line);
    if (absl::ConsumePrefix(&line, "input ")) return Stored(TorchValueKind::kInput, line);
    return Call(line);
  }

  TorchProgram Take() { return std::move(program_); }

 private:
  TorchValueId Find(absl::string_view name) const {
    const auto found = names_.find(absl::StripPrefix(name, "%"));
    return found == names_.end() ? TorchValueId() : found->second;
  }

  TorchValueId Add(TorchValueKind kind, absl::string_view name, TensorType type) {
    TorchValue value;
    value.name = std::string(absl::StripPrefix(name, "%"));
    value.kind = kind;
    value.type = std::move(type);
    value.trainable = kind == TorchValueKind::kParameter;
    std::string key = value.name;
    const TorchValueId id = program_.values.Add(std::move(value));
    names_[key] = id;
    return id;
  }

  Dim ParseDim(absl::string_view text) {
    return dims_.Parse(text).value_or(Dim());
  }

  // "float32[batch, 3]"
  std::optional<TensorType> ParseType(absl::string_view text) {
    const size_t bracket = text.find('[');
    if (bracket == absl::string_view::npos || !absl::EndsWith(text, "]")) return std::nullopt;
    const std::optional<ElementType> element = ElementTypeFromName(text.substr(0, bracket));
    if (!element) return std::nullopt;
    Dims dims;
    for (absl::string_view dim :
         SplitOutside(text.substr(bracket + 1, text.size() - bracket - 2))) {
      dims.push_back(ParseDim(dim));
    }
    return TensorType::Make(*element, dims);
  }

  bool Stored(TorchValueKind kind, absl::string_view line) {
    const bool frozen = absl::ConsumeSuffix(&line, " frozen");
    const std::vector<absl::string_view> parts = absl::StrSplit(line, absl::MaxSplits(": ", 1));
    if (parts.size() != 2) return false;
    std::optional<TensorType> type = ParseType(parts[1]);
    if (!type) return false;
    const TorchValueId id = Add(kind, parts[0], *std::move(type));
    if (frozen) program_.values[id].trainable = false;
    if (kind != TorchValueKind::kInput) program_.stored.push_back(id);
    return true;
  }

  TorchArgument Argument(absl::string_view text) {
    if (text == "None") return {};
    if (text == "True" || text == "False") return TorchArgument::Bool(text == "True");
    if (absl::StartsWith(text, "%")) return TorchArgument::Tensor(Find(text));
    if (absl::ConsumePrefix(&text, "\"")) {
      absl::ConsumeSuffix(&text, "\"");
      return TorchArgument::String(std::string(text));
    }
    if (absl::ConsumePrefix(&text, "[")) {
      absl::ConsumeSuffix(&text, "]");
      return List(SplitOutside(text));
    }
    if (const std::optional<ElementType> element = ElementTypeFromName(text)) {
      return TorchArgument::Element(*element);
    }
    double number = 0;
    const bool fraction = text.find_first_of(".e") != absl::string_view::npos;
    if (fraction && absl::SimpleAtod(text, &number)) return TorchArgument::Float(number);
    return TorchArgument::Int(ParseDim(text));
  }

  TorchArgument List(const std::vector<absl::string_view>& items) {
    bool tensors = !items.empty();
    for (absl::string_view item : items) {
      tensors &= absl::StartsWith(item, "%") || item == "None";
    }
    if (!tensors) {
      std::vector<Dim> dims;
      for (absl::string_view item : items) dims.push_back(ParseDim(item));
      return TorchArgument::Ints(dims);
    }
    std::vector<TorchValueId> ids;
    for (absl::string_view item : items) ids.push_back(Find(item));
    return TorchArgument::Tensors(std::move(ids));
  }

  // "%a: type, _ = op(arguments) in-place held:4"
  bool Call(absl::string_view line) {
    const std::vector<absl::string_view> sides = absl::StrSplit(line, absl::MaxSplits(" = ", 1));
    if (sides.size() != 2) return false;
    const size_t open = sides[1].find('(');
    const size_t close = sides[1].rfind(')');
    if (open == absl::string_view::npos || close == absl::string_view::npos) return false;
    TorchCall call;
    call.op = FindTorchOp(sides[1].substr(0, open));
    if (call.op == nullptr) return false;
    for (absl::string_view argument : SplitOutside(sides[1].substr(open + 1, close - open - 1))) {
      call.arguments.push_back(Argument(argument));
    }
    for (absl::string_view result : SplitOutside(sides[0])) {
      const std::vector<absl::string_view> parts =
          absl::StrSplit(result, absl::MaxSplits(": ", 1));
      std::optional<TensorType> type =
          parts.size() < 2 ? TensorType::UnknownRank(ElementType::kFloat) : ParseType(parts[1]);
      if (!type) return false;
      call.results.push_back(result == "_" ? TorchValueId()
                                           : Add(TorchValueKind::kComputed, parts[0], *type));
    }
    for (absl::string_view word : absl::StrSplit(sides[1].substr(close + 1), ' ')) {
      if (word == "in-place") call.in_place = InPlace::kYes;
      if (word == "in-place-if-unsaved") call.in_place = InPlace::kIfUnsaved;
      int32_t held = 0;
      if (absl::ConsumePrefix(&word, "held:") && absl::SimpleAtoi(word, &held)) {
        program_.values[call.results[0]].held_until = CallId(held);
      }
    }
    program_.calls.Add(std::move(call));
    return true;
  }

  DimTable& dims_;
  TorchProgram program_;
  absl::flat_hash_map<std::string, TorchValueId> names_;
};

}  // namespace

std::optional<TorchProgram> ParseTorchProgram(absl::string_view text, DimTable& dims,
                                              std::string* error) {
  Parser parser(dims);
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (parser.ParseLine(line)) continue;
    *error = absl::StrCat("not understood: ", line);
    return std::nullopt;
  }
  return parser.Take();
}

}  // namespace footprint
