#include "passes/lower_order.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"

// The exporter's signature lists them in order. Of tied parameters the file has one, under one of
// their names: it stands where the first of them does.
//
//   p_wte_weight: PARAMETER target='wte.weight'          no tensor, no text has this name
//   ...
//   p_lm_head_weight: PARAMETER target='lm_head.weight'  module wte reads this one
//
// Files without a signature list initializers in the module's order, as long as these have kept
// their names: what an exporter folds or renames it appends. Else the order of first use stands in.

namespace footprint {
namespace {

constexpr int64_t kLast = std::numeric_limits<int64_t>::max();

absl::string_view ModuleOf(absl::string_view target) {
  const size_t dot = target.rfind('.');
  return dot == absl::string_view::npos ? absl::string_view() : target.substr(0, dot);
}

bool IsStored(const TorchValue& value) {
  return value.kind == TorchValueKind::kParameter || value.kind == TorchValueKind::kBuffer;
}

// By place in the signature; kLast: not listed.
IdVector<TorchValueId, int64_t> PlacesInSignature(const Graph& graph, const Provenance& provenance,
                                                  const TorchProgram& program) {
  absl::flat_hash_map<absl::string_view, int64_t> listed;
  for (const SignatureEntry& entry : provenance.signature) {
    if (!entry.is_output) listed.emplace(entry.target, static_cast<int64_t>(listed.size()));
  }
  IdVector<TorchValueId, int64_t> places(program.values.size(), kLast);
  absl::flat_hash_map<absl::string_view, int64_t> missing = listed;
  for (TorchValueId id : program.stored) {
    const auto found = listed.find(program.values[id].name);
    if (found == listed.end()) continue;
    places[id] = found->second;
    missing.erase(found->first);
  }
  absl::flat_hash_map<std::string, int64_t> modules;  // that own what is missing
  for (const auto& [target, place] : missing) {
    const auto [it, is_new] = modules.emplace(std::string(ModuleOf(target)), place);
    it->second = std::min(it->second, place);
  }
  if (modules.empty()) return places;
  for (const TorchCall& call : program.calls) {
    if (!call.scope.valid()) continue;
    const auto module = modules.find(absl::StrReplaceAll(graph.scopes[call.scope].path,
                                                         {{"/", "."}}));
    if (module == modules.end()) continue;
    for (const TorchArgument& argument : call.arguments) {
      const TorchValueId id = argument.tensor;
      const bool tied = id.valid() && program.values[id].kind == TorchValueKind::kParameter &&
                        ModuleOf(program.values[id].name) != module->first;
      if (tied) places[id] = std::min(places[id], module->second);
    }
  }
  return places;
}

}  // namespace

void OrderStored(const Graph& graph, const Provenance& provenance, TorchProgram& program) {
  program.stored.clear();
  bool has_made_up_names = false;
  for (size_t i = 0; i < program.values.size(); ++i) {
    const TorchValue& value = program.values[TorchValueId(i)];
    if (!IsStored(value)) continue;
    program.stored.push_back(TorchValueId(i));
    has_made_up_names |= value.constant.valid() && absl::StrContains(value.name, "::") &&
                         value.kind == TorchValueKind::kParameter;
  }
  const IdVector<TorchValueId, int64_t> places = PlacesInSignature(graph, provenance, program);
  const auto place = [&](TorchValueId id) {
    const TorchValue& value = program.values[id];
    const bool in_file = value.constant.valid() && !has_made_up_names;
    return std::tuple(value.kind != TorchValueKind::kParameter, places[id],
                      in_file ? value.constant.index() : kLast);
  };
  std::stable_sort(program.stored.begin(), program.stored.end(),
                   [&](TorchValueId a, TorchValueId b) { return place(a) < place(b); });
}

}  // namespace footprint
