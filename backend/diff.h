// Diff: what changed between two analyses. Either side is a report or what was saved of one
// (--format json); only sides that were analyzed alike can be compared.
#ifndef FOOTPRINT_BACKEND_DIFF_H_
#define FOOTPRINT_BACKEND_DIFF_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "backend/report.h"

namespace footprint {

// A tensor or a layer, reduced to what a comparison asks.
struct DiffItem {
  std::string name;  // of a tensor, path of a layer
  Bytes bytes;
  // What it is apart from its name: those of equal structure may be the same thing renamed.
  std::string structure;
};

struct DiffSide {
  std::string path;
  std::map<std::string, int64_t> bindings;
  std::map<std::string, std::string> settings;
  std::vector<std::pair<std::string, Bytes>> totals;  // "parameters", "peak", ...
  std::vector<DiffItem> layers;
  std::vector<DiffItem> tensors;
};

DiffSide SideOf(const Report& report);

// From the text of a saved report. The failure names what is wrong with it (exit code 2).
std::variant<DiffSide, Failure> SideOfJson(const std::string& path, std::string_view text);

struct DiffTotal {
  std::string name;
  Bytes before;
  Bytes after;
};
struct DiffRow {
  enum class Kind { kAdded, kRemoved, kRenamed, kChanged };
  Kind kind;
  std::string name;    // of what is removed, or was before
  std::string renamed; // kRenamed: its name now
  Bytes before;        // nullopt where added, or unknown
  Bytes after;
};

struct Diff {
  std::string before_path;
  std::string after_path;
  // Of both sides: "batch = 32", "optimizer adamw", "precision fp32".
  std::vector<std::string> conditions;
  std::vector<DiffTotal> totals;
  std::vector<DiffRow> layers;   // largest change first
  std::vector<DiffRow> tensors;  // likewise
  std::vector<GateReport> gates;

  bool HasChange() const;
};

// A limit on growth or size: "peak>+2%", "parameters>+10MB", "saved>24GiB".
struct DiffLimit {
  enum class Kind { kGrowthShare, kGrowthBytes, kBytes };
  std::string text;
  std::string total;
  Kind kind = Kind::kBytes;
  int64_t amount = 0;  // bytes; of kGrowthShare thousandths of a percent
};
// Nullopt: it has another form.
std::optional<DiffLimit> ParseDiffLimit(const std::string& text);
// What a limit may speak of.
std::vector<std::string> DiffTotalNames();

// The failure says what the sides do not share (exit code 3), or that a limit is on a figure that
// they do not have.
std::variant<Diff, Failure> Compare(const DiffSide& before, const DiffSide& after,
                                    const std::vector<DiffLimit>& limits);

}  // namespace footprint

#endif  // FOOTPRINT_BACKEND_DIFF_H_
