// Parsing symbolic integers, in two steps: the text is brought into postfix order with a stack of
// operators (no recursion, so nesting costs no stack), and only if all of it is an expression are
// the symbols made and the operations carried out. Exporters write fractions inside of floor and
// ceil ("floor(height/2 - 1/2) + 1"), so values are fractions; the last one must be whole.
#include <algorithm>
#include <cctype>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "ir/dim_table.h"

namespace footprint {
namespace {

constexpr size_t kMaxTextLength = 4096;
constexpr size_t kMaxNesting = 64;
constexpr int64_t kMaxPower = 64;

enum class Op {
  kNumber,
  kName,
  kOpen,  // a parenthesis or a call, until it is closed
  kNegate,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kFloorDivide,
  kModulo,
  kPower,
  kFloor,
  kCeil,
  kCeilDivide,
  kMin,
  kMax,
};

struct Step {
  Op op = Op::kNumber;
  int64_t number = 0;
  absl::string_view name;
};

int Precedence(Op op) {
  switch (op) {
    case Op::kOpen:
      return 0;
    case Op::kAdd:
    case Op::kSubtract:
      return 1;
    case Op::kNegate:
      return 3;
    case Op::kPower:
      return 4;
    default:
      return 2;
  }
}

struct Function {
  absl::string_view name;
  Op op;
  int arity;  // 0: one or more
};

constexpr Function kFunctions[] = {
    {"floor", Op::kFloor, 1},
    {"ceil", Op::kCeil, 1},
    {"ceiling", Op::kCeil, 1},
    {"min", Op::kMin, 0},
    {"Min", Op::kMin, 0},
    {"max", Op::kMax, 0},
    {"Max", Op::kMax, 0},
    {"floor_div", Op::kFloorDivide, 2},
    {"FloorDiv", Op::kFloorDivide, 2},
    {"ceil_div", Op::kCeilDivide, 2},
    {"CeilDiv", Op::kCeilDivide, 2},
    {"Mod", Op::kModulo, 2},
    {"PythonMod", Op::kModulo, 2},
};

struct Operator {
  absl::string_view text;
  Op op;
};

// Longer ones first.
constexpr Operator kOperators[] = {
    {"**", Op::kPower},   {"//", Op::kFloorDivide}, {"+", Op::kAdd},    {"-", Op::kSubtract},
    {"*", Op::kMultiply}, {"/", Op::kDivide},       {"%", Op::kModulo},
};

bool StartsName(char c) { return absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool IsDigit(char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); }
bool ContinuesName(char c) { return StartsName(c) || IsDigit(c); }

// Names such as "past-length", "input.1" or "batch:0" are not differences.
bool IsPlainName(absl::string_view text) {
  return StartsName(text[0]) && std::all_of(text.begin(), text.end(), [](char c) {
           return ContinuesName(c) || c == '.' || c == ':' || c == '-';
         });
}

// Brings an expression into postfix order.
class PostfixReader {
 public:
  explicit PostfixReader(absl::string_view text) : rest_(text) {}

  std::optional<std::vector<Step>> Read();

 private:
  struct Open {
    const Function* function = nullptr;  // null for a parenthesis
    int arguments = 1;
  };

  bool ReadOperand();
  bool ReadOperator();
  bool Close();
  bool NextArgument();
  void PopOperators(int precedence);
  bool Skip(absl::string_view token);
  absl::string_view Take(bool (*belongs)(char));

