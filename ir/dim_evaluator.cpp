#include <utility>

#include "absl/container/flat_hash_map.h"
#include "ir/dim_interval.h"
#include "ir/dim_table.h"
#include "ir/wide.h"

// The value of an expression is an interval: a single number, unless data-dependent sizes occur in
// it. Of those the upper end is what is asked for, and the lower end is what they take away where
// they are subtracted: of an axis of 10, u and 10 - u are 10 at most.

namespace footprint {
namespace {

std::optional<DimBounds> Narrow(std::optional<Wide> value) {
  if (!value.has_value() || static_cast<int64_t>(*value) != *value) return std::nullopt;
  return Exactly(static_cast<int64_t>(*value));
}

std::optional<DimBounds> RoundedQuotient(DimKind rounding, int64_t a, int64_t b) {
  if (b == 0) return std::nullopt;
  Wide quotient = static_cast<Wide>(a) / b;
  const Wide remainder = static_cast<Wide>(a) % b;
  if (remainder != 0) {
    const bool positive = (a < 0) == (b < 0);
    if (rounding == DimKind::kFloor && !positive) --quotient;
    if (rounding == DimKind::kCeil && positive) ++quotient;
  }
  return Narrow(quotient);
}

bool IsExact(DimBounds value) { return value.lower == value.upper; }

}  // namespace

struct DimEvaluator::Impl {
  using Value = std::optional<DimBounds>;  // nullopt: overflow, division by zero

  // The value of `dim` if it is at hand; else asks for it and returns false.
  bool Ready(Dim dim, Value& value);
  bool ComputeNode(const DimNode& node, Value& value);
  bool ComputeSymbol(const DimNode& node, Value& value);
  bool ComputeSum(const Polynomial& sum, Value& value);
  Value IntervalOf(const Polynomial& sum);
  bool ComputeAtom(const DimNode& node, Value& value);
  Value Evaluate(Dim a);

