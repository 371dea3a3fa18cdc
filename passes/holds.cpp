#include "passes/holds.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "ir/layer_glob.h"
#include "ir/ops/lowering/habits.h"

// A value dies after its last reader, but Python's frames keep what they were handed:
//
//   encoder(x)            x is an argument of the call: alive until encoder returns,
//     |- norm(x)          whoever reads it last inside
//     '- attention(y)     y: alive until attention returns
//
// For each reader take the outermost scope that contains it but not the producer; the value is held
// to the last call of that run of the scope. A run is contiguous: a module called twice has two.
//
// Scores whose softmax is asked for a type and then cast are read until the cast has returned.
// Scores of attention that start from a bias keep a name before and after the mask is added to
// them; so does the variance of a norm, which takes an epsilon before its root. Some libraries name
// what certain of their modules are handed or return (FindNamedModule).
//
// The probabilities of attention are returned beside its result, in models of text, and the layer
// that called it (of layers inside layers, the outermost) keeps them until its next attention has
// returned its own, or it ends.
//
// Tensors that one call takes as a list have names of their own there, or are in a list with one:
// they are held to the end of the run of the caller's scope. Of two, one is often renamed.
//
// So has what a forward multiplies with another tensor (queries, keys and values, and what these
// are views of), what it hands to several of its modules (masks, tables), what it turns by a rotary
// embedding (until all is turned), and the rows of an embedding.
//
// Models of text (whole numbers in) keep the outputs of their outer modules in locals until forward
// ends, and the results of modules that they add a residual to; these are habits of the libraries,
// and assumptions. Layers that the forward calls by itself hand their results from one to the next
// under one name.

namespace footprint {
namespace {

class Holds {
 public:
  Holds(const Graph& graph, TorchProgram& program)
      : graph_(graph), program_(program), producer_(FindProducers(program)) {
    ListPaths();
    FindRuns();
  }

  void HoldArguments();
  void HoldLists();
  void HoldFactors();
  void HoldProbabilities();
  void HoldShared();
  void HoldScores();
  void HoldCastScores();
  void HoldVariances();
  void HoldNamed();
  void HoldEmbeddings();
  void HoldSummands();
  void HoldTurned();
  void HoldLocals();
  void HoldToTheEnd(TorchValueId value) { Hold(value, Last()); }
  CallId producer(TorchValueId value) const { return producer_[value]; }

 private:
  bool ReadsTextOnly() const;
  CallId NextModule(CallId last, size_t depth) const;
  bool AreComputed(const TorchCall& call) const;
  bool IsProbability(TorchValueId value) const;
  bool AddsAlike(const TorchCall& call) const;
  bool IsFromModule(TorchValueId value, const TorchCall& reader) const;
  void HoldHanded(CallId last, size_t depth, CallId until);
  CallId Last() const { return CallId(program_.calls.size() - 1); }
  const std::vector<ScopeId>& Path(CallId call) const {
    const ScopeId scope = program_.calls[call].scope;
    return paths_[scope.valid() ? scope : ScopeId(0)];
  }
  void ListPaths();
  void FindRuns();
  void Hold(TorchValueId value, CallId until) {
    CallId& held = program_.values[value].held_until;
    held = std::max(held, until);
  }
  std::vector<TorchValueId> Sources(TorchValueId value, CallId reader) const;
  template <typename Visit>
  void ForEachRead(Visit visit) const;