  absl::string_view rest_;
  std::vector<Step> output_;
  std::vector<Op> operators_;
  std::vector<Open> open_;
  bool expects_operand_ = true;
};

bool PostfixReader::Skip(absl::string_view token) {
  if (rest_.substr(0, token.size()) != token) return false;
  rest_.remove_prefix(token.size());
  return true;
}

absl::string_view PostfixReader::Take(bool (*belongs)(char)) {
  const auto length =
      static_cast<size_t>(std::find_if_not(rest_.begin(), rest_.end(), belongs) - rest_.begin());
  const absl::string_view taken = rest_.substr(0, length);
  rest_.remove_prefix(length);
  return taken;
}

void PostfixReader::PopOperators(int precedence) {
  while (!operators_.empty() && operators_.back() != Op::kOpen &&
         Precedence(operators_.back()) >= precedence) {
    output_.push_back({operators_.back(), 0, {}});
    operators_.pop_back();
  }
}

bool PostfixReader::ReadOperand() {
  if (Skip("-")) {
    operators_.push_back(Op::kNegate);
    return operators_.size() <= 2 * kMaxNesting;
  }
  if (Skip("(")) {
    operators_.push_back(Op::kOpen);
    open_.push_back({});
    return open_.size() <= kMaxNesting;
  }
  if (!rest_.empty() && IsDigit(rest_[0])) {
    Step step;
    if (!absl::SimpleAtoi(Take(IsDigit), &step.number)) return false;
    output_.push_back(step);
    expects_operand_ = false;
    return rest_.empty() || (!StartsName(rest_[0]) && rest_[0] != '.');
  }
  if (rest_.empty() || !StartsName(rest_[0])) return false;
  const absl::string_view name = Take(ContinuesName);
  if (!Skip("(")) {
    output_.push_back({Op::kName, 0, name});
    expects_operand_ = false;
    return true;
  }
  const auto function =
      std::find_if(std::begin(kFunctions), std::end(kFunctions),
                   [name](const Function& candidate) { return candidate.name == name; });
  if (function == std::end(kFunctions)) return false;
  operators_.push_back(Op::kOpen);
  open_.push_back({function, 1});
  return open_.size() <= kMaxNesting;
}

bool PostfixReader::ReadOperator() {
  if (Skip(")")) return Close();
  if (Skip(",")) return NextArgument();
  for (const Operator& candidate : kOperators) {
    if (!Skip(candidate.text)) continue;
    // Powers group from the right.
    PopOperators(Precedence(candidate.op) + (candidate.op == Op::kPower ? 1 : 0));
    operators_.push_back(candidate.op);
    expects_operand_ = true;
    return operators_.size() <= 8 * kMaxNesting;
  }
  return false;
}

bool PostfixReader::Close() {
  if (open_.empty()) return false;
  PopOperators(0);
  operators_.pop_back();
  const Open open = open_.back();
  open_.pop_back();
  if (open.function == nullptr) return true;
  const Op op = open.function->op;
  if (open.function->arity != 0) {
    output_.push_back({op, 0, {}});
    return open.arguments == open.function->arity;
  }
  for (int i = 1; i < open.arguments; ++i) output_.push_back({op, 0, {}});
  return true;
}

bool PostfixReader::NextArgument() {
  if (open_.empty() || open_.back().function == nullptr) return false;
  PopOperators(0);
  ++open_.back().arguments;
  expects_operand_ = true;
  return true;
}

std::optional<std::vector<Step>> PostfixReader::Read() {
  while (true) {
    rest_ = absl::StripLeadingAsciiWhitespace(rest_);
    if (rest_.empty()) break;
    if (!(expects_operand_ ? ReadOperand() : ReadOperator())) return std::nullopt;
  }
  if (expects_operand_ || !open_.empty()) return std::nullopt;
  PopOperators(0);
  return std::move(output_);
}

struct Fraction {
  Dim numerator;
  Dim denominator = 1;
};

// Carries out postfix steps. Unknown stands for whatever fails.
class Calculator {
 public:
  explicit Calculator(DimTable& table) : table_(table) {}

  Dim Run(const std::vector<Step>& steps);

 private:
  Fraction Pop();
  Fraction Unary(Op op, Fraction a);
  Fraction Binary(Op op, Fraction a, Fraction b);
  Fraction AddSigned(Fraction a, Fraction b, int64_t sign);
  Fraction Power(Fraction base, Dim exponent);
  Dim Whole(Fraction a);