  DimTable* owner = nullptr;
  const DimTable::Impl* table = nullptr;
  absl::flat_hash_map<std::string, int64_t> bindings;
  int64_t default_value = 1;
  std::vector<Value> values;
  std::vector<bool> done;
  std::vector<bool> assumed;
  std::vector<Dim> pending;
};

bool DimEvaluator::Impl::Ready(Dim dim, Value& value) {
  if (dim.is_unknown() || dim.is_constant()) {
    value = dim.is_constant() ? Value(Exactly(dim.value())) : std::nullopt;
    return true;
  }
  const auto id = static_cast<size_t>(DimTable::Impl::IdOf(dim));
  if (!done[id]) {
    pending.push_back(dim);
    return false;
  }
  value = values[id];
  return true;
}

bool DimEvaluator::Impl::ComputeSymbol(const DimNode& node, Value& value) {
  const DimSymbol& symbol = table->symbols[static_cast<size_t>(node.symbol)];
  const auto it = bindings.find(symbol.name);
  if (it != bindings.end()) {
    value = Exactly(it->second);
    return true;
  }
  if (symbol.origin == SymbolOrigin::kDataDependent) {
    value = node.bounds;
    if (symbol.upper.is_unknown()) return true;
    Value upper;
    if (!Ready(symbol.upper, upper)) return false;
    value = upper ? Value(Meet(node.bounds, {node.bounds.lower, upper->upper})) : std::nullopt;
    return true;
  }
  assumed.resize(table->symbols.size());
  assumed[static_cast<size_t>(node.symbol)] = true;
  value = Exactly(default_value);
  return true;
}

// Of a sum whose atoms are at hand.
DimEvaluator::Impl::Value DimEvaluator::Impl::IntervalOf(const Polynomial& sum) {
  DimBounds total = Exactly(0);
  for (const Term& term : sum) {
    DimBounds product = Exactly(term.coefficient);
    for (const Factor& factor : table->monomials.factors(term.monomial)) {
      Value base;
      Ready(DimTable::Impl::FromId(factor.atom), base);
      if (!base.has_value()) return std::nullopt;
      product = Times(product, Power(*base, factor.power));
    }
    total = Plus(total, product);
  }
  return total;
}

bool DimEvaluator::Impl::ComputeSum(const Polynomial& sum, Value& value) {
  bool ready = true;
  bool exact = true;
  bool overflow = false;
  Wide total = 0;
  for (const Term& term : sum) {
    Wide product = term.coefficient;
    for (const Factor& factor : table->monomials.factors(term.monomial)) {
      Value base;
      ready = Ready(DimTable::Impl::FromId(factor.atom), base) && ready;
      if (!base.has_value()) {
        overflow = true;
        continue;
      }
      exact = exact && IsExact(*base);
      for (int32_t i = 0; i < factor.power; ++i) {
        overflow = __builtin_mul_overflow(product, Wide{base->upper}, &product) || overflow;
      }
    }
    overflow = __builtin_add_overflow(total, product, &total) || overflow;
  }
  if (!ready) return false;
  value = !exact ? IntervalOf(sum) : overflow ? std::nullopt : Narrow(total);
  return true;
}

bool DimEvaluator::Impl::ComputeAtom(const DimNode& node, Value& value) {
  bool ready = Ready(node.operands[0], value);
  for (size_t i = 1; i < node.operands.size(); ++i) {
    Value other;
    ready = Ready(node.operands[i], other) && ready;
    if (!value.has_value() || !other.has_value()) {
      value = std::nullopt;
    } else if (node.kind == DimKind::kMin) {
      value = MinOf(*value, *other);
    } else if (node.kind == DimKind::kMax) {
      value = MaxOf(*value, *other);
    } else if (IsExact(*value) && IsExact(*other)) {
      value = RoundedQuotient(node.kind, value->lower, other->lower);
    } else {
      value = Quotient(*value, *other,
                       node.kind == DimKind::kFloor ? Rounding::kDown : Rounding::kUp);
    }
  }
  return ready;
}

bool DimEvaluator::Impl::ComputeNode(const DimNode& node, Value& value) {
  switch (node.kind) {
    case DimKind::kSymbol:
      return ComputeSymbol(node, value);
    case DimKind::kSum:
      return ComputeSum(node.sum, value);
    default:
      return ComputeAtom(node, value);
  }
}

DimEvaluator::Impl::Value DimEvaluator::Impl::Evaluate(Dim a) {
  values.resize(table->nodes.size());
  done.resize(table->nodes.size());
  Value value;
  if (Ready(a, value)) return value;
  while (!pending.empty()) {
    const Dim dim = pending.back();
    const auto id = static_cast<size_t>(DimTable::Impl::IdOf(dim));
    if (!done[id]) {
      // Operands that are not at hand are now pending above this node; it is tried again after
      // them.
      if (!ComputeNode(table->node(dim), value)) continue;
      if (value && !IsExact(*value)) value = Meet(*value, table->node(dim).bounds);
      values[id] = value;
      done[id] = true;
    }
    pending.pop_back();
  }
  return value;
}

DimEvaluator::DimEvaluator(DimTable& table, const DimBindings& bindings, int64_t default_value)
    : impl_(std::make_unique<Impl>()) {
  impl_->owner = &table;
  impl_->table = table.impl_.get();
  impl_->default_value = default_value;
  for (const auto& [name, value] : bindings) impl_->bindings.insert_or_assign(name, value);
}
DimEvaluator::~DimEvaluator() = default;
DimEvaluator::DimEvaluator(DimEvaluator&&) noexcept = default;

DimTable& DimEvaluator::table() const { return *impl_->owner; }

std::optional<int64_t> DimEvaluator::Evaluate(Dim a) {
  const std::optional<DimBounds> value = impl_->Evaluate(a);
  if (!value.has_value() || value->upper == DimBounds::kNoBound) return std::nullopt;
  return value->upper;
}

std::vector<std::string> DimEvaluator::assumed() const {
  std::vector<std::string> names;
  for (size_t i = 0; i < impl_->assumed.size(); ++i) {
    if (impl_->assumed[i]) names.push_back(impl_->table->symbols[i].name);
  }
  return names;
}

}  // namespace footprint
