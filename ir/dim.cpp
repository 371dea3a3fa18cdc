#include "ir/dim.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "ir/dim_table.h"

namespace footprint {

Dim DimTable::Impl::AddNode(DimNode node) {
  if (node.depth > kMaxDepth || node.size > kMaxSize) return Dim();
  const auto id = static_cast<int32_t>(nodes.size());
  nodes.push_back(std::move(node));
  return FromId(id);
}

Dim DimTable::Impl::Intern(Polynomial sum) {
  if (IsConstant(sum)) return ConstantOf(sum);
  if (sum.size() == 1 && sum[0].coefficient == 1) {
    const int32_t atom = monomials.AtomOf(sum[0].monomial);
    if (atom >= 0) return FromId(atom);
  }
  const auto it = sum_index.find(sum);
  if (it != sum_index.end()) return FromId(it->second);
  DimNode node;
  for (const Term& term : sum) {
    for (const Factor& factor : monomials.factors(term.monomial)) {
      const DimNode& part = atom(factor.atom);
      node.depth = std::max(node.depth, part.depth);
      node.size = std::min(node.size + part.size, kMaxSize + 1);
      node.is_data_dependent |= part.is_data_dependent;
    }
  }
  node.bounds = BoundsOf(sum);
  node.sum = sum;
  const Dim dim = AddNode(std::move(node));
  if (!dim.is_unknown()) sum_index.emplace(std::move(sum), IdOf(dim));
  return dim;
}

Dim DimTable::Impl::InternAtom(DimKind kind, std::vector<Dim> operands) {
  auto key = std::make_pair(kind, operands);
  const auto it = atom_index.find(key);
  if (it != atom_index.end()) return FromId(it->second);
  DimNode node;
  node.kind = kind;
  for (const Dim operand : operands) {
    if (operand.is_unknown()) return Dim();
    if (operand.is_constant()) continue;
    const DimNode& part = this->node(operand);
    node.depth = std::max(node.depth, part.depth + 1);
    node.size = std::min(node.size + part.size, kMaxSize + 1);
    node.is_data_dependent |= part.is_data_dependent;
  }
  node.operands = std::move(operands);
  node.bounds = AtomBounds(node);
  node.sum = {Term{1, monomials.Of(static_cast<int32_t>(nodes.size()))}};
  const Dim dim = AddNode(std::move(node));
  if (!dim.is_unknown()) atom_index.emplace(std::move(key), IdOf(dim));
  return dim;
}

Dim DimTable::Impl::AddSymbol(absl::string_view name, SymbolOrigin origin, DimBounds bounds,
                              Dim upper) {
  DimNode node;
  node.kind = DimKind::kSymbol;
  node.is_data_dependent = origin == SymbolOrigin::kDataDependent;
  node.symbol = static_cast<int32_t>(symbols.size());
  node.bounds = bounds;
  node.sum = {Term{1, monomials.Of(static_cast<int32_t>(nodes.size()))}};
  const Dim dim = AddNode(std::move(node));
  symbols.push_back({std::string(name), IdOf(dim), origin, upper});
  symbol_index.emplace(std::string(name), IdOf(dim));
  return dim;
}

Polynomial DimTable::Impl::ToPolynomial(Dim dim) const {
  return dim.is_constant() ? ConstantPolynomial(dim.value()) : node(dim).sum;
}

Dim DimTable::Impl::AddMultiple(Dim a, int64_t scale, Dim b) {
  if (a.is_unknown() || b.is_unknown()) return Dim();
  return Intern(AddScaled(monomials, ToPolynomial(a), scale, ToPolynomial(b)));
}

Dim DimTable::Impl::Add(Dim a, Dim b) {
  if (a.is_unknown() || b.is_unknown()) return Dim();
  if (a.is_constant() && b.is_constant()) {
    int64_t sum = 0;
    return __builtin_add_overflow(a.value(), b.value(), &sum) ? Dim() : Dim(sum);
  }
  if (a.Is(0)) return b;
  if (b.Is(0)) return a;
  if (IdOf(b) < IdOf(a)) std::swap(a, b);
  return Remember(Op::kAdd, a, b,
                  [&] { return Refine(AddMultiple(a, 1, b), Plus(BoundsOf(a), BoundsOf(b))); });
}

Dim DimTable::Impl::Mul(Dim a, Dim b) {
  if (a.Is(0) || b.Is(0)) return 0;
  if (a.is_unknown() || b.is_unknown()) return Dim();
  if (a.is_constant() && b.is_constant()) {
    int64_t product = 0;
    return __builtin_mul_overflow(a.value(), b.value(), &product) ? Dim() : Dim(product);
  }
  if (a.Is(1)) return b;
  if (b.Is(1)) return a;
  if (IdOf(b) < IdOf(a)) std::swap(a, b);
  return Remember(Op::kMul, a, b, [&] {
    return Refine(Intern(Multiply(monomials, ToPolynomial(a), ToPolynomial(b))),
                  Times(BoundsOf(a), BoundsOf(b)));
  });
}

DimTable::DimTable() : impl_(std::make_unique<Impl>()) {}
DimTable::~DimTable() = default;
DimTable::DimTable(DimTable&&) noexcept = default;
DimTable& DimTable::operator=(DimTable&&) noexcept = default;

Dim DimTable::Symbol(absl::string_view name) {
  const auto it = impl_->symbol_index.find(name);
  if (it != impl_->symbol_index.end()) return Impl::FromId(it->second);
  const bool is_input = impl_->reads_inputs;
  return impl_->AddSymbol(name, is_input ? SymbolOrigin::kModel : SymbolOrigin::kDataDependent,
                          {is_input ? 1 : 0, DimBounds::kNoBound}, Dim());
}

void DimTable::EndInputSymbols() { impl_->reads_inputs = false; }

Dim DimTable::Fresh(absl::string_view prefix, int64_t lower, Dim upper) {
  std::string name;
  for (size_t i = 0; name.empty() || impl_->symbol_index.contains(name); ++i) {
    name = absl::StrCat(prefix, i);
  }
  const DimBounds bounds{lower, std::max(lower, impl_->BoundsOf(upper).upper)};
  return impl_->AddSymbol(name, SymbolOrigin::kDataDependent, bounds, upper);
}

void DimTable::Constrain(Dim symbol, DimBounds bounds) {
  if (symbol.is_unknown() || symbol.is_constant()) return;
  if (impl_->node(symbol).kind != DimKind::kSymbol) return;
  impl_->Refine(symbol, bounds);
  for (DimNode& node : impl_->nodes) {
    if (node.kind == DimKind::kSymbol) continue;
    node.bounds = Meet(node.bounds, node.kind == DimKind::kSum ? impl_->BoundsOf(node.sum)
                                                               : impl_->AtomBounds(node));
  }
  impl_->remembered.clear();
}

namespace {

// Counts a result that is unknown although its operands are known.
Dim Counted(Dim result, Dim a, Dim b, int64_t& overflows) {
  if (result.is_unknown() && !a.is_unknown() && !b.is_unknown()) ++overflows;
  return result;
}

}  // namespace

Dim DimTable::Add(Dim a, Dim b) { return Counted(impl_->Add(a, b), a, b, impl_->overflows); }
Dim DimTable::Sub(Dim a, Dim b) { return Add(a, Neg(b)); }
Dim DimTable::Neg(Dim a) { return Mul(-1, a); }
Dim DimTable::Mul(Dim a, Dim b) { return Counted(impl_->Mul(a, b), a, b, impl_->overflows); }

Dim DimTable::FloorDiv(Dim a, Dim b) {
  if (b.Is(0)) return Dim();
  return Counted(impl_->Divide(DimKind::kFloor, a, b), a, b, impl_->overflows);
}

Dim DimTable::CeilDiv(Dim a, Dim b) {
  if (b.Is(0)) return Dim();
  return Counted(impl_->Divide(DimKind::kCeil, a, b), a, b, impl_->overflows);
}

Dim DimTable::Mod(Dim a, Dim b) {
  if (b.Is(0)) return Dim();
  const Dim remainder = Sub(a, Mul(b, FloorDiv(a, b)));
  if (!IsPositive(b)) return remainder;
  const int64_t upper = Bounds(b).upper;
  return impl_->Refine(remainder, {0, upper == DimBounds::kNoBound ? upper : upper - 1});
}

Dim DimTable::Min(Dim a, Dim b) {
  return Counted(impl_->Choose(DimKind::kMin, a, b), a, b, impl_->overflows);
}

Dim DimTable::Max(Dim a, Dim b) {
  return Counted(impl_->Choose(DimKind::kMax, a, b), a, b, impl_->overflows);
}

Dim DimTable::RoundUp(Dim a, int64_t multiple) { return Mul(CeilDiv(a, multiple), multiple); }

Dim DimTable::Product(absl::Span<const Dim> factors) {
  if (std::any_of(factors.begin(), factors.end(), [](Dim factor) { return factor.Is(0); })) {
    return 0;
  }
  Dim product = 1;
  for (const Dim factor : factors) product = Mul(product, factor);
  return product;
}

// Interns the total alone, not each partial sum.
Dim DimTable::Sum(absl::Span<const Dim> terms) {
  int64_t constant = 0;
  Polynomial symbolic;
  DimBounds bounds = Exactly(0);
  for (const Dim term : terms) {
    if (term.is_unknown()) return Dim();
    bool fits = true;
    if (term.is_constant()) {
      fits = !__builtin_add_overflow(constant, term.value(), &constant);
    } else {
      fits = impl_->AddTo(symbolic, 1, impl_->node(term).sum);
      bounds = Plus(bounds, Bounds(term));
    }
    if (!fits) {
      ++impl_->overflows;
      return Dim();
    }
  }
  const Dim sum = impl_->Refine(impl_->Intern(std::move(symbolic)), bounds);
  if (sum.is_unknown()) ++impl_->overflows;
  return Add(sum, constant);
}

bool DimTable::IsDataDependent(Dim a) const {
  return !a.is_unknown() && !a.is_constant() && impl_->node(a).is_data_dependent;
}

std::vector<std::string> DimTable::SymbolNames() const {
  std::vector<std::string> names;
  names.reserve(impl_->symbols.size());
  for (const DimSymbol& symbol : impl_->symbols) names.push_back(symbol.name);
  return names;
}

std::vector<std::string> DimTable::SymbolsIn(Dim a) const {
  std::vector<int32_t> found;
  std::vector<Dim> pending = {a};
  absl::flat_hash_map<int32_t, bool> seen;
  while (!pending.empty()) {
    const Dim dim = pending.back();
    pending.pop_back();
    if (dim.is_unknown() || dim.is_constant() || seen[Impl::IdOf(dim)]) continue;
    seen[Impl::IdOf(dim)] = true;
    const DimNode& node = impl_->node(dim);
    if (node.kind == DimKind::kSymbol) {
      found.push_back(node.symbol);
      continue;
    }
    pending.insert(pending.end(), node.operands.begin(), node.operands.end());
    if (node.kind != DimKind::kSum) continue;
    for (const Term& term : node.sum) {
      for (const Factor& factor : impl_->monomials.factors(term.monomial)) {
        pending.push_back(Impl::FromId(factor.atom));
      }
    }
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> names;
  names.reserve(found.size());
  for (const int32_t symbol : found) {
    names.push_back(impl_->symbols[static_cast<size_t>(symbol)].name);
  }
  return names;
}

Dim DimTable::UpperBoundOf(Dim symbol) const {
  if (symbol.is_unknown() || symbol.is_constant()) return Dim();
  const DimNode& node = impl_->node(symbol);
  if (node.kind != DimKind::kSymbol) return Dim();
  return impl_->symbols[static_cast<size_t>(node.symbol)].upper;
}

int64_t DimTable::overflows() const { return impl_->overflows; }

}  // namespace footprint
