#include "passes/lower_runs.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "ir/ops/lowering/runs.h"

// A run is a row's calls one behind the other, with nothing in between but calls that
// read no tensor (literals). It reads nothing but its operands and itself, and nothing else reads
// what it makes but for its results.

namespace footprint {
namespace {

constexpr absl::string_view kNamespace = "aten::";

struct Place {
  size_t call = 0;  // of the row
  size_t argument = 0;
  bool beside = false;  // "="
};

std::vector<Place> ParsePlaces(absl::string_view text) {
  std::vector<Place> places;
  for (absl::string_view item : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    Place place;
    place.beside = absl::ConsumeSuffix(&item, "=");
    const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(item, '.');
    (void)absl::SimpleAtoi(parts.first, &place.call);
    (void)absl::SimpleAtoi(parts.second, &place.argument);
    places.push_back(place);
  }
  return places;
}

bool ReadsNothing(const TorchCall& call) {
  bool reads = false;
  ForEachTensor(call, [&reads](TorchValueId) { reads = true; });
  return !reads;
}

struct RunMatch {
  const CallRun* row = nullptr;
  std::vector<CallId> calls;  // by the row
  std::vector<TorchArgument> operands;
};

class RunJoiner {
 public:
  RunJoiner(const std::vector<TorchValueId>& outputs, TorchProgram& program)
      : program_(program),
        is_output_(program.values.size(), false),
        readers_(program.values.size()),
        producer_(FindProducers(program)),
        dead_(program.calls.size()) {
    for (size_t i = 0; i < program.calls.size(); ++i) {
      ForEachTensor(program.calls[CallId(i)],
                    [&](TorchValueId value) { readers_[value].push_back(CallId(i)); });
    }
    for (TorchValueId output : outputs) is_output_[output] = true;
    if (program.loss.valid()) is_output_[program.loss] = true;
    for (const CallRun& row : CallRuns()) {
      const std::vector<absl::string_view> names = absl::StrSplit(row.calls, ' ');
      for (absl::string_view first : absl::StrSplit(names.front(), '|')) {
        rows_[first].push_back({&row, names});
      }
    }
  }

  void Run();

 private:
  struct Entry {
    const CallRun* row;
    std::vector<absl::string_view> names;
  };
  bool Match(CallId begin, const Entry& entry, RunMatch& match) const;
  bool TakeOperands(RunMatch& match) const;
  bool IsClosed(const RunMatch& match) const;
  std::vector<TorchValueId> Results(const RunMatch& match) const;
  bool IsCell(const RunMatch& match) const;
  bool PicksWindows(const RunMatch& match) const;
  bool Wraps(const RunMatch& match) const;
  bool PoolsAll(const RunMatch& match) const;
  bool IsLiteral(TorchValueId id) const;
  bool RunsOnce(const RunMatch& match) const;
  void CompleteCell(RunMatch& match);
  void AddState(const RunMatch& match);
  TorchValueId CellParameter(absl::string_view name, TorchValueId beside, Dims dims);
  TorchArgument Zeros(const TensorType& type, std::vector<TorchCall>& made);
  TorchValueId AddValue(TorchValue value);
  void Join(const RunMatch& match, std::vector<TorchCall> made);
  void DropUnread(TorchValueId value);

  const TorchValue& value(TorchValueId id) const { return program_.values[id]; }

