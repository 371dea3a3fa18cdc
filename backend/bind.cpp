#include "backend/bind.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ir/suggest.h"

namespace footprint {
namespace {

class Binder {
 public:
  Binder(const Graph& graph, DiagnosticSink& sink) : graph_(graph), sink_(sink) {}

  Bound Run(const Options& options) {
    names_ = graph_.dims->SymbolNames();
    for (const InputShape& shape : options.input_shapes) {
      for (const std::string& dim : shape.dims) AddName(dim);
    }
    for (const auto& [name, value] : options.dims) {
      if (std::find(names_.begin(), names_.end(), name) == names_.end()) {
        UnknownName(name);
      } else {
        BindName(name, value, absl::StrCat("--dim ", name));
      }
    }
    for (const InputShape& shape : options.input_shapes) SetShape(shape);
    for (const InputValue& value : options.input_values) SetValue(value);
    for (const auto& [name, value] : options.default_dims) BindByDefault(name, value);
    return std::move(bound_);
  }

 private:
  // A dimension that --input gives: its name can be bound, too.
  void AddName(const std::string& dim) {
    int64_t size = 0;
    if (absl::SimpleAtoi(dim, &size)) return;
    if (std::find(names_.begin(), names_.end(), dim) == names_.end()) names_.push_back(dim);
  }

  void UnknownName(const std::string& name) {
    sink_.UsageError("unknown-dimension", absl::StrCat("--dim ", name),
                     names_.empty()
                         ? "the model has no named dimensions"
                         : absl::StrCat("the model has no dimension of this name; it has ",
                                        absl::StrJoin(names_, ", "),
                                        DidYouMean(name, names_)));
  }

  void BindByDefault(const std::string& name, int64_t value) {
    const bool is_bound = std::any_of(bound_.dims.begin(), bound_.dims.end(),
                                      [&](const auto& bound) { return bound.first == name; });
    if (is_bound || std::find(names_.begin(), names_.end(), name) == names_.end()) return;
    BindName(name, value, absl::StrCat("footprint.toml: dim.", name));
  }

  void BindName(const std::string& name, int64_t value, const std::string& place) {
    for (const auto& [bound_name, bound_value] : bound_.dims) {
      if (bound_name != name) continue;
      if (bound_value != value) {
        sink_.UsageError("binding-conflict", place,
                         absl::StrCat(name, " is already bound to ", bound_value, ", not ", value));
      }
      return;
    }
    const Dim symbol = graph_.dims->Symbol(name);
    const DimBounds bounds = graph_.dims->Bounds(symbol);
    if (value < bounds.lower || value > bounds.upper) {
      sink_.UsageError(
          "binding-out-of-range", place,
          absl::StrCat(
              "expected ", bounds.lower, " or more",
              bounds.upper == DimBounds::kNoBound ? "" : absl::StrCat(", at most ", bounds.upper),
              "; got ", value));
      return;
    }
    bound_.dims.emplace_back(name, value);
  }

  ValueId FindInput(const std::string& name, const char* flag) {
    std::vector<std::string> known;
    for (ValueId id : graph_.top().inputs) {
      if (graph_.values[id].name == name) return id;
      known.push_back(graph_.values[id].name);
    }
    sink_.UsageError(
        "unknown-input", absl::StrCat(flag, " ", name),
        absl::StrCat("the model has no input of this name; it has ", absl::StrJoin(known, ", ")));
    return ValueId();
  }

  // The type that the input has so far.
  TensorType& TypeOf(ValueId id) {
    for (auto& [input, type] : bound_.inference.input_types) {
      if (input == id) return type;
    }
    bound_.inference.input_types.emplace_back(id, graph_.values[id].declared.tensor);
    return bound_.inference.input_types.back().second;
  }

  void SetDim(Dim* dim, int64_t size, const std::string& place) {
    const std::vector<std::string> symbols = graph_.dims->SymbolsIn(*dim);
    if (symbols.size() == 1 && graph_.dims->Symbol(symbols[0]) == *dim) {
      BindName(symbols[0], size, place);
    } else {
      *dim = size;
    }
  }

  // Gives a type without a rank this one; false after an error if it has another.
  bool SetRank(TensorType& type, size_t rank, const std::string& place) {
    if (type.has_rank && type.dims.size() != rank) {
      sink_.UsageError("rank-mismatch", place,
                       absl::StrCat("expected ", type.dims.size(), " dimensions like ",
                                    ShapeToString(type, *graph_.dims), "; got ", rank));
      return false;
    }
    if (!type.has_rank) type.dims.assign(rank, Dim());
    type.has_rank = true;
    return true;
  }

  void SetShape(const InputShape& shape) {
    const std::string place = absl::StrCat("--input ", shape.name);
    const ValueId id = FindInput(shape.name, "--input");
    if (!id.valid()) return;
    TensorType& type = TypeOf(id);
    if (!SetRank(type, shape.dims.size(), place)) return;
    for (size_t i = 0; i < shape.dims.size(); ++i) {
      int64_t size = 0;
      if (!absl::SimpleAtoi(shape.dims[i], &size)) {
        type.dims[i] = graph_.dims->Symbol(shape.dims[i]);
      } else if (size < 0) {
        sink_.UsageError("binding-out-of-range", place, absl::StrCat("negative size ", size));
      } else {
        SetDim(&type.dims[i], size, place);
      }
    }
  }