  DimTable& table_;
  std::vector<Fraction> stack_;
};

Fraction Calculator::Pop() {
  const Fraction top = stack_.back();
  stack_.pop_back();
  return top;
}

Dim Calculator::Whole(Fraction a) {
  if (a.denominator.Is(1)) return a.numerator;
  const Dim quotient = table_.FloorDiv(a.numerator, a.denominator);
  return SameSize(table_.Mul(quotient, a.denominator), a.numerator) ? quotient : Dim();
}

Fraction Calculator::AddSigned(Fraction a, Fraction b, int64_t sign) {
  const Dim signed_b = table_.Mul(sign, b.numerator);
  if (a.denominator == b.denominator) return {table_.Add(a.numerator, signed_b), a.denominator};
  return {table_.Add(table_.Mul(a.numerator, b.denominator), table_.Mul(signed_b, a.denominator)),
          table_.Mul(a.denominator, b.denominator)};
}

Fraction Calculator::Power(Fraction base, Dim exponent) {
  if (!exponent.is_constant() || exponent.value() < 0 || exponent.value() > kMaxPower) return {};
  Fraction power{1, 1};
  for (int64_t i = 0; i < exponent.value(); ++i) {
    power = {table_.Mul(power.numerator, base.numerator),
             table_.Mul(power.denominator, base.denominator)};
  }
  return power;
}

Fraction Calculator::Unary(Op op, Fraction a) {
  switch (op) {
    case Op::kNegate:
      return {table_.Neg(a.numerator), a.denominator};
    case Op::kFloor:
      return {table_.FloorDiv(a.numerator, a.denominator)};
    default:
      return {table_.CeilDiv(a.numerator, a.denominator)};
  }
}

Fraction Calculator::Binary(Op op, Fraction a, Fraction b) {
  switch (op) {
    case Op::kAdd:
      return AddSigned(a, b, 1);
    case Op::kSubtract:
      return AddSigned(a, b, -1);
    case Op::kMultiply:
      return {table_.Mul(a.numerator, b.numerator), table_.Mul(a.denominator, b.denominator)};
    case Op::kDivide:
    case Op::kFloorDivide:
    case Op::kCeilDivide: {
      const Fraction quotient{table_.Mul(a.numerator, b.denominator),
                              table_.Mul(a.denominator, b.numerator)};
      if (op == Op::kDivide) return quotient.denominator.Is(0) ? Fraction() : quotient;
      return Unary(op == Op::kFloorDivide ? Op::kFloor : Op::kCeil, quotient);
    }
    case Op::kPower:
      return Power(a, Whole(b));
    case Op::kModulo:
      return {table_.Mod(Whole(a), Whole(b))};
    case Op::kMin:
      return {table_.Min(Whole(a), Whole(b))};
    default:
      return {table_.Max(Whole(a), Whole(b))};
  }
}

Dim Calculator::Run(const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    switch (step.op) {
      case Op::kNumber:
        stack_.push_back({step.number});
        break;
      case Op::kName:
        stack_.push_back({table_.Symbol(step.name)});
        break;
      case Op::kNegate:
      case Op::kFloor:
      case Op::kCeil:
        stack_.push_back(Unary(step.op, Pop()));
        break;
      default: {
        const Fraction b = Pop();
        const Fraction a = Pop();
        stack_.push_back(Binary(step.op, a, b));
      }
    }
    if (stack_.back().numerator.is_unknown() || stack_.back().denominator.is_unknown()) {
      return Dim();
    }
  }
  return Whole(Pop());
}

}  // namespace

std::optional<Dim> DimTable::Parse(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  if (text.empty() || text.size() > kMaxTextLength) return std::nullopt;
  if (IsPlainName(text)) {
    return std::all_of(text.begin(), text.end(), ContinuesName) ? std::optional(Symbol(text))
                                                                : std::nullopt;
  }
  const auto steps = PostfixReader(text).Read();
  if (!steps.has_value()) return std::nullopt;
  const Dim result = Calculator(*this).Run(*steps);
  return result.is_unknown() ? std::nullopt : std::optional(result);
}

}  // namespace footprint
