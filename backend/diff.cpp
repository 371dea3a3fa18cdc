// Items are compared by name. What is left on both sides is matched by structure, in the order of
// the files: the first left over of a structure before with the first of the same structure after.
//
//   before  a(Conv f32 [4,8])  b(Relu f32 [4,8])  c(Relu f32 [4,8])
//   after   a                  x(Relu f32 [4,8])                      b -> x renamed, c removed
#include "backend/diff.h"

#include <algorithm>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "backend/units.h"
#include "ir/wide.h"

namespace footprint {
namespace {

using Kind = DiffRow::Kind;

int64_t SizeOfChange(const DiffRow& row) {
  return std::abs(row.after.value_or(0) - row.before.value_or(0));
}

std::vector<DiffRow> CompareItems(const std::vector<DiffItem>& before,
                                  const std::vector<DiffItem>& after) {
  std::vector<DiffRow> rows;
  absl::flat_hash_map<std::string_view, const DiffItem*> by_name;
  for (const DiffItem& item : after) by_name.emplace(item.name, &item);
  std::vector<const DiffItem*> removed;
  for (const DiffItem& item : before) {
    const auto found = by_name.find(item.name);
    if (found == by_name.end()) {
      removed.push_back(&item);
      continue;
    }
    if (found->second->bytes != item.bytes) {
      rows.push_back({Kind::kChanged, item.name, "", item.bytes, found->second->bytes});
    }
    by_name.erase(found);
  }
  // Left in by_name: what is new. By structure, in the order of the file, the last first.
  absl::flat_hash_map<std::string_view, std::vector<const DiffItem*>> added;
  for (auto item = after.rbegin(); item != after.rend(); ++item) {
    if (by_name.contains(item->name)) added[item->structure].push_back(&*item);
  }
  for (const DiffItem* item : removed) {
    std::vector<const DiffItem*>& alike = added[item->structure];
    if (alike.empty()) {
      rows.push_back({Kind::kRemoved, item->name, "", item->bytes, std::nullopt});
      continue;
    }
    rows.push_back({Kind::kRenamed, item->name, alike.back()->name, item->bytes,
                    alike.back()->bytes});
    by_name.erase(alike.back()->name);
    alike.pop_back();
  }
  for (const DiffItem& item : after) {
    if (!by_name.contains(item.name)) continue;
    rows.push_back({Kind::kAdded, item.name, "", std::nullopt, item.bytes});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const DiffRow& a, const DiffRow& b) {
    return SizeOfChange(a) > SizeOfChange(b);
  });
  return rows;
}

template <typename Value>
std::vector<std::string> Differences(const char* what, const std::map<std::string, Value>& before,
                                     const std::map<std::string, Value>& after) {
  const auto text = [](const Value& value) {
    if constexpr (std::is_same_v<Value, std::string>) {
      return value.empty() ? std::string("none") : value;
    } else {
      return std::to_string(value);
    }
  };
  std::map<std::string, std::pair<std::string, std::string>> both;
  for (const auto& [name, value] : before) both[name] = {text(value), "not given"};
  for (const auto& [name, value] : after) {
    both.try_emplace(name, "not given", "").first->second.second = text(value);
  }
  std::vector<std::string> differences;
  for (const auto& [name, values] : both) {
    if (values.first == values.second) continue;
    differences.push_back(what + name + ": " + values.first + " and " + values.second);
  }
  return differences;
}

// The most that the figure may be; nullopt: not known.
Bytes Limit(const DiffLimit& limit, const Bytes& before) {
  if (limit.kind == DiffLimit::Kind::kBytes) return limit.amount;
  if (!before) return std::nullopt;
  Wide most = *before;
  most += limit.kind == DiffLimit::Kind::kGrowthBytes ? Wide{limit.amount}
                                                      : Wide{*before} * limit.amount / 100000;
  return static_cast<int64_t>(std::min<Wide>(most, std::numeric_limits<int64_t>::max()));
}

GateReport Hold(const DiffLimit& limit, const DiffTotal& total) {
  const Bytes most = Limit(limit, total.before);
  GateReport gate;
  gate.name = limit.text;
  gate.limit_bytes = most.value_or(0);
  gate.actual_bytes = total.after;
  gate.passed = most && total.after && *total.after <= *most;
  if (!gate.passed) {
    const bool known = most.has_value() && total.after.has_value();
    gate.violations.push_back({"", total.after, known ? "" : "it is unknown on one side"});
  }
  return gate;
}

Failure CannotCompare(std::string place, std::string message) {
  return {3, {{"error", "not-comparable", std::move(place), std::move(message)}}};
}

}  // namespace

