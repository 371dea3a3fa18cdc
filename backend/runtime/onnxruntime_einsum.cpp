// What Einsum takes while it runs. Letters are numbered as the equation first names them; each
// operand is laid out in that order, then both as batches of matrices:
//
//   bihd, bjhd -> bhij     left [b h, i, d]   right [b h, d, j]   product [b h, i, j]
//
// Letters of both sides that stay are the batch; every layout that is not there already is a copy.
#include <algorithm>
#include <numeric>
#include <string>

#include "backend/runtime/onnxruntime_scratch.h"

namespace footprint {
namespace {

struct Equation {
  std::vector<std::string> operands;
  std::string result;
  std::string letters;  // in the order of their numbers
};

// None: with an ellipsis, a letter twice in one operand, or no result.
std::optional<Equation> Parse(absl::string_view text) {
  Equation equation;
  equation.operands.emplace_back();
  bool is_result = false;
  bool has_result = false;
  for (const char c : text) {
    if (c == ' ' || c == '-') continue;
    if (c == '>') {
      is_result = has_result = true;
    } else if (c == ',') {
      equation.operands.emplace_back();
    } else if (c == '.') {
      return std::nullopt;
    } else {
      std::string& part = is_result ? equation.result : equation.operands.back();
      if (part.find(c) != std::string::npos) return std::nullopt;
      part += c;
      if (equation.letters.find(c) == std::string::npos) equation.letters += c;
    }
  }
  if (!has_result) return std::nullopt;
  return equation;
}

// The sizes by number of letter; 1 where the operand has none.
std::optional<std::vector<int64_t>> SizesByLetter(const Equation& equation, size_t operand,
                                                  const std::vector<int64_t>& dims) {
  const std::string& part = equation.operands[operand];
  if (part.size() != dims.size()) return std::nullopt;
  std::vector<int64_t> sizes(equation.letters.size(), 1);
  for (size_t i = 0; i < part.size(); ++i) sizes[equation.letters.find(part[i])] = dims[i];
  return sizes;
}

Wide ElementsOf(const std::vector<int64_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), Wide{1}, std::multiplies<Wide>());
}

bool IsInOrder(const Equation& equation, const std::string& part) {
  return std::is_sorted(part.begin(), part.end(), [&](char a, char b) {
    return equation.letters.find(a) < equation.letters.find(b);
  });
}

bool IsOrdered(const std::vector<size_t>& numbers) {
  return std::is_sorted(numbers.begin(), numbers.end());
}

// The numbers of the lists one after another, with those that are in none of them.
std::vector<size_t> Joined(std::initializer_list<const std::vector<size_t>*> lists) {
  std::vector<size_t> joined;
  for (const std::vector<size_t>* list : lists) {
    joined.insert(joined.end(), list->begin(), list->end());
  }
  return joined;
}

// Elements of the copies that a product of two operands needs.
class PairLayout {
 public:
  PairLayout(const Equation& equation, std::vector<int64_t> left, std::vector<int64_t> right)
      : equation_(equation), left_(std::move(left)), right_(std::move(right)) {
    for (size_t i = 0; i < left_.size(); ++i) Sort(i);
  }

  Wide Copies() const {
    Wide elements = copies_;
    if (!IsOrdered(Joined({&both_, &of_left_, &summed_, &of_right_}))) {
      elements += ElementsOf(left_);
    }
    if (!IsOrdered(Joined({&both_, &summed_, &of_right_, &of_left_}))) {
      elements += ElementsOf(right_);
    }
    return elements;
  }

  // The product comes as [both, of left, of right].
  bool FitsResult() const {
    std::string order;
    for (const size_t i : Joined({&both_, &of_left_, &of_right_})) {
      if (equation_.result.find(equation_.letters[i]) != std::string::npos) {
        order += equation_.letters[i];
      }
    }
    return order == equation_.result;
  }

 private:
  void Sort(size_t i) {
    const bool stays = equation_.result.find(equation_.letters[i]) != std::string::npos;
    const bool in_left = left_[i] > 1;
    const bool in_right = right_[i] > 1;
    if (!stays) {
      if (in_left && !in_right) copies_ += ElementsOf(left_) / left_[i];
      if (!in_left && in_right) copies_ += ElementsOf(right_) / right_[i];
      if (in_left != in_right) (in_left ? left_ : right_)[i] = 1;
      summed_.push_back(i);
    } else if (in_left && in_right) {
      both_.push_back(i);
    } else {
      (in_left ? of_left_ : of_right_).push_back(i);
    }
  }

  const Equation& equation_;
  std::vector<int64_t> left_;
  std::vector<int64_t> right_;
  std::vector<size_t> both_;
  std::vector<size_t> of_left_;
  std::vector<size_t> of_right_;
  std::vector<size_t> summed_;
  Wide copies_ = 0;
};

// Any number of operands: all of them laid out anew, the product, and the product laid out.
Wide Roughly(const SizedNode& sized) {
  Wide bytes = Wide{2} * sized.output_bytes[0];
  for (const int64_t input : sized.input_bytes) bytes += input;
  return bytes;
}

}  // namespace

Wide EinsumScratch(const SizedNode& sized) {
  const std::optional<Equation> equation =
      sized.source == nullptr ? std::nullopt : Parse(sized.source->String("equation", ""));
  const Wide elements = ElementsOf(sized.outputs[0]);
  if (!equation || elements == 0 || equation->operands.size() != 2 || sized.inputs.size() != 2) {
    return Roughly(sized);
  }
  const auto left = SizesByLetter(*equation, 0, sized.inputs[0]);
  const auto right = SizesByLetter(*equation, 1, sized.inputs[1]);
  if (!left || !right) return Roughly(sized);
  const PairLayout layout(*equation, *left, *right);
  Wide copied = layout.Copies();
  for (size_t i = 0; i < 2; ++i) {
    if (!IsInOrder(*equation, equation->operands[i])) copied += ElementsOf(i == 0 ? *left : *right);
  }
  const Wide width = sized.output_bytes[0] / elements;
  return copied * width + (layout.FitsResult() ? 1 : 2) * Wide{sized.output_bytes[0]};
}

}  // namespace footprint
