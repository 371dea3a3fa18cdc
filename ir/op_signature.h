// Signature: how many inputs and outputs nodes of an operator have, and which attributes they must
// have, by opset version; written beside the operator's rules and read by the compiler.
//
//   "2->1"                two inputs, one output
//   "1->1; 11: 1-3->1"    from version 11 on one to three inputs
//   "1-*->1; 4: 1-*->1 axis"    any number of inputs; from version 4 on attribute axis is required
#ifndef FOOTPRINT_IR_OP_SIGNATURE_H_
#define FOOTPRINT_IR_OP_SIGNATURE_H_

#include <array>
#include <cstddef>
#include <limits>
#include <string_view>

#include "absl/strings/string_view.h"

namespace footprint {

class Signature {
 public:
  static constexpr int kAny = std::numeric_limits<int>::max();

  struct Range {
    int least = 0;
    int most = 0;  // inclusive; kAny: no limit
  };
  struct Form {
    int since = 1;
    Range inputs;   // up to the last one that is there; those between may be omitted
    Range outputs;  // as written
    absl::string_view required;  // names of attributes, a space between
  };

  template <size_t size>
  consteval Signature(const char (&text)[size])  // NOLINT(google-explicit-constructor): a literal
      : Signature(std::string_view(text, size - 1)) {}

  // The form in force at an opset version.
  constexpr const Form& At(int version) const {
    size_t at = 0;
    while (at + 1 < count_ && forms_[at + 1].since <= version) ++at;
    return forms_[at];
  }

 private:
  explicit consteval Signature(std::string_view text) {
    while (true) {
      Form& form = forms_.at(count_++);
      if (const size_t colon = text.find(':'); colon < text.find(';')) {
        form.since = Number(text);
        Skip(text, ": ");
      }
      form.inputs = ReadRange(text);
      Skip(text, "->");
      form.outputs = ReadRange(text);
      const size_t end = text.find(';');
      std::string_view required = text.substr(0, end);
      if (!required.empty()) Skip(required, " ");
      form.required = absl::string_view(required.data(), required.size());
      if (end == std::string_view::npos) return;
      text.remove_prefix(end);
      Skip(text, "; ");
    }
  }

  // A throw ends the compilation with the place in the source.
  static consteval int Number(std::string_view& text) {
    if (text.empty() || text.front() < '0' || text.front() > '9') throw "a number is missing";
    int number = 0;
    while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
      number = number * 10 + (text.front() - '0');
      text.remove_prefix(1);
    }
    return number;
  }
  static consteval void Skip(std::string_view& text, std::string_view expected) {
    if (text.substr(0, expected.size()) != expected) throw "not as expected here";
    text.remove_prefix(expected.size());
  }
  static consteval Range ReadRange(std::string_view& text) {
    Range range;
    range.least = range.most = Number(text);
    if (text.size() < 2 || text[0] != '-' || text[1] == '>') return range;
    text.remove_prefix(1);
    if (text.front() == '*') {
      text.remove_prefix(1);
      range.most = kAny;
    } else {
      range.most = Number(text);
    }
    return range;
  }

  std::array<Form, 4> forms_ = {};
  size_t count_ = 0;
};

}  // namespace footprint

#endif  // FOOTPRINT_IR_OP_SIGNATURE_H_