bool Diff::HasChange() const {
  const bool grown = std::any_of(totals.begin(), totals.end(), [](const DiffTotal& total) {
    return total.before != total.after;
  });
  return grown || !layers.empty() || !tensors.empty();
}

std::optional<DiffLimit> ParseDiffLimit(const std::string& text) {
  const size_t at = text.find('>');
  if (at == std::string::npos) return std::nullopt;
  DiffLimit limit;
  limit.text = text;
  limit.total = text.substr(0, at);
  std::string_view amount = std::string_view(text).substr(at + 1);
  const bool growth = amount.starts_with('+');
  if (growth) amount.remove_prefix(1);
  if (growth && amount.ends_with('%')) {
    amount.remove_suffix(1);
    limit.kind = DiffLimit::Kind::kGrowthShare;
    // A percent has a thousand thousandths as a kilobyte has bytes.
    const bool zero = amount.find_first_not_of("0.") == std::string_view::npos && !amount.empty();
    const std::optional<int64_t> thousandths =
        zero ? std::optional<int64_t>(0) : ParseSize(std::string(amount) + "KB");
    if (!thousandths) return std::nullopt;
    limit.amount = *thousandths;
    return limit;
  }
  limit.kind = growth ? DiffLimit::Kind::kGrowthBytes : DiffLimit::Kind::kBytes;
  const std::optional<int64_t> bytes = amount == "0" ? 0 : ParseSize(amount);
  if (!bytes) return std::nullopt;
  limit.amount = *bytes;
  return limit;
}

std::variant<Diff, Failure> Compare(const DiffSide& before, const DiffSide& after,
                                    const std::vector<DiffLimit>& limits) {
  std::vector<std::string> apart = Differences("--dim ", before.bindings, after.bindings);
  for (std::string& setting : Differences("--", before.settings, after.settings)) {
    apart.push_back(std::move(setting));
  }
  if (!apart.empty()) {
    return CannotCompare(before.path + " and " + after.path,
                         "were analyzed differently: " + Joined(apart));
  }
  Diff diff;
  diff.before_path = before.path;
  diff.after_path = after.path;
  for (const auto& [name, value] : after.bindings) {
    diff.conditions.push_back(name + " = " + std::to_string(value));
  }
  for (const char* name : {"optimizer", "precision"}) {
    const auto setting = after.settings.find(name);
    if (setting != after.settings.end()) {
      diff.conditions.push_back(setting->first + " " + setting->second);
    }
  }
  for (size_t i = 0; i < before.totals.size(); ++i) {
    diff.totals.push_back(
        {before.totals[i].first, before.totals[i].second, after.totals[i].second});
  }
  diff.layers = CompareItems(before.layers, after.layers);
  diff.tensors = CompareItems(before.tensors, after.tensors);
  const auto find = [&](const std::string& name) {
    return std::find_if(diff.totals.begin(), diff.totals.end(),
                        [&](const DiffTotal& total) { return total.name == name; });
  };
  const auto mode = after.settings.find("mode");
  const bool trains = mode == after.settings.end() || mode->second != "inference";
  for (const DiffLimit& limit : limits) {
    const auto total = find(limit.total == "peak" && !trains ? "inference-peak" : limit.total);
    if (total == diff.totals.end()) {
      return CannotCompare("--fail-on " + limit.text, "no such figure");
    }
    if (!total->before && !total->after) {
      return CannotCompare("--fail-on " + limit.text,
                           "neither side knows this figure; does --mode leave its run out?");
    }
    diff.gates.push_back(Hold(limit, *total));
  }
  return diff;
}

}  // namespace footprint
