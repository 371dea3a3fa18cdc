#include <utility>

#include "absl/container/flat_hash_map.h"
#include "ir/dim_table.h"

namespace footprint {
namespace {

using Wide = __int128;

std::optional<int64_t> Narrow(std::optional<Wide> value) {
  if (!value.has_value() || static_cast<int64_t>(*value) != *value) return std::nullopt;
  return static_cast<int64_t>(*value);
}

std::optional<int64_t> RoundedQuotient(DimKind rounding, int64_t a, int64_t b) {
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

}  // namespace

struct DimEvaluator::Impl {
  using Value = std::optional<int64_t>;

  // The value of `dim` if it is at hand; else asks for it and returns false.
  bool Ready(Dim dim, Value& value);
  bool ComputeNode(const DimNode& node, Value& value);
  bool ComputeSymbol(const DimNode& node, Value& value);
  bool ComputeSum(const Polynomial& sum, Value& value);
  bool ComputeAtom(const DimNode& node, Value& value);
  Value Evaluate(Dim a);

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
    value = dim.is_constant() ? Value(dim.value()) : std::nullopt;
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
    value = it->second;
    return true;
  }
  if (symbol.origin == SymbolOrigin::kDataDependent) {
    if (!symbol.upper.is_unknown()) return Ready(symbol.upper, value);
    value = node.bounds.upper == DimBounds::kNoBound ? Value() : node.bounds.upper;
    return true;
  }
  assumed.resize(table->symbols.size());
  assumed[static_cast<size_t>(node.symbol)] = true;
  value = default_value;
  return true;
}

bool DimEvaluator::Impl::ComputeSum(const Polynomial& sum, Value& value) {
  bool ready = true;
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
      for (int32_t i = 0; i < factor.power; ++i) {
        overflow = __builtin_mul_overflow(product, static_cast<Wide>(*base), &product) || overflow;
      }
    }
    overflow = __builtin_add_overflow(total, product, &total) || overflow;
  }
  value = overflow ? std::nullopt : Narrow(total);
  return ready;
}

bool DimEvaluator::Impl::ComputeAtom(const DimNode& node, Value& value) {
  bool ready = Ready(node.operands[0], value);
  for (size_t i = 1; i < node.operands.size(); ++i) {
    Value other;
    ready = Ready(node.operands[i], other) && ready;
    if (!value.has_value() || !other.has_value()) {
      value = std::nullopt;
    } else if (node.kind == DimKind::kMin) {
      value = std::min(*value, *other);
    } else if (node.kind == DimKind::kMax) {
      value = std::max(*value, *other);
    } else {
      value = RoundedQuotient(node.kind, *value, *other);
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
      values[id] = value;
      done[id] = true;
    }
    pending.pop_back();
  }
  return value;
}

DimEvaluator::DimEvaluator(const DimTable& table, const DimBindings& bindings,
                           int64_t default_value)
    : impl_(std::make_unique<Impl>()) {
  impl_->table = table.impl_.get();
  impl_->default_value = default_value;
  for (const auto& [name, value] : bindings) impl_->bindings.insert_or_assign(name, value);
}
DimEvaluator::~DimEvaluator() = default;
DimEvaluator::DimEvaluator(DimEvaluator&&) noexcept = default;

std::optional<int64_t> DimEvaluator::Evaluate(Dim a) { return impl_->Evaluate(a); }

std::vector<std::string> DimEvaluator::assumed() const {
  std::vector<std::string> names;
  for (size_t i = 0; i < impl_->assumed.size(); ++i) {
    if (impl_->assumed[i]) names.push_back(impl_->table->symbols[i].name);
  }
  return names;
}

}  // namespace footprint
