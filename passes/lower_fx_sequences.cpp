#include "passes/lower_fx_sequences.h"

#include <algorithm>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"

namespace footprint {
namespace {

using Kind = FxArgument::Kind;

class Matcher {
 public:
  Matcher(const std::vector<FxGroup>& groups, const LowerFacts& facts, const FxNames& names)
      : groups_(groups), facts_(facts), names_(names) {
    for (const FxGroup& group : groups) {
      if (group.fx != nullptr) made_.insert(group.fx->name);
    }
  }

  // An empty row: the sequence does not stand at `begin`.
  FxSequenceMatch At(size_t begin, const FxSequence& row) const {
    FxSequenceMatch match;
    match.row = &row;
    match.begin = match.end = begin;
    std::vector<size_t> groups;  // by text; those that are absent are that of the next
    for (absl::string_view target : absl::StrSplit(row.texts, ' ')) {
      const bool is_optional = absl::ConsumeSuffix(&target, "?");
      const bool stands = match.end < groups_.size() && IsCall(groups_[match.end], target);
      if (!stands && !is_optional) return {};
      groups.push_back(match.end);
      if (stands) ++match.end;
    }
    for (absl::string_view operand : absl::StrSplit(row.operands, ' ')) {
      const size_t text = static_cast<size_t>(operand.front() - '0');
      match.operands.push_back({groups[text], static_cast<size_t>(operand.back() - '0')});
    }
    if (!ReadsOperandsAlone(match)) return {};
    if (!row.parameter_text.empty()) TakeParameter(match);
    if (row.reduction_argument >= 0) TakeReduction(match);
    return IsClosed(match) ? match : FxSequenceMatch();
  }

 private:
  static bool IsCall(const FxGroup& group, absl::string_view target) {
    return group.fx != nullptr && group.result.valid() && group.fx->target == target;
  }

  // Names that nothing makes are those of texts that the optimizer removed.
  bool ReadsOperandsAlone(FxSequenceMatch& match) const {
    absl::flat_hash_set<absl::string_view> known;
    for (const FxSequenceMatch::Operand& operand : match.operands) {
      const std::vector<FxArgument>& arguments = groups_[operand.group].fx->arguments;
      if (arguments.size() <= operand.argument) return false;
      if (arguments[operand.argument].kind != Kind::kReference) return false;
      const SignatureEntry* stored = names_.Stored(arguments[operand.argument].text);
      if (match.row->of_parameters && stored == nullptr) return false;
      known.insert(arguments[operand.argument].text);
    }
    const size_t depth = groups_[match.begin].fx->module_path.size();
    for (size_t i = match.begin; i < match.end; ++i) {
      const FxNode& fx = *groups_[i].fx;
      if (fx.module_path.size() != depth) return false;
      for (const FxArgument& argument : fx.arguments) {
        const bool is_made = argument.kind == Kind::kReference && made_.contains(argument.text);
        if (is_made && !known.contains(argument.text)) return false;
      }
      if (fx.arguments.size() > 1 && fx.arguments[1].kind == Kind::kList) {
        match.axes = static_cast<int>(fx.arguments[1].items.size());
      }
      known.insert(fx.name);
    }
    return true;
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

  void TakeReduction(FxSequenceMatch& match) const {
    if (match.end >= groups_.size()) return;
    const FxGroup& next = groups_[match.end];
    for (int reduction : {1, 2}) {
      if (!IsCall(next, kFxReductions[reduction])) continue;
      const std::vector<FxArgument>& arguments = next.fx->arguments;
      if (arguments.size() != 1 || arguments[0].text != groups_[match.end - 1].fx->name) return;
      match.reduction = reduction;
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
  absl::flat_hash_set<absl::string_view> made_;  // by some text
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