  // The number of elements decides the size of the only axis that is open; false after an error.
  bool TakeCount(int64_t count, TensorType& type, const std::string& place) {
    Dim* open = nullptr;
    int64_t others = 1;
    for (Dim& dim : type.dims) {
      if (dim.is_constant() && __builtin_mul_overflow(others, dim.value(), &others)) return true;
      if (dim.is_constant()) continue;
      if (open != nullptr) return true;
      open = &dim;
    }
    if (open == nullptr || others == 0) return true;
    if (count % others != 0) {
      sink_.UsageError("value-count", place,
                       absl::StrCat("expected a multiple of ", others, " values for ",
                                    ToString(type, *graph_.dims), "; got ", count));
      return false;
    }
    SetDim(open, count / others, place);
    return true;
  }

  // Whether as many values are given as the input has elements with the names that are bound.
  bool CheckCount(int64_t count, const TensorType& type, const std::string& place) {
    if (!type.has_rank) return true;
    DimEvaluator evaluator(*graph_.dims, bound_.dims);
    const std::optional<int64_t> expected =
        evaluator.Evaluate(ElementCount(type, *graph_.dims));
    if (!expected || *expected == count) return true;
    std::string assumed;
    for (const std::string& name : evaluator.assumed()) {
      absl::StrAppend(&assumed, assumed.empty() ? " where " : ", ", name, " = 1 (assumed)");
    }
    sink_.UsageError("value-count", place,
                     absl::StrCat("expected ", *expected, " values for ",
                                  ToString(type, *graph_.dims), assumed, "; got ", count));
    return false;
  }

  // The shape of the given contents, where the input's own is open; false after an error.
  bool TakeShape(const InputValue& given, int64_t count, TensorType& type,
                 const std::string& place) {
    if (!given.shape) return TakeCount(count, type, place);
    if (!SetRank(type, given.shape->size(), place)) return false;
    for (size_t i = 0; i < given.shape->size(); ++i) {
      const int64_t size = (*given.shape)[i];
      if (!type.dims[i].is_constant()) SetDim(&type.dims[i], size, place);
      if (!type.dims[i].is_constant() || type.dims[i].Is(size)) continue;
      sink_.UsageError("value-shape", place,
                       absl::StrCat("expected ", ShapeToString(type, *graph_.dims), "; got [",
                                    absl::StrJoin(*given.shape, ", "), "]"));
      return false;
    }
    return true;
  }

  // As the contents of a tensor of `type`; null after an error.
  KnownValuePtr ToKnownValue(const InputValue& given, const TensorType& type,
                             const std::string& place) {
    auto value = std::make_shared<KnownValue>();
    value->is_float = IsFloatingPoint(type.element);
    // Numbers on the command line have no type; those of a file have.
    const bool whole = given.values.empty() && !given.integers.empty();
    const bool fractional = given.integers.empty() && !given.values.empty();
    const bool known = type.element != ElementType::kUndefined;
    if (known && given.shape && (value->is_float ? whole : fractional)) {
      sink_.UsageError("value-type", place,
                       absl::StrCat("expected contents of ", ToString(type, *graph_.dims),
                                    "; the file holds ",
                                    whole ? "integers" : "floating-point numbers"));
      return nullptr;
    }
    if (value->is_float) {
      value->floats = given.values;
      for (const int64_t number : given.integers) {
        value->floats.push_back(static_cast<double>(number));
      }
      return value;
    }
    for (const int64_t number : given.integers) value->integers.emplace_back(number);
    for (const double number : given.values) {
      constexpr double kExact = 9007199254740992;
      if (number != std::floor(number) || std::abs(number) > kExact) {
        sink_.UsageError(
            "value-type", place,
            absl::StrCat("expected integers for ", ToString(type, *graph_.dims), "; got ", number));
        return nullptr;
      }
      value->integers.emplace_back(static_cast<int64_t>(number));
    }
    return value;
  }

  void SetValue(const InputValue& given) {
    const std::string place = absl::StrCat("--input-value ", given.name);
    const ValueId id = FindInput(given.name, "--input-value");
    if (!id.valid()) return;
    TensorType& type = TypeOf(id);
    const auto count = static_cast<int64_t>(given.values.size() + given.integers.size());
    if (!TakeShape(given, count, type, place)) return;
    if (!CheckCount(count, type, place)) return;
    if (KnownValuePtr value = ToKnownValue(given, type, place)) {
      bound_.inference.input_values.emplace_back(id, std::move(value));
    }
  }

  const Graph& graph_;
  DiagnosticSink& sink_;
  std::vector<std::string> names_;
  Bound bound_;
};

}  // namespace

Bound BindOptions(const Graph& graph, const Options& options, DiagnosticSink& sink) {
  return Binder(graph, sink).Run(options);
}

}  // namespace footprint