  TorchProgram& program_;
  IdVector<TorchValueId, bool> is_output_;  // or the loss
  IdVector<TorchValueId, std::vector<CallId>> readers_;
  IdVector<TorchValueId, CallId> producer_;
  absl::flat_hash_map<absl::string_view, std::vector<Entry>> rows_;
  IdVector<CallId, bool> dead_;
  absl::flat_hash_map<CallId, std::vector<TorchCall>> made_;  // calls in front of a run's
};

bool IsCall(const TorchCall& call, absl::string_view names) {
  absl::string_view name = call.op->name;
  if (!absl::ConsumePrefix(&name, kNamespace)) return false;
  for (absl::string_view one : absl::StrSplit(names, '|')) {
    if (one == name) return true;
  }
  return false;
}

absl::string_view Bare(absl::string_view name) {
  if (!absl::ConsumeSuffix(&name, "?")) absl::ConsumeSuffix(&name, "*");
  return name;
}

bool RunJoiner::Match(CallId begin, const Entry& entry, RunMatch& match) const {
  match.row = entry.row;
  size_t at = 0;
  for (size_t i = begin.index(); i < program_.calls.size(); ++i) {
    const TorchCall& call = program_.calls[CallId(i)];
    if (at == entry.names.size()) break;
    if (ReadsNothing(call)) continue;
    absl::string_view name = entry.names[at];
    while (!IsCall(call, Bare(name)) && name != Bare(name) && at + 1 < entry.names.size()) {
      name = entry.names[++at];
    }
    if (!IsCall(call, Bare(name))) return false;
    match.calls.push_back(CallId(i));
    if (!absl::EndsWith(name, "*")) ++at;
  }
  return at == entry.names.size() && TakeOperands(match) && IsClosed(match) &&
         (entry.row->cell_weight < 0 || IsCell(match)) &&
         (!entry.row->windows || PicksWindows(match)) && (!entry.row->wraps || Wraps(match)) &&
         (!entry.row->pools || PoolsAll(match));
}

std::vector<TorchValueId> RunJoiner::Results(const RunMatch& match) const {
  std::vector<TorchValueId> results;
  for (const Place& place : ParsePlaces(match.row->results)) {
    results.push_back(program_.calls[match.calls[place.call]].results[0]);
  }
  if (results.empty()) results.push_back(program_.calls[match.calls.back()].results[0]);
  return results;
}

// Fails if some call reads what is neither operand nor made here.
bool RunJoiner::TakeOperands(RunMatch& match) const {
  std::vector<TorchValueId> known;
  std::vector<TorchValueId> beside;
  for (const Place& place : ParsePlaces(match.row->operands)) {
    const std::vector<TorchArgument>& arguments = program_.calls[match.calls[place.call]].arguments;
    const TorchArgument argument =
        place.argument < arguments.size() ? arguments[place.argument] : TorchArgument();
    if (argument.tensor.valid()) (place.beside ? beside : known).push_back(argument.tensor);
    if (!place.beside) match.operands.push_back(argument);
  }
  const auto contains = [&known](TorchValueId id) {
    return std::find(known.begin(), known.end(), id) != known.end();
  };
  for (TorchValueId id : beside) {
    const bool is_computed = value(id).kind == TorchValueKind::kComputed && !IsLiteral(id);
    if (!contains(id) && is_computed) return false;
    known.push_back(id);
  }
  for (CallId id : match.calls) {
    bool fits = true;
    ForEachTensor(program_.calls[id], [&](TorchValueId read) {
      fits &= contains(read) || IsLiteral(read);
    });
    if (!fits) return false;
    for (TorchValueId result : program_.calls[id].results) known.push_back(result);
  }
  return true;
}

bool RunJoiner::IsClosed(const RunMatch& match) const {
  const std::vector<TorchValueId> results = Results(match);
  const auto is_inside = [&match](CallId reader) {
    return std::find(match.calls.begin(), match.calls.end(), reader) != match.calls.end();
  };
  for (CallId id : match.calls) {
    for (TorchValueId made : program_.calls[id].results) {
      if (!made.valid() || std::find(results.begin(), results.end(), made) != results.end()) {
        continue;
      }
      if (is_output_[made]) return false;
      if (!std::all_of(readers_[made].begin(), readers_[made].end(), is_inside)) return false;
    }
  }
  return true;
}

bool RunJoiner::IsCell(const RunMatch& match) const {
  const TorchValueId weight =
      match.operands[static_cast<size_t>(match.row->cell_weight)].tensor;
  if (!weight.valid() || value(weight).kind != TorchValueKind::kParameter) return false;
  return absl::EndsWith(value(weight).name, kCellInputWeight) && value(weight).type.rank() == 2;
}

bool RunJoiner::PicksWindows(const RunMatch& match) const {
  const TorchCall& first = program_.calls[match.calls.front()];
  const TensorType& source = value(match.operands[0].tensor).type;
  const TensorType& picked = value(first.results[0]).type;
  const TensorType& pooled = value(Results(match)[0]).type;
  return source.rank() == 4 && picked.rank() == source.rank() + 2 && pooled.rank() == 4;
}

// All axes but the first two, counted from the end: -2, -1.
bool RunJoiner::PoolsAll(const RunMatch& match) const {
  constexpr size_t kArguments = 3;  // self, axes, whether they are kept
  for (CallId id : match.calls) {
    const TorchCall& call = program_.calls[id];
    if (call.arguments.size() < kArguments) continue;
    const auto& axes = call.arguments[1].integers;
    const int rank = value(call.arguments[0].tensor).type.rank();
    int expected = -static_cast<int>(axes.size());
    for (const Dim& axis : axes) {
      if (!axis.Is(expected++)) return false;
    }
    return axes.size() >= 2 && call.arguments[2].boolean &&
           rank == static_cast<int>(axes.size()) + 2;
  }
  return false;
}

bool RunJoiner::Wraps(const RunMatch& match) const {
  TorchValueId sliced;
  for (CallId id : match.calls) {
    const TorchArgument& first = program_.calls[id].arguments[0];
    if (first.tensors.empty()) {
      sliced = first.tensor;
    } else if (std::find(first.tensors.begin(), first.tensors.end(), sliced) ==
               first.tensors.end()) {
      return false;
    }
  }
  return true;
}

// The parameter of this name; the file may lack it, or have what it was folded into.
TorchValueId RunJoiner::CellParameter(absl::string_view name, TorchValueId beside, Dims dims) {
  const TorchValue& model = value(beside);
  absl::string_view prefix = model.name;
  prefix.remove_suffix(prefix.size() - prefix.rfind('.') - 1);
  const std::string wanted = absl::StrCat(prefix, name);
  for (size_t i = 0; i < program_.values.size(); ++i) {
    TorchValue& found = program_.values[TorchValueId(i)];
    if (found.kind != TorchValueKind::kParameter || found.name != wanted) continue;
    found.type.dims = std::move(dims);
    found.type.has_rank = true;
    return TorchValueId(i);
  }
  TorchValue parameter = model;
  parameter.name = wanted;
  parameter.type.dims = std::move(dims);
  parameter.onnx_value = ValueId();
  parameter.constant = ConstantId();
  return AddValue(std::move(parameter));
}

TorchValueId RunJoiner::AddValue(TorchValue value) {
  is_output_.Add(false);
  readers_.Add({});
  producer_.Add(CallId());
  return program_.values.Add(std::move(value));
}

TorchArgument RunJoiner::Zeros(const TensorType& type, std::vector<TorchCall>& made) {
  TorchValue state;
  state.name = absl::StrCat("zeros_", program_.values.size());
  state.type = type;
  TorchCall call;
  call.op = FindTorchOp(kZerosCall);
  call.arguments = {TorchArgument::Ints(type.dims)};
  call.results = {AddValue(std::move(state))};
  made.push_back(call);
  return TorchArgument::Tensor(call.results[0]);
}

bool RunJoiner::IsLiteral(TorchValueId id) const {
  const CallId maker = producer_[id];
  return maker.valid() && ReadsNothing(program_.calls[maker]);
}

// Nothing but this run reads its parameter: the cell runs once.
bool RunJoiner::RunsOnce(const RunMatch& match) const {
  const TorchValueId weight =
      match.operands[static_cast<size_t>(match.row->cell_weight)].tensor;
  return readers_[weight].size() == 1;
}

// States that are constants are zeros: of a cell that runs once those that it makes itself, one
// tensor for all of them; of one that runs step by step those that the loop began with.
void RunJoiner::CompleteCell(RunMatch& match) {
  const CallRun& row = *match.row;
  std::vector<TorchCall> made;
  const TensorType state = value(Results(match)[0]).type;
  std::vector<TorchArgument>& operands = match.operands;
  if (row.first_step) {
    const TorchValueId input = operands[1].tensor;
    const bool has_bias = operands[2].tensor.valid();
    const Dim gates = value(input).type.dims[0];
    const TorchValueId matrix = CellParameter(kCellStateWeight, input, {gates, state.dims.back()});
    TorchArgument bias;
    if (has_bias) {
      bias = TorchArgument::Tensor(CellParameter(kCellStateBias, operands[2].tensor, {gates}));
    }
    std::vector<TorchArgument> all = {operands[0]};
    const bool once = RunsOnce(match);
    for (int i = 0; i < row.states; ++i) {
      all.push_back(i > 0 && once ? all.back() : Zeros(state, made));
    }
    all.insert(all.end(), {operands[1], TorchArgument::Tensor(matrix), operands[2], bias});
    operands = std::move(all);
  } else {
    TorchArgument zeros;
    const bool once = RunsOnce(match);
    for (size_t i = 1; i <= static_cast<size_t>(row.states); ++i) {
      const TorchValueId held = operands[i].tensor;
      if (value(held).kind != TorchValueKind::kBuffer && !(once && IsLiteral(held))) continue;
      if (!once || zeros.kind == TorchArgument::Kind::kNone) zeros = Zeros(state, made);
      operands[i] = zeros;
    }
  }
  Join(match, std::move(made));
}

void RunJoiner::AddState(const RunMatch& match) {
  const std::pair<absl::string_view, absl::string_view> ends =
      absl::StrSplit(match.row->state_suffix, ' ');
  TorchValue state = value(match.operands.back().tensor);
  absl::string_view name = state.name;
  if (state.kind != TorchValueKind::kBuffer || !absl::ConsumeSuffix(&name, ends.first)) return;
  state.name = absl::StrCat(name, ends.second);
  state.type.dims = {value(Results(match)[0]).type.dims[0]};
  state.onnx_value = ValueId();
  state.constant = ConstantId();
  AddValue(std::move(state));
}

// A constant that nothing reads any more is none of the module's.
void RunJoiner::DropUnread(TorchValueId id) {
  if (value(id).kind != TorchValueKind::kBuffer) return;
  const bool is_read = std::any_of(readers_[id].begin(), readers_[id].end(),
                                   [this](CallId reader) { return !dead_[reader]; });
  if (!is_read) program_.values[id].kind = TorchValueKind::kComputed;
}

void RunJoiner::Join(const RunMatch& match, std::vector<TorchCall> made) {
  const CallId last = match.calls.back();
  const std::vector<TorchValueId> results = Results(match);
  std::vector<TorchValueId> read;
  for (CallId id : match.calls) {
    const TorchCall& call = program_.calls[id];
    ForEachTensor(call, [&read](TorchValueId tensor) { read.push_back(tensor); });
    for (TorchValueId result : call.results) {
      const bool stays = std::find(results.begin(), results.end(), result) != results.end();
      if (stays || !result.valid() || !value(result).onnx_value.valid()) continue;
      program_.torch_of[value(result).onnx_value] = TorchValueId();
    }
    if (id != last) dead_[id] = true;
  }
  TorchCall& call = program_.calls[last];
  for (TorchCall& before : made) {
    before.scope = call.scope;
    before.node = call.node;
    before.evidence = Evidence::kPattern;
  }
  made_.emplace(last, std::move(made));
  call.op = FindTorchOp(match.row->torch);
  call.arguments = match.operands;
  call.results.assign(results.begin(), results.end());
  call.evidence = Evidence::kPattern;
  call.note = std::string(match.row->note);
  for (TorchValueId tensor : read) {
    const bool taken = std::any_of(
        call.arguments.begin(), call.arguments.end(),
        [tensor](const TorchArgument& argument) { return argument.tensor == tensor; });
    if (taken) continue;
    std::vector<CallId>& readers = readers_[tensor];
    readers.erase(std::remove(readers.begin(), readers.end(), last), readers.end());
    DropUnread(tensor);
    // A literal that was made for this run alone.
    const CallId maker = producer_[tensor];
    const bool is_read = is_output_[tensor] ||
                         std::any_of(readers.begin(), readers.end(),
                                     [this](CallId reader) { return !dead_[reader]; });
    if (!is_read && maker.valid() && ReadsNothing(program_.calls[maker])) dead_[maker] = true;
  }
}

void RunJoiner::Run() {
  bool found = false;
  for (size_t i = 0; i < program_.calls.size(); ++i) {
    absl::string_view name = program_.calls[CallId(i)].op->name;
    if (dead_[CallId(i)] || !absl::ConsumePrefix(&name, kNamespace)) continue;
    const auto rows = rows_.find(name);
    if (rows == rows_.end()) continue;
    for (const Entry& entry : rows->second) {
      RunMatch match;
      if (!Match(CallId(i), entry, match)) continue;
      found = true;
      if (!entry.row->state_suffix.empty()) AddState(match);
      if (entry.row->cell_weight >= 0) {
        CompleteCell(match);
      } else {
        Join(match, {});
      }
      break;
    }
  }
  if (!found) return;
  IdVector<CallId, TorchCall> calls;
  for (size_t i = 0; i < program_.calls.size(); ++i) {
    if (dead_[CallId(i)]) continue;
    const auto made = made_.find(CallId(i));
    if (made != made_.end()) {
      for (TorchCall& call : made->second) calls.Add(std::move(call));
    }
    calls.Add(std::move(program_.calls[CallId(i)]));
  }
  program_.calls = std::move(calls);
}

}  // namespace

void JoinRuns(const std::vector<TorchValueId>& outputs, TorchProgram& program) {
  RunJoiner(outputs, program).Run();
}

}  // namespace footprint
