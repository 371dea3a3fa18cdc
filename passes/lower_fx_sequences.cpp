#include "passes/lower_fx_sequences.h"

#include <algorithm>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"

namespace footprint {
namespace {

using Kind = FxArgument::Kind;

class Matcher {
 public:
  Matcher(const std::vector<FxGroup>& groups, const LowerFacts& facts, const FxNames& names)
      : groups_(groups), facts_(facts), names_(names) {}

  // An empty row: the sequence does not stand at `begin`.
  FxSequenceMatch At(size_t begin, const FxSequence& row) const {
    FxSequenceMatch match;
    absl::flat_hash_set<absl::string_view> known;
    size_t i = begin;
    for (absl::string_view target : absl::StrSplit(row.texts, ' ')) {
      if (i >= groups_.size() || !IsCall(groups_[i], target)) return {};
      const FxNode& fx = *groups_[i].fx;
      if (i == begin) {
        if (fx.arguments.empty() || fx.arguments[0].kind != Kind::kReference) return {};
        known.insert(fx.arguments[0].text);
      }
      if (fx.module_path.size() != groups_[begin].fx->module_path.size()) return {};
      if (!ReadsOnly(fx, known)) return {};
      if (fx.arguments.size() > 1 && fx.arguments[1].kind == Kind::kList) {
        match.axes = static_cast<int>(fx.arguments[1].items.size());
      }
      known.insert(fx.name);
      ++i;
    }
    match.row = &row;
    match.begin = begin;
    match.end = i;
    if (!row.parameter_text.empty()) TakeParameter(match);
    return IsClosed(match) ? match : FxSequenceMatch();
  }

 private:
  static bool IsCall(const FxGroup& group, absl::string_view target) {
    return group.fx != nullptr && group.result.valid() && group.fx->target == target;
  }

  // Scalars that the export turned into tensors do not count.
  static bool ReadsOnly(const FxNode& fx, const absl::flat_hash_set<absl::string_view>& known) {
    return std::all_of(fx.arguments.begin(), fx.arguments.end(), [&known](const FxArgument& a) {
      return a.kind != Kind::kReference || known.contains(a.text) ||
             FxStem(a.text) == kScalarName;
    });
  }

  void TakeParameter(FxSequenceMatch& match) const {
    if (match.end >= groups_.size() || !IsCall(groups_[match.end], match.row->parameter_text)) {
      return;
    }
    const std::vector<FxArgument>& arguments = groups_[match.end].fx->arguments;
    const std::string& before = groups_[match.end - 1].fx->name;
    if (arguments.size() < 2) return;
    for (size_t i : {0, 1}) {
      const SignatureEntry* entry = names_.Stored(arguments[i].text);
      if (entry == nullptr || arguments[1 - i].text != before) continue;
      match.parameter = static_cast<int>(i);
      ++match.end;
      return;
    }
  }

  bool IsClosed(const FxSequenceMatch& match) const {
    absl::flat_hash_set<NodeId> inside;
    for (size_t i = match.begin; i < match.end; ++i) {
      inside.insert(groups_[i].nodes.begin(), groups_[i].nodes.end());
    }
    for (size_t i = match.begin; i + 1 < match.end; ++i) {
      for (ValueId output : groups_[i].outputs) {
        const absl::Span<const NodeId> readers = facts_.Readers(output);
        if (facts_.graph().values[output].is_graph_output ||
            !std::all_of(readers.begin(), readers.end(),
                         [&inside](NodeId reader) { return inside.contains(reader); })) {
          return false;
        }
      }
    }
    return true;
  }

  const std::vector<FxGroup>& groups_;
  const LowerFacts& facts_;
  const FxNames& names_;
};

}  // namespace

absl::flat_hash_map<size_t, FxSequenceMatch> FindSequences(const std::vector<FxGroup>& groups,
                                                           const LowerFacts& facts,
                                                           const FxNames& names) {
  absl::flat_hash_map<size_t, FxSequenceMatch> found;
  const Matcher matcher(groups, facts, names);
  for (size_t i = 0; i < groups.size(); ++i) {
    if (groups[i].fx == nullptr) continue;
    for (const FxSequence& row : FxSequences()) {
      if (!absl::StartsWith(row.texts, groups[i].fx->target)) continue;
      const FxSequenceMatch match = matcher.At(i, row);
      if (match.row == nullptr) continue;
      found.emplace(i, match);
      i = match.end - 1;
      break;
    }
  }
  return found;
}

}  // namespace footprint
