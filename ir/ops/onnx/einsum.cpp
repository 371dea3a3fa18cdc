// Einsum.
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "ir/ops/onnx/families.h"
#include "ir/ops/onnx/rules.h"

// "...ij,...jk->...ik": each letter is one size, the same wherever it stands; an ellipsis covers
// the axes that have no letter, which broadcast, and covers equally many in each operand. Without
// an arrow the result is the ellipsis and then, in alphabetical order, each letter that stands
// once.

namespace footprint {
namespace {

struct Term {
  std::string letters;  // without the ellipsis
  int ellipsis = -1;    // letters before it; -1: none
};

// False if `text` is no term.
bool ParseTerm(absl::string_view text, Term* term) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    if (text[i] == '.') {
      if (term->ellipsis >= 0 || text.substr(i, 3) != "...") return false;
      term->ellipsis = static_cast<int>(term->letters.size());
      i += 2;
    } else if (absl::ascii_isalpha(static_cast<unsigned char>(text[i]))) {
      term->letters += text[i];
    } else {
      return false;
    }
  }
  return true;
}

struct Equation {
  std::vector<Term> operands;
  Term result;
};

Term ImplicitResult(const std::vector<Term>& operands) {
  Term result;
  int count[128] = {0};
  for (const Term& operand : operands) {
    if (operand.ellipsis >= 0) result.ellipsis = 0;
    for (const char letter : operand.letters) ++count[static_cast<unsigned char>(letter)];
  }
  for (char letter = 'A'; letter <= 'z'; ++letter) {
    if (count[static_cast<unsigned char>(letter)] == 1) result.letters += letter;
  }
  return result;
}

bool ParseEquation(absl::string_view text, Equation* equation) {
  const size_t arrow = text.find("->");
  for (const absl::string_view part : absl::StrSplit(text.substr(0, arrow), ',')) {
    if (!ParseTerm(part, &equation->operands.emplace_back())) return false;
  }
  if (arrow == absl::string_view::npos) {
    equation->result = ImplicitResult(equation->operands);
    return true;
  }
  return ParseTerm(text.substr(arrow + 2), &equation->result);
}

class EinsumSizes {
 public:
  explicit EinsumSizes(InferContext& c) : c_(c) {}

  // False after an error.
  bool AddOperand(const Term& term, const TensorType& type) {
    const int covered = type.rank() - static_cast<int>(term.letters.size());
    if (covered < 0 || (covered > 0 && term.ellipsis < 0)) {
      c_.Error(absl::StrCat("'", term.letters, "' has ", term.letters.size(),
                            " axes and its operand is ", ShapeToString(type, c_.dims())));
      return false;
    }
    if (term.ellipsis >= 0 && ellipsis_rank_ >= 0 && covered != ellipsis_rank_) {
      c_.Error(
          absl::StrCat("the ellipsis covers ", ellipsis_rank_, " and ", covered, " dimensions"));
      return false;
    }
    size_t axis = 0;
    for (size_t i = 0; i <= term.letters.size(); ++i) {
      if (static_cast<int>(i) == term.ellipsis) {
        const auto span =
            absl::Span<const Dim>(type.dims).subspan(axis, static_cast<size_t>(covered));
        ellipsis_ = BroadcastDims(c_, ellipsis_, span);
        ellipsis_rank_ = covered;
        axis += static_cast<size_t>(covered);
      }
      if (i < term.letters.size()) AddLetter(term.letters[i], type.dims[axis++]);
    }
    return true;
  }

  bool SetResult(const Term& term, ElementType element) {
    Dims dims;
    for (size_t i = 0; i <= term.letters.size(); ++i) {
      if (static_cast<int>(i) == term.ellipsis) {
        dims.insert(dims.end(), ellipsis_.begin(), ellipsis_.end());
      }
      if (i == term.letters.size()) break;
      const auto found = sizes_.find(term.letters[i]);
      if (found == sizes_.end()) {
        c_.Error(absl::StrCat("'", term.letters.substr(i, 1), "' stands in the result alone"));
        return false;
      }
      dims.push_back(found->second);
    }
    SetRanked(c_, 0, element, dims);
    return true;
  }

 private:
  void AddLetter(char letter, Dim size) {
    const auto [it, is_new] = sizes_.emplace(letter, size);
    if (is_new || SameSize(it->second, size)) return;
    // Sizes of 1 broadcast, as in NumPy.
    it->second = c_.RequireBroadcast(it->second, size, "sizes of one letter differ");
  }

  InferContext& c_;
  absl::flat_hash_map<char, Dim> sizes_;
  Dims ellipsis_;
  int ellipsis_rank_ = -1;
};

void EinsumTypes(InferContext& c) {
  Equation equation;
  const absl::string_view text = c.node().String("equation", "");
  if (!ParseEquation(text, &equation)) {
    return c.Error(absl::StrCat("'", text, "' is no equation"));
  }
  if (static_cast<int>(equation.operands.size()) != c.num_inputs()) {
    return c.Error(absl::StrCat("the equation has ", equation.operands.size(),
                                " operands and the node ", c.num_inputs()));
  }
  EinsumSizes sizes(c);
  const ElementType element = c.InputElement(0);
  for (int i = 0; i < c.num_inputs(); ++i) {
    const TensorType* operand = c.RankedInput(i);
    if (operand == nullptr) {
      // The letters of the result still tell its rank.
      if (equation.result.ellipsis >= 0) return SetUnranked(c, 0, element);
      return SetRankOnly(c, 0, element, static_cast<int64_t>(equation.result.letters.size()));
    }
    if (!sizes.AddOperand(equation.operands[static_cast<size_t>(i)], *operand)) return;
  }
  sizes.SetResult(equation.result, element);
}

constexpr OnnxOp kRows[] = {
    {.name = "Einsum",
     .since = 12,
     .signature = "1-*->1 equation",
     .types = EinsumTypes,
     .same_element = kEveryOperand,
     .weights = 0b11,
     .textbook = TextbookKind::kLinear},
};

}  // namespace

OnnxFamily EinsumOps() { return kRows; }

}  // namespace footprint
