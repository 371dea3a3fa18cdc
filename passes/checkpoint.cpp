#include "passes/checkpoint.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "ir/layer_glob.h"

namespace footprint {
namespace {

struct Spec {
  std::string pattern;  // glob
  int64_t count = 0;    // every; 0 with an empty pattern: sqrt
};

std::optional<Spec> ReadSpec(absl::string_view text) {
  Spec spec;
  if (text == "sqrt") return spec;
  if (absl::ConsumePrefix(&text, "glob:") && !text.empty()) {
    spec.pattern = std::string(text);
    return spec;
  }
  const bool every = absl::ConsumePrefix(&text, "every:");
  if (every && absl::SimpleAtoi(text, &spec.count) && spec.count > 0) return spec;
  return std::nullopt;
}

class Finder {
 public:
  Finder(const Graph& graph, const TorchProgram& program) : graph_(graph), program_(program) {}

  // The runs of calls inside the outermost scopes that `wanted` picks.
  template <typename Wanted>
  std::vector<CheckpointSegment> Runs(Wanted wanted) {
    chosen_.assign(graph_.scopes.size(), ScopeId());
    for (size_t i = 0; i < graph_.scopes.size(); ++i) {
      const Scope& scope = graph_.scopes[ScopeId(i)];
      if (scope.parent.valid()) chosen_[i] = chosen_[static_cast<size_t>(scope.parent.index())];
      if (!chosen_[i].valid() && wanted(scope)) chosen_[i] = ScopeId(i);
    }
    std::vector<CheckpointSegment> runs;
    ScopeId last;
    for (size_t i = 0; i < program_.calls.size(); ++i) {
      const ScopeId scope = program_.calls[CallId(i)].scope;
      const ScopeId block = scope.valid() ? chosen_[static_cast<size_t>(scope.index())] : scope;
      if (block.valid() && block == last && runs.back().end == CallId(i)) {
        runs.back().end = CallId(i + 1);
      } else if (block.valid()) {
        runs.push_back({CallId(i), CallId(i + 1), ModuleName(graph_.scopes[block].path)});
      }
      last = block;
    }
    return runs;
  }

 private:
  const Graph& graph_;
  const TorchProgram& program_;
  std::vector<ScopeId> chosen_;  // by scope: itself or the ancestor that was picked
};

// Joins neighbours, `count` blocks each.
std::vector<CheckpointSegment> Group(const std::vector<CheckpointSegment>& blocks, int64_t count) {
  std::vector<CheckpointSegment> groups;
  int64_t inside = 0;
  for (const CheckpointSegment& block : blocks) {
    const bool joins = inside > 0 && inside < count && groups.back().end == block.begin;
    if (!joins) {
      groups.push_back(block);
      inside = 1;
      continue;
    }
    CheckpointSegment& group = groups.back();
    group.end = block.end;
    group.name = absl::StrCat(group.name.substr(0, group.name.find(' ')), " to ", block.name);
    ++inside;
  }
  return groups;
}

}  // namespace

bool IsCheckpointSpec(const std::string& spec) { return ReadSpec(spec).has_value(); }

std::vector<CheckpointSegment> FindCheckpoints(const std::string& spec, const Graph& graph,
                                               const TorchProgram& program, DiagnosticSink& sink) {
  if (spec.empty()) return {};
  const std::string place = absl::StrCat("--checkpoint ", spec);
  const std::optional<Spec> wanted = ReadSpec(spec);
  if (!wanted) {
    sink.UsageError("bad-value", place, "expected glob:PATTERN, every:N or sqrt");
    return {};
  }
  Finder finder(graph, program);
  std::vector<CheckpointSegment> segments;
  if (!wanted->pattern.empty()) {
    segments =
        finder.Runs([&](const Scope& scope) { return MatchesLayer(wanted->pattern, scope.path); });
  } else {
    segments = finder.Runs([](const Scope& scope) { return IsNumbered(scope.name); });
    const int64_t root = std::llround(std::ceil(std::sqrt(static_cast<double>(segments.size()))));
    segments = Group(segments, wanted->count > 0 ? wanted->count : root);
  }
  if (segments.empty()) {
    std::vector<std::string> paths;
    for (const Scope& scope : graph.scopes) paths.push_back(scope.path);
    sink.Warning("checkpoint", place,
                 "no layer of the model matches" +
                     DidYouMeanLayer(wanted->pattern, std::move(paths)));
  }
  return segments;
}

}  // namespace footprint