  const Graph& graph_;
  TorchProgram& program_;
  IdVector<TorchValueId, CallId> producer_;
  IdVector<ScopeId, std::vector<ScopeId>> paths_;  // outermost first, the root left out
  IdVector<ScopeId, bool> has_children_;
  IdVector<CallId, std::vector<CallId>> run_end_;  // by depth in the path
};

void Holds::ListPaths() {
  paths_.resize(std::max<size_t>(graph_.scopes.size(), 1));
  has_children_.resize(paths_.size(), false);
  // Parents come before their children.
  for (size_t i = 1; i < graph_.scopes.size(); ++i) {
    const ScopeId id(i);
    const ScopeId parent = graph_.scopes[id].parent;
    if (parent.valid()) {
      paths_[id] = paths_[parent];
      has_children_[parent] = true;
    }
    paths_[id].push_back(id);
  }
}

void Holds::FindRuns() {
  run_end_.resize(program_.calls.size());
  for (size_t i = program_.calls.size(); i-- > 0;) {
    const std::vector<ScopeId>& path = Path(CallId(i));
    std::vector<CallId>& ends = run_end_[CallId(i)];
    ends.assign(path.size(), CallId(i));
    if (i + 1 == program_.calls.size()) continue;
    const std::vector<ScopeId>& next = Path(CallId(i + 1));
    for (size_t d = 0; d < path.size() && d < next.size() && path[d] == next[d]; ++d) {
      ends[d] = run_end_[CallId(i + 1)][d];
    }
  }
}

template <typename Visit>
void Holds::ForEachRead(Visit visit) const {
  for (size_t i = 0; i < program_.calls.size(); ++i) {
    ForEachTensor(std::as_const(program_).calls[CallId(i)],
                  [&](TorchValueId tensor) { visit(tensor, CallId(i)); });
  }
}

bool Holds::ReadsTextOnly() const {
  for (const TorchValue& value : program_.values) {
    if (value.kind == TorchValueKind::kInput && !IsInteger(value.type.element)) return false;
  }
  return true;
}

void Holds::HoldArguments() {
  static const std::vector<ScopeId> nowhere;
  ForEachRead([this](TorchValueId value, CallId reader) {
    if (program_.values[value].kind != TorchValueKind::kComputed) return;
    const std::vector<ScopeId>& inside = Path(reader);
    const std::vector<ScopeId>& made = producer_[value].valid() ? Path(producer_[value]) : nowhere;
    size_t common = 0;
    while (common < inside.size() && common < made.size() && inside[common] == made[common]) {
      ++common;
    }
    if (common < inside.size()) Hold(value, run_end_[reader][common]);
  });
}

void Holds::HoldLists() {
  constexpr size_t kFewest = 3;
  for (size_t i = 0; i < program_.calls.size(); ++i) {
    const std::vector<CallId>& ends = run_end_[CallId(i)];
    if (ends.empty()) continue;
    for (const TorchArgument& argument : program_.calls[CallId(i)].arguments) {
      if (argument.tensors.size() < kFewest) continue;
      for (TorchValueId tensor : argument.tensors) {
        if (tensor.valid() && program_.values[tensor].kind == TorchValueKind::kComputed) {
          Hold(tensor, ends.back());
        }
      }
    }
  }
}

// What the value is a view or a copy of, as far as the calls of this scope made it.
std::vector<TorchValueId> Holds::Sources(TorchValueId value, CallId reader) const {
  constexpr size_t kMost = 16;
  std::vector<TorchValueId> sources;
  while (sources.size() < kMost && value.valid() &&
         program_.values[value].kind == TorchValueKind::kComputed && producer_[value].valid()) {
    sources.push_back(value);
    const TorchCall& maker = program_.calls[producer_[value]];
    if (Path(producer_[value]) != Path(reader) || !RearrangesOnly(*maker.op)) break;
    value = maker.arguments.empty() ? TorchValueId() : maker.arguments[0].tensor;
  }
  return sources;
}

bool Holds::AreComputed(const TorchCall& call) const {
  return std::all_of(call.arguments.begin(), call.arguments.end(),
                     [this](const TorchArgument& argument) {
                       const TorchValueId id = argument.tensor;
                       return !id.valid() || program_.values[id].kind == TorchValueKind::kComputed;
                     });
}

void Holds::HoldFactors() {
  const bool of_text = ReadsTextOnly();  // PyTorch's own attention drops its operands before
  for (size_t i = 0; i < program_.calls.size(); ++i) {
    const CallId id(i);
    const TorchOp& op = *program_.calls[id].op;
    const bool multiplies = MultipliesTensors(op) && AreComputed(program_.calls[id]);
    if (run_end_[id].empty() || !(multiplies || (Attends(op) && of_text))) continue;
    for (const TorchArgument& argument : program_.calls[id].arguments) {
      for (TorchValueId source : Sources(argument.tensor, id)) Hold(source, run_end_[id].back());
    }
  }
}

bool Holds::IsProbability(TorchValueId value) const {
  while (value.valid() && producer_[value].valid()) {
    const TorchCall& maker = program_.calls[producer_[value]];
    if (GivesProbabilities(*maker.op)) return true;
    if (!PassesProbabilities(*maker.op)) return false;
    value = maker.arguments[0].tensor;
  }
  return false;
}

void Holds::HoldProbabilities() {
  if (!ReadsTextOnly()) return;
  struct Product {
    CallId call;
    CallId part_end;   // of the run of the module that the layer called; the layer's own: its end
    CallId layer_end;  // of the outermost layer around it
  };
  std::vector<Product> products;
  for (size_t i = 0; i < program_.calls.size(); ++i) {
    const CallId id(i);
    const TorchCall& call = program_.calls[id];
    if (!MultipliesTensors(*call.op) || !IsProbability(call.arguments[0].tensor)) continue;
    const std::vector<ScopeId>& path = Path(id);
    const std::vector<CallId>& ends = run_end_[id];
    for (size_t depth = 0; depth < path.size(); ++depth) {
      if (!IsNumbered(graph_.scopes[path[depth]].name)) continue;
      products.push_back({id, ends[std::min(depth + 1, path.size() - 1)], ends[depth]});
      break;
    }
  }
  for (size_t i = 0; i < products.size(); ++i) {
    CallId until = products[i].layer_end;
    for (size_t j = i + 1; j < products.size() && products[j].call < until; ++j) {
      if (products[j].part_end == products[i].part_end) continue;
      until = products[j].part_end;
      break;
    }
    Hold(program_.calls[products[i].call].arguments[0].tensor, until);
  }
}

// The bias, the sum with a mask and what these are views of.
void Holds::HoldScores() {
  IdVector<TorchValueId, bool> scores(program_.values.size(), false);
  for (size_t i = 0; i < program_.calls.size(); ++i) {
    const CallId id(i);
    const TorchCall& call = program_.calls[id];
    if (call.arguments.empty() || !call.results[0].valid() || run_end_[id].empty()) continue;
    const TorchValueId from = call.arguments[0].tensor;
    const bool goes_on =
        from.valid() && scores[from] && (RearrangesOnly(*call.op) || IsSum(*call.op));
    if (!goes_on && !AddsProductToBias(*call.op)) continue;
    scores[call.results[0]] = true;
    Hold(call.results[0], run_end_[id].back());
  }
}

// softmax(scores, dtype).to(type) is one expression.
void Holds::HoldCastScores() {
  for (size_t i = 0; i < program_.calls.size(); ++i) {
    const TorchCall& cast = program_.calls[CallId(i)];
    if (!Casts(*cast.op)) continue;
    const TorchValueId probabilities = cast.arguments[0].tensor;
    if (!probabilities.valid() || !producer_[probabilities].valid()) continue;
    const TorchCall& softmax = program_.calls[producer_[probabilities]];
    if (!GivesProbabilities(*softmax.op) || softmax.arguments.size() <= kSoftmaxType) continue;
    if (softmax.scope != cast.scope || !softmax.arguments[0].tensor.valid()) continue;
    Hold(softmax.arguments[0].tensor, CallId(i));
  }
}

void Holds::HoldVariances() {
  // The call that made the first operand of a call in the same scope; invalid: none.
  const auto maker_before = [this](CallId id) {
    const TorchCall& call = program_.calls[id];
    const TorchValueId from = call.arguments.empty() ? TorchValueId() : call.arguments[0].tensor;
    const CallId maker = from.valid() ? producer_[from] : CallId();
    return maker.valid() && program_.calls[maker].scope == call.scope ? maker : CallId();
  };
  for (size_t i = 0; i < program_.calls.size(); ++i) {
    const CallId root(i);
    if (!TakesRoot(*program_.calls[root].op) || run_end_[root].empty()) continue;
    const CallId sum = maker_before(root);
    if (!sum.valid() || !IsSum(*program_.calls[sum].op)) continue;
    const CallId mean = maker_before(sum);
    if (!mean.valid() || !GivesMeans(*program_.calls[mean].op)) continue;
    Hold(program_.calls[mean].results[0], run_end_[root].back());
  }
}

void Holds::HoldNamed() {
  if (!ReadsTextOnly()) return;
  for (size_t i = 0; i < program_.calls.size(); ++i) {
    const CallId id(i);
    const std::vector<ScopeId>& path = Path(id);
    for (size_t depth = 1; depth < path.size(); ++depth) {
      if (run_end_[id][depth] != id) continue;
      const NamedModule* row = FindNamedModule(graph_.scopes[path[depth]].name);
      if (row == nullptr) continue;
      if (row->next.empty()) {
        for (TorchValueId result : program_.calls[id].results) {
          if (result.valid()) Hold(result, run_end_[id][depth - 1]);
        }
      } else if (const CallId next = NextModule(id, depth);
                 next.valid() && graph_.scopes[Path(next)[depth]].name == row->next) {
        HoldHanded(id, depth, run_end_[next][depth]);
      }
    }
  }
}

// The first call of the module that the caller (at `depth` - 1) of the one that ends with `last`
// calls next.
CallId Holds::NextModule(CallId last, size_t depth) const {
  const CallId end = run_end_[last][depth - 1];
  for (CallId id(last.index() + 1); id <= end; id = CallId(id.index() + 1)) {
    if (Path(id).size() > depth) return id;
  }
  return CallId();
}

void Holds::HoldShared() {
  absl::flat_hash_map<TorchValueId, CallId> first;  // end of the first module's run that reads it
  ForEachRead([&](TorchValueId value, CallId reader) {
    if (program_.values[value].kind != TorchValueKind::kComputed || !producer_[value].valid())
      return;
    const std::vector<ScopeId>& made = Path(producer_[value]);
    const std::vector<ScopeId>& inside = Path(reader);
    if (made.empty() || inside.size() <= made.size() ||
        !std::equal(made.begin(), made.end(), inside.begin())) {
      return;
    }
    const CallId end = run_end_[reader][made.size()];
    const bool is_second = !first.emplace(value, end).second && first[value] != end;
    if (is_second) Hold(value, run_end_[producer_[value]].back());
  });
}

void Holds::HoldEmbeddings() {
  ForEachRead([this](TorchValueId value, CallId reader) {
    if (!producer_[value].valid() || !LooksUp(*program_.calls[producer_[value]].op)) return;
    if (!program_.calls[reader].arguments[0].tensors.empty()) return;  // joined where looked up
    const std::vector<ScopeId>& made = Path(producer_[value]);
    const std::vector<ScopeId>& inside = Path(reader);
    const size_t depth = made.size();
    if (depth < 2 || inside.size() < depth - 1) return;
    if (!std::equal(made.begin(), made.end() - 1, inside.begin())) return;
    Hold(value, run_end_[reader][depth - 2]);
  });
}

// hidden = attention_output + residual: the module's result has a name of its own, and what was
// handed to the module keeps its name until the sum takes it over. Where the sum is written the
// other way round the result mostly replaces what was handed, unless the forward does both; what a
// dropout module returns always does.
void Holds::HoldSummands() {
  if (!ReadsTextOnly()) return;
  absl::flat_hash_set<ScopeId> names_results;
  for (const TorchCall& call : program_.calls) {
    if (AddsAlike(call) && IsFromModule(call.arguments[0].tensor, call)) {
      names_results.insert(call.scope);
    }
  }
  for (size_t i = 0; i < program_.calls.size(); ++i) {
    const CallId id(i);
    const TorchCall& call = program_.calls[id];
    if (!AddsAlike(call) || !names_results.contains(call.scope) || run_end_[id].empty()) continue;
    for (const TorchArgument& argument : call.arguments) {
      if (!IsFromModule(argument.tensor, call)) continue;
      Hold(argument.tensor, run_end_[id].back());
      const CallId maker = producer_[argument.tensor];
      const bool is_dropout = DropsOut(*program_.calls[maker].op) &&
                              Path(maker).size() == Path(id).size() + 1;
      if (!is_dropout) HoldHanded(maker, Path(id).size(), id);
    }
  }
}

// Two tensors of one shape; not a bias.
bool Holds::AddsAlike(const TorchCall& call) const {
  if (!IsSum(*call.op) || call.arguments.size() < 2) return false;
  const TorchValueId a = call.arguments[0].tensor;
  const TorchValueId b = call.arguments[1].tensor;
  return a.valid() && b.valid() && program_.values[a].type.has_rank &&
         program_.values[a].type.dims == program_.values[b].type.dims;
}

bool Holds::IsFromModule(TorchValueId value, const TorchCall& reader) const {
  if (!value.valid() || !producer_[value].valid() || !reader.scope.valid()) return false;
  const std::vector<ScopeId>& inside = paths_[reader.scope];
  const std::vector<ScopeId>& made = Path(producer_[value]);
  return made.size() > inside.size() && std::equal(inside.begin(), inside.end(), made.begin());
}

// What the run of a module (its scope stands at `depth` in the path of `last`) was given.
void Holds::HoldHanded(CallId last, size_t depth, CallId until) {
  const ScopeId module = Path(last)[depth];
  const auto in_run = [&](CallId id) {
    return Path(id).size() > depth && Path(id)[depth] == module;
  };
  CallId begin = last;
  while (begin.index() > 0 && in_run(CallId(begin.index() - 1))) begin = CallId(begin.index() - 1);
  for (CallId id = begin; id <= last; id = CallId(id.index() + 1)) {
    for (const TorchArgument& argument : program_.calls[id].arguments) {
      const TorchValueId value = argument.tensor;
      if (value.valid() && producer_[value].valid() && producer_[value] < begin) Hold(value, until);
    }
  }
}

void Holds::HoldTurned() {
  IdVector<TorchValueId, bool> turns(program_.values.size(), false);  // made of cosines or sines
  absl::flat_hash_map<std::pair<ScopeId, CallId>, std::vector<TorchValueId>> turned;
  absl::flat_hash_map<std::pair<ScopeId, CallId>, CallId> last;
  for (size_t i = 0; i < program_.calls.size(); ++i) {
    const CallId id(i);
    const TorchCall& call = program_.calls[id];
    const bool makes_turns = IsCosineOrSine(*call.op);
    bool from_turns = makes_turns;
    TorchValueId other;
    for (const TorchArgument& argument : call.arguments) {
      if (!argument.tensor.valid() || program_.values[argument.tensor].type.rank() == 0) continue;
      if (turns[argument.tensor]) {
        from_turns = true;
      } else {
        other = argument.tensor;
      }
    }
    if (!from_turns) continue;
    if (makes_turns || !other.valid() || RearrangesOnly(*call.op)) {
      for (TorchValueId result : call.results) {
        if (result.valid()) turns[result] = true;
      }
      continue;
    }
    if (run_end_[id].empty()) continue;
    const std::pair key(call.scope, run_end_[id].back());
    const std::vector<TorchValueId> sources = Sources(other, id);
    if (sources.empty()) continue;
    last[key] = id;
    if (Path(producer_[sources.back()]) == Path(id)) continue;  // made for this alone
    turned[key].insert(turned[key].end(), sources.begin(), sources.end());
  }
  for (const auto& [key, values] : turned) {
    for (TorchValueId value : values) Hold(value, std::min(CallId(last[key].index() + 1), Last()));
  }
}

void Holds::HoldLocals() {
  if (!ReadsTextOnly()) return;
  constexpr size_t kOuter = 2;  // the model and the modules that its own forward calls
  ForEachRead([this](TorchValueId value, CallId reader) {
    if (program_.values[value].kind != TorchValueKind::kComputed || !producer_[value].valid())
      return;
    const std::vector<ScopeId>& made = Path(producer_[value]);
    if (made.size() < kOuter || !has_children_[made[kOuter - 1]]) return;
    const std::vector<ScopeId>& inside = Path(reader);
    if (inside.size() < kOuter ||
        !std::equal(made.begin(), made.begin() + kOuter, inside.begin())) {
      HoldToTheEnd(value);
    }
  });
}

}  // namespace

void AssignHolds(const Graph& graph, const std::vector<TorchValueId>& model_outputs,
                 TorchProgram& program) {
  if (program.calls.empty()) return;
  Holds holds(graph, program);
  holds.HoldArguments();
  holds.HoldLists();
  holds.HoldFactors();
  holds.HoldProbabilities();
  holds.HoldShared();
  holds.HoldScores();
  holds.HoldCastScores();
  holds.HoldVariances();
  holds.HoldNamed();
  holds.HoldSummands();
  holds.HoldEmbeddings();
  holds.HoldTurned();
  holds.HoldLocals();
  for (TorchValueId output : model_outputs) holds.HoldToTheEnd(output);
}

}  // namespace footprint
